package endpoint

import (
	"context"
	"fmt"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/gemini"
	"cxrepro/internal/lvlm/openai"
)

// Options says what an endpoint is opened for.
type Options struct {
	// Model is the model card's name.
	Model string
	// Getenv reads the environment, for the credential.
	Getenv func(string) string
}

// Open returns what asks the model at this endpoint. Nothing is sent yet.
//
// Errors: *lvlm.CallError of class Denied when the credential's variable is empty, of class
// Configured when the card does not serve the model.
func (c *Card) Open(ctx context.Context, o Options) (lvlm.Asker, error) {
	sent, ok := c.Models[o.Model]
	if !ok {
		return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: fmt.Sprintf("endpoint %s does not serve model %s", c.Name, o.Model)}
	}
	key := c.credential(o.Getenv)
	if c.CredentialEnv != "" && key.IsZero() {
		return nil, &lvlm.CallError{Class: lvlm.Denied, Detail: fmt.Sprintf("the environment variable %s, which endpoint %s takes its credential from, is empty", c.CredentialEnv, c.Name)}
	}
	switch c.Adapter {
	case lvlm.OpenAI, lvlm.Azure:
		return openai.New(openai.Options{
			Endpoint: c.Name, URL: c.URL, Model: sent, Key: key, APIVersion: c.APIVersion, LimitField: c.LimitField,
			Timeout: c.Limits.Timeout, Concurrency: c.Limits.Concurrency,
		})
	case lvlm.Gemini:
		credentials, err := gemini.Credentials(key.Reveal())
		if err != nil {
			return nil, err
		}
		return gemini.New(ctx, gemini.Options{
			Endpoint: c.Name, URL: c.URL, Project: c.Project, Location: c.Location, Model: sent, APIVersion: c.APIVersion,
			Credentials: credentials, Timeout: c.Limits.Timeout, Concurrency: c.Limits.Concurrency,
		})
	}
	return nil, &lvlm.CallError{Class: lvlm.Configured, Detail: fmt.Sprintf("endpoint %s: no adapter is called %q", c.Name, c.Adapter)}
}
