package endpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"time"

	"cxrepro/internal/datause"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/strictyaml"
)

// Card describes one endpoint.
type Card struct {
	Name string `yaml:"name"`
	// Adapter is openai, azure or gemini.
	Adapter string `yaml:"adapter"`
	// URL is the base of the API. Gemini may leave it out: the location decides.
	URL string `yaml:"url,omitempty"`
	// Models maps model cards' names to the names that are sent.
	Models map[string]string `yaml:"models"`
	// CredentialEnv names the environment variable with the credential; empty means that
	// none is sent (Gemini: the machine's default credentials).
	CredentialEnv string `yaml:"credential_env,omitempty"`
	// APIVersion is needed by Azure; Gemini takes v1 without it.
	APIVersion string `yaml:"api_version,omitempty"`
	// LimitField is the field that carries the token limit in chat requests: max_tokens, or
	// max_completion_tokens, which is Azure's default.
	LimitField string `yaml:"limit_field,omitempty"`
	// Project and Location belong to Gemini.
	Project  string `yaml:"project,omitempty"`
	Location string `yaml:"location,omitempty"`
	Limits   Limits `yaml:"limits"`
	// Price may be left out; calls without one are counted as unpriced.
	Price       *Price              `yaml:"price,omitempty"`
	Attestation datause.Attestation `yaml:"attestation,omitempty"`
}

// Limits bounds what is sent. Zero rates mean no limit.
type Limits struct {
	RequestsPerMinute int `yaml:"requests_per_minute,omitempty"`
	TokensPerMinute   int `yaml:"tokens_per_minute,omitempty"`
	Concurrency       int `yaml:"concurrency"`
	// Timeout bounds one request from its first byte to the last of its reply.
	Timeout time.Duration `yaml:"timeout"`
}

// Price is what a million tokens cost.
type Price struct {
	Currency string  `yaml:"currency"`
	Input    float64 `yaml:"input"`
	// Cached is the price of prompt tokens from the endpoint's cache; Input without it.
	Cached *float64 `yaml:"cached,omitempty"`
	Output float64  `yaml:"output"`
}

// Unit is the currency.
func (p Price) Unit() string { return p.Currency }

// Cost is the price of usage in millionths of the currency, rounded up. Hidden tokens are
// part of the completion.
func (p Price) Cost(u dialogue.Usage) int64 {
	cached := p.Input
	if p.Cached != nil {
		cached = *p.Cached
	}
	sum := float64(float64(u.Prompt-u.Cached)*p.Input) + float64(float64(u.Cached)*cached)
	sum = math.Ceil(sum + float64(float64(u.Completion)*p.Output) - 1e-9)
	if sum >= math.MaxInt64 {
		return math.MaxInt64
	}
	return max(0, int64(sum))
}

// Set is the endpoints of one file.
type Set struct {
	Endpoints []Card `yaml:"endpoints,omitempty"`
	// Segmenters are services that outline what words name.
	Segmenters []Segmenter `yaml:"segmenters,omitempty"`
}

// Load reads and checks a file of endpoint cards.
//
// Errors: *strictyaml.Error with every problem found, each with file and line.
func Load(file string) (*Set, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("endpoint cards: %w", err)
	}
	return Parse(file, data)
}

// For returns the endpoint that serves a model card.
func (s *Set) For(model string) (*Card, bool) {
	for i := range s.Endpoints {
		if _, ok := s.Endpoints[i].Models[model]; ok {
			return &s.Endpoints[i], true
		}
	}
	return nil, false
}

// Served lists the model cards that the endpoint serves, sorted.
func (c *Card) Served() []string {
	out := make([]string, 0, len(c.Models))
	for m := range c.Models {
		out = append(out, m)
	}
	sort.Strings(out)
	return out
}

// AdapterVersion is what requests to the endpoint hold as their adapter: openai and azure send
// the same messages, so either serves the other's model cards.
func (c *Card) AdapterVersion() string {
	v, err := lvlm.AdapterVersion(c.Adapter)
	if err != nil {
		return err.Error() // a card that was parsed has a known adapter
	}
	return v
}

// ID names the pair of endpoint and credential, for leases and limiters: a digest that shows
// neither.
func (c *Card) ID(getenv func(string) string) string {
	h := sha256.New()
	for _, s := range []string{"cxrepro endpoint", c.Adapter, strings.TrimRight(c.URL, "/"), c.Project, c.Location, c.credential(getenv).Reveal()} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return "endpoint-" + hex.EncodeToString(h.Sum(nil)[:16])
}

func (c *Card) credential(getenv func(string) string) lvlm.Secret {
	if c.CredentialEnv == "" {
		return lvlm.Secret{}
	}
	return lvlm.NewSecret(strings.TrimSpace(getenv(c.CredentialEnv)))
}

// Parse checks and decodes the bytes of such a file; file is its name for messages.
func Parse(file string, data []byte) (*Set, error) {
	var s Set
	origin, err := strictyaml.Decode(file, data, "endpoint card", &s)
	if err != nil {
		return nil, err
	}
	v := &validation{strictyaml.Findings{File: file, Origin: origin}}
	v.set(&s)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return &s, nil
}
