package review

import (
	"math/rand/v2"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// spoiled returns masks with parts of some structures missing, wholly or beyond a random
// window, or moved aside.
func spoiled(t *testing.T, m *anatomy.Masks, rng *rand.Rand) *anatomy.Masks {
	t.Helper()
	out, err := anatomy.NewMasks(m.GridW, m.GridH, m.NativeW, m.NativeH, m.Declared)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Present().List() {
		k := m.Mask(s)
		switch rng.IntN(6) {
		case 0:
			continue
		case 1:
			x, y := rng.IntN(m.GridW), rng.IntN(m.GridH)
			k = k.Columns(x, min(m.GridW-1, x+rng.IntN(m.GridW))).Rows(y, min(m.GridH-1, y+rng.IntN(m.GridH)))
		case 2:
			k = shifted(k, rng.IntN(m.GridW)-m.GridW/2)
		}
		if err := out.Put(s, k); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func shifted(m mask.Mask, dx int) mask.Mask {
	b := mask.NewBuilder(m.W, m.H)
	for y := range m.H {
		for _, r := range m.Row(y) {
			if x0, x1 := max(0, int(r.X0)+dx), min(m.W, int(r.X1)+dx); x0 < x1 {
				b.Add(y, x0, x1)
			}
		}
	}
	return b.Mask()
}

// TestDrawingsBearAnything draws every task and filter step on masks that are spoiled in
// many ways: a drawing shows what there is, and stays inside the picture.
func TestDrawingsBearAnything(t *testing.T) {
	rules := rulesOf(t, chexstruct.Corrected, map[string]any{"global.mask_count.mask_num_min": 25})
	rng := rand.New(rand.NewPCG(3, 3))
	cases := golden(t, 12)
	outcomes := map[chexstruct.Status]int{}
	for round := range 60 {
		s := cases[round%len(cases)]
		o := &opened{entry: s.entry, img: s.img, in: s.input}
		o.in.Masks = spoiled(t, s.input.Masks, rng)
		o.in.CheXmaskRightLung = nil
		var err error
		if o.res, err = chexstruct.Assess(o.in, rules, nil); err != nil {
			t.Fatal(err)
		}
		full := whole(&o.in)
		for _, task := range chexstruct.Tasks() {
			f := o.res.Finding(task)
			outcomes[f.Status]++
			part := figures[task].part(&o.in, f)
			if part.X0 < 0 || part.Y0 < 0 || part.X1 > full.X1 || part.Y1 > full.Y1 || part.Width() < 1 || part.Height() < 1 {
				t.Fatalf("round %d %s: part %v of %v", round, task, part, full)
			}
			base, err := o.base(part, 96)
			if err != nil {
				t.Fatal(err)
			}
			o.draw(base, part, tileID{0, task, 0})
			limits{rules}.verdict(f, o.in.View)
		}
		base, err := o.base(full, 96)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range filterRules {
			o.draw(base, full, tileID{0, chexstruct.Global, r})
			limits{rules}.filterVerdict(o.res.Global, r)
		}
	}
	for _, st := range []chexstruct.Status{chexstruct.StatusOK, chexstruct.StatusQCFailed, chexstruct.StatusNotEvaluable} {
		if outcomes[st] < 20 {
			t.Errorf("only %d findings are %s; the masks are not spoiled as they should be", outcomes[st], st)
		}
	}
}

func TestCloseUp(t *testing.T) {
	m, err := anatomy.NewMasks(600, 800, 600, 800, anatomy.SetOf(anatomy.Heart))
	if err != nil {
		t.Fatal(err)
	}
	in := &chexstruct.Input{Masks: m}
	if got := closeUp(in, 0.1, nil, anatomy.Heart); got != whole(in) {
		t.Errorf("nothing to look at shows %v, want everything", got)
	}
	if err := m.Put(anatomy.Heart, mask.FromFunc(600, 800, func(x, y int) bool { return x >= 10 && x < 110 && y >= 600 && y < 790 })); err != nil {
		t.Fatal(err)
	}
	got := closeUp(in, 0.1, []geom.Vec{{X: 150, Y: 650}}, anatomy.Heart)
	if got.X0 != 0 || got.Y1 > 799 || got.X1 < 150 || got.Y0 > 600 {
		t.Errorf("part %v does not hold the heart and the point", got)
	}
	if ratio := float64(got.Width()) / float64(got.Height()); ratio < 0.82 || ratio > 0.85 {
		t.Errorf("part %v has proportions %.3f, want those of a tile", got, ratio)
	}
}

func TestBeyond(t *testing.T) {
	square := mask.FromFunc(10, 10, func(x, y int) bool { return x >= 2 && x < 8 && y >= 2 && y < 8 })
	// Straight up at column 4: columns 2, 3 and 4 of six rows lie on its right side.
	if got := beyond(square, geom.Vec{X: 4, Y: 9}, geom.Vec{X: 4, Y: 0}).Area(); got != 18 {
		t.Errorf("%d pixels, want 18", got)
	}
	if got := beyond(square, geom.Vec{X: 0, Y: 5}, geom.Vec{X: 9, Y: 5}).Area(); got != 0 {
		t.Errorf("a level line has nothing beside it, got %d", got)
	}
}
