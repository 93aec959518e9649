package differ

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"cxrepro/infra/bench/dense"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// Input turns a dense case into the run-length implementation's input.
func Input(c *dense.Case) (chexstruct.Input, error) {
	masks, err := anatomy.NewMasks(c.W, c.H, c.W, c.H, anatomy.AllSet())
	if err != nil {
		return chexstruct.Input{}, err
	}
	in := chexstruct.Input{Masks: masks, Boxes: map[string]geom.Box{}, NativeWidth: c.NativeWidth}
	for name, p := range c.Masks {
		s, ok := anatomy.ByName(name)
		if !ok {
			return in, fmt.Errorf("no structure is called %q", name)
		}
		k, err := mask.FromDense(c.W, c.H, p.Pix)
		if err != nil {
			return in, err
		}
		if err := masks.Put(s, k); err != nil {
			return in, err
		}
	}
	if c.CheXmask != nil {
		k, err := mask.FromDense(c.W, c.H, c.CheXmask.Pix)
		if err != nil {
			return in, err
		}
		in.CheXmaskRightLung = &k
	}
	for name, b := range c.Boxes {
		in.Boxes[name] = geom.Box{X0: b[0], Y0: b[1], X1: b[2], Y1: b[3]}
	}
	if c.Picture != nil {
		facts := chexstruct.Facts(&cxr.Image{Width: c.Picture.W, Height: c.Picture.H, Pix: c.Picture.Grey})
		in.Facts = &facts
	}
	switch c.View {
	case "PA":
		in.View = cxr.ViewPA
	case "AP":
		in.View = cxr.ViewAP
	case "LATERAL":
		in.View = cxr.ViewLateral
	case "OTHER":
		in.View = cxr.ViewOther
	}
	return in, nil
}

// Difference is one place where the two results disagree.
type Difference struct {
	Where       string // task and field
	Runs, Dense any
	// Soft marks what no specification fixes: rules and measurements that were taken
	// before a task turned out not to be evaluable.
	Soft bool
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: runs %v, dense %v", d.Where, d.Runs, d.Dense)
}

// Compare measures a case both ways.
func Compare(c *dense.Case, sw dense.Switches, rules *chexstruct.Rules) ([]Difference, map[string]any, error) {
	in, err := Input(c)
	if err != nil {
		return nil, nil, err
	}
	res, err := chexstruct.Assess(in, rules, nil)
	if err != nil {
		return nil, nil, err
	}
	res.Case = c.Name
	a, err := plain(res)
	if err != nil {
		return nil, nil, err
	}
	b, err := plain(dense.Assess(c, sw))
	if err != nil {
		return nil, nil, err
	}
	var out []Difference
	for _, task := range dense.Tasks {
		x, y := a["tasks"].(map[string]any)[task].(map[string]any), b["tasks"].(map[string]any)[task].(map[string]any)
		soft := x["status"] == y["status"] && x["reason"] == y["reason"] && x["status"] == "not_evaluable"
		list := diff(task, x, y)
		for i := range list {
			list[i].Soft = soft
		}
		out = append(out, list...)
	}
	out = append(out, diff("global", a["global"], b["global"])...)
	out = append(out, diff("xragent", a["xragent"], b["xragent"])...)
	return out, b, nil
}

// plain is the decoded JSON form.
func plain(v any) (map[string]any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(data, &out)
}

func diff(where string, a, b any) []Difference {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return []Difference{{Where: where, Runs: a, Dense: b}}
		}
		keys := map[string]bool{}
		for k := range x {
			keys[k] = true
		}
		for k := range y {
			keys[k] = true
		}
		var out []Difference
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			out = append(out, diff(where+"/"+k, x[k], y[k])...)
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return []Difference{{Where: where, Runs: a, Dense: b}}
		}
		if len(where) > 7 && where[len(where)-7:] == "/failed" {
			x, y = sorted(x), sorted(y)
		}
		var out []Difference
		for i := range x {
			out = append(out, diff(fmt.Sprintf("%s/%d", where, i), x[i], y[i])...)
		}
		return out
	case float64:
		if y, ok := b.(float64); ok && math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))+1e-12 {
			return nil
		}
	}
	if a == nil && b == nil {
		return nil
	}
	if s, ok := a.(string); ok && s == b {
		return nil
	}
	if v, ok := a.(bool); ok && v == b {
		return nil
	}
	return []Difference{{Where: where, Runs: a, Dense: b}}
}

func sorted(v []any) []any {
	out := slices.Clone(v)
	slices.SortFunc(out, func(a, b any) int {
		if fmt.Sprint(a) < fmt.Sprint(b) {
			return -1
		}
		return 1
	})
	return out
}
