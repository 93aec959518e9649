package mask_test

import (
	"testing"

	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/mask/masktest"
)

func parse(tb testing.TB, art string) mask.Mask {
	tb.Helper()
	m := masktest.Parse(tb, art)
	if err := m.Validate(); err != nil {
		tb.Fatal(err)
	}
	return m
}

func wantArt(t *testing.T, what string, got mask.Mask, art string) {
	t.Helper()
	if err := got.Validate(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if want := parse(t, art); !got.Equal(want) {
		t.Errorf("%s: got\n%swant\n%s", what, masktest.Draw(got), masktest.Draw(want))
	}
}

const letters = `
	..........
	.##...#...
	.#.##.##..
	.##...#...
	..........
`

func TestBasics(t *testing.T) {
	m := parse(t, letters)
	if m.Area() != 11 || m.RunCount() != 7 || m.IsEmpty() {
		t.Errorf("area %d, runs %d", m.Area(), m.RunCount())
	}
	if b, ok := m.Box(); !ok || b != (geom.Box{X0: 1, Y0: 1, X1: 7, Y1: 3}) {
		t.Errorf("box %v", b)
	}
	if c, ok := m.Centroid(); !ok || c != (geom.Vec{X: (1 + 2 + 6 + 1 + 3 + 4 + 6 + 7 + 1 + 2 + 6) / 11.0, Y: 2}) {
		t.Errorf("centroid %v", c)
	}
	if y0, y1, ok := m.RowBounds(); !ok || y0 != 1 || y1 != 3 {
		t.Errorf("rows %d..%d", y0, y1)
	}
	for _, p := range []struct {
		x, y int
		want bool
	}{{1, 1, true}, {0, 1, false}, {2, 2, false}, {7, 2, true}, {8, 2, false}, {-1, 2, false}, {1, -1, false}, {1, 5, false}} {
		if m.At(p.x, p.y) != p.want {
			t.Errorf("At(%d, %d) = %v", p.x, p.y, !p.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	for _, m := range []mask.Mask{{}, mask.Empty(3, 2), parse(t, "... ...")} {
		if _, ok := m.Box(); ok || !m.IsEmpty() || m.Area() != 0 {
			t.Errorf("%v is not empty", m)
		}
		if _, ok := m.Centroid(); ok {
			t.Error("centroid of nothing")
		}
		if !m.Largest().IsEmpty() || !m.Widest().IsEmpty() || !m.Tallest().IsEmpty() || !m.Touching(0, 9).IsEmpty() {
			t.Error("component of nothing")
		}
		if _, _, ok := m.Span(0); ok {
			t.Error("span of nothing")
		}
		if _, _, ok := m.ColumnBounds(0); ok {
			t.Error("column of nothing")
		}
	}
	if mask.Empty(3, 2).Equal(mask.Empty(2, 3)) {
		t.Error("different grids are equal")
	}
}

func TestSpansAndMiddles(t *testing.T) {
	m := parse(t, letters)
	if a, b, ok := m.Span(2); !ok || a != 1 || b != 7 {
		t.Errorf("span of row 2 is %d..%d", a, b)
	}
	// Row 2 holds columns 1 3 4 6 7: element 5/2 = 2 is column 4.
	if x, ok := m.MiddleOfRow(2); !ok || x != 4 {
		t.Errorf("middle of row 2 is %d", x)
	}
	// Row 1 holds 1 2 6: element 1 is column 2. Column 1 holds rows 1 2 3: row 2.
	if x, _ := m.MiddleOfRow(1); x != 2 {
		t.Errorf("middle of row 1 is %d", x)
	}
	if y, ok := m.MiddleOfColumn(1); !ok || y != 2 {
		t.Errorf("middle of column 1 is %d", y)
	}
	// Column 2 holds rows 1 3: element 1 is row 3.
	if y, _ := m.MiddleOfColumn(2); y != 3 {
		t.Errorf("middle of column 2 is %d", y)
	}
	if a, b, ok := m.ColumnBounds(2); !ok || a != 1 || b != 3 {
		t.Errorf("column 2 is rows %d..%d", a, b)
	}
	if got := m.Column(2); len(got) != 2 || got[0] != (mask.Run{X0: 1, X1: 2}) || got[1] != (mask.Run{X0: 3, X1: 4}) {
		t.Errorf("column 2 is %v", got)
	}
}

func TestSetOperations(t *testing.T) {
	a := parse(t, `
		####....
		.##..##.
		........`)
	b := parse(t, `
		..####.#
		.##..##.
		#.......`)
	wantArt(t, "and", a.And(b), `
		..##....
		.##..##.
		........`)
	wantArt(t, "or", a.Or(b), `
		######.#
		.##..##.
		#.......`)
	wantArt(t, "and not", a.AndNot(b), `
		##......
		........
		........`)
	wantArt(t, "not and", b.AndNot(a), `
		....##.#
		........
		#.......`)
	if n := a.AndArea(b); n != 6 {
		t.Errorf("common area %d", n)
	}
	wantArt(t, "rows", b.Rows(1, 2), `
		........
		.##..##.
		#.......`)
	wantArt(t, "rows outside", b.Rows(-5, 0), `
		..####.#
		........
		........`)
	wantArt(t, "columns", b.Columns(2, 5), `
		..####..
		..#..#..
		........`)
	if !b.Rows(2, 1).IsEmpty() || !b.Columns(5, 2).IsEmpty() {
		t.Error("an empty range keeps pixels")
	}
}

func TestComponents(t *testing.T) {
	// Diagonal neighbours do not touch; the arms of the U join late.
	m := parse(t, `
		#.#..##.
		#.#.#...
		###.#.#.
		....###.
		.#......`)
	c := m.Components()
	// Raster order of first pixels: U (0,0), bar (5,0), hook (4,1), dot (1,4).
	if c.Len() != 4 {
		t.Fatalf("%d components", c.Len())
	}
	for i, want := range []int{7, 2, 6, 1} {
		if c.Area(i) != want {
			t.Errorf("component %d has %d pixels, want %d", i, c.Area(i), want)
		}
	}
	if b := c.Box(2); b != (geom.Box{X0: 4, Y0: 1, X1: 6, Y1: 3}) {
		t.Errorf("box of the hook %v", b)
	}
	if i, ok := c.At(6, 2); !ok || i != 2 {
		t.Errorf("(6,2) is in %d", i)
	}
	if _, ok := c.At(3, 0); ok {
		t.Error("(3,0) is in a component")
	}
	wantArt(t, "hook", c.Mask(2), `
		........
		....#...
		....#.#.
		....###.
		........`)
	wantArt(t, "touching columns 5 to 6", m.Touching(5, 6), `
		.....##.
		....#...
		....#.#.
		....###.
		........`)
	wantArt(t, "largest", m.Largest(), `
		#.#.....
		#.#.....
		###.....
		........
		........`)
}

func TestLargestTies(t *testing.T) {
	m := parse(t, `
		.....##.
		##...##.
		##......
		....###.
		#.......
		#.......
		#.......`)
	// Areas 4, 4, 3, 3; widths 1, 1, 2, 0; heights 1, 1, 0, 2. The upper square comes
	// first in raster order although it lies to the right.
	wantArt(t, "largest", m.Largest(), `
		.....##.
		.....##.
		........
		........
		........
		........
		........`)
	wantArt(t, "widest", m.Widest(), `
		........
		........
		........
		....###.
		........
		........
		........`)
	wantArt(t, "tallest", m.Tallest(), `
		........
		........
		........
		........
		#.......
		#.......
		#.......`)
	tie := parse(t, `
		..#
		#.#
		#..`)
	wantArt(t, "tallest of a tie", tie.Tallest(), `
		..#
		..#
		...`)
	wantArt(t, "widest of a tie", tie.Widest(), `
		..#
		..#
		...`)
}

func TestResize(t *testing.T) {
	m := parse(t, `
		#..
		.##`)
	z, err := mask.NewResizer(3, 2, 6, 4)
	if err != nil {
		t.Fatal(err)
	}
	got, err := z.Resize(m)
	if err != nil {
		t.Fatal(err)
	}
	wantArt(t, "doubled", got, `
		##....
		##....
		..####
		..####`)
	z, _ = mask.NewResizer(3, 2, 2, 1)
	got, _ = z.Resize(m)
	wantArt(t, "shrunk", got, `#.`)
	if _, err := z.Resize(mask.Empty(4, 4)); err == nil {
		t.Error("a mask of another grid was accepted")
	}
	if _, err := mask.NewResizer(0, 1, 1, 1); err == nil {
		t.Error("an empty grid was accepted")
	}
}

// Index tables computed by hand from the float32 rule; 2544/512 = 4.96875 is exact, while
// 512/2544 rounds in float32.
func TestNearestIndex(t *testing.T) {
	for _, c := range []struct {
		in, out int
		at      map[int]int32
	}{
		{2544, 512, map[int]int32{0: 0, 1: 4, 2: 9, 31: 154, 32: 159, 511: 2539}},
		{3056, 512, map[int]int32{1: 5, 2: 11, 511: 3050}},
		{512, 2544, map[int]int32{4: 0, 5: 1, 2543: 511}},
		{511, 512, map[int]int32{0: 0, 1: 0, 2: 1, 511: 510}},
		{512, 513, map[int]int32{1: 0, 2: 1, 512: 511}},
		{7, 7, map[int]int32{0: 0, 6: 6}},
		{1, 5, map[int]int32{4: 0}},
	} {
		table := mask.NearestIndex(c.in, c.out)
		if len(table) != c.out {
			t.Errorf("%d -> %d has %d entries", c.in, c.out, len(table))
		}
		for d, want := range c.at {
			if table[d] != want {
				t.Errorf("%d -> %d: index %d is %d, want %d", c.in, c.out, d, table[d], want)
			}
		}
	}
}

func TestCounts(t *testing.T) {
	m := parse(t, `
		#..#
		##..
		.#.#`)
	// Columns: ##. .## ... #.# -> 2 set, 1+1 unset, 2 set, 3 unset, 1 set, 1 unset, 1 set.
	want := []int{0, 2, 2, 2, 3, 1, 1, 1}
	got := m.Counts()
	if len(got) != len(want) {
		t.Fatalf("counts %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("counts %v, want %v", got, want)
		}
	}
	back, err := mask.FromCounts(4, 3, want)
	if err != nil || !back.Equal(m) {
		t.Errorf("reading back: %v\n%s", err, masktest.Draw(back))
	}
	// A run that goes over the end of a column, and zero counts in the middle.
	for _, counts := range [][]int{{1, 4, 7}, {1, 2, 0, 2, 7}, {1, 4, 3, 0, 4}} {
		m, err := mask.FromCounts(4, 3, counts)
		if err != nil {
			t.Fatal(err)
		}
		wantArt(t, "long run", m, `
			.#..
			##..
			#...`)
	}
	for _, bad := range [][]int{nil, {11}, {13}, {-1, 13}, {0, 12, 1}, {1 << 62, 1 << 62}} {
		if _, err := mask.FromCounts(4, 3, bad); err == nil {
			t.Errorf("counts %v accepted", bad)
		}
	}
	if c := mask.Empty(4, 3).Counts(); len(c) != 1 || c[0] != 12 {
		t.Errorf("counts of nothing are %v", c)
	}
}

// The compressed form of a 3x4 picture, worked out by hand: counts 0 2 2 2 3 1 1 1; from
// the fourth on the difference to the one two before: 0 2 2 0 1 -1 -2 0. A value v below
// 16 in size is the character 48 + v, or 48 + 32 + v when negative.
func TestCOCOText(t *testing.T) {
	m := parse(t, `
		#..#
		##..
		.#.#`)
	const want = "02201ON0"
	if got := m.EncodeCOCO(); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	back, err := mask.DecodeCOCO(4, 3, want)
	if err != nil || !back.Equal(m) {
		t.Errorf("reading back: %v", err)
	}
	// 1000 = 0b11111 01000: low group 8 with continuation, then 31 -> sign bit set, so a
	// third group 0 ends it.
	if got := mask.Empty(1000, 1).EncodeCOCO(); got != "Xo0" {
		t.Errorf("text of 1000 unset pixels %q", got)
	}
	for _, bad := range []string{"", "X", "~", "/", "!", "022", "Xo0", "oooooooooooooooo0"} {
		if _, err := mask.DecodeCOCO(4, 3, bad); err == nil {
			t.Errorf("text %q accepted", bad)
		}
	}
}

func TestTransposeArt(t *testing.T) {
	wantArt(t, "transpose", parse(t, `
		#..#
		##..
		.#.#`).Transpose(), `
		##.
		.##
		...
		#.#`)
}

func TestBuilderPanics(t *testing.T) {
	for name, f := range map[string]func(b *mask.Builder){
		"row back":     func(b *mask.Builder) { b.Add(1, 0, 1); b.Add(0, 0, 1) },
		"run back":     func(b *mask.Builder) { b.Add(0, 2, 4); b.Add(0, 1, 3) },
		"right edge":   func(b *mask.Builder) { b.Add(0, 0, 5) },
		"left edge":    func(b *mask.Builder) { b.Add(0, -1, 2) },
		"below":        func(b *mask.Builder) { b.Add(3, 0, 1) },
		"other grid":   func(b *mask.Builder) { b.Mask().And(mask.Empty(1, 1)) },
		"other grid 2": func(b *mask.Builder) { b.Mask().AndArea(mask.Empty(1, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(mask.NewBuilder(4, 3))
		})
	}
}

func TestBuilderJoins(t *testing.T) {
	b := mask.NewBuilder(6, 2)
	b.Add(1, 0, 2)
	b.Add(1, 2, 3)
	b.Add(1, 4, 4)
	b.Add(1, 4, 6)
	m := b.Mask()
	wantArt(t, "joined", m, `
		......
		###.##`)
	if m.RunCount() != 2 {
		t.Errorf("%d runs", m.RunCount())
	}
}

func TestFromDense(t *testing.T) {
	m, err := mask.FromDense(3, 2, []uint8{0, 5, 255, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	wantArt(t, "dense", m, `
		.##
		..#`)
	if got := m.Dense(); string(got) != "\x00\x01\x01\x00\x00\x01" {
		t.Errorf("plane %v", got)
	}
	if _, err := mask.FromDense(3, 2, make([]uint8, 5)); err == nil {
		t.Error("short plane accepted")
	}
}

func TestValidate(t *testing.T) {
	r := func(x0, x1 int32) mask.Run { return mask.Run{X0: x0, X1: x1} }
	for name, m := range map[string]mask.Mask{
		"runs without rows": {W: 4, H: 2, Runs: []mask.Run{r(0, 1)}},
		"rows below":        {W: 4, H: 2, Y0: 1, RowStart: []int32{0, 1, 1}, Runs: []mask.Run{r(0, 1)}},
		"touching":          {W: 4, H: 2, RowStart: []int32{0, 2}, Runs: []mask.Run{r(0, 1), r(1, 2)}},
		"empty run":         {W: 4, H: 2, RowStart: []int32{0, 1}, Runs: []mask.Run{r(1, 1)}},
		"wide":              {W: 4, H: 2, RowStart: []int32{0, 1}, Runs: []mask.Run{r(1, 5)}},
		"offset":            {W: 4, H: 2, RowStart: []int32{0, 2}, Runs: []mask.Run{r(1, 2)}},
		"decreasing":        {W: 4, H: 2, RowStart: []int32{1, 0}, Runs: []mask.Run{r(1, 2)}},
		"negative":          {W: -1, H: 2},
	} {
		if m.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
