package experiments

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/strictyaml"
)

// cardNameForm is a name of words, with points for versions in names of models.
var cardNameForm = regexp.MustCompile(`^[a-z0-9]+([-.][a-z0-9]+)*$`)

// maxRetries bounds ModelCard.Retries: each is a call that may be paid for.
const maxRetries = 5

// maxDraws is the most draws an evaluation asks for; their numbers are added to the seed.
const maxDraws = 3

// ParseModelCard decodes and validates a model card. file is its name for messages.
//
// Errors: *SpecError with every problem found, each with file and line.
func ParseModelCard(file string, data []byte) (*ModelCard, error) {
	var c ModelCard
	origin, err := strictyaml.Decode(file, data, "model card", &c)
	if err != nil {
		return nil, err
	}
	v := &validation{strictyaml.Findings{File: file, Origin: origin}}
	v.modelCard(&c)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return &c, nil
}

// AdapterVersion is what requests to the model hold as their adapter.
func (c *ModelCard) AdapterVersion() string {
	v, err := lvlm.AdapterVersion(c.Adapter)
	if err != nil {
		return err.Error() // a card that was parsed has a known adapter
	}
	return v
}

// PictureRule is the rule that prepares pictures for the model.
func (c *ModelCard) PictureRule() picture.Rule {
	r, err := picture.Parse(c.Pictures)
	if err != nil {
		return 0 // a card that was parsed names a rule
	}
	return r
}

// UnpinnedError says that a card does not say which weights answer.
type UnpinnedError struct {
	Card, Reason string
	// Provided tells a provider's model from open weights.
	Provided bool
}

func (e *UnpinnedError) Error() string {
	way := "write identity.weights (docs/endpoints.md says how the digest of weight files is made)"
	if e.Provided {
		way = "name a dated snapshot of the provider in identity.snapshot and take identity.unpinned out"
	}
	return fmt.Sprintf("model card %s is not pinned: %s\nhint: %s, or take results that are marked as unpinned with --allow-unpinned", e.Card, e.Reason, way)
}

// Pinned reports a card whose identity says that nobody knows exactly what answers.
func (c *ModelCard) Pinned() error {
	if c.Identity.Unpinned == "" {
		return nil
	}
	return &UnpinnedError{Card: c.Name, Reason: c.Identity.Unpinned, Provided: c.Identity.Provider != ""}
}

func (v *validation) modelCard(c *ModelCard) {
	if !cardNameForm.MatchString(c.Name) || len(c.Name) > 64 {
		v.Add("name", "%q: want lower-case letters and digits in words joined by '-' or '.', at most 64", c.Name)
	}
	v.title("title", c.Title)
	version, err := lvlm.AdapterVersion(c.Adapter)
	if err != nil {
		v.Add("adapter", "%v", err)
		return
	}
	v.identity(c)
	if _, err := picture.Parse(c.Pictures); err != nil {
		v.Add("pictures", "%v", err)
	}
	if c.MaxPictures < 0 {
		v.Add("max_pictures", "want 0 (no limit) or more, got %d", c.MaxPictures)
	}
	if c.Retries < 0 || c.Retries > maxRetries {
		v.Add("retries", "want 0 to %d, got %d", maxRetries, c.Retries)
	}
	v.decoding(c, "greedy", &c.Greedy, version)
	if t := c.Greedy.Temperature; t != nil && *t != 0 {
		v.Add("greedy.temperature", "want 0, got %v; what samples stands in draws", *t)
	}
	if c.Draws != nil {
		v.decoding(c, "draws", c.Draws, version)
		if t := c.Draws.Temperature; t != nil && *t == 0 {
			v.Add("draws.temperature", "0 draws the same reply each time; say what samples")
		}
	}
}

// identity checks that the card says what answers, or that nobody knows.
func (v *validation) identity(c *ModelCard) {
	id := c.Identity
	provider := id.Provider != "" || id.Snapshot != ""
	switch {
	case provider && (id.Provider == "" || id.Snapshot == ""):
		v.Add("identity", "provider and snapshot go together: who serves the model, and which dated version")
	case provider && !id.Weights.IsZero():
		v.Add("identity", "want weights, or provider with snapshot, not both")
	case id.Unpinned != "" && !id.Weights.IsZero():
		v.Add("identity.unpinned", "does not go with weights: a digest pins the model")
	case !provider && id.Weights.IsZero() && id.Unpinned == "":
		v.Add("identity", "want weights, or provider with snapshot, or unpinned with the reason why nobody knows")
	}
	if c.Adapter == lvlm.Gemini && !provider {
		v.Add("identity", "adapter gemini serves snapshots of a provider, not weights")
	}
}

// decoding checks one way of sampling. What a server would fill in from settings of its own
// must be stated, since those settings stand in no key.
func (v *validation) decoding(c *ModelCard, field string, d *lvlm.Decoding, version string) {
	reasoning := has(d.Extra, "reasoning_effort")
	switch t := d.Temperature; {
	case t == nil && !reasoning:
		v.Add(field+".temperature", "is missing; the server would choose one")
	case t != nil && (*t < 0 || *t > 2 || math.IsNaN(*t)):
		v.Add(field+".temperature", "want 0 to 2, got %v", *t)
	}
	if p := d.TopP; p != nil && (!(*p > 0) || *p > 1) {
		v.Add(field+".top_p", "want more than 0 and at most 1, got %v", *p)
	}
	if d.MaxTokens < 0 {
		v.Add(field+".max_tokens", "want a positive number, got %d", d.MaxTokens)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Extra)) {
		if err := lvlm.CheckExtra(version, name); err != nil {
			v.Add(field+".extra."+name, "%v", err)
		}
	}
	if slices.Contains(d.Stop, "") {
		v.Add(field+".stop", "an empty text would stop every reply")
	}
	if version == lvlm.GeminiVersion {
		v.geminiDecoding(field, d)
		return
	}
	if d.ThinkingBudget != nil {
		v.Add(field+".thinking_budget", "goes only with adapter gemini")
	}
	if d.MaxTokens == 0 {
		v.Add(field+".max_tokens", "is missing; the server would answer up to its context limit")
	}
	if s := d.Seed; s != nil && *s < 0 {
		v.Add(field+".seed", "want 0 or more, got %d", *s)
	}
	if c.Identity.Provider == "" {
		v.ownServer(field, d)
	}
}

// ownServer asks for the settings that servers of open weights take from a file beside the
// weights when a request leaves them out.
func (v *validation) ownServer(field string, d *lvlm.Decoding) {
	if d.TopP == nil {
		v.Add(field+".top_p", "is missing; a server of open weights may take it from the model's generation_config.json")
	}
	for _, name := range []string{"top_k", "min_p", "repetition_penalty"} {
		if !has(d.Extra, name) {
			v.Add(field+".extra."+name, "is missing; a server of open weights may take it from the model's generation_config.json")
		}
	}
}

func (v *validation) geminiDecoding(field string, d *lvlm.Decoding) {
	if d.ThinkingBudget == nil {
		v.Add(field+".thinking_budget", "is missing; the service would choose one, and hidden tokens count against the limit (0 off, -1 as the service likes)")
	} else if *d.ThinkingBudget < -1 || *d.ThinkingBudget > math.MaxInt32 {
		v.Add(field+".thinking_budget", "want -1, 0 or a number of tokens, got %d", *d.ThinkingBudget)
	}
	if s := d.Seed; s != nil && (*s < 0 || *s > math.MaxInt32-maxDraws) {
		v.Add(field+".seed", "want 0 to %d, got %d", math.MaxInt32-maxDraws, *s)
	}
	if d.MaxTokens > math.MaxInt32 {
		v.Add(field+".max_tokens", "want at most %d, got %d", math.MaxInt32, d.MaxTokens)
	}
	if !has(d.Extra, "safety") {
		v.Add(field+".extra.safety", "is missing; state the threshold of the adjustable harm categories, for example BLOCK_NONE")
	}
	for _, name := range slices.Sorted(maps.Keys(geminiTexts)) {
		if x, ok := d.Extra[name]; ok {
			allowed := geminiTexts[name]
			if s, _ := x.(string); !slices.Contains(allowed, s) {
				v.Add(field+".extra."+name, "%v is not one of %s", x, strings.Join(allowed, ", "))
			}
		}
	}
}

var geminiTexts = map[string][]string{
	"safety":           {"BLOCK_LOW_AND_ABOVE", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_NONE", "BLOCK_ONLY_HIGH", "OFF"},
	"media_resolution": {"HIGH", "LOW", "MEDIUM"},
}

func has(m map[string]any, name string) bool { _, ok := m[name]; return ok }
