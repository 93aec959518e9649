package mask_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/mask/masktest"
)

// plane is a dense picture: the slow and obvious way to do everything.
type plane struct {
	w, h int
	set  []bool
}

func (p plane) at(x, y int) bool {
	return x >= 0 && y >= 0 && x < p.w && y < p.h && p.set[y*p.w+x]
}

func (p plane) mask() mask.Mask { return mask.FromFunc(p.w, p.h, p.at) }

// genPlane draws noise of varying density, in blocks so that runs and components of every
// size occur.
func genPlane(w, h int) *rapid.Generator[plane] {
	return rapid.Custom(func(t *rapid.T) plane {
		p := plane{w, h, make([]bool, w*h)}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		density := rapid.SampledFrom([]float64{0, 0.1, 0.5, 0.6, 0.9, 1}).Draw(t, "density")
		block := rapid.IntRange(1, 4).Draw(t, "block")
		coarse := make(map[[2]int]bool)
		for y := range h {
			for x := range w {
				k := [2]int{x / block, y / block}
				if _, ok := coarse[k]; !ok {
					coarse[k] = rng.Float64() < density
				}
				p.set[y*w+x] = coarse[k]
			}
		}
		return p
	})
}

func genSize(t *rapid.T) (w, h int) {
	return rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 24).Draw(t, "h")
}

// wantFunc checks a mask pixel by pixel and its invariants.
func wantFunc(t *rapid.T, what string, got mask.Mask, want func(x, y int) bool) {
	t.Helper()
	if err := got.Validate(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for y := range got.H {
		for x := range got.W {
			if got.At(x, y) != want(x, y) {
				t.Fatalf("%s: pixel (%d, %d) is %v\n%s", what, x, y, got.At(x, y), masktest.Draw(got))
			}
		}
	}
	if !got.Equal(mask.FromFunc(got.W, got.H, want)) {
		t.Fatalf("%s: not in canonical form", what)
	}
}

func TestSetOperationsMatchPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := genSize(t)
		a, b := genPlane(w, h).Draw(t, "a"), genPlane(w, h).Draw(t, "b")
		m, o := a.mask(), b.mask()
		wantFunc(t, "mask", m, a.at)
		wantFunc(t, "and", m.And(o), func(x, y int) bool { return a.at(x, y) && b.at(x, y) })
		wantFunc(t, "or", m.Or(o), func(x, y int) bool { return a.at(x, y) || b.at(x, y) })
		wantFunc(t, "and not", m.AndNot(o), func(x, y int) bool { return a.at(x, y) && !b.at(x, y) })
		if m.AndArea(o) != m.And(o).Area() {
			t.Fatal("common area")
		}
		lo, hi := rapid.IntRange(-2, 25).Draw(t, "lo"), rapid.IntRange(-2, 25).Draw(t, "hi")
		wantFunc(t, "rows", m.Rows(lo, hi), func(x, y int) bool { return a.at(x, y) && y >= lo && y <= hi })
		wantFunc(t, "columns", m.Columns(lo, hi), func(x, y int) bool { return a.at(x, y) && x >= lo && x <= hi })
		// A view of rows must behave like a mask of its own.
		view := m.Rows(lo, hi)
		wantFunc(t, "and of a view", view.And(o), func(x, y int) bool { return a.at(x, y) && b.at(x, y) && y >= lo && y <= hi })
		wantFunc(t, "transpose", view.Transpose(), func(x, y int) bool { return a.at(y, x) && x >= lo && x <= hi })
		dense, err := mask.FromDense(w, h, view.Dense())
		if err != nil || !dense.Equal(view) {
			t.Fatal("dense and back")
		}
	})
}

func TestSummariesMatchPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := genSize(t)
		p := genPlane(w, h).Draw(t, "p")
		m := p.mask()
		var n, sx, sy int
		box := geom.Box{X0: w, Y0: h, X1: -1, Y1: -1}
		for y := range h {
			var row []int
			for x := range w {
				if p.at(x, y) {
					n, sx, sy = n+1, sx+x, sy+y
					box = geom.Box{X0: min(box.X0, x), Y0: min(box.Y0, y), X1: max(box.X1, x), Y1: max(box.Y1, y)}
					row = append(row, x)
				}
			}
			x0, x1, ok := m.Span(y)
			mid, _ := m.MiddleOfRow(y)
			if ok != (len(row) > 0) || m.RowArea(y) != len(row) || (ok && (x0 != row[0] || x1 != row[len(row)-1] || mid != row[len(row)/2])) {
				t.Fatalf("row %d: span %d..%d, middle %d of %v", y, x0, x1, mid, row)
			}
		}
		for x := range w {
			var col []int
			for y := range h {
				if p.at(x, y) {
					col = append(col, y)
				}
			}
			y0, y1, ok := m.ColumnBounds(x)
			mid, _ := m.MiddleOfColumn(x)
			if ok != (len(col) > 0) || (ok && (y0 != col[0] || y1 != col[len(col)-1] || mid != col[len(col)/2])) {
				t.Fatalf("column %d: %d..%d, middle %d of %v", x, y0, y1, mid, col)
			}
		}
		got, ok := m.Box()
		c, _ := m.Centroid()
		if m.Area() != n || ok != (n > 0) || (ok && (got != box || c.X != float64(sx)/float64(n) || c.Y != float64(sy)/float64(n))) {
			t.Fatalf("area %d, box %v, centroid %v", m.Area(), got, c)
		}
	})
}

// floodLabels numbers 4-connected components by flood fill in raster order.
func floodLabels(p plane) (label []int, n int) {
	label = make([]int, p.w*p.h)
	for i := range label {
		label[i] = -1
	}
	for i := range label {
		if !p.set[i] || label[i] >= 0 {
			continue
		}
		stack := []int{i}
		label[i] = n
		for len(stack) > 0 {
			k := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			x, y := k%p.w, k/p.w
			for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
				if nx, ny := x+d[0], y+d[1]; p.at(nx, ny) && label[ny*p.w+nx] < 0 {
					label[ny*p.w+nx] = n
					stack = append(stack, ny*p.w+nx)
				}
			}
		}
		n++
	}
	return label, n
}

func TestComponentsMatchFloodFill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := genSize(t)
		p := genPlane(w, h).Draw(t, "p")
		m := p.mask()
		label, n := floodLabels(p)
		c := m.Components()
		if c.Len() != n {
			t.Fatalf("%d components, want %d\n%s", c.Len(), n, masktest.Draw(m))
		}
		area, box := make([]int, n), make([]geom.Box, n)
		for i := range box {
			box[i] = geom.Box{X0: w, Y0: h, X1: -1, Y1: -1}
		}
		for i, k := range label {
			x, y := i%w, i/w
			got, ok := c.At(x, y)
			if ok != (k >= 0) || (ok && got != k) {
				t.Fatalf("(%d, %d) is in %d, want %d\n%s", x, y, got, k, masktest.Draw(m))
			}
			if k >= 0 {
				area[k]++
				b := &box[k]
				*b = geom.Box{X0: min(b.X0, x), Y0: min(b.Y0, y), X1: max(b.X1, x), Y1: max(b.Y1, y)}
			}
		}
		largest := func(size func(i int) int) int {
			best := 0
			for i := range n {
				if size(i) > size(best) {
					best = i
				}
			}
			return best
		}
		for _, k := range []struct {
			name string
			got  mask.Mask
			want int
		}{
			{"largest", m.Largest(), largest(func(i int) int { return area[i] })},
			{"widest", m.Widest(), largest(func(i int) int { return box[i].Width() })},
			{"tallest", m.Tallest(), largest(func(i int) int { return box[i].Height() })},
		} {
			wantFunc(t, k.name, k.got, func(x, y int) bool { return label[y*w+x] == k.want && n > 0 })
		}
		x0, x1 := rapid.IntRange(0, w-1).Draw(t, "x0"), rapid.IntRange(0, w-1).Draw(t, "x1")
		hit := map[int]bool{}
		for i, k := range label {
			if x := i % w; k >= 0 && x >= x0 && x <= x1 {
				hit[k] = true
			}
		}
		wantFunc(t, "touching", m.Touching(x0, x1), func(x, y int) bool { k := label[y*w+x]; return k >= 0 && hit[k] })
	})
}

func TestResizeMatchesPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := genSize(t)
		outW, outH := rapid.IntRange(1, 80).Draw(t, "outW"), rapid.IntRange(1, 80).Draw(t, "outH")
		p := genPlane(w, h).Draw(t, "p")
		z, err := mask.NewResizer(w, h, outW, outH)
		if err != nil {
			t.Fatal(err)
		}
		lo := rapid.IntRange(0, h).Draw(t, "lo")
		got, err := z.Resize(p.mask().Rows(lo, h))
		if err != nil {
			t.Fatal(err)
		}
		cols, rows := mask.NearestIndex(w, outW), mask.NearestIndex(h, outH)
		wantFunc(t, "resize", got, func(x, y int) bool {
			sy := int(rows[y])
			return sy >= lo && p.at(int(cols[x]), sy)
		})
	})
}

func TestEncodingsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := genSize(t)
		m := genPlane(w, h).Draw(t, "p").mask()
		counts := m.Counts()
		total := 0
		for i, c := range counts {
			if c < 0 || (c == 0 && i > 0) {
				t.Fatalf("count %d of %v", i, counts)
			}
			total += c
		}
		if total != w*h {
			t.Fatalf("counts sum to %d", total)
		}
		if back, err := mask.FromCounts(w, h, counts); err != nil || !back.Equal(m) {
			t.Fatalf("counts: %v", err)
		}
		if back, err := mask.DecodeCOCO(w, h, m.EncodeCOCO()); err != nil || !back.Equal(m) {
			t.Fatalf("text: %v", err)
		}
		b := m.AppendBinary([]byte("head"))
		back, rest, err := mask.ReadBinary(w, h, append(b[4:], "tail"...))
		if err != nil || !back.Equal(m) || string(rest) != "tail" {
			t.Fatalf("binary: %v, rest %q", err, rest)
		}
		if err := back.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBinaryPinned pins the stored form: a change is a new format, not an edit.
func TestBinaryPinned(t *testing.T) {
	m := parse(t, `
		......
		.##..#
		.##..#
		......
		..##.#`)
	// 4 rows from row 1: 1 more like the first, 2 runs (gap 1 length 2, gap 2 length 1); one
	// empty row; then 2 runs by gaps again, for the row before has none.
	want := []byte{4, 1, 1, 2, 1, 2, 2, 1, 0, 0, 0, 2, 2, 2, 1, 1}
	if got := m.AppendBinary(nil); string(got) != string(want) {
		t.Errorf("bytes %v, want %v", got, want)
	}
}

func FuzzReadBinary(f *testing.F) {
	for _, art := range []string{"#", ".", letters, "#.#.# #.#.# ..... #####"} {
		m := masktest.Parse(f, art)
		f.Add(uint16(m.W), uint16(m.H), m.AppendBinary(nil))
	}
	f.Add(uint16(65535), uint16(65535), []byte{0xff, 0xff, 3, 0, 0xfe, 0xff, 3, 1, 0, 1})
	f.Fuzz(func(t *testing.T, w, h uint16, data []byte) {
		m, rest, err := mask.ReadBinary(int(w), int(h), data)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if again := m.AppendBinary(nil); string(again) != string(data[:len(data)-len(rest)]) {
			t.Fatalf("%v is read as %v", data, again)
		}
	})
}

func FuzzDecodeCOCO(f *testing.F) {
	f.Add(uint8(4), uint8(3), "02201ON0")
	f.Add(uint8(1), uint8(1), "01")
	f.Add(uint8(200), uint8(5), "Xo0")
	f.Fuzz(func(t *testing.T, w, h uint8, text string) {
		m, err := mask.DecodeCOCO(int(w), int(h), text)
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		again, err := mask.DecodeCOCO(int(w), int(h), m.EncodeCOCO())
		if err != nil || !again.Equal(m) {
			t.Fatalf("%q does not survive: %v", text, err)
		}
	})
}
