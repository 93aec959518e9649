package segment

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/onnx"
)

// Version names what this package makes of a picture and a model's output. It changes
// whenever a mask may change for the same card, model and picture.
const Version = 1

// Identity is everything besides the picture that decides a mask: it belongs into the
// step key. The runtime's version and the number of threads are provenance instead.
type Identity struct {
	// Model is the digest of the model file.
	Model artifacts.Digest
	// Provider is what computes: "cpu" or "cuda".
	Provider string
	// Preprocessing names the way from picture to masks: the package version and the
	// resize rule, such as "segment-1/nearest".
	Preprocessing string
	// Settings is the digest of the card's input, output and channels: two cards that
	// read one model file differently are two things.
	Settings artifacts.Digest
}

// Identity returns the identity of inferences by this card on a provider.
//
// Errors: an unknown provider.
func (c *Card) Identity(provider string) (Identity, error) {
	p, err := onnx.ParseProvider(provider)
	if err != nil {
		return Identity{}, err
	}
	settings, err := artifacts.Canonical(map[string]any{
		"input": c.Input, "output": c.Output, "channels": c.Channels,
	})
	if err != nil {
		return Identity{}, fmt.Errorf("model card %s: %w", c.file.Path, err)
	}
	return Identity{
		Model: c.digest, Provider: p.String(),
		Preprocessing: fmt.Sprintf("segment-%d/%s", Version, c.Input.Resize),
		Settings:      artifacts.Sum(settings),
	}, nil
}

// Params returns the identity as a step key's parameters.
func (i Identity) Params() map[string]any {
	return map[string]any{
		"model": i.Model.String(), "provider": i.Provider,
		"preprocessing": i.Preprocessing, "settings": i.Settings.String(),
	}
}
