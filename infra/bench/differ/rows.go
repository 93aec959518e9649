package differ

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"cxrepro/infra/bench/dense"
	"cxrepro/internal/chexstruct"
)

// Override replaces a few rows of the threshold table for a case, mostly by a value that a
// rule of this very case has, so that equality decides. Rows that the other side refuses
// keep their value. It returns the rules for both sides and what was replaced.
func Override(c *dense.Case, p chexstruct.Preset, sw dense.Switches, seed, i uint64) (dense.Switches, *chexstruct.Rules, error) {
	r := rand.New(rand.NewPCG(seed, i+1<<40))
	found := values(dense.Assess(c, sw))
	names := slices.Sorted(maps.Keys(dense.Limits))
	sw.Over = map[string][]float64{}
	given := map[string]any{}
	for range 3 + r.IntN(12) {
		name := names[r.IntN(len(names))]
		v := slices.Clone(dense.Limits[name])
		k := r.IntN(len(v))
		if seen := found[rule(name)]; len(seen) > 0 && r.IntN(5) > 0 {
			v[k] = seen[r.IntN(len(seen))]
			if irrational(name) {
				v[k] = float64(v[k] * (1 + float64(2*r.IntN(2)-1)*1e-6))
			}
		} else {
			v[k] = float64(v[k] * (0.5 + r.Float64()))
			if r.IntN(2) == 0 {
				v[k] = math.Round(v[k]*100) / 100
			}
		}
		given[name] = any(v)
		if len(v) == 1 {
			given[name] = v[0]
		}
		if _, err := chexstruct.NewRules(p, given); err != nil {
			delete(given, name)
			delete(sw.Over, name)
			continue
		}
		sw.Over[name] = v
	}
	rules, err := chexstruct.NewRules(p, given)
	return sw, rules, err
}

// irrational tells that a rule's value is a root or a long sum, whose last bits depend on the
// order of steps: equality with such a value says nothing.
func irrational(row string) bool {
	for _, part := range []string{"gradient", "_std", "midline_residual", "heart_box.dist", "distances_nonneg"} {
		if strings.Contains(row, part) {
			return true
		}
	}
	return false
}

// rule is the rule, or the task for its label, that a row belongs to.
func rule(row string) string {
	task, rest, _ := strings.Cut(row, ".")
	name, _, _ := strings.Cut(rest, ".")
	if strings.HasPrefix(name, "label") || name == "ctr" || name == "asymmetry" || name == "shift" {
		return cmp.Or(map[string]string{"xragent": "xragent." + name}[task], task)
	}
	return task + "." + name
}

// values are the numbers that rules and label rules of a result looked at, by rule.
func values(res *dense.Result) map[string][]float64 {
	out := map[string][]float64{}
	add := func(key string, v any) {
		switch x := v.(type) {
		case float64:
			out[key] = append(out[key], x)
		case int:
			out[key] = append(out[key], float64(x))
		case []float64:
			out[key] = append(out[key], x...)
		case [2]float64:
			out[key] = append(out[key], x[:]...)
		}
	}
	for _, task := range dense.Tasks {
		f := res.Tasks[task]
		for _, name := range slices.Sorted(maps.Keys(f.QC)) {
			add(strings.TrimSuffix(strings.TrimSuffix(name, "_right"), "_left"), f.QC[name].Value)
		}
		add(task, cmp.Or(f.IndexRounded, f.Index))
	}
	for _, part := range []string{"apex", "side", "bottom"} {
		for _, lung := range []string{"right", "left"} {
			add("inclusion", res.Tasks["inclusion"].Measurements[part+"_ratio_"+lung])
		}
	}
	for name, q := range res.Global.QC {
		add(name, q.Value)
	}
	for name, g := range map[string]*dense.Graded{"ctr": res.XRagent.CTR, "asymmetry": res.XRagent.Asymmetry, "shift": res.XRagent.Shift} {
		if g != nil {
			add("xragent."+name, g.Rounded)
			add("xragent.gate", g.Value)
		}
	}
	return out
}
