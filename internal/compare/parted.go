package compare

import (
	"fmt"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// StepScore is how recorded replies and verdicts become scores: a step without keys of its own.
const StepScore = "score"

// stepOrder is the order of the pipeline.
var stepOrder = []string{
	contract.StepPixelFacts, contract.StepSegment, contract.StepImportMasks, contract.StepAssess, contract.StepSummarise,
	contract.StepDrawCases, contract.StepBuildCase, contract.StepImportCase, contract.StepMeasure, contract.StepCall,
	contract.StepTool, StepScore, contract.StepTabulate, contract.StepTabulateAgent,
}

// StepState says how far two sides agree in one step.
type StepState struct {
	Step string `json:"step"`
	// Compared counts pairs of items; of them so many have other results. Keys counts pairs
	// whose keys were compared, KeysDiffer those with other keys.
	Compared      int `json:"compared"`
	ResultsDiffer int `json:"results_differ"`
	Keys          int `json:"keys"`
	KeysDiffer    int `json:"keys_differ"`

	first *Parted
}

// Parted is where two reproductions part.
type Parted struct {
	Step string `json:"step"`
	// Item is what the step worked on.
	Item string        `json:"item"`
	KeyA artifacts.Key `json:"key_a,omitzero"`
	KeyB artifacts.Key `json:"key_b,omitzero"`
	// Differs are the fields in which the key documents differ, the first one first. None
	// where a step has no keys, or one key has two results.
	Differs []provenance.Difference `json:"differs,omitempty"`
	// SameKey: one key, two results.
	SameKey bool `json:"same_key,omitempty"`
	// Why says more in words.
	Why string `json:"why,omitempty"`
}

// titled reports whether nothing but what tables print about the experiment differs.
func (p *Parted) titled() bool {
	for _, d := range p.Differs {
		if !strings.HasPrefix(d.Field, "params.title") {
			return false
		}
	}
	return len(p.Differs) > 0
}

// step is the state of a step, begun when it is first asked for.
func (c *comparison) step(name string) *StepState {
	if c.steps == nil {
		c.steps = map[string]*StepState{}
	}
	s := c.steps[name]
	if s == nil {
		s = &StepState{Step: name}
		c.steps[name] = s
	}
	return s
}

// part notes where a step's items part, the first time. Calls and scores take turns in a dialogue:
// once they part in one of them, what the other says follows from it.
func (c *comparison) part(p Parted) {
	s := c.step(p.Step)
	if p.Step == contract.StepCall && c.step(StepScore).first != nil || p.Step == StepScore && c.step(contract.StepCall).first != nil {
		return
	}
	if s.first == nil {
		s.first = &p
	}
}

// partByKeys compares the keys of one item, and notes that they part where they do, or where
// other says that the results differ.
func (c *comparison) partByKeys(s *StepState, item string, a, b artifacts.Key, other bool) error {
	c.sample(0, s.Step, a)
	c.sample(1, s.Step, b)
	s.Keys++
	if a == b {
		if other {
			c.part(Parted{Step: s.Step, Item: item, KeyA: a, KeyB: b, SameKey: true, Why: "one key, two results"})
		}
		return nil
	}
	s.KeysDiffer++
	if s.first != nil {
		return nil
	}
	p := Parted{Step: s.Step, Item: item, KeyA: a, KeyB: b}
	x, err := c.a.Statement(c.ctx, a)
	if err != nil {
		return err
	}
	y, err := c.b.Statement(c.ctx, b)
	if err != nil {
		return err
	}
	if x == nil || y == nil {
		p.Why = "a statement is gone, so the fields are not known"
	} else {
		how, err := provenance.Compare(x.Predicate.KeyDocument, y.Predicate.KeyDocument)
		if err != nil {
			return err
		}
		p.Differs = how.Differs
	}
	c.part(p)
	return nil
}

// partByResult finds the keys that gave an item's result on each side and compares them. Of
// several keys it takes the first whose document fits; nil fits any.
func (c *comparison) partByResult(s *StepState, item string, a, b artifacts.Digest, fits func(side int, fields map[string]string) bool) error {
	if s.first != nil {
		return nil
	}
	var keys [2]artifacts.Key
	for i, result := range []artifacts.Digest{a, b} {
		side := []*Side{c.a, c.b}[i]
		made, err := side.Made(c.ctx, result)
		if err != nil {
			return err
		}
		for _, key := range made {
			if key.Step != s.Step || !keys[i].IsZero() {
				continue
			}
			if fits != nil {
				st, err := side.Statement(c.ctx, key)
				if err != nil {
					return err
				}
				if st == nil {
					continue
				}
				fields, err := provenance.Fields(st.Predicate.KeyDocument)
				if err != nil {
					return fmt.Errorf("statement of %s: %w", key.Short(), err)
				}
				if !fits(i, fields) {
					continue
				}
			}
			keys[i] = key
		}
	}
	if keys[0].IsZero() || keys[1].IsZero() {
		if a != b {
			c.part(Parted{Step: s.Step, Item: item, KeyA: keys[0], KeyB: keys[1], Why: "the results differ; the record of one is gone"})
		}
		return nil
	}
	return c.partByKeys(s, item, keys[0], keys[1], a != b)
}

// mostSampled is how many keys of a step tell code and environment.
const mostSampled = 32

func (c *comparison) sample(side int, step string, key artifacts.Key) {
	if c.samples[side] == nil {
		c.samples[side] = map[string][]artifacts.Key{}
	}
	if len(c.samples[side][step]) < mostSampled {
		c.samples[side][step] = append(c.samples[side][step], key)
	}
}

// specWords names the fields of the specs that differ and begin with one of some words.
func (c *comparison) specWords(begin ...string) string {
	var out []string
	for _, d := range c.d.Spec {
		for _, b := range begin {
			if strings.HasPrefix(d.Field, b) {
				out = append(out, d.Field+" is "+d.Ours+" and "+d.Other)
				break
			}
		}
	}
	return strings.Join(out, "; ")
}
