package endpoint

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/textseg"
)

// Segmenter describes one text-prompted segmenter by the contract of package textseg.
type Segmenter struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
	// Model is the model's name with its version, as specs name it and replies repeat it.
	Model string `yaml:"model"`
	// CredentialEnv names the environment variable with the bearer token; empty sends none.
	CredentialEnv string `yaml:"credential_env,omitempty"`
	// Timeout bounds one request.
	Timeout     time.Duration       `yaml:"timeout"`
	Attestation datause.Attestation `yaml:"attestation,omitempty"`
}

// mostSegmenting is the longest time for one request: less than what a worker may be silent.
const mostSegmenting = 100 * time.Second

// Segmenter returns the service that serves a model.
func (s *Set) Segmenter(model string) (*Segmenter, bool) {
	for i := range s.Segmenters {
		if s.Segmenters[i].Model == model {
			return &s.Segmenters[i], true
		}
	}
	return nil, false
}

// Open returns what asks the service about pictures of a data-use class. Nothing is sent yet, and
// nothing ever is that the attestation does not allow.
//
// Errors: *lvlm.CallError of class Denied when the credential's variable is empty.
func (s *Segmenter) Open(class datause.Class, getenv func(string) string, picture func(ctx context.Context, ref artifacts.Ref) ([]byte, error)) (*textseg.Client, error) {
	var token lvlm.Secret
	if s.CredentialEnv != "" {
		token = lvlm.NewSecret(strings.TrimSpace(getenv(s.CredentialEnv)))
		if token.IsZero() {
			return nil, &lvlm.CallError{Class: lvlm.Denied, Detail: fmt.Sprintf("the environment variable %s, which segmenter %s takes its credential from, is empty", s.CredentialEnv, s.Name)}
		}
	}
	return textseg.New(textseg.Options{
		URL: s.URL, Model: s.Model, Credential: token, Class: class, Attestation: s.Attestation, Timeout: s.Timeout, Picture: picture,
	})
}

func (v *validation) segmenters(list []Segmenter) {
	names, models := map[string]bool{}, map[string]bool{}
	for i := range list {
		s, field := &list[i], fmt.Sprintf("segmenters[%d]", i)
		if !nameForm.MatchString(s.Name) || len(s.Name) > 64 {
			v.Add(field+".name", "%q: want lower-case letters and digits in words joined by '-' or '.', at most 64", s.Name)
		}
		if names[s.Name] {
			v.Add(field+".name", "%q stands twice", s.Name)
		}
		if s.Model == "" {
			v.Add(field+".model", "is missing; name the model with its version, as agent.segmenter of a spec does")
		}
		if models[s.Model] {
			v.Add(field+".model", "%q is served twice; one service answers for a model", s.Model)
		}
		names[s.Name], models[s.Model] = true, true
		if e := s.CredentialEnv; e != "" && !variableForm.MatchString(e) {
			v.Add(field+".credential_env", "want the name of an environment variable; a credential itself never stands in a card")
		}
		v.address(&Card{Adapter: lvlm.OpenAI, URL: s.URL, Attestation: s.Attestation}, field)
		if s.Timeout <= 0 || s.Timeout > mostSegmenting {
			v.Add(field+".timeout", "want how long one request may take, at most %s, got %s", mostSegmenting, s.Timeout)
		}
	}
}
