package quiz

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
)

// drawer draws one picture and its items; each purpose has a stream of its own.
type drawer struct {
	seed uint64
	id   string
}

func (d drawer) stream(name string) *rand.Rand {
	sum := sha256.Sum256(fmt.Appendf(nil, "quiz %d %s %s", d.seed, d.id, name))
	return rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])))
}

// Hearts are drawn well away from the limit of 0.50, so that the measured ratio falls on
// the side of the drawn one.
const (
	normalLow, normalHigh = 0.37, 0.455
	largeLow, largeHigh   = 0.555, 0.65
)

// others are the kinds that are no upright PA film; the mirrored and the cut film are read
// as PA and are left out.
var others = []phantom.Kind{phantom.KindAP, phantom.KindLateral, phantom.KindTurned90, phantom.KindTurned180,
	phantom.KindTurned270, phantom.KindInverted, phantom.KindSlice}

// film draws the picture before its marks; large tells of a PA film whether its heart is.
func (d drawer) film(index int) (s phantom.Square, large bool, err error) {
	r := d.stream("film")
	if r.IntN(4) == 0 {
		s, err = phantom.DrawSquare(d.seed, index, others[r.IntN(len(others))], Side)
		return s, false, err
	}
	if large = r.IntN(2) == 0; large {
		s, err = phantom.DrawHeart(d.seed, index, Side, largeLow, largeHigh)
	} else {
		s, err = phantom.DrawHeart(d.seed, index, Side, normalLow, normalHigh)
	}
	return s, large, err
}

// marks draws which marks the picture gets, and where.
func (d drawer) marks() (hidden, shown Mark) {
	r := d.stream("marks")
	hidden = Mark{Look: r.IntN(3), Quarter: r.IntN(4), dx: markSide * r.IntN(2), dy: markSide * r.IntN(2)}
	return hidden, Mark{Look: r.IntN(3), Quarter: r.IntN(4)}
}

// items writes one question of each family.
func (d drawer) items(s Study, large bool) []xragent.Item {
	var out []xragent.Item
	for _, f := range Families() {
		item := xragent.Item{ID: d.id + "/" + string(f), Source: string(f), Labels: []string{s.Kind.String()}, Study: d.id,
			Pictures: []xragent.ItemPicture{{Path: s.Path, Image: s.Image}}}
		r := d.stream(string(f))
		var right int
		switch f {
		case Heart:
			right = heartKey(s.Kind, large)
			item.Question.Text = "What is the heart size?"
		case Crop:
			right = s.Hidden.Look
			item.Question.Text = "Which fine pattern lies in the " + quarters[s.Hidden.Quarter] + " quarter?"
		case Lookup:
			right = r.IntN(3)
			name := conditions[r.IntN(len(conditions))]
			item.Question.Text = "Which sign marks " + name + "?"
			item.Notes = map[string]string{name: noteOf(name, options[Lookup][right])}
		case Plain:
			right = s.Shown.Look
			item.Question.Text = "Which square stands in the corner?"
		}
		item.Question.Type = xragent.Lettered
		for letter, k := range r.Perm(3) {
			item.Question.Options = append(item.Question.Options, options[f][k])
			if k == right {
				item.Question.Key = string(rune('A' + letter))
			}
		}
		out = append(out, item)
	}
	return out
}

func heartKey(k phantom.Kind, large bool) int {
	switch {
	case k != phantom.KindPA:
		return 2
	case large:
		return 1
	}
	return 0
}
