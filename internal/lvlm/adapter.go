package lvlm

import (
	"fmt"
	"slices"
	"strings"
)

// Names of adapters, as model cards and endpoint cards write them.
const (
	// OpenAI speaks the chat-completions protocol: OpenAI, vLLM and everything compatible.
	OpenAI = "openai"
	// Azure is the same protocol behind deployments and API versions.
	Azure = "azure"
	// Gemini is generateContent of Vertex AI.
	Gemini = "gemini"
)

// Versions of our own code between a request and what is sent. They enter keys: a version
// changes whenever the same request may be sent otherwise, or the same reply read otherwise.
// OpenAI and Azure share one, since they send the same messages.
const (
	ChatVersion   = "chat/1"
	GeminiVersion = "gemini/1"
)

var adapterVersions = map[string]string{OpenAI: ChatVersion, Azure: ChatVersion, Gemini: GeminiVersion}

// Adapters lists the names, sorted.
func Adapters() []string { return []string{Azure, Gemini, OpenAI} }

// AdapterVersion returns what Request.Adapter holds for a named adapter.
func AdapterVersion(name string) (string, error) {
	v, ok := adapterVersions[name]
	if !ok {
		return "", fmt.Errorf("no adapter is called %q; there are %s", name, strings.Join(Adapters(), ", "))
	}
	return v, nil
}

// chatFields are the fields of a chat request that have a place of their own; geminiExtras
// are what Decoding.Extra may hold for Gemini.
var (
	chatFields   = []string{"messages", "model", "n", "seed", "stop", "stream", "temperature", "tools", "top_p"}
	geminiExtras = []string{"media_resolution", "safety", "top_k"}
)

// CheckExtra reports a name that Decoding.Extra may not hold for the adapter version.
func CheckExtra(version, name string) error {
	switch version {
	case ChatVersion:
		if slices.Contains(chatFields, name) {
			return fmt.Errorf("%q has a field of its own or is not sent; extra holds what the protocol adds", name)
		}
	case GeminiVersion:
		if !slices.Contains(geminiExtras, name) {
			return fmt.Errorf("%q is not one of %s", name, strings.Join(geminiExtras, ", "))
		}
	}
	return nil
}
