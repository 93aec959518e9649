package dataset

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// encodeRLE writes what decodeRLE reads: one run per row and run, not joined across rows.
func encodeRLE(m mask.Mask) string {
	var b strings.Builder
	for y := range m.H {
		for _, r := range m.Row(y) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Itoa(y*m.W + int(r.X0) + 1))
			b.WriteByte(' ')
			b.WriteString(strconv.Itoa(int(r.X1 - r.X0)))
		}
	}
	return b.String()
}

// art reads a mask from text: '#' is set.
func art(rows ...string) mask.Mask {
	return mask.FromFunc(len(rows[0]), len(rows), func(x, y int) bool { return rows[y][x] == '#' })
}

func show(m mask.Mask) string {
	var b strings.Builder
	for y := range m.H {
		for x := range m.W {
			b.WriteByte(".#"[map[bool]int{false: 0, true: 1}[m.At(x, y)]])
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDecodeRLE(t *testing.T) {
	// Counted by hand on a 4 x 3 picture: positions 1..4 are row 0, 5..8 row 1.
	cases := []struct {
		in   string
		want mask.Mask
	}{
		{"1 1", art("#...", "....", "....")},
		{"12 1", art("....", "....", "...#")},
		{"4 2", art("...#", "#...", "....")},
		{"2 2\n 7 6", art(".##.", "..##", "####")},
		{"1 12", art("####", "####", "####")},
		{"3 0", art("....", "....", "....")},
	}
	for _, c := range cases {
		got, err := decodeRLE(4, 3, c.in)
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%q gives %v\n%swant\n%s", c.in, err, show(got), show(c.want))
		}
	}
	for in, want := range map[string]string{
		"0 1": "run 1 of 1 pixels from 0", "13 1": "run 1", "12 2": "run 1", "3 2 4 1": "run 2", "5": "run 1 has a start and no length",
		"1 x": "run 1", "a 1": `"a" is no number`, "1 -1": "run 1",
	} {
		if _, err := decodeRLE(4, 3, in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func TestRLERoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 20).Draw(t, "w"), rapid.IntRange(1, 20).Draw(t, "h")
		bits := rapid.SliceOfN(rapid.Bool(), w*h, w*h).Draw(t, "bits")
		m := mask.FromFunc(w, h, func(x, y int) bool { return bits[y*w+x] })
		back, err := decodeRLE(w, h, encodeRLE(m))
		if err != nil || !back.Equal(m) {
			t.Fatalf("%v", err)
		}
	})
}

// inPolygon is the definition: on an edge, or an odd number of edges to the right; in exact
// integers.
func inPolygon(pts []geom.Point, x, y int) bool {
	inside := false
	for i, a := range pts {
		b := pts[(i+1)%len(pts)]
		cross := (b.X-a.X)*(y-a.Y) - (b.Y-a.Y)*(x-a.X)
		if cross == 0 && x >= min(a.X, b.X) && x <= max(a.X, b.X) && y >= min(a.Y, b.Y) && y <= max(a.Y, b.Y) {
			return true
		}
		if (a.Y > y) != (b.Y > y) {
			if (cross > 0) == (b.Y > a.Y) { // the edge crosses the row to the right of x
				inside = !inside
			}
		}
	}
	return inside
}

func TestFillPolygonByHand(t *testing.T) {
	got := fillPolygon(7, 6, []geom.Point{{X: 1, Y: 1}, {X: 5, Y: 1}, {X: 3, Y: 4}})
	// Edges fall from x = 1 to 3 and from 5 to 3 in three rows: row 2 covers 1.67..4.33,
	// row 3 covers 2.33..3.67.
	if want := art(".......", ".#####.", "..###..", "...#...", "...#...", "......."); !got.Equal(want) {
		t.Errorf("got\n%swant\n%s", show(got), show(want))
	}
	if m := fillPolygon(5, 5, []geom.Point{{X: 0, Y: 0}, {X: 4, Y: 4}}); !m.IsEmpty() {
		t.Error("two points enclose something")
	}
}

func TestFillPolygonEqualsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 9).Draw(t, "points")
		var pts []geom.Point
		for range n {
			pts = append(pts, geom.Point{X: rapid.IntRange(-3, 14).Draw(t, "x"), Y: rapid.IntRange(-3, 14).Draw(t, "y")})
		}
		w, h := 12, 12
		got := fillPolygon(w, h, pts)
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
		want := mask.FromFunc(w, h, func(x, y int) bool { return inPolygon(pts, x, y) })
		if !got.Equal(want) {
			t.Fatalf("%v\n%swant\n%s", pts, show(got), show(want))
		}
	})
}

// square120 gives all 120 landmarks: the right lung's 44 points run round the box
// (10, 5)-(20, 30), the rest sit at one point.
func square120() []geom.Point {
	pts := make([]geom.Point, landmarkPoints)
	corners := []geom.Point{{X: 10, Y: 5}, {X: 20, Y: 5}, {X: 20, Y: 30}, {X: 10, Y: 30}}
	for i := range 44 {
		pts[i] = corners[i/11]
	}
	for i := 44; i < landmarkPoints; i++ {
		pts[i] = geom.Point{X: 3, Y: 3}
	}
	return pts
}

// flat spells landmarks as the preprocessed files do, printed as the original-size ones.
func flat(pts []geom.Point) string {
	var s []string
	for _, p := range pts {
		s = append(s, strconv.Itoa(p.X), strconv.Itoa(p.Y))
	}
	return strings.Join(s, ",")
}

func printed(pts []geom.Point) string {
	var b strings.Builder
	b.WriteString("[")
	for i, p := range pts {
		if i > 0 {
			b.WriteString("\n ")
		}
		fmt.Fprintf(&b, "[%4d %4d]", p.X, p.Y)
	}
	return b.String() + "]"
}

func TestLandmarkSpellings(t *testing.T) {
	pts := square120()
	for name, text := range map[string]string{
		"flat": flat(pts), "printed": printed(pts), "with points": strings.ReplaceAll(printed(pts), "]\n", ".]\n"),
		"brackets and commas": "[" + strings.ReplaceAll(flat(pts), ",", ", ") + "]",
	} {
		got, err := organLandmarks(text, OrganRightLung)
		if err != nil || len(got) != 44 || got[0] != pts[0] || got[43] != pts[43] {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if heart, err := organLandmarks(text, OrganHeart); err != nil || len(heart) != 26 {
			t.Errorf("%s: heart of %d points, %v", name, len(heart), err)
		}
	}
	for name, text := range map[string]string{
		"too few": flat(pts[:119]), "too many": flat(append(pts, pts[0])), "shortened": "[[1 2]\n ...\n [3 4]]", "huge": strings.Replace(flat(pts), "10", "1e30", 1), "empty": "",
	} {
		if _, err := organLandmarks(text, OrganRightLung); err == nil || !strings.HasPrefix(err.Error(), "landmarks: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const chexmaskHeader = "image_id,Dice RCA (Mean),Dice RCA (Max),Landmarks,Left Lung,Right Lung,Heart,Height,Width\n"

// chexmaskTable holds one row per case that the reader tells apart. Pictures are 40 wide
// and 50 high; the box of square120 lies inside.
func chexmaskTable(t testing.TB) string {
	t.Helper()
	pts := square120()
	lung := fillPolygon(40, 50, pts[:44])
	row := func(id, dice, marks, rle string, h, w int) string {
		return fmt.Sprintf("%s,%s,0.9,\"%s\",,%s,1 1,%d,%d\n", id, dice, marks, rle, h, w)
	}
	return chexmaskHeader +
		row("good", "0.91", printed(pts), encodeRLE(lung), 50, 40) +
		row("swapped", "0.92", printed(pts), "1 5", 40, 50) +
		row("swapped-flat", "0.92", flat(pts), "1 5", 40, 50) +
		row("swapped-bad", "0.92", "[[1 2]\n ...]", "1 5", 40, 50) +
		row("low", "0.5", printed(pts), encodeRLE(lung), 50, 40) +
		row("no-dice", "nan", printed(pts), encodeRLE(lung), 50, 40) +
		row("nan", "0.9", printed(pts), "NaN", 50, 40) +
		row("empty", "0.9", printed(pts), "", 50, 40) +
		row("other-size", "0.9", printed(pts), "1 5", 1024, 1024) +
		row("bad-rle", "0.9", printed(pts), "7 5 3 1", 50, 40)
}

func TestCheXmaskStates(t *testing.T) {
	f := newFolder()
	f.put("OriginalResolution/MIMIC-CXR-JPG.csv", chexmaskTable(t))
	name, err := FindCheXmask(f)
	if err != nil {
		t.Fatal(err)
	}
	c, err := OpenCheXmask(f, name, CheXmaskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]OrganState{
		"good": OrganAsPublished, "swapped": OrganRebuilt, "swapped-flat": OrganRebuilt, "swapped-bad": OrganBadLandmarks,
		"low": OrganLowQuality, "no-dice": OrganLowQuality, "nan": OrganNoMask, "empty": OrganNoMask,
		"other-size": OrganWrongSize, "bad-rle": OrganBadRLE,
	}
	lung := fillPolygon(40, 50, square120()[:44])
	seen := 0
	for r, err := range c.Records() {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		m := r.Mask(OrganRightLung, 40, 50, 0.7)
		if m.State != want[r.ID] {
			t.Errorf("%s: %s (%s), want %s", r.ID, m.State, m.Detail, want[r.ID])
		}
		if m.Present() && !m.Mask.Equal(lung) {
			t.Errorf("%s: mask\n%s", r.ID, show(m.Mask))
		}
		if r.ID == "low" && r.Mask(OrganRightLung, 40, 50, 0).State != OrganAsPublished {
			t.Error("without a minimum the low row counts")
		}
	}
	if seen != len(want) {
		t.Errorf("%d rows, want %d", seen, len(want))
	}
}

func gz(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Rows found through an index are the rows met in order, whether the table is plain, has a
// byte order mark, or was unpacked.
func TestCheXmaskIndex(t *testing.T) {
	f := newFolder()
	table := chexmaskTable(t)
	f.put("plain.csv", table)
	f.put("marked.csv", "\xef\xbb\xbf"+table)
	f.put("packed.csv.gz", gz(t, table))
	packed, err := OpenCheXmask(f, "packed.csv.gz", CheXmaskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packed.BuildIndex(); !errors.Is(err, ErrCompressed) {
		t.Errorf("indexing a compressed table: %v", err)
	}
	var lean bytes.Buffer
	leanIndex, err := packed.Unpack(&lean)
	if err != nil {
		t.Fatal(err)
	}
	f.put("lean.csv", lean.String())
	indexes := map[string]*CheXmaskIndex{"lean.csv": leanIndex}
	for _, name := range []string{"plain.csv", "marked.csv"} {
		c, err := OpenCheXmask(f, name, CheXmaskOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if indexes[name], err = c.BuildIndex(); err != nil {
			t.Fatal(err)
		}
	}
	for name, x := range indexes {
		x, err := DecodeCheXmaskIndex(x.Encode())
		if err != nil || x.Len() != 10 {
			t.Fatalf("%s: %d rows, %v", name, x.Len(), err)
		}
		c, err := OpenCheXmask(f, name, CheXmaskOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for want, err := range packed.Records() {
			if err != nil {
				t.Fatal(err)
			}
			got, ok, err := c.Lookup(x, want.ID)
			if err != nil || !ok || got != want {
				t.Errorf("%s: %s found as %+v, %v, want %+v", name, want.ID, got, err, want)
			}
		}
		if _, ok, err := c.Lookup(x, "unknown"); ok || err != nil {
			t.Errorf("%s: an unknown id: %v, %v", name, ok, err)
		}
		f.put(name, string(f.MapFS[name].Data)+"x")
		if _, _, err := c.Lookup(x, "good"); err == nil || !strings.Contains(err.Error(), "build the index again") {
			t.Errorf("%s: after a change: %v", name, err)
		}
	}
}

func TestCheXmaskTableErrors(t *testing.T) {
	f := newFolder()
	var te *TableError
	if _, err := FindCheXmask(f); !errors.As(err, &te) || te.Hint == "" {
		t.Errorf("no table: %v", err)
	}
	f.put("a.csv", strings.Replace(chexmaskHeader, "image_id", "name", 1))
	if _, err := OpenCheXmask(f, "a.csv", CheXmaskOptions{}); !errors.As(err, &te) || !strings.Contains(err.Error(), "dicom_id or image_id") {
		t.Errorf("no id column: %v", err)
	}
	if _, err := OpenCheXmask(f, "a.csv", CheXmaskOptions{IDColumn: "name"}); err != nil {
		t.Errorf("id column named: %v", err)
	}
	f.put("b.csv", strings.Replace(chexmaskHeader, "Landmarks", "Marks", 1))
	if _, err := OpenCheXmask(f, "b.csv", CheXmaskOptions{}); !errors.As(err, &te) || te.Column != "Landmarks" {
		t.Errorf("no landmarks: %v", err)
	}
	f.put("c.csv", chexmaskHeader+"a,1,1\n")
	c, err := OpenCheXmask(f, "c.csv", CheXmaskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range c.Records() {
		if !errors.As(err, &te) || te.Line != 2 {
			t.Errorf("short row: %v", err)
		}
	}
	f.put("d.csv", chexmaskTable(t)+strings.SplitN(chexmaskTable(t), "\n", 2)[1])
	if c, err = OpenCheXmask(f, "d.csv", CheXmaskOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.BuildIndex(); !errors.As(err, &te) || !strings.Contains(err.Error(), "10 ids stand in more than one row") {
		t.Errorf("repeated ids: %v", err)
	}
}
