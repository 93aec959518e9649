package chexstruct

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/mask/masktest"
)

func TestVote(t *testing.T) {
	// l, r, f stand for left, right, flat.
	words := map[byte]string{'l': sideLeft, 'r': sideRight, 'f': sideFlat}
	for votes, want := range map[string]string{
		"lllllllll": "left",
		"fffffllll": "flat",
		"lllffrrrr": "right",
		"llllffffr": "left",       // 4 to 4: without flat l l l l r, 5 div 2 = 2, right never gets there
		"rffffrrrl": "right",      // the same to the other side
		"lllfffrrr": "left&right", // 3 each: without flat 6 div 2 = 3
		"rlrlrlfff": "right&left", // right reaches 3 first
		"flflflfl":  "left",       // only left besides flat
		"lrlrlrlrf": "left&right", // 4 to 4, flat 1: 8 div 2 = 4, left first
		"rlrlrlrlf": "right&left",
	} {
		list := make([]string, len(votes))
		for i := range list {
			list[i] = words[votes[i]]
		}
		before := slices.Clone(list)
		if got := vote(list); got != want {
			t.Errorf("%s: %s, want %s", votes, got, want)
		}
		if !slices.Equal(before, list) {
			t.Errorf("%s: the votes were changed", votes)
		}
	}
}

func TestVertebraRange(t *testing.T) {
	var pts [vertebrae]geom.Vec
	for i := range pts {
		pts[i] = geom.Vec{X: 5, Y: float64(10 * i)} // 0, 10, ..., 60
	}
	for _, c := range []struct{ upper, lower, first, last int }{
		{30, 30, 2, 4},   // the three around it
		{0, 2, 0, 2},     // at the top
		{60, 60, 4, 6},   // at the bottom
		{21, 29, 1, 4},   // neighbours: one more on each side
		{1, 12, 0, 2},    // neighbours at the top
		{49, 61, 4, 6},   // neighbours at the bottom
		{10, 50, 1, 5},   // apart: as they are
		{25, 25, 1, 3},   // halfway: the lower number
		{5, 15, 0, 2},    // halfway twice: 0 and 1
		{-90, 900, 0, 6}, // far outside
	} {
		if a, b := vertebraRange(&pts, c.upper, c.lower); a != c.first || b != c.last {
			t.Errorf("ends %d and %d: T%d to T%d, want T%d to T%d", c.upper, c.lower, a+1, b+1, c.first+1, c.last+1)
		}
	}
	// Missing vertebrae lie infinitely low and are never nearest unless all are.
	for i := 2; i < vertebrae; i++ {
		pts[i] = geom.Vec{X: math.Inf(1), Y: math.Inf(1)}
	}
	if a, b := vertebraRange(&pts, 40, 40); a != 0 || b != 2 {
		t.Errorf("only two vertebrae: %d to %d", a, b)
	}
	if nearestIn(&[vertebrae]geom.Vec{{Y: math.Inf(1)}, {Y: math.Inf(1)}}, 3) != 2 {
		t.Error("a finite vertebra must win over missing ones")
	}
}

func TestSplitSize(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want []int
	}{{10, 3, []int{4, 3, 3}}, {11, 3, []int{4, 4, 3}}, {2, 3, []int{1, 1, 0}}, {1, 3, []int{1, 0, 0}}, {0, 3, []int{0, 0, 0}}, {14, 5, []int{3, 3, 3, 3, 2}}} {
		for i, want := range c.want {
			if got := splitSize(c.n, c.k, i); got != want {
				t.Errorf("part %d of %d in %d is %d, want %d", i, c.n, c.k, got, want)
			}
		}
	}
}

func TestMidClavicular(t *testing.T) {
	// 8 rows: parts of 3, 3, 2; the middle part is rows 3..5, row 4 is one pixel wide and
	// drops out; of the two left number 2/3 = 0 is row 3: columns 1..6, 1 + floor(0.4*5) = 3.
	m := masktest.Parse(t, `
		..###...
		.####...
		.#####..
		.######.
		.#......
		.#####..
		.####...
		.###....`)
	if r, ok := midClavicular(m, 0.4); !ok || r != (lungRow{y: 3, x0: 1, x1: 6, line: 3}) {
		t.Errorf("row %+v", r)
	}
	if _, ok := midClavicular(masktest.Parse(t, "#. #. #. #."), 0.4); ok {
		t.Error("a lung one pixel wide has a line")
	}
	if _, ok := midClavicular(masktest.Parse(t, "##"), 0.4); ok {
		t.Error("a lung of one row has a middle third")
	}
	if _, ok := midClavicular(mask.Empty(4, 4), 0.4); ok {
		t.Error("no lung has a line")
	}
	// Nine rows of the middle part, all wide: number 9/3 = 3.
	big := mask.FromFunc(30, 27, func(x, y int) bool { return x <= 20 })
	if r, _ := midClavicular(big, 0.4); r.y != 12 || r.line != 8 {
		t.Errorf("row %+v", r)
	}
}

// Circle of radius 100 through six points: about 1/100, exactly 0 on a straight line, and
// unchanged when the spacing changes.
func TestCurvature(t *testing.T) {
	var line, circle []geom.Point
	for i := range 6 {
		line = append(line, geom.Point{X: 3 * i, Y: 40 * i})
		a := 0.05 * float64(i)
		circle = append(circle, geom.Point{X: int(math.Round(1e6 * math.Cos(a))), Y: int(math.Round(1e6 * math.Sin(a)))})
	}
	if k := curvature(line, false); k != 0 {
		t.Errorf("a line has curvature %v", k)
	}
	// The one-sided differences at both ends halve the second derivative there: of six
	// points two count half and two in between three quarters.
	if k := curvature(circle, false) * 1e6; math.Abs(k-(2*0.5+2*0.75+2)/6) > 0.01 {
		t.Errorf("a circle of radius 1 has curvature %v", k)
	}
	if k := curvature(make([]geom.Point, 6), false); k != 0 {
		t.Errorf("a point has curvature %v", k)
	}
	// x = 0 0 1 3 6 10: differences 0 .5 1.5 2.5 3.5 4, truncated 0 0 1 2 3 4.
	d := derivative([]float64{0, 0, 1, 3, 6, 10}, false)
	if !slices.Equal(d, []float64{0, 0.5, 1.5, 2.5, 3.5, 4}) {
		t.Errorf("derivative %v", d)
	}
	if d = derivative([]float64{0, 0, -1, -3, -6, -10}, true); !slices.Equal(d, []float64{0, 0, -1, -2, -3, -4}) {
		t.Errorf("truncated derivative %v", d)
	}
	if d = derivative([]float64{7}, false); d[0] != 0 {
		t.Errorf("derivative of one value %v", d)
	}
}

func TestRibSplit(t *testing.T) {
	for _, c := range []struct {
		name string
		p, q rib
		gap  int
		hit  bool
	}{
		// q continues p to the medial side: |100-150| = 50 >= |100-101| = 1.
		{"q medial", rib{x0: 60, x1: 100, y0: 50, y1: 40}, rib{x0: 101, x1: 150, y0: 43, y1: 30}, 3, true},
		// p continues q: |100-150| = 50 >= |100-101|.
		{"p medial", rib{x0: 101, x1: 150, y0: 43, y1: 30}, rib{x0: 60, x1: 100, y0: 50, y1: 40}, 3, true},
		// Two whole ribs below each other: 5 < 85 and 0 < 90; 0 < 90 and 0 < 85.
		{"whole ribs", rib{x0: 60, x1: 150, y0: 50, y1: 40}, rib{x0: 60, x1: 145, y0: 70, y1: 60}, 10, false},
		{"equal medial ends", rib{x0: 60, x1: 150, y0: 50, y1: 40}, rib{x0: 60, x1: 150, y0: 70, y1: 60}, 20, false},
		// Equal medial ends, one rib a stub: |60-140| = 80 >= |140-150|.
		{"equal ends, stub", rib{x0: 60, x1: 150, y0: 50, y1: 40}, rib{x0: 140, x1: 150, y0: 70, y1: 60}, 20, true},
		// Each condition alone: the medial ends apart, the lateral ends not, and the reverse;
		// and both exactly on the limit.
		{"q medial, lateral ends close", rib{x0: 95, x1: 100, y0: 50, y1: 40}, rib{x0: 96, x1: 150, y0: 43, y1: 30}, 3, true},
		{"q medial, only lateral ends", rib{x0: 10, x1: 100, y0: 50, y1: 40}, rib{x0: 90, x1: 109, y0: 43, y1: 30}, 3, true},
		{"q medial, on the limit", rib{x0: 60, x1: 100, y0: 50, y1: 40}, rib{x0: 80, x1: 120, y0: 43, y1: 30}, 3, true},
		{"q medial, just inside", rib{x0: 60, x1: 100, y0: 50, y1: 40}, rib{x0: 79, x1: 120, y0: 43, y1: 30}, 3, false},
		{"p medial, on the limit", rib{x0: 80, x1: 120, y0: 43, y1: 30}, rib{x0: 60, x1: 100, y0: 50, y1: 40}, 3, true},
		{"p medial, just inside", rib{x0: 79, x1: 120, y0: 43, y1: 30}, rib{x0: 60, x1: 100, y0: 50, y1: 40}, 3, false},
	} {
		if gap, hit := ribSplit(&c.p, &c.q); gap != c.gap || hit != c.hit {
			t.Errorf("%s: gap %d, hit %v, want %d, %v", c.name, gap, hit, c.gap, c.hit)
		}
	}
}

func TestNotch(t *testing.T) {
	for name, c := range map[string]struct {
		art  string
		want gapRow
		ok   bool
	}{
		"plain": {`
			.###.
			.###.
			##.##
			#...#`, gapRow{2, 2, 2}, true},
		"two gaps in a row do not count": {`
			.#####.
			#.#.###
			###.###
			###.###`, gapRow{2, 3, 3}, true},
		"longest wins": {`
			##.##
			#####
			#.###
			#.###`, gapRow{2, 1, 1}, true},
		"tie goes to the lower": {`
			##.##
			##.##
			#####
			#.###
			#.###`, gapRow{3, 1, 1}, true},
		"adjacent gaps touch": {`
			#.#####
			##.####
			####.##`, gapRow{0, 1, 1}, true},
		"no gap": {`### ###`, gapRow{}, false},
	} {
		got, ok := notch(masktest.Parse(t, c.art))
		if ok != c.ok || got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestMedialEnd(t *testing.T) {
	// The widest piece runs down to the right with slope 1/3; a collinear piece beyond it
	// counts, one beside the line does not.
	m := masktest.Parse(t, `
		.............#..
		####..........#.
		...####.........
		......####......
		.........##.#...
		............#...
		...............#`)
	if p, ok := medialEnd(m, right); !ok || p != (geom.Point{X: 12, Y: 4}) {
		// Along the chord (0,1)-(10,4) f = 10y - 3x runs from 1 at (3,1) to 13 at (9,4);
		// (12,4) has 4, (12,5) has 14, (15,6) has 15, (14,1) has -32.
		t.Errorf("medial end %v", p)
	}
	if p, ok := medialEnd(m, left); !ok || p != (geom.Point{X: 0, Y: 1}) {
		t.Errorf("left medial end %v", p)
	}
	if _, ok := medialEnd(masktest.Parse(t, ".#. .#."), right); ok {
		t.Error("an upright clavicle has an end")
	}
}

// TestChordBandMatchesPixels compares the solved inequality with trying every column.
func TestChordBandMatchesPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := chordBand{dx: rapid.IntRange(1, 20).Draw(t, "dx"), dy: rapid.IntRange(-20, 20).Draw(t, "dy")}
		b.lo = rapid.IntRange(-200, 200).Draw(t, "lo")
		b.hi = b.lo + rapid.IntRange(0, 100).Draw(t, "width")
		y, x0 := rapid.IntRange(0, 20).Draw(t, "y"), rapid.IntRange(0, 20).Draw(t, "x0")
		x1 := x0 + rapid.IntRange(0, 10).Draw(t, "n")
		first, last := -1, -1
		for x := x0; x <= x1; x++ {
			if f := b.f(x, y); f >= b.lo && f <= b.hi {
				if first < 0 {
					first = x
				}
				last = x
			}
		}
		a, z, ok := b.within(y, x0, x1)
		if ok != (first >= 0) || (ok && (a != first || z != last)) {
			t.Fatalf("columns %d..%d (%v), want %d..%d", a, z, ok, first, last)
		}
	})
}

// TestAortaLineMatchesPixels compares counting on runs with the definition per pixel.
func TestAortaLineMatchesPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		heart := geom.Point{X: rapid.IntRange(0, 8).Draw(t, "xh"), Y: rapid.IntRange(0, 15).Draw(t, "yh")}
		l := aortaLine{heart: heart, trachea: geom.Point{X: heart.X + rapid.IntRange(0, 8).Draw(t, "dx"), Y: rapid.IntRange(0, 15).Draw(t, "yt")}}
		bits := rapid.SliceOfN(rapid.Bool(), 256, 256).Draw(t, "bits")
		m := mask.FromFunc(16, 16, func(x, y int) bool { return bits[16*y+x] })
		if m.IsEmpty() {
			return
		}
		n, area, above, onLine, leftOf := 0, 0, false, false, 0
		for y := range 16 {
			for x := range 16 {
				if !m.At(x, y) {
					continue
				}
				area++
				k := (y-l.heart.Y)*l.dx() - l.dy()*(x-l.heart.X)
				above = above || k < 0
				if (l.dy() <= 0 && k <= 0) || (l.dy() > 0 && k > 0) {
					n++
				}
				onLine = onLine || x == l.heart.X
				if x < l.heart.X {
					leftOf++
				}
			}
		}
		want := 0.0
		switch {
		case l.dx() > 0 && above:
			want = float64(n) / float64(area)
		case l.dx() == 0 && onLine:
			want = float64(leftOf) / float64(area)
		case l.dx() == 0 && leftOf == area:
			want = 1
		}
		if got := l.beyond(m, 1); got != want {
			t.Fatalf("share %v, want %v for line %+v", got, want, l)
		}
	})
}

// TestBordersMatchPixels compares the content border with the definition per pixel.
func TestBordersMatchPixels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 14).Draw(t, "w"), rapid.IntRange(1, 14).Draw(t, "h")
		density := rapid.IntRange(1, 12).Draw(t, "density")
		set := rapid.SliceOfN(rapid.IntRange(0, density), w*h, w*h).Draw(t, "pixels")
		m := mask.FromFunc(w, h, func(x, y int) bool { return set[y*w+x] != 0 })
		x, y := rapid.IntRange(0, w-1).Draw(t, "x"), rapid.IntRange(0, h-1).Draw(t, "y")
		content := func(n int, full func(i int) bool, p int) border {
			b := border{p, p}
			for i := n - 1; i >= 0; i-- {
				if i < p && full(i) {
					b.first = i
				}
			}
			for i := range n {
				if i >= p && full(i) {
					b.last = i
				}
			}
			return b
		}
		rowFull := func(i int) bool {
			for k := max(x-2, 0); k <= min(x+2, w-1); k++ {
				if !m.At(k, i) {
					return false
				}
			}
			return true
		}
		columnFull := func(i int) bool {
			for k := max(y-2, 0); k <= min(y+2, h-1); k++ {
				if !m.At(i, k) {
					return false
				}
			}
			return true
		}
		if got, want := rowBorder(m, x, y), content(h, rowFull, y); got != want {
			t.Fatalf("along y %+v, want %+v\n%s", got, want, masktest.Draw(m))
		}
		if got, want := columnBorder(m, y, x), content(w, columnFull, x); got != want {
			t.Fatalf("along x %+v, want %+v\n%s", got, want, masktest.Draw(m))
		}
	})
}

func TestContentRows(t *testing.T) {
	m := masktest.Parse(t, `
		.....
		.###.
		..#..
		####.
		.....`)
	if a, b, ok := contentRows(m, 1, 3); !ok || a != 1 || b != 3 {
		t.Errorf("rows %d..%d (%v)", a, b, ok)
	}
	if a, b, ok := contentRows(m, -1, 0); !ok || a != 3 || b != 3 {
		t.Errorf("rows of the clipped strip %d..%d (%v)", a, b, ok)
	}
	if _, _, ok := contentRows(m, 3, 4); ok {
		t.Error("a strip without content has rows")
	}
}

func TestPopStd(t *testing.T) {
	// Mean 5, squares 9+1+1+1+0+0+4+16 = 32 over 8.
	if got := popStd([]float64{2, 4, 4, 4, 5, 5, 7, 9}); got != 2 {
		t.Errorf("deviation %v, want 2", got)
	}
	if popStd(nil) != 0 || popStdInts([]int{7}) != 0 {
		t.Error("deviation of nothing or one value")
	}
}

func TestTexts(t *testing.T) {
	for _, s := range Statuses() {
		b, err := s.MarshalText()
		var back Status
		if err != nil || back.UnmarshalText(b) != nil || back != s {
			t.Errorf("status %s does not survive its text", s)
		}
	}
	for _, task := range Sections() {
		b, err := task.MarshalText()
		var back Task
		if err != nil || back.UnmarshalText(b) != nil || back != task || (Labels(task) == nil) == task.Diagnostic() {
			t.Errorf("task %s does not survive its text", task)
		}
	}
	for _, r := range QualityRules() {
		b, err := r.MarshalText()
		var back Rule
		if err != nil || back.UnmarshalText(b) != nil || back != r || strings.Count(string(b), ".") != 1 {
			t.Errorf("rule %s does not survive its text", r)
		}
	}
	var s Status
	var task Task
	var r Rule
	for _, err := range []error{s.UnmarshalText([]byte("fine")), task.UnmarshalText([]byte("heart")), r.UnmarshalText([]byte("x.y"))} {
		if err == nil {
			t.Error("an unknown text is accepted")
		}
	}
	for _, f := range []func() ([]byte, error){s.MarshalText, task.MarshalText, r.MarshalText, Flag(0).MarshalJSON} {
		if _, err := f(); err == nil {
			t.Error("an unset value has a text")
		}
	}
	seen := map[Reason]bool{}
	for _, r := range Reasons() {
		if r == "" || seen[r] {
			t.Errorf("reason %q twice", r)
		}
		seen[r] = true
	}
}

func TestValue(t *testing.T) {
	if Number(math.Inf(1)).Kind() != KindNone || Number(math.NaN()).Kind() != KindNone {
		t.Error("an infinite number is a value")
	}
	if _, ok := Text("x").Float(); ok {
		t.Error("a text is a number")
	}
	if p, ok := PointValue(geom.Point{X: 3, Y: 4}).Vec(); !ok || p != (geom.Vec{X: 3, Y: 4}) {
		t.Errorf("point %v", p)
	}
	if _, ok := List(Text("x"), Int(1)).Vec(); ok {
		t.Error("a list of a text is a point")
	}
	if s, ok := Text("left").Text(); !ok || s != "left" {
		t.Error("text")
	}
	if v := List(Int(1), None()); v.Len() != 2 || v.At(1).Kind() != KindNone {
		t.Error("list")
	}
	var v Value
	for _, bad := range []string{"{}", "true", "[true]", "["} {
		if err := v.UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s is a value", bad)
		}
	}
}
