package endpoint

import (
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/strictyaml"
)

var (
	nameForm     = regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*$`)
	variableForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	currencyForm = regexp.MustCompile(`^[A-Z]{3}$`)
)

type validation struct{ strictyaml.Findings }

func (v *validation) set(s *Set) {
	if len(s.Endpoints) == 0 && len(s.Segmenters) == 0 {
		v.Add("endpoints", "want at least one endpoint card")
	}
	names, served := map[string]bool{}, map[string]string{}
	for i := range s.Endpoints {
		c, field := &s.Endpoints[i], fmt.Sprintf("endpoints[%d]", i)
		v.card(c, field)
		if names[c.Name] {
			v.Add(field+".name", "%q stands twice", c.Name)
		}
		names[c.Name] = true
		for _, m := range c.Served() {
			if other, ok := served[m]; ok {
				v.Add(field+".models."+m, "is served by %s too; one endpoint answers for a model, so that one limiter counts its calls", other)
			}
			served[m] = c.Name
		}
	}
	v.segmenters(s.Segmenters)
}

func (v *validation) card(c *Card, field string) {
	if !nameForm.MatchString(c.Name) || len(c.Name) > 64 {
		v.Add(field+".name", "%q: want lower-case letters and digits in words joined by '-' or '.', at most 64", c.Name)
	}
	if !slices.Contains(lvlm.Adapters(), c.Adapter) {
		v.Add(field+".adapter", "%q is not one of %s", c.Adapter, strings.Join(lvlm.Adapters(), ", "))
		return
	}
	if len(c.Models) == 0 {
		v.Add(field+".models", "want at least one model card's name with the name that is sent")
	}
	for _, m := range c.Served() {
		if !nameForm.MatchString(m) || c.Models[m] == "" {
			v.Add(field+".models."+m, "want a model card's name and the name that is sent, got %q: %q", m, c.Models[m])
		}
	}
	if e := c.CredentialEnv; e != "" && !variableForm.MatchString(e) {
		// What stands here may be the credential itself, so it is not repeated.
		v.Add(field+".credential_env", "want the name of an environment variable; a credential itself never stands in a card")
	}
	v.adapter(c, field)
	v.address(c, field)
	v.limits(&c.Limits, field+".limits")
	if p := c.Price; p != nil {
		v.price(p, field+".price")
	}
}

// adapter checks the fields that belong to some adapters only.
func (v *validation) adapter(c *Card, field string) {
	only := func(name, got string, adapters ...string) {
		if got != "" && !slices.Contains(adapters, c.Adapter) {
			v.Add(field+"."+name, "does not go with adapter %s", c.Adapter)
		}
	}
	need := func(name, got, why string) {
		if got == "" {
			v.Add(field+"."+name, "is missing; %s", why)
		}
	}
	only("api_version", c.APIVersion, lvlm.Azure, lvlm.Gemini)
	only("limit_field", c.LimitField, lvlm.OpenAI, lvlm.Azure)
	only("project", c.Project, lvlm.Gemini)
	only("location", c.Location, lvlm.Gemini)
	switch c.Adapter {
	case lvlm.Azure:
		need("api_version", c.APIVersion, "Azure answers by version, for example 2025-01-01-preview")
		need("credential_env", c.CredentialEnv, "name the variable with the key")
	case lvlm.Gemini:
		need("project", c.Project, "name the Google Cloud project")
		need("location", c.Location, "name a location, for example europe-west4, or global")
	}
	if f := c.LimitField; f != "" && f != "max_tokens" && f != "max_completion_tokens" {
		v.Add(field+".limit_field", "%q is not one of max_completion_tokens, max_tokens", f)
	}
	if c.Attestation.Local && c.Adapter != lvlm.OpenAI && !loopback(c.URL) {
		v.Add(field+".attestation.local", "a cloud service is not local")
	}
}

// address checks that the URL leads somewhere, holds no credential, and that nothing travels
// unencrypted beyond the institution.
func (v *validation) address(c *Card, field string) {
	if c.URL == "" {
		if c.Adapter != lvlm.Gemini {
			v.Add(field+".url", "is missing; name the base of the API, for example http://127.0.0.1:8000/v1/")
		}
		return
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil:
		v.Add(field+".url", "is not a URL")
	case u.User != nil:
		v.Add(field+".url", "holds a name or password; use credential_env")
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		v.Add(field+".url", "want https://host/ or http://host/")
	case u.RawQuery != "" || u.Fragment != "":
		v.Add(field+".url", "holds a query or fragment; want the base of the API alone")
	case u.Scheme == "http" && !loopback(c.URL) && (c.Adapter != lvlm.OpenAI || !c.Attestation.Local):
		v.Add(field+".url", "http shows pictures and credential on the way; use https, or state attestation.local for a server of the same institution")
	case c.Adapter == lvlm.OpenAI && strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		v.Add(field+".url", "want the base without /chat/completions")
	}
}

// loopback reports whether the URL leads to this machine.
func loopback(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func (v *validation) limits(l *Limits, field string) {
	if l.Concurrency < 1 || l.Concurrency > 4096 {
		v.Add(field+".concurrency", "want 1 to 4096 requests in flight, got %d", l.Concurrency)
	}
	if l.RequestsPerMinute < 0 {
		v.Add(field+".requests_per_minute", "want a positive number, or leave it out for no limit, got %d", l.RequestsPerMinute)
	}
	if l.TokensPerMinute < 0 {
		v.Add(field+".tokens_per_minute", "want a positive number, or leave it out for no limit, got %d", l.TokensPerMinute)
	}
	if l.Timeout <= 0 {
		v.Add(field+".timeout", "want how long one request may take, for example 5m, got %s", l.Timeout)
	}
}

func (v *validation) price(p *Price, field string) {
	if !currencyForm.MatchString(p.Currency) {
		v.Add(field+".currency", "%q: want three capital letters, for example USD", p.Currency)
	}
	cached := p.Input
	if p.Cached != nil {
		cached = *p.Cached
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"input", p.Input}, {"cached", cached}, {"output", p.Output}} {
		if !(x.value >= 0) || math.IsInf(x.value, 0) {
			v.Add(field+"."+x.name, "want the price of a million tokens, 0 or more, got %v", x.value)
		}
	}
}
