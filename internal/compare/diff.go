package compare

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

// Diff is what is different between two reproductions, A and B.
type Diff struct {
	Format string `json:"format"`
	A      Head   `json:"a"`
	B      Head   `json:"b"`
	// Equal: no figure and no outcome differs. Identical: the result digests are equal too.
	Equal     bool   `json:"equal"`
	Identical bool   `json:"identical"`
	Verdict   string `json:"verdict"`
	// Spec lists the fields of the plans that differ, after --set; models by the name of their
	// card.
	Spec []provenance.Difference `json:"spec"`
	// Inputs say which images and cases are not on both sides.
	Inputs Inputs `json:"inputs"`
	// Code and Environment list, step by step, what is not the same on both sides.
	Code        []Made `json:"code"`
	Environment []Made `json:"environment"`
	// Parted is the first step in which they part; nil where they do not. Steps has every
	// step that was compared.
	Parted *Parted     `json:"parted"`
	Steps  []StepState `json:"steps"`
	// Cells are the figures that differ, of so many that both have. Unpaired names what only one
	// side measured, asked or evaluated.
	Cells      []Cell   `json:"cells"`
	Compared   int      `json:"compared_cells"`
	Unpaired   []string `json:"unpaired"`
	Flips      []Flip   `json:"flips"`
	FlipsAll   int      `json:"flips_all"`
	FlipsCases int      `json:"flips_of"`
}

// DiffFormat is Diff.Format.
const DiffFormat = "cxrepro-diff-1"

// Head names a side.
type Head struct {
	Reproduction string           `json:"reproduction_id"`
	Name         string           `json:"name"`
	Rules        string           `json:"rules"`
	Result       artifacts.Digest `json:"result_digest"`
	// Complete: nothing is undetermined.
	Complete bool `json:"complete"`
}

// Compare compares two reproductions.
//
// Errors: those of the sources.
func Compare(ctx context.Context, a, b *Side, o Options) (*Diff, error) {
	c := &comparison{ctx: ctx, a: a, b: b, o: o.withDefaults(), d: &Diff{
		Format: DiffFormat, A: head(a), B: head(b), Spec: []provenance.Difference{}, Code: []Made{}, Environment: []Made{},
		Steps: []StepState{}, Cells: []Cell{}, Unpaired: []string{}, Flips: []Flip{},
	}}
	for _, part := range []func() error{c.spec, c.images, c.findings, c.benchmark, c.evaluations, c.results, c.agents, c.made} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	c.conclude()
	return c.d, nil
}

func head(s *Side) Head {
	r := s.Receipt
	return Head{Reproduction: r.Reproduction, Name: r.Name, Rules: r.Rules, Result: r.ResultDigest, Complete: !r.Incomplete()}
}

// comparison is a diff in the making.
type comparison struct {
	ctx  context.Context
	a, b *Side
	o    Options
	d    *Diff

	// windows of both sides.
	windows [2][]Window
	// samples are keys of both sides by step, whose statements tell code and environment.
	samples [2]map[string][]artifacts.Key
	steps   map[string]*StepState
}

// both reports whether both sides have something. What only one of them has is noted.
func (c *comparison) both(what string, a, b bool) bool {
	switch {
	case a && !b:
		c.d.Unpaired = append(c.d.Unpaired, what+" is not in B")
	case b && !a:
		c.d.Unpaired = append(c.d.Unpaired, what+" is not in A")
	}
	return a && b
}

func (c *comparison) conclude() {
	d := c.d
	d.Identical = d.A.Result == d.B.Result
	d.Equal = d.Identical || len(d.Cells)+d.FlipsAll+len(d.Unpaired) == 0 && !d.Inputs.differ()
	for _, name := range stepOrder {
		if s := c.steps[name]; s != nil {
			d.Steps = append(d.Steps, *s)
			// What only titles differ in parts nothing that comes later.
			if s.first != nil && (d.Parted == nil || d.Parted.titled()) {
				d.Parted = s.first
			}
		}
	}
	d.Verdict = d.verdict()
}
