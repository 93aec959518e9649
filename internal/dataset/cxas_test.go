package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// The goldens' size and formula; see testdata/cxas/make_goldens.py.
const (
	goldenW = 13
	goldenH = 10
)

func goldenMask(class, shift, scale int) mask.Mask {
	return mask.FromFunc(goldenW*scale, goldenH*scale, func(x, y int) bool {
		return class%4 != 1 && (3*(x/scale)+5*(y/scale)+7*(class+shift))%11 < 4
	})
}

func structure(t testing.TB, name string) anatomy.Structure {
	t.Helper()
	s, ok := anatomy.ByName(name)
	if !ok {
		t.Fatalf("no structure %q", name)
	}
	return s
}

// three are the structures that the picture folders hold, one of them empty.
func three(t testing.TB) anatomy.Set {
	return anatomy.SetOf(structure(t, "lower mediastinum"), structure(t, "right lung"), structure(t, "left lung"))
}

// cxasFS is the golden folder with the array under two stems.
func cxasFS(t testing.TB) fstest.MapFS {
	t.Helper()
	f := fstest.MapFS{}
	for _, ext := range []string{"npy", "npz"} {
		data, err := os.ReadFile("testdata/cxas/array." + ext)
		if err != nil {
			t.Fatal(err)
		}
		f["case."+ext] = &fstest.MapFile{Data: data}
	}
	return f
}

func TestCXASGoldens(t *testing.T) {
	disk := func(dir string) fs.FS { return os.DirFS("testdata/cxas/" + dir) }
	cases := []struct {
		name   string
		fsys   fs.FS
		format MaskFormat
		want   anatomy.Set
		stem   string
		shift  int
		scale  int
	}{
		{"npy", cxasFS(t), MaskNPY, anatomy.Set{}, "case", 0, 1},
		{"npy, three only", cxasFS(t), MaskNPY, three(t), "case", 0, 1},
		{"npz", cxasFS(t), MaskNPZ, anatomy.Set{}, "case", 0, 1},
		{"json, own file", disk("own"), MaskJSON, anatomy.Set{}, "case", 0, 1},
		{"json, own file of another", disk("own"), MaskJSON, anatomy.Set{}, "other", 1, 1},
		{"json, shared file", disk("shared"), MaskJSON, anatomy.Set{}, "case", 0, 1},
		{"json, shared file, second", disk("shared"), MaskJSON, three(t), "other.tar", 1, 1},
		{"png", disk("png"), MaskPNG, three(t), "case", 0, 1},
		{"jpg", disk("jpg"), MaskJPEG, three(t), "case", 0, 8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			src, err := OpenCXAS(c.fsys, c.format, CXASOptions{Structures: c.want})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			m, err := src.Masks(c.stem, goldenW*c.scale, goldenH*c.scale)
			if err != nil {
				t.Fatal(err)
			}
			if m.GridW != m.NativeW || m.NativeW != goldenW*c.scale || m.NativeH != goldenH*c.scale {
				t.Errorf("grid %d x %d, native %d x %d", m.GridW, m.GridH, m.NativeW, m.NativeH)
			}
			for _, s := range src.Declared().List() {
				want := goldenMask(s.ClassID(), c.shift, c.scale)
				if got := m.Mask(s); !got.Equal(want) {
					t.Errorf("%s:\n%swant\n%s", s.Name(), show(got), show(want))
				}
			}
			if n := m.Declared.Len(); c.want.Len() == 0 && n != anatomy.Count || c.want.Len() > 0 && n != 3 {
				t.Errorf("declares %d structures", n)
			}
		})
	}
}

// bad is one way in which a picture's masks cannot be used.
type badMasks struct {
	name   string
	format MaskFormat
	files  map[string][]byte
	class  MaskFileClass
	detail string
}

func npy(header string, body int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "\x93NUMPY\x01\x00%c%c%s", len(header)&0xff, len(header)>>8, header)
	b.Write(make([]byte, body))
	return b.Bytes()
}

func own(t testing.TB, change func(doc map[string]any)) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile("testdata/cxas/own/case.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	change(doc)
	if data, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"case.json": data, "zz.json": []byte("{}")}
}

func annotation(doc map[string]any, i int) map[string]any {
	return doc["annotations"].([]any)[i].(map[string]any)
}

func TestBadMasks(t *testing.T) {
	good := cxasFS(t)["case.npy"].Data
	zipped := cxasFS(t)["case.npz"].Data
	pic := func(w, h int) []byte {
		data, err := cxr.EncodePNG(cxr.NewImage(w, h))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	pictures := func(first []byte) map[string][]byte {
		return map[string][]byte{"case/lower mediastinum.png": pic(goldenW, goldenH), "case/right lung.png": first, "case/left lung.png": pic(goldenW, goldenH)}
	}
	const ok = "{'descr': '|b1', 'fortran_order': False, 'shape': (159, 10, 13), }"
	cases := []badMasks{
		{"npy absent", MaskNPY, nil, MasksMissing, "no npy file"},
		{"npy cut", MaskNPY, map[string][]byte{"case.npy": good[:len(good)-1]}, MasksDamaged, "breaks off"},
		{"npy cut in its header", MaskNPY, map[string][]byte{"case.npy": good[:20]}, MasksDamaged, "breaks off"},
		{"npy too long", MaskNPY, map[string][]byte{"case.npy": append(bytes.Clone(good), 0)}, MasksDamaged, "bytes follow"},
		{"npy is text", MaskNPY, map[string][]byte{"case.npy": []byte("masks of the chest")}, MasksWrongType, "no NumPy array"},
		{"npy of floats", MaskNPY, map[string][]byte{"case.npy": npy(strings.Replace(ok, "|b1", "<f4", 1), 0)}, MasksWrongType, `"<f4"`},
		{"npy in Fortran order", MaskNPY, map[string][]byte{"case.npy": npy(strings.Replace(ok, "False", "True", 1), 0)}, MasksWrongType, "Fortran order"},
		{"npy with two axes", MaskNPY, map[string][]byte{"case.npy": npy(strings.Replace(ok, "159, ", "", 1), 0)}, MasksWrongType, "2 axes"},
		{"npy without shape", MaskNPY, map[string][]byte{"case.npy": npy("{'descr': '|b1', 'fortran_order': False}", 0)}, MasksDamaged, "lacks"},
		{"npy of 157 classes", MaskNPY, map[string][]byte{"case.npy": npy(strings.Replace(ok, "159", "157", 1), 157*130)}, MasksWrongChannels, "157 classes, want 159"},
		{"npy transposed", MaskNPY, map[string][]byte{"case.npy": npy(strings.Replace(ok, "10, 13", "13, 10", 1), 159*130)}, MasksWrongSize, "10 x 13 pixels, the picture 13 x 10"},
		{"npz cut", MaskNPZ, map[string][]byte{"case.npz": zipped[:len(zipped)-30]}, MasksDamaged, "no readable zip"},
		{"npz flipped", MaskNPZ, map[string][]byte{"case.npz": flip(zipped, len(zipped)/2)}, MasksDamaged, ""},
		{"json absent", MaskJSON, map[string][]byte{"a.json": nil, "b.json": nil}, MasksMissing, "no json file for the picture"},
		{"json cut", MaskJSON, map[string][]byte{"case.json": own(t, func(map[string]any) {})["case.json"][:900], "zz.json": nil}, MasksDamaged, "breaks off"},
		{"json of another size", MaskJSON, own(t, func(d map[string]any) { annotation(d, 0)["segmentation"].(map[string]any)["size"] = []int{13, 10} }), MasksWrongSize, "10 x 13"},
		{"json with a foreign class", MaskJSON, own(t, func(d map[string]any) { annotation(d, 0)["category_id"] = 159 }), MasksWrongChannels, "category_id 159"},
		{"json with other names", MaskJSON, own(t, func(d map[string]any) { d["categories"].([]any)[0].(map[string]any)["name"] = "liver" }), MasksWrongChannels, `"liver"`},
		{"json with a class twice", MaskJSON, own(t, func(d map[string]any) { annotation(d, 0)["category_id"] = annotation(d, 1)["category_id"] }), MasksDamaged, "two masks of one structure"},
		{"json with two pictures", MaskJSON, own(t, func(d map[string]any) { d["images"] = []any{map[string]any{"id": 1}, map[string]any{"id": 2}} }), MasksDamaged, "lists 2 pictures"},
		{"json with a stray mask", MaskJSON, own(t, func(d map[string]any) { annotation(d, 3)["image_id"] = 7 }), MasksDamaged, "picture 7"},
		{"json with broken runs", MaskJSON, own(t, func(d map[string]any) { annotation(d, 0)["segmentation"].(map[string]any)["counts"] = "~~" }), MasksDamaged, "run lengths"},
		{"png absent", MaskPNG, map[string][]byte{"case/left lung.png": pic(goldenW, goldenH)}, MasksMissing, "no png file"},
		{"png of another size", MaskPNG, pictures(pic(goldenH, goldenW)), MasksWrongSize, "10 x 13 pixels, the picture 13 x 10"},
		{"png much larger", MaskPNG, pictures(pic(500, 500)), MasksWrongSize, "larger than the picture"},
		{"png cut", MaskPNG, pictures(pic(goldenW, goldenH)[:40]), MasksDamaged, "truncated"},
		{"png empty", MaskPNG, pictures(nil), MasksDamaged, "zero_bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := fstest.MapFS{}
			for n, d := range c.files {
				f[n] = &fstest.MapFile{Data: d}
			}
			var want anatomy.Set
			if c.format == MaskPNG {
				want = three(t)
			}
			src, err := OpenCXAS(f, c.format, CXASOptions{Structures: want})
			if err == nil {
				_, err = src.Masks("case", goldenW, goldenH)
			}
			var bad *MaskFileError
			if !errors.As(err, &bad) || bad.Class != c.class || !strings.Contains(bad.Error(), c.detail) {
				t.Errorf("got %v, want %s: %s", err, c.class, c.detail)
			}
		})
	}
}

func flip(data []byte, at int) []byte {
	out := bytes.Clone(data)
	out[at] ^= 0xff
	return out
}

// A shared file that cannot be indexed is refused when it is opened, not later.
func TestBadSharedFile(t *testing.T) {
	data, err := os.ReadFile("testdata/cxas/shared/.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"cut": string(data[:len(data)/2]), "cut at its end": string(data[:len(data)-1]), "a list": "[]", "no list": `{"annotations":{}}`,
		"no image": `{"annotations":[{"id":1}]}`, "other classes": `{"categories":[{"id":0,"name":"liver"}]}`,
	} {
		var bad *MaskFileError
		if _, err := OpenCXAS(fstest.MapFS{"out.json": {Data: []byte(content)}}, MaskJSON, CXASOptions{}); !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	double := `{"images":[{"id":1,"file_name":"a/case.png"},{"id":2,"file_name":"b/case.png"}],"annotations":[]}`
	src, err := OpenCXAS(fstest.MapFS{"out.json": {Data: []byte(double)}}, MaskJSON, CXASOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var bad *MaskFileError
	if _, err := src.Masks("case", 3, 3); !errors.As(err, &bad) || bad.Class != MasksDamaged || !strings.Contains(bad.Detail, "2 pictures") {
		t.Errorf("two pictures of one name: %v", err)
	}
	if _, err := src.Masks("other", 3, 3); !errors.As(err, &bad) || bad.Class != MasksMissing {
		t.Errorf("a picture it does not list: %v", err)
	}
}

// A folder with one picture's own file may list that picture under any name.
func TestSingleOwnFile(t *testing.T) {
	data, err := os.ReadFile("testdata/cxas/own/case.json")
	if err != nil {
		t.Fatal(err)
	}
	f := fstest.MapFS{"renamed.json": {Data: data}}
	src, err := OpenCXAS(f, MaskJSON, CXASOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := src.Masks("renamed", goldenW, goldenH)
	if err != nil || !m.Mask(structure(t, "right lung")).Equal(goldenMask(135, 0, 1)) {
		t.Errorf("%v", err)
	}
}

func TestMaskStorageErrors(t *testing.T) {
	f := brokenFS{cxasFS(t), "case.npy"}
	src, err := OpenCXAS(f, MaskNPY, CXASOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var bad *MaskFileError
	if _, err := src.Masks("case", goldenW, goldenH); err == nil || errors.As(err, &bad) || strings.Contains(err.Error(), "case.npy") {
		t.Errorf("a storage error must stay one and name no file: %v", err)
	}
	if _, err := src.Masks("../case", goldenW, goldenH); !errors.As(err, &bad) || bad.Class != MasksMissing {
		t.Errorf("a stem that leaves the folder: %v", err)
	}
	if _, err := OpenCXAS(f, 0, CXASOptions{}); err == nil {
		t.Error("the unset format was opened")
	}
}

// Runs of packed rows are the runs counted bit by bit, wherever words and rows end.
func TestAddPacked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 200).Draw(t, "width")
		packed := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0xff, 0xff, 0x0f, 0x81, 0x55}), (width+7)/8, (width+7)/8).Draw(t, "packed")
		b := mask.NewBuilder(width, 1)
		addPacked(b, 0, packed, width)
		got := b.Mask()
		want := mask.FromFunc(width, 1, func(x, _ int) bool { return packed[x/8]&(0x80>>(x%8)) != 0 })
		if !got.Equal(want) {
			t.Fatalf("%x: %v, want %v", packed, got.Runs, want.Runs)
		}
	})
}

// Runs found eight bytes at a time are the runs found one by one.
func TestNextSet(t *testing.T) {
	row := make([]byte, 37)
	for _, at := range []int{0, 7, 8, 9, 15, 16, 30, 31, 32, 36} {
		clear(row)
		row[at] = 3
		for i := 0; i <= len(row); i++ {
			want := len(row)
			if i <= at {
				want = at
			}
			if got := nextSet(row, i); got != want {
				t.Errorf("set at %d, from %d: %d", at, i, got)
			}
		}
	}
	if nextUnset([]byte{1, 2, 0, 1}, 0) != 2 || nextUnset([]byte{1, 2}, 1) != 2 {
		t.Error("nextUnset")
	}
}

// The array is streamed: little memory beyond the masks, whatever its size.
func TestArrayIsStreamed(t *testing.T) {
	const w, h = 2544, 400
	header := npy(fmt.Sprintf("{'descr': '|b1', 'fortran_order': False, 'shape': (159, %d, %d), }", h, w), 0)
	out, err := newMasks(w, h, anatomy.AllSet())
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := readArray(io.MultiReader(bytes.NewReader(header), io.LimitReader(zeros{}, 159*w*h)), out, anatomy.AllSet()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated while reading 162 MB of empty masks", used)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
