// Package casedata lays out golden case files as a data set in the published layouts, for
// tests: pictures and tables as MIMIC-CXR-JPG, boxes as Chest ImaGenome, the second lung as
// CheXmask, and the case files themselves as masks to import. Everything is synthetic.
//
// Pictures stay PNG files under the published .jpg names, so that no pixel changes; the
// decoder looks at bytes, not at names.
package casedata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/mask"
	"cxrepro/internal/sourcetree"
)

// Dir returns the folder of the golden case files.
func Dir(t testing.TB) string {
	t.Helper()
	const golden = "internal/chexstruct/testdata/golden"
	root, err := sourcetree.Root(golden)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, filepath.FromSlash(golden))
}

// Files returns the first n golden cases as a data set folder: file name to bytes.
func Files(t testing.TB, n int) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Dir(t), "open_*.json"))
	if err != nil || len(names) < n {
		t.Fatalf("%d golden cases, want %d (%v)", len(names), n, err)
	}
	sort.Strings(names)
	files := map[string][]byte{}
	metadata := bytes.NewBufferString("dicom_id,subject_id,study_id,PerformedProcedureStepDescription,ViewPosition,Rows,Columns,StudyDate,StudyTime\n")
	lungs := bytes.NewBufferString("dicom_id,Dice RCA (Mean),Dice RCA (Max),Landmarks,Left Lung,Right Lung,Heart,Height,Width\n")
	for i, name := range names[:n] {
		one(t, i, name, files, metadata, lungs)
	}
	files["mimic-cxr-2.0.0-metadata.csv"] = metadata.Bytes()
	files["MIMIC-CXR-JPG.csv"] = lungs.Bytes()
	if files[dataset.DeclarationFile], err = (dataset.Declaration{Name: "golden-cases", DataUse: datause.Synthetic, MadeBy: "a test"}).Encode(); err != nil {
		t.Fatal(err)
	}
	return files
}

// ID is the made-up identifier of case i, in the published form.
func ID(i int) string {
	h := artifacts.Sum(fmt.Appendf(nil, "case %d", i)).Hex()
	return strings.Join([]string{h[:8], h[8:16], h[16:24], h[24:32], h[32:40]}, "-")
}

// Path is where the picture of case i lies.
func Path(i int) string {
	return fmt.Sprintf("files/p10/p1000%04d/s5000%04d/%s.jpg", i, i, ID(i))
}

func one(t testing.TB, i int, name string, files map[string][]byte, metadata, lungs *bytes.Buffer) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := chexstruct.ParseCase(name, text)
	if err != nil {
		t.Fatal(err)
	}
	if files[Path(i)], err = os.ReadFile(filepath.Join(filepath.Dir(name), c.Image)); err != nil {
		t.Fatal(err)
	}
	w, h := c.Input.Masks.GridW, c.Input.Masks.GridH
	files["masks/"+ID(i)+".json"] = text
	fmt.Fprintf(metadata, "%s,1000%04d,5000%04d,CHEST,%s,%d,%d,21800101,101010.5\n", ID(i), i, i, c.Input.View, h, w)
	scene := map[string]any{"image_id": ID(i), "objects": []any{}}
	for _, box := range []string{chexstruct.BoxCardiacSilhouette, chexstruct.BoxUpperMediastinum} {
		b, ok := c.Input.Boxes[box]
		if !ok {
			continue
		}
		scene["objects"] = append(scene["objects"].([]any), map[string]any{
			"object_id": ID(i) + "_" + box, "bbox_name": box,
			"original_x1": b.X0, "original_y1": b.Y0, "original_x2": b.X1, "original_y2": b.Y1,
			"original_width": b.X1 - b.X0, "original_height": b.Y1 - b.Y0,
		})
	}
	if files["silver_dataset/scene_graph/"+ID(i)+"_SceneGraph.json"], err = json.Marshal(scene); err != nil {
		t.Fatal(err)
	}
	if m := c.Input.CheXmaskRightLung; m != nil && m.Area() > 0 {
		fmt.Fprintf(lungs, "%s,0.9,0.9,,,%s,,%d,%d\n", ID(i), rle(*m), h, w)
	}
}

// rle writes a mask as CheXmask does: 1-based start and length over the rows one after
// another.
func rle(m mask.Mask) string {
	var out []string
	for y := range m.H {
		for _, r := range m.Row(y) {
			out = append(out, fmt.Sprintf("%d %d", y*m.W+int(r.X0)+1, r.X1-r.X0))
		}
	}
	return strings.Join(out, " ")
}

// FS returns files as a file system in memory.
func FS(files map[string][]byte) fstest.MapFS {
	m := fstest.MapFS{}
	for name, data := range files {
		m[name] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
	return m
}

// Write writes files below dir.
func Write(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Spec is an experiment over the folder that Files makes.
const Spec = `name: golden-cases
paper: "golden cases of the measurement tests"
preset: corrected
tasks: [inclusion, inspiration, rotation, projection, cardiomegaly, mediastinal_widening, carina_angle,
  trachea_deviation, aortic_knob_enlargement, ascending_aorta_enlargement, descending_aorta_tortuous, descending_aorta_enlargement, xragent]
dataset:
  name: golden-cases
  layout: mimic-cxr-jpg
  views: [PA, AP]
  split: all
  boxes: chest-imagenome
  lungs: chexmask
  lungs_min_dice: 0
  data_use: synthetic
  limits: {max_bytes: 67108864, max_pixels: 36000000}
masks:
  source: import
  import: {kind: case, folder: masks}
`

// Tiny returns a data set of n pictures of 16 x 16 pixels with two lungs and a heart: for
// tests that need many images and no medicine. Picture i differs from all others.
func Tiny(t testing.TB, n int) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	metadata := bytes.NewBufferString("dicom_id,subject_id,study_id,PerformedProcedureStepDescription,ViewPosition,Rows,Columns,StudyDate,StudyTime\n")
	lung := func(x0, x1 int) []int { return column(x0, x1, 4, 12) }
	text, err := json.Marshal(map[string]any{
		"format": chexstruct.CaseFormat, "id": "tiny", "size": []int{16, 16}, "view": "PA", "native_width": 16, "image": nil, "boxes": map[string]any{}, "chexmask": map[string]any{},
		"masks": map[string]any{"right lung": lung(2, 6), "left lung": lung(10, 14), "heart": lung(7, 9)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		img := cxr.NewImage(16, 16)
		for k := range img.Pix {
			img.Pix[k] = uint8(40 + (k*7+i*13)%150)
		}
		img.Pix[0], img.Pix[1], img.Pix[2] = uint8(i), uint8(i>>8), 7
		if files[Path(i)], err = cxr.EncodePNG(img); err != nil {
			t.Fatal(err)
		}
		files["masks/"+ID(i)+".json"] = text
		fmt.Fprintf(metadata, "%s,1000%04d,5000%04d,CHEST,PA,16,16,21800101,101010.5\n", ID(i), i, i)
	}
	files["mimic-cxr-2.0.0-metadata.csv"] = metadata.Bytes()
	if files[dataset.DeclarationFile], err = (dataset.Declaration{Name: "golden-cases", DataUse: datause.Synthetic, MadeBy: "a test"}).Encode(); err != nil {
		t.Fatal(err)
	}
	return files
}

// column returns the run lengths of a box x0..x1-1, y0..y1-1 on a 16 x 16 grid, column by
// column.
func column(x0, x1, y0, y1 int) []int {
	counts, zeros := []int{}, 0
	for x := range 16 {
		if x < x0 || x >= x1 {
			zeros += 16
			continue
		}
		counts = append(counts, zeros+y0, y1-y0)
		zeros = 16 - y1
	}
	return append(counts, zeros)
}

// TinySets are the --set arguments that fit Spec to the folder that Tiny makes.
func TinySets() []string {
	return []string{"dataset={name: golden-cases, layout: mimic-cxr-jpg, views: [PA, AP], split: all, boxes: none, lungs: none, data_use: synthetic, limits: {max_bytes: 1000000, max_pixels: 1000000}}"}
}
