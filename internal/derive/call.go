package derive

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/provenance"
)

// Call is one call to a model with everything that it depends on, whoever asks.
type Call struct {
	// Reproduction pays for it; Budget is the most that one may spend, in micro-units, 0 for no
	// limit.
	Reproduction string
	Budget       int64
	// About names the call in logs, by numbers and places alone.
	About string
	// Kind is one of the kinds of package ledger.
	Kind string
	Card *experiments.ModelCard
	// Class is that of the data that are sent: every message has it.
	Class     datause.Class
	ClassName string
	// PictureRule prepares the pictures.
	PictureRule picture.Rule
	Request     lvlm.Request
	Ledger      *ledger.Call
	Retry       ledger.Retry
	Materials   []provenance.Descriptor
	// Readable reports whether a reply that was cut off holds what was asked for. Nil: no such
	// reply does.
	Readable func(text string) bool
}

// identify fills in what the card says: who answers, through which code, decoding how.
func (c *Call) identify(d lvlm.Decoding) error {
	rule, err := picture.Parse(c.Card.Pictures)
	if err != nil {
		return contract.Fail(contract.ErrTypeSpec, "card %s: %w", c.Card.Name, err)
	}
	adapter, err := lvlm.AdapterVersion(c.Card.Adapter)
	if err != nil {
		return contract.Fail(contract.ErrTypeSpec, "card %s: %w", c.Card.Name, err)
	}
	c.PictureRule = rule
	c.Request = lvlm.Request{Model: c.Card.KnownAs(), Adapter: adapter, Pictures: rule.Version(), Decoding: d}
	return nil
}

// seal computes the key of the call.
func (c *Call) seal() error {
	doc, err := contract.CallKey(c.Request)
	if err == nil {
		c.Ledger, err = ledger.NewCall(doc)
	}
	if err != nil {
		return contract.Fail(contract.ErrTypeSpec, "%s: %w", c.About, err)
	}
	return nil
}

// Asked says who is asked what, beside the transcript.
type Asked struct {
	Reproduction string
	Budget       int64
	About, Kind  string
	Card         *experiments.ModelCard
	// Checkpoint, if set, is the weights that answer in place of the card's. They are asked for
	// under their digest as model name, and no other name may answer.
	Checkpoint artifacts.Digest
	Decoding   lvlm.Decoding
	// Draw tells repetitions apart; it is added to the seed.
	Draw int
	// DataUse is the class of what is sent.
	DataUse   string
	Retry     ledger.Retry
	Materials []provenance.Descriptor
}

// PictureFunc returns a stored picture as the call's rule sends it.
type PictureFunc func(ctx context.Context, c *Call, stored artifacts.Ref) (artifacts.Ref, error)

// NewCall returns the call that puts a transcript to a model. Its pictures are given as they are
// stored, and sent as the card's rule prepares them.
func NewCall(ctx context.Context, a Asked, t dialogue.Transcript, prepare PictureFunc) (*Call, error) {
	c := &Call{
		Reproduction: a.Reproduction, Budget: a.Budget, About: a.About, Kind: a.Kind, Card: a.Card,
		ClassName: a.DataUse, Retry: a.Retry, Materials: a.Materials,
	}
	c.Class, _ = datause.Parse(a.DataUse) // a class that cannot be read stays invalid, and goes nowhere
	if err := c.identify(a.Decoding); err != nil {
		return nil, err
	}
	if !a.Checkpoint.IsZero() {
		c.Request.Model, c.Request.Serve = lvlm.Identity{Weights: a.Checkpoint}, a.Checkpoint.String()
	}
	c.Request.Draw = a.Draw
	for i, m := range t.Messages {
		sent := dialogue.Message{Role: m.Role, Parts: make([]dialogue.Part, len(m.Parts))}
		for k, p := range m.Parts {
			sent.Parts[k] = p
			if p.Image == nil {
				continue
			}
			ref, err := prepare(ctx, c, *p.Image)
			if err != nil {
				return nil, fmt.Errorf("%s, message %d, part %d: %w", a.About, i, k, err)
			}
			sent.Parts[k].Image = &ref
			c.Materials = append(c.Materials, provenance.Describe(fmt.Sprintf("picture %d.%d", i, k), ref))
		}
		c.Request.Transcript.Messages = append(c.Request.Transcript.Messages, sent)
	}
	return c, c.seal()
}
