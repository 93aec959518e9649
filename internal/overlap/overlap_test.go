package overlap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/overlap"
)

func digest(s string) artifacts.Digest { return artifacts.Sum([]byte(s)) }

// img is an image whose hash has so many bits set, -1 for none.
func img(name string, bits int, study, patient string) overlap.Image {
	m := overlap.Image{Image: digest(name), Study: study, Patient: patient}
	if bits >= 0 {
		m.Perceptual = &overlap.Hash{}
		for i := range bits {
			m.Perceptual[i/64] |= 1 << (i % 64)
		}
	}
	return m
}

func list(images ...overlap.Image) overlap.List {
	return overlap.List{Perceptual: overlap.PerceptualName, Grouping: "k1", Images: images}
}

func TestFind(t *testing.T) {
	training := list(img("a", 0, "s1", "p1"), img("b", 100, "s2", "p2"), img("c", 200, "s3", "p3"), img("d", 201, "s3", "p3"), img("b", -1, "", ""))
	evaluation := list(
		img("a", 0, "s1", "p1"),        // the file itself
		img("copy of b", 110, "", ""),  // 10 bits from b
		img("after c", 60, "s3", "p3"), // the study of c and d
		img("late b", 20, "s9", "p2"),  // another study of b's patient
		img("other", 160, "s8", "p8"),  // nothing: 40 bits from c
	)
	got := overlap.Find(training, evaluation, 12)
	var said []string
	name := map[artifacts.Digest]string{}
	for _, n := range []string{"a", "b", "c", "d", "copy of b", "after c", "late b", "other"} {
		name[digest(n)] = n
	}
	for _, f := range got.Findings {
		said = append(said, fmt.Sprintf("%s %s/%s %d", f.Kind, name[f.Evaluation], name[f.Training], f.Distance))
	}
	slices.Sort(said)
	want := []string{"near_duplicate copy of b/b 10", "same_bytes a/a 0", "same_patient late b/b 0", "same_study after c/c 0", "same_study after c/d 0"}
	if !slices.Equal(said, want) {
		t.Errorf("found %q\nwant  %q", said, want)
	}
	if kinds := got.Findings; kinds[0].Kind != overlap.SameBytes || kinds[1].Kind != overlap.NearDuplicate {
		t.Errorf("order %v, want the strongest kind first", kinds)
	}
	if at := overlap.Find(training, evaluation, 10).Findings[1]; at.Kind != overlap.NearDuplicate || at.Distance != 10 {
		t.Errorf("at the limit: %+v, want the near-duplicate", at)
	}
	if below := overlap.Find(training, evaluation, 9).Findings[1]; below.Kind == overlap.NearDuplicate {
		t.Errorf("below the limit: %+v", below)
	}
}

// TestGaps: what could not be compared is said, and is no finding.
func TestGaps(t *testing.T) {
	has := list(img("a", 0, "s1", "p1"))
	for name, c := range map[string]struct {
		training, evaluation overlap.List
		want                 []string
	}{
		"nothing":            {overlap.List{}, has, nil},
		"a pair":             {has, list(img("b", 200, "s2", "p2")), nil},
		"no hash":            {list(img("b", -1, "s2", "p2")), has, []string{"near_duplicate: not known of 1 of 1 training images and 0 of 1 evaluation images"}},
		"no groups":          {has, list(img("b", 200, "", "")), []string{"same_study: not known of 0 of 1 training images and 1 of 1", "same_patient: not known of 0"}},
		"another key":        {has, overlap.List{Perceptual: overlap.PerceptualName, Grouping: "k2", Images: []overlap.Image{img("b", 200, "s1", "p1")}}, []string{"same_study: training images are hashed with k1, evaluation images with k2", "same_patient"}},
		"another hash":       {has, overlap.List{Perceptual: "other/1", Grouping: "k1", Images: []overlap.Image{img("b", 0, "s2", "p2")}}, []string{"near_duplicate: training images are hashed with dct-phash-256/1, evaluation images with other/1"}},
		"an image twice":     {list(img("a", 0, "s1", "p1"), img("a", -1, "", "")), list(img("b", 200, "s2", "p2")), nil},
		"a hash of one side": {list(img("c", -1, "s3", "p3"), img("d", 3, "s4", "p4")), list(img("b", 200, "s2", "p2")), []string{"near_duplicate: not known of 1 of 2"}},
	} {
		got := overlap.Find(c.training, c.evaluation, 5)
		if len(got.Findings) != 0 || len(got.Gaps) != len(c.want) {
			t.Errorf("%s: %+v, want the gaps %q", name, got, c.want)
			continue
		}
		for i, g := range got.Gaps {
			if text := string(g.Kind) + ": " + g.Detail; !strings.HasPrefix(text, c.want[i]) {
				t.Errorf("%s: gap %q, want %q", name, text, c.want[i])
			}
		}
	}
}

// TestGrouping: groups tell data sets, kinds and keys apart, and hide key and identifier.
func TestGrouping(t *testing.T) {
	one, err := overlap.NewGrouping(bytes.Repeat([]byte{1}, overlap.GroupingKeySize))
	if err != nil {
		t.Fatal(err)
	}
	two, err := overlap.NewGrouping(bytes.Repeat([]byte{2}, overlap.GroupingKeySize))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{one.Study("d", "50414267"), one.Patient("d", "50414267"), one.Study("e", "50414267"), two.Study("d", "50414267"), one.Study("d", "5041426"), one.Study("d5", "0414267")}
	for i, g := range all {
		if len(g) != 32 || slices.Index(all, g) != i || strings.Contains(g, "0414267") {
			t.Errorf("group %d of %q", i, all)
		}
	}
	if one.Study("d", "") != "" || one.ID() == two.ID() || one.Study("d", "50414267") != all[0] {
		t.Error("no study has no group, keys have names, groups do not change")
	}
	// Pinned: lists that were written would not match any more.
	if got, want := one.Study("mimic-cxr-jpg", "50414267"), "3e2bb40c8eae833ed8721e5430229de6"; got != want {
		t.Errorf("group %s, want %s", got, want)
	}
	if s := fmt.Sprintf("%v %+v %#v", one, one, one); strings.Contains(s, "1 1 1") || strings.Contains(s, "0x1") {
		t.Errorf("a grouping prints its key: %s", s)
	}
	if _, err := overlap.NewGrouping([]byte("short")); err == nil {
		t.Error("a short key was taken")
	}
}

// TestPerceptualPinned: the hash of a picture is the same on every machine and for ever.
func TestPerceptualPinned(t *testing.T) {
	m := cxr.NewImage(97, 131)
	for y := range m.Height {
		for x := range m.Width {
			m.Pix[y*m.Width+x] = uint8((x*x + 3*y*x + 7*y) % 251)
		}
	}
	h, err := overlap.Perceptual(m)
	if err != nil {
		t.Fatal(err)
	}
	const want = "ac4695a2a11254a9ffbf485050816a52bd4abd7ef528d4a37a91febddb527050"
	if h.String() != want {
		t.Errorf("hash %s, want %s", h, want)
	}
	text, err := json.Marshal(h)
	var back overlap.Hash
	if err != nil || json.Unmarshal(text, &back) != nil || back != h {
		t.Errorf("%s read back as %s, %v", text, back, err)
	}
	for _, bad := range []string{`""`, `"00"`, `"` + strings.Repeat("g", 64) + `"`, `"` + strings.Repeat("0", 66) + `"`} {
		if json.Unmarshal([]byte(bad), &back) == nil {
			t.Errorf("%s was read as a hash", bad)
		}
	}
	if _, err := overlap.Perceptual(&cxr.Image{}); err == nil {
		t.Error("a picture without pixels has a hash")
	}
	for _, size := range [][2]int{{1, 1}, {5, 3}, {64, 64}, {63, 200}} {
		if h, err := overlap.Perceptual(cxr.NewImage(size[0], size[1])); err != nil || h != (overlap.Hash{}) {
			t.Errorf("black picture of %v: %s, %v; want no bit set", size, h, err)
		}
	}
}

// BenchmarkFind compares hashes of pictures that are not alike; it reports pairs a second.
func BenchmarkFind(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	side := func(n int) (l overlap.List) {
		l.Perceptual = overlap.PerceptualName
		for i := range n {
			m := overlap.Image{Image: digest(fmt.Sprint(n, i)), Perceptual: &overlap.Hash{}}
			for k := range m.Perceptual {
				m.Perceptual[k] = rng.Uint64()
			}
			l.Images = append(l.Images, m)
		}
		return l
	}
	training, evaluation := side(20_000), side(1000)
	b.ResetTimer()
	for range b.N {
		overlap.Find(training, evaluation, overlap.Limit)
	}
	b.ReportMetric(float64(b.N)*2e7/b.Elapsed().Seconds(), "pairs/s")
}
