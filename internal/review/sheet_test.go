package review

import (
	"bytes"
	"fmt"
	"image/png"
	"maps"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/phantom"
	"cxrepro/internal/report"
)

// memory keeps a sheet's files.
type memory map[string][]byte

func (m memory) Put(name string, data []byte) error {
	if _, dup := m[name]; dup {
		return fmt.Errorf("file %s is written twice", name)
	}
	m[name] = bytes.Clone(data)
	return nil
}

func built(t *testing.T, b *bench, o Options) memory {
	t.Helper()
	files := memory{}
	if _, err := Build(t.Context(), b.in, files, o); err != nil {
		t.Fatal(err)
	}
	return files
}

var linked = regexp.MustCompile(`(?:src|href)="([^"#]+)"`)

// TestSheet looks at every page of a sheet: what it links to is there, what it draws is
// explained, its counts are the summary's, and no name of the data set is on it.
func TestSheet(t *testing.T) {
	b := newBench(t, golden(t, 8), "credentialed")
	b.gone[4] = true
	files := built(t, b, Options{PerStratum: 3, Bins: 3, side: 160})
	for name, data := range files {
		for _, s := range b.subjects {
			for _, secret := range []string{s.entry.ID, s.entry.Subject, s.entry.Path} {
				if bytes.Contains(data, []byte(secret)) {
					t.Errorf("%s names %q", name, secret)
				}
			}
		}
		if path.Ext(name) == ".png" {
			if _, err := png.DecodeConfig(bytes.NewReader(data)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if path.Ext(name) != ".html" {
			continue
		}
		for _, ref := range linked.FindAllStringSubmatch(string(data), -1) {
			if _, ok := files[ref[1]]; !ok {
				t.Errorf("%s refers to %s, which is not there", name, ref[1])
			}
		}
		for _, want := range []string{"Made from credentialed data (class credentialed): it must not leave this machine", "corrected"} {
			if !bytes.Contains(data, []byte(want)) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		if bytes.Contains(data, []byte("http")) || bytes.Contains(data, []byte("<script")) {
			t.Errorf("%s reaches outside", name)
		}
	}
	for _, s := range b.in.Summary.Tasks {
		page := string(files[s.Task+".html"])
		task, _ := chexstruct.ParseTask(s.Task)
		for _, w := range taskText[task].Legend {
			if !strings.Contains(page, `swatch `+w.Class+`"></i>`+w.Words[:min(9, len(w.Words))]) {
				t.Errorf("%s: the legend lacks %s, %q", s.Task, w.Class, w.Words)
			}
		}
		for _, label := range s.Labels {
			badge, _ := stratumWords(task, label.Label)
			if want := fmt.Sprintf("</i>%s <b>%s</b>", badge, report.Number(label.N)); !strings.Contains(page, want) {
				t.Errorf("%s lacks the count %q", s.Task, want)
			}
		}
		for _, side := range []string{"patient's right, at the image left", "patient's left"} {
			if !strings.Contains(strings.ReplaceAll(page, "&#39;", "'"), side) {
				t.Errorf("%s does not explain %q", s.Task, side)
			}
		}
	}
	gone := 0
	for name, data := range files {
		if path.Ext(name) == ".html" {
			gone += bytes.Count(data, []byte("The picture cannot be shown: the file is gone."))
		}
	}
	if gone == 0 {
		t.Error("no tile says that a picture is gone")
	}
}

// TestSheetRepeats holds that a sheet's bytes depend on nothing but the results.
func TestSheetRepeats(t *testing.T) {
	b := newBench(t, golden(t, 4), "synthetic")
	first := built(t, b, Options{PerStratum: 2, Bins: 2, side: 160})
	before := runtime.GOMAXPROCS(1)
	second := built(t, b, Options{PerStratum: 2, Bins: 2, side: 160})
	runtime.GOMAXPROCS(before)
	if !slices.Equal(slices.Sorted(maps.Keys(first)), slices.Sorted(maps.Keys(second))) {
		t.Fatal("other files the second time")
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("%s has other bytes the second time", name)
		}
	}
}

// TestStrata holds that a page counts every image once, shows no image under a wrong
// outcome, and at most as many of each as asked for, over any choice.
func TestStrata(t *testing.T) {
	b := newBench(t, golden(t, 20), "synthetic")
	s, err := readAll(t.Context(), b.in)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{1, 2, 5, 100} {
		p := &builder{in: b.in, scan: s, sink: memory{}, o: Options{PerStratum: most}.withDefaults(1), limits: limits{b.in.Rules}, maker: newMaker(b.in, s, memory{}, 160)}
		p.plan()
		for _, page := range p.plans {
			counted := 0
			for _, st := range page.strata {
				counted += st.total
				if len(st.shown) != min(st.total, most) {
					t.Errorf("%s %s: %d of %d shown, at most %d asked for", page.file, st.name, len(st.shown), st.total, most)
				}
				members := s.strata[page.task][st.name]
				if page.task == chexstruct.Global {
					members = s.filter[page.rule][st.name]
				}
				last := -1
				for _, id := range st.shown {
					if !slices.Contains(members, int32(id.ordinal)) || id.ordinal <= last {
						t.Errorf("%s %s shows image %d", page.file, st.name, id.ordinal)
					}
					last = id.ordinal
				}
			}
			want := s.kept
			if page.task == chexstruct.Global {
				want = s.images
			}
			if counted != want {
				t.Errorf("%s counts %d images, want %d", page.file, counted, want)
			}
			if n := len(page.contact()); n > contactMost {
				t.Errorf("%s: %d tiles on the contact sheet", page.file, n)
			}
		}
	}
}

// BenchmarkTile is everything that one radiograph of the published size costs on a sheet:
// reduction, twelve drawings, and their encoding.
func BenchmarkTile(b *testing.B) {
	n := newBench(b, phantoms(b, 1, phantom.SizingMIMIC), "synthetic")
	s, err := readAll(b.Context(), n.in)
	if err != nil {
		b.Fatal(err)
	}
	w, err := n.in.Window(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	var ids []tileID
	for _, t := range chexstruct.Tasks() {
		ids = append(ids, tileID{0, t, 0})
	}
	for b.Loop() {
		if _, err := newMaker(n.in, s, memory{}, tileSide).image(b.Context(), w.Entries[0], ids); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*len(ids)), "ms/tile")
}
