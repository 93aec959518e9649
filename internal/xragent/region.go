package xragent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// ResolveTarget finds the structure that a policy names: an official name in any case,
// with the side before or after, or a class number. Only structures that the mask source
// can produce are found.
func ResolveTarget(text string, declared anatomy.Set) (anatomy.Structure, bool) {
	name := strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(text, "_", " "))), " ")
	name = strings.TrimSuffix(strings.TrimPrefix(name, "the "), ".")
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n >= anatomy.Count {
			return 0, false
		}
		s := anatomy.Structure(n + 1)
		return s, declared.Has(s)
	}
	for _, form := range targetForms(name) {
		for _, s := range declared.List() {
			if strings.ReplaceAll(strings.ToLower(s.Name()), "_", " ") == form {
				return s, true
			}
		}
	}
	return 0, false
}

// targetForms lists the spellings of a name: as it is, and with the side moved.
func targetForms(name string) []string {
	out := []string{name}
	for _, side := range []string{"left", "right"} {
		if rest, ok := strings.CutPrefix(name, side+" "); ok {
			out = append(out, rest+" "+side)
		}
		if rest, ok := strings.CutSuffix(name, " "+side); ok {
			out = append(out, side+" "+rest)
		}
	}
	return out
}

// Outline answers a region_parse from finished masks: the tight box and the share of the
// picture. The overlay picture is the caller's to add.
func Outline(c ToolCall, m *anatomy.Masks) Observation {
	o := Observation{Call: c.Number, Name: c.Name, Status: StatusUnsupported, Text: "no such structure"}
	s, ok := ResolveTarget(c.Target, m.Declared)
	if !ok {
		return o
	}
	return OutlineOf(c, s.Name(), m.Mask(s))
}

// OutlineOf answers a region_parse with a mask, by whatever it was found.
func OutlineOf(c ToolCall, name string, k mask.Mask) Observation {
	o := Observation{Call: c.Number, Name: c.Name, Status: StatusNotFound, Text: name + " was not found"}
	b, ok := k.Box()
	if !ok {
		return o
	}
	box := Thousandths(b.X0, b.Y0, b.X1+1, b.Y1+1, k.W, k.H)
	area := float64(k.Area()*1000/(k.W*k.H)) / 1000
	o.Status, o.Text, o.Box, o.Area = StatusOK, name, &box, &area
	return o
}

// joint is the smallest box around two; more says that there is a first.
func joint(a, b [4]int, more bool) [4]int {
	if !more {
		return b
	}
	return [4]int{min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3])}
}

// CropBox is the box that a roi_crop asks for: its own, that around the results it names, or
// that of a named structure. ok is false when there is none, and o then answers the call.
func CropBox(c ToolCall, results []Observation, m *anatomy.Masks) (box [4]int, o Observation, ok bool) {
	o = Observation{Call: c.Number, Name: c.Name, Status: StatusNotFound}
	switch {
	case c.Box != nil:
		return *c.Box, o, true
	case len(c.needs()) > 0:
		found := false
		for _, r := range results {
			if slices.Contains(c.needs(), r.Call) && r.located() {
				box, found = joint(box, *r.Box, found), true
			}
		}
		if !found {
			o.Text = fmt.Sprintf("calls %v found nothing", c.needs())
		}
		return box, o, found
	case m == nil:
		o.Status, o.Text = StatusError, "there are no masks of the picture"
		return box, o, false
	}
	found := Outline(ToolCall{Number: c.Number, Name: c.Name, Target: c.Region}, m)
	if !found.located() {
		return box, found, false
	}
	return *found.Box, o, true
}
