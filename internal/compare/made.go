package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/ledger"
	"cxrepro/internal/provenance"
)

// Made is one fact about who made the results that is not the same on both sides: of code or of
// environment. A side lists every value that statements of its steps name.
type Made struct {
	Field string   `json:"field"`
	Steps []string `json:"steps"`
	A     []string `json:"a"`
	B     []string `json:"b"`
}

// facts are the values of every field by step.
type facts map[string]map[string]map[string]bool

func (f facts) add(step, field, value string) {
	if value == "" {
		return
	}
	if f[field] == nil {
		f[field] = map[string]map[string]bool{}
	}
	if f[field][step] == nil {
		f[field][step] = map[string]bool{}
	}
	f[field][step][value] = true
}

// made compares code and environment as the statements of the steps name them: those of the keys
// that were compared, at most mostSampled of a step.
func (c *comparison) made() error {
	var code, where [2]facts
	for side, s := range []*Side{c.a, c.b} {
		code[side], where[side] = facts{}, facts{}
		for step, keys := range c.samples[side] {
			for _, key := range keys {
				st, err := s.Statement(c.ctx, key)
				if err != nil {
					return err
				}
				if st == nil {
					continue
				}
				if err := told(step, st, code[side], where[side]); err != nil {
					return fmt.Errorf("statement of %s: %w", key.Short(), err)
				}
			}
		}
		for _, w := range s.Receipt.Workers {
			where[side].add("", "workers", w.Name)
		}
		where[side].add("", "determinism", s.Receipt.Determinism)
	}
	c.d.Code = differing(code)
	c.d.Environment = differing(where)
	return nil
}

// told reads what a statement says of its making.
func told(step string, st *provenance.Statement, code, where facts) error {
	p := st.Predicate
	fields, err := provenance.Fields(p.KeyDocument)
	if err != nil {
		return err
	}
	code.add(step, "step version", fields["version"])
	code.add(step, "builder", p.Builder.ID)
	code.add(step, "version", p.Code.Version)
	commit := p.Code.Commit
	if p.Code.Dirty {
		commit += " with changes"
	}
	code.add(step, "commit", commit)
	if !p.Code.Binary.IsZero() {
		code.add(step, "binary", p.Code.Binary.Short())
	}
	e := p.Environment
	where.add(step, "go", e.Go)
	where.add(step, "system", strings.Trim(e.OS+"/"+e.Arch, "/"))
	where.add(step, "processor", e.CPU)
	where.add(step, "onnxruntime", e.ONNXRuntime)
	where.add(step, "provider", e.Provider)
	where.add(step, "host", p.Invocation.Host)
	if step != contract.StepCall {
		return nil
	}
	return served(step, p.Parameters, where)
}

// served reads who answered a call.
func served(step string, parameters map[string]any, where facts) error {
	data, err := json.Marshal(parameters)
	if err != nil {
		return err
	}
	var doc struct {
		Call ledger.Facts `json:"call"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	where.add(step, "card", doc.Call.Card)
	where.add(step, "endpoint", doc.Call.Endpoint)
	where.add(step, "served model", doc.Call.Served.Model)
	where.add(step, "served fingerprint", doc.Call.Served.Fingerprint)
	return nil
}

// differing lists the fields whose values are not the same on both sides; steps with the same
// values share a line. Steps that only one side has are left out.
func differing(sides [2]facts) []Made {
	out := []Made{}
	for _, field := range slices.Sorted(maps.Keys(sides[0])) {
		for _, step := range slices.Sorted(maps.Keys(sides[0][field])) {
			a, b := sides[0][field][step], sides[1][field][step]
			if b == nil || maps.Equal(a, b) {
				continue
			}
			m := Made{Field: field, A: slices.Sorted(maps.Keys(a)), B: slices.Sorted(maps.Keys(b))}
			i := slices.IndexFunc(out, func(o Made) bool {
				return o.Field == m.Field && slices.Equal(o.A, m.A) && slices.Equal(o.B, m.B)
			})
			if i < 0 {
				i, out = len(out), append(out, m)
			}
			if step != "" {
				out[i].Steps = append(out[i].Steps, step)
			}
		}
	}
	return out
}
