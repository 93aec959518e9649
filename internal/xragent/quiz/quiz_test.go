package quiz

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
)

func mustDraw(t *testing.T, seed uint64, split Split, n int) Study {
	t.Helper()
	s, err := Draw(seed, split, n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDrawIsDetermined draws the same study twice, and others for another seed, split and
// number.
func TestDrawIsDetermined(t *testing.T) {
	a := mustDraw(t, 1, Train, 3)
	if b := mustDraw(t, 1, Train, 3); !reflect.DeepEqual(a, b) {
		t.Error("the same study differs")
	}
	for _, b := range []Study{mustDraw(t, 2, Train, 3), mustDraw(t, 1, HeldOut, 3), mustDraw(t, 1, Train, 4)} {
		if bytes.Equal(a.PNG, b.PNG) {
			t.Errorf("%s has the picture of %s", b.Path, a.Path)
		}
	}
}

// TestItems holds what every item must be: valid, with a note only where it is looked up,
// and relevant to the ratio of the heart only where the heart is asked for.
func TestItems(t *testing.T) {
	for n := range 12 {
		s := mustDraw(t, 1, Train, n)
		if len(s.Items) != 4 {
			t.Fatalf("%d items", len(s.Items))
		}
		for i, item := range s.Items {
			f := Families()[i]
			if err := item.Validate(); err != nil {
				t.Error(err)
			}
			if item.Source != string(f) || !strings.HasSuffix(item.ID, "/"+string(f)) || item.Images()[0] != s.Image {
				t.Errorf("item %+v is not of family %s and its picture", item, f)
			}
			if got := len(item.Notes) == 1; got != (f == Lookup) {
				t.Errorf("%s: notes %v", item.ID, item.Notes)
			}
			for _, m := range xragent.Measurements() {
				if got, want := xragent.Relevant(m, item.Question), f == Heart && m == xragent.CTR; got != want {
					t.Errorf("%s: %s relevant %v", item.ID, m, got)
				}
			}
		}
	}
}

// TestNotesHoldTheSign reads the right sign out of the note, and finds it in no other part of
// the item but the options.
func TestNotesHoldTheSign(t *testing.T) {
	d := drawer{seed: 1}
	for n := range 50 {
		d.id = string(rune('a' + n))
		q := d.items(Study{Kind: phantom.KindPA}, false)[2]
		right := q.Question.Options[q.Question.Key[0]-'A']
		for name, note := range q.Notes {
			if !strings.Contains(q.Question.Text, name) || !strings.Contains(note, " "+right+".") {
				t.Errorf("%q, key %q, note %q", q.Question.Text, right, note)
			}
			for _, o := range q.Question.Options {
				if o != right && strings.Contains(note, o) {
					t.Errorf("note %q names %q as well", note, o)
				}
			}
		}
	}
}

// TestLettersAreUniform counts the right letters over 3000 items of each family; the
// chi-square of two degrees of freedom stays below its 99.9 % point. A quarter of the films
// are other kinds, and sides of the heart are even.
func TestLettersAreUniform(t *testing.T) {
	const n = 3000
	counts, otherKinds, large := map[Family][3]int{}, 0, 0
	for k := range n {
		d := drawer{seed: 7, id: string(rune(k))}
		r := d.stream("film")
		kind := phantom.KindPA
		if r.IntN(4) == 0 {
			kind = others[r.IntN(len(others))]
			otherKinds++
		} else if r.IntN(2) == 0 {
			large++
		}
		for i, item := range d.items(Study{Kind: kind}, false) {
			c := counts[Families()[i]]
			c[item.Question.Key[0]-'A']++
			counts[Families()[i]] = c
		}
	}
	for f, c := range counts {
		chi := 0.0
		for _, k := range c {
			e := float64(n) / 3
			chi += (float64(k) - e) * (float64(k) - e) / e
		}
		t.Logf("%s: letters %v, chi-square %.2f", f, c, chi)
		if chi > 13.8 {
			t.Errorf("%s: right letters %v, chi-square %.1f", f, c, chi)
		}
	}
	if otherKinds < n/4-100 || otherKinds > n/4+100 || large < 3*n/8-110 || large > 3*n/8+110 {
		t.Errorf("%d other kinds, %d large hearts of %d", otherKinds, large, n)
	}
}

// shrink averages a picture over boxes, as a small policy sees it.
func shrink(m *cxr.Image, side int) []float64 {
	out := make([]float64, side*side)
	k := m.Width / side
	for y := range m.Height {
		for x, v := range m.Row(y) {
			out[y/k*side+x/k] += float64(v) / float64(k*k)
		}
	}
	return out
}

// TestFinePatternShowsInTheCropOnly draws one picture with each look of the fine pattern. At
// the policy's input size the three are equal to the last bit; in the crop of the quarter,
// made by the tool and shrunk to the same size, they differ by a good part of their swing.
func TestFinePatternShowsInTheCropOnly(t *testing.T) {
	for quarter := range 4 {
		var whole, crop [3][]float64
		for look := range 3 {
			film, err := phantom.DrawSquare(5, quarter, phantom.KindAP, Side)
			if err != nil {
				t.Fatal(err)
			}
			Mark{Look: look, Quarter: quarter, dx: 32, dy: 0}.drawFine(film.Image)
			whole[look] = shrink(film.Image, PolicySide)
			part, _, err := xragent.Crop(film.Image, quarterBox(quarter), xragent.CropOptions{})
			if err != nil {
				t.Fatal(err)
			}
			crop[look] = shrink(part, PolicySide)
		}
		for look := 1; look < 3; look++ {
			if d := greatest(whole[0], whole[look]); d != 0 {
				t.Errorf("quarter %d: at the policy's size looks 0 and %d differ by %v grey levels", quarter, look, d)
			}
			if d := greatest(crop[0], crop[look]); d < fineSwing {
				t.Errorf("quarter %d: in the crop looks 0 and %d differ by %v grey levels only", quarter, look, d)
			}
		}
	}
}

// TestPlainSquareIsPlain finds the squares apart at the policy's input size.
func TestPlainSquareIsPlain(t *testing.T) {
	var whole [3][]float64
	for look := range 3 {
		film, err := phantom.DrawSquare(5, 1, phantom.KindLateral, Side)
		if err != nil {
			t.Fatal(err)
		}
		Mark{Look: look, Quarter: 3}.drawPlain(film.Image)
		whole[look] = shrink(film.Image, PolicySide)
	}
	for _, pair := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		if d := greatest(whole[pair[0]], whole[pair[1]]); d < 200 {
			t.Errorf("squares %v differ by %v grey levels only", pair, d)
		}
	}
}

func greatest(a, b []float64) float64 {
	d := 0.0
	for i := range a {
		d = max(d, a[i]-b[i], b[i]-a[i])
	}
	return d
}

// list collects what Write draws.
type list struct {
	paths map[string]bool
	items map[string]bool
}

func (l list) Picture(path string, _ []byte) error { l.paths[path] = true; return nil }
func (l list) Item(i xragent.Item) error           { l.items[i.ID] = true; return nil }

// TestSplitsAreDisjoint writes the first pictures of both splits: no id, path or patient is
// in both, and a split refuses what lies outside its row.
func TestSplitsAreDisjoint(t *testing.T) {
	a, b := list{map[string]bool{}, map[string]bool{}}, list{map[string]bool{}, map[string]bool{}}
	if err := Write(1, Train, 4, a); err != nil {
		t.Fatal(err)
	}
	if err := Write(1, HeldOut, 4, b); err != nil {
		t.Fatal(err)
	}
	if len(a.items) != 16 || len(b.items) != 16 || len(a.paths) != 4 {
		t.Errorf("%d and %d items, %d pictures", len(a.items), len(b.items), len(a.paths))
	}
	for id := range a.items {
		if b.items[id] {
			t.Errorf("%s is in both", id)
		}
	}
	train, _ := Train.first()
	held, _ := HeldOut.first()
	if train+MaxPictures > held {
		t.Errorf("rows of phantoms overlap: %d and %d", train, held)
	}
	if _, err := Draw(1, Train, MaxPictures); err == nil {
		t.Error("a number outside the row is drawn")
	}
	if _, err := Draw(1, "test", 0); err == nil {
		t.Error("an unknown split is drawn")
	}
}

// BenchmarkDraw draws studies.
func BenchmarkDraw(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		if _, err := Draw(1, Train, i); err != nil {
			b.Fatal(err)
		}
	}
}

// TestDrawIsPinned: what Version stands for. A change here needs another version.
func TestDrawIsPinned(t *testing.T) {
	s := mustDraw(t, 1, Train, 3)
	items, err := artifacts.Canonical(s.Items)
	if err != nil {
		t.Fatal(err)
	}
	if got := [2]string{s.Image.Digest.Short(), artifacts.Sum(items).Short()}; Version != 1 || got != [2]string{"7fa1a2d138f1", "de12e20e1d6f"} {
		t.Errorf("version %d draws %q", Version, got)
	}
}
