package dataset

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
)

// memFolder is a data set folder in memory, written by LayOut and damaged by tests.
type memFolder struct{ fstest.MapFS }

func newFolder() memFolder { return memFolder{fstest.MapFS{}} }

func (f memFolder) Create(name string) (io.WriteCloser, error) {
	if _, exists := f.MapFS[name]; exists {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	return &memFile{folder: f, name: name}, nil
}

func (f memFolder) put(name, content string) {
	f.MapFS[name] = &fstest.MapFile{Data: []byte(content)}
}

type memFile struct {
	bytes.Buffer
	folder memFolder
	name   string
}

func (f *memFile) Close() error {
	f.folder.MapFS[f.name] = &fstest.MapFile{Data: bytes.Clone(f.Bytes())}
	return nil
}

// testPicture is a small picture whose pixels depend on n.
func testPicture(n int) *cxr.Image {
	m := cxr.NewImage(24+n, 30)
	for i := range m.Pix {
		m.Pix[i] = uint8(128 + 60*((i/3+n*7)%3-1) + i%5)
	}
	return m
}

// pictures yields n PNGs, PA and AP in turn.
func pictures(t testing.TB, n int) iter.Seq2[Picture, error] {
	return func(yield func(Picture, error) bool) {
		for i := range n {
			data, err := cxr.EncodePNG(testPicture(i))
			if err != nil {
				t.Fatal(err)
			}
			view := cxr.ViewPA
			if i%2 == 1 {
				view = cxr.ViewAP
			}
			if !yield(Picture{Name: fmt.Sprintf("picture_%d.png", i), Data: data, View: view}, nil) {
				return
			}
		}
	}
}

func testOptions() LayoutOptions {
	return LayoutOptions{Name: "test pictures", DataUse: datause.Synthetic}
}

// laidOut returns a folder of n pictures and the report about it.
func laidOut(t testing.TB, n int) (memFolder, LayoutReport) {
	t.Helper()
	f := newFolder()
	r, err := LayOut(f, pictures(t, n), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	return f, r
}

func frontal() MIMICOptions {
	return MIMICOptions{Selection: Selection{Views: []cxr.ViewPosition{cxr.ViewPA, cxr.ViewAP}}}
}

func openFrontal(t testing.TB, f fs.FS) *MIMIC {
	t.Helper()
	m, err := OpenMIMIC(f, frontal())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func collect(t testing.TB, rows iter.Seq2[Row, error]) []Row {
	t.Helper()
	var out []Row
	for r, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// unpacked replaces a compressed table by its text, after a change.
func (f memFolder) unpacked(t testing.TB, name string, change func(string) string) {
	t.Helper()
	tab, err := openTable(f, name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(strings.Join(tab.names(), ",") + "\n")
	for {
		rec, _, bad, err := tab.next()
		if err == io.EOF {
			break
		}
		if err != nil || bad != "" {
			t.Fatal(err, bad)
		}
		b.WriteString(strings.Join(rec, ",") + "\n")
	}
	delete(f.MapFS, name)
	f.put(strings.TrimSuffix(name, ".gz"), change(b.String()))
}
