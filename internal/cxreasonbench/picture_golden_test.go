package cxreasonbench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

type goldenClass struct {
	Box  [4]float64 `json:"bbox_frac"`
	Area float64    `json:"area_frac"`
	RGB  [3]int     `json:"median_rgb"`
}

type goldenOverlay struct {
	File       string       `json:"file"`
	Size       [2]int       `json:"source_size"`
	PNG        [2]int       `json:"png_size"`
	MaskRed    *goldenClass `json:"mask_red"`
	MaskPurple *goldenClass `json:"mask_purple"`
	LineRed    *goldenClass `json:"line_red"`
	LineBlue   *goldenClass `json:"line_blue"`
	LineGreen  *goldenClass `json:"line_green"`
}

const overlayInputs = "testdata/qa/overlay_inputs"

func readMask(t testing.TB, name string) mask.Mask {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := img.Bounds()
	return mask.FromFunc(b.Dx(), b.Dy(), func(x, y int) bool {
		r, _, _, _ := img.At(b.Min.X+x, b.Min.Y+y).RGBA()
		return r > 0
	})
}

// goldenScene is the reference's synthetic radiograph with its masks and landmark tables.
func goldenScene(t testing.TB, id string) *Scene {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(overlayInputs, "images", id+".jpg"))
	if err != nil {
		t.Fatal(err)
	}
	img, err := cxr.Decode(data, cxr.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	masks, err := anatomy.NewMasks(img.Width, img.Height, img.Width, img.Height, anatomy.AllSet())
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(overlayInputs, "masks", id, "*.png"))
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".png")
		s, ok := anatomy.ByName(name)
		if !ok {
			t.Fatalf("no structure is called %q", name)
		}
		if err := masks.Put(s, readMask(t, f)); err != nil {
			t.Fatal(err)
		}
	}
	lung := readMask(t, filepath.Join(overlayInputs, "chexmask_right_lung", id+".png"))
	return &Scene{Image: img, Masks: masks, NonZero: chexstruct.NonZero(img), CheXmaskRightLung: &lung, Marks: goldenMarks(t, id)}
}

// tableRow is one row of a landmark table.
type tableRow struct {
	t      testing.TB
	fields map[string]string
}

func readTable(t testing.TB, task Task, id string) tableRow {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(overlayInputs, "viz", task.String()+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		if r[0] == id {
			f := map[string]string{}
			for i, name := range rows[0] {
				f[name] = r[i]
			}
			return tableRow{t, f}
		}
	}
	t.Fatalf("%s: no row of %s", task, id)
	return tableRow{}
}

func (r tableRow) number(name string) float64 {
	r.t.Helper()
	var v float64
	if err := json.Unmarshal([]byte(r.fields[name]), &v); err != nil {
		r.t.Fatalf("%s: %q: %v", name, r.fields[name], err)
	}
	return v
}

func (r tableRow) whole(name string) int { return int(r.number(name)) }

func (r tableRow) numbers(name string) []float64 {
	r.t.Helper()
	text := strings.NewReplacer("(", "[", ")", "]").Replace(r.fields[name])
	var nested [][]float64
	if json.Unmarshal([]byte(text), &nested) == nil {
		var flat []float64
		for _, p := range nested {
			flat = append(flat, p...)
		}
		return flat
	}
	var v []float64
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		r.t.Fatalf("%s: %q: %v", name, text, err)
	}
	return v
}

func (r tableRow) points(names ...string) (list []geom.Vec) {
	for _, n := range names {
		v := r.numbers(n)
		for i := 0; i+1 < len(v); i += 2 {
			list = append(list, geom.Vec{X: v[i], Y: v[i+1]})
		}
	}
	return list
}

// goldenMarks reads the marks from the landmark tables.
func goldenMarks(t testing.TB, id string) (m Marks) {
	t.Helper()
	r := readTable(t, chexstruct.Cardiomegaly, id)
	heart := r.numbers("coord_mask")
	m.Cardiomegaly.HeartMinX, m.Cardiomegaly.HeartMaxX = int(heart[0]), int(heart[2]) // x, y, x, y
	m.Cardiomegaly.LungMinX, m.Cardiomegaly.LungMaxX = r.whole("xmin_lung"), r.whole("xmax_lung")
	r = readTable(t, chexstruct.MediastinalWidening, id)
	w := &m.Mediastinum
	w.Y, w.LungMinX, w.LungMaxX, w.WidthMinX, w.WidthMaxX = r.whole("y_medi"), r.whole("xmin_rlung"), r.whole("xmax_llung"), r.whole("xmin_medi"), r.whole("xmax_medi")
	m.Carina = readTable(t, chexstruct.CarinaAngle, id).points("refined_tgpnt")
	r = readTable(t, chexstruct.TracheaDeviation, id)
	x0, x1, y0, y1 := r.number("midline_x_min"), r.number("midline_x_max"), r.number("y_min"), r.number("y_max")
	for i := range 9 {
		s := float64(i) / 8
		m.Deviation = append(m.Deviation, geom.Vec{X: x0 + s*(x1-x0), Y: math.Trunc(y0 + s*(y1-y0))})
	}
	r = readTable(t, chexstruct.Rotation, id)
	rot := &m.Rotation
	rot.Ends, rot.Slope, rot.Intercept = r.points("right_end_pnt", "left_end_pnt"), r.number("m"), r.number("b")
	for i, side := range []string{"right", "left"} {
		rot.Bands[i] = Band{r.number(side + "_slope"), r.number(side + "_intercept_min"), r.number(side + "_intercept_max")}
	}
	for _, p := range r.points("target_coords") {
		rot.Midline = append(rot.Midline, geom.Vec{X: rot.Slope*p.Y + rot.Intercept, Y: p.Y})
	}
	r = readTable(t, chexstruct.Projection, id)
	m.Projection.Overlap = [2]int{r.whole("overlap_region_right"), r.whole("overlap_region_left")}
	m.Projection.Scapula = [2]int{r.whole("scapular_region_right"), r.whole("scapular_region_left")}
	m.Projection.Measured = true
	m.Inclusion = readTable(t, chexstruct.Inclusion, id).points("apex_right", "apex_left", "side_right", "side_left", "cpa_right", "cpa_left")
	r = readTable(t, chexstruct.Inspiration, id)
	rows := r.numbers("lung_y_lst_x_lung_mid")
	i := &m.Inspiration
	i.Rib, i.LineX, i.FirstRow, i.LastRow = r.whole("label"), r.whole("x_lung_mid_combined"), int(rows[0]), int(rows[len(rows)-1])
	r = readTable(t, chexstruct.AorticKnobEnlargement, id)
	m.Knob.MinX, m.Knob.MaxX = r.number("xmax_trachea_mean"), math.Max(r.number("xmax_aortic_arch"), r.number("xmax_desc_sub"))
	m.TracheaWidth = []geom.Vec{{X: r.number("trachea_xmin_width"), Y: r.number("trachea_y_width")}, {X: r.number("trachea_xmax_width"), Y: r.number("trachea_y_width")}}
	m.Knob.Upper = upperDescending(t, id, r)
	r = readTable(t, chexstruct.DescendingAortaEnlargement, id)
	m.Descending.FirstRow, m.Descending.EndRow = r.whole("ymin_start"), r.whole("ymin_end")
	m.Descending.Widest = r.points("pnt_1", "pnt_r_1")
	m.Tortuous = readTable(t, chexstruct.DescendingAortaTortuous, id).points("pnt_r_1", "pnt_r_2", "pnt_r_3", "pnt_r_4", "pnt_r_5", "pnt_r_6")
	m.Ascending = readTable(t, chexstruct.AscendingAortaEnlargement, id).points("pnt_heart", "pnt_trachea")
	return m
}

// upperDescending is the box of the upper descending aorta, from the table's rows.
func upperDescending(t testing.TB, id string, r tableRow) geom.Box {
	t.Helper()
	aorta := readMask(t, filepath.Join(overlayInputs, "masks", id, "descending aorta.png"))
	from := max(r.whole("y_max"), r.whole("ymin_desc"))
	part := aorta.Rows(from, r.whole("ymin_desc")+r.whole("ysub_desc")-1).Widest()
	box, ok := part.Box()
	if !ok {
		t.Fatal("no upper descending aorta")
	}
	box.Y1 = r.whole("ymax_desc_sub")
	return box
}

// classify sorts a pixel into the reference's colour classes.
func classify(c color.RGBA) string {
	r, g, b := int(c.R), int(c.G), int(c.B)
	near := func(wr, wg, wb int) bool {
		return max(abs(r-wr), abs(g-wg), abs(b-wb)) <= 60
	}
	switch {
	case near(255, 0, 0):
		return "line_red"
	case near(0, 0, 255):
		return "line_blue"
	case near(0, 128, 0) && g > r+40 && g > b+40:
		return "line_green"
	case r > g+40 && abs(g-b) <= 12:
		return "mask_red"
	}
	return ""
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// classBox is the box of a colour class as a share of the radiograph's area.
// Where thin is false, pixels count only inside the class, so that the soft rims of lines of
// another class do not.
func classBox(img image.Image, border int, class string, thin bool) (box [4]float64, n int) {
	b := img.Bounds()
	w, h := b.Dx()-2*border, b.Dy()-2*border
	is := func(x, y int) bool {
		c := color.RGBAModel.Convert(img.At(b.Min.X+border+x, b.Min.Y+border+y)).(color.RGBA)
		return classify(c) == class
	}
	inside := func(x, y int) bool {
		return thin || is(x-1, y) && is(x+1, y) && is(x, y-1) && is(x, y+1) && is(x-1, y-1) && is(x+1, y+1) && is(x-1, y+1) && is(x+1, y-1)
	}
	x0, y0, x1, y1 := w, h, -1, -1
	for y := range h {
		for x := range w {
			if is(x, y) && inside(x, y) {
				x0, y0, x1, y1, n = min(x0, x), min(y0, y), max(x1, x+1), max(y1, y+1), n+1
			}
		}
	}
	return [4]float64{float64(x0) / float64(w), float64(y0) / float64(h), float64(x1) / float64(w), float64(y1) / float64(h)}, n
}

// TestPicturesGolden holds place and colour of what the official profile draws, against what
// the authors' scripts drew. Structure pictures show the structure alone and are compared
// to a hundredth of the radiograph; the boxes of annotated pictures include lettering there,
// so that ours must lie within.
func TestPicturesGolden(t *testing.T) {
	rules := rulesOf(t, AsReleased, nil)
	scenes := map[string]*Scene{}
	for _, g := range loadLines[goldenOverlay](t, "qa/overlays.jsonl") {
		parts := strings.Split(g.File, "/")
		id := strings.TrimSuffix(parts[len(parts)-1], ".png")
		if scenes[id] == nil {
			scenes[id] = goldenScene(t, id)
		}
		s := scenes[id]
		task, ok := chexstruct.ParseTask(parts[1])
		if !ok {
			t.Fatal(g.File)
		}
		structure := parts[0] == StructureFolder
		var data []byte
		var err error
		border := 0
		if structure {
			border = officialBorder
			data, err = s.DrawStructure(rules, ProfileOfficial, Overlay{task, parts[2]})
		} else {
			if data, err = s.DrawAnnotated(ProfileOfficial, task); err != nil {
				t.Errorf("%s: %v", g.File, err)
				continue
			}
			keep(t, strings.ReplaceAll(g.File, "/", "_"), data)
			s.mute = true
			data, err = s.DrawAnnotated(ProfileOfficial, task)
			s.mute = false
			if task == chexstruct.Projection { // its only lines are letters
				g.LineRed, g.LineBlue = nil, nil
			}
		}
		if err != nil {
			t.Errorf("%s: %v", g.File, err)
			continue
		}
		if structure {
			keep(t, strings.ReplaceAll(g.File, "/", "_"), data)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if w, h := img.Bounds().Dx(), img.Bounds().Dy(); structure && (abs(w-g.PNG[0]) > 2 || abs(h-g.PNG[1]) > 2) {
			t.Errorf("%s: %d x %d pixels, want %v", g.File, w, h, g.PNG)
		}
		for class, want := range map[string]*goldenClass{"mask_red": g.MaskRed, "line_red": g.LineRed, "line_blue": g.LineBlue, "line_green": g.LineGreen} {
			comparePicture(t, g.File, class, img, border, structure, want)
		}
	}
}

const pictureTolerance = 0.01

func comparePicture(t *testing.T, file, class string, img image.Image, border int, exact bool, want *goldenClass) {
	t.Helper()
	if want == nil {
		return
	}
	got, n := classBox(img, border, class, exact || class != "mask_red")
	if n == 0 {
		t.Errorf("%s: nothing is drawn in %s", file, class)
		return
	}
	for i := range got {
		off := got[i] - want.Box[i]
		outwards := off
		if i < 2 {
			outwards = -off
		}
		if exact && math.Abs(off) > pictureTolerance || outwards > pictureTolerance {
			t.Errorf("%s: %s lies in %.3f, want %.3f", file, class, got, want.Box)
			return
		}
	}
}

// keep writes a picture where CXREPRO_PICTURES says, for people to look at.
func keep(t testing.TB, name string, data []byte) {
	t.Helper()
	if dir := os.Getenv("CXREPRO_PICTURES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNotShown holds that what cannot be drawn is known before, by structure, and has its error.
func TestNotShown(t *testing.T) {
	s := goldenScene(t, "syn-ova")
	rules := rulesOf(t, AsReleased, nil) // the reference has the cardiomediastinum only
	for _, task := range Tasks() {
		for _, name := range Structures(task) {
			if o := (Overlay{task, name}); !s.Shows(rules, o) {
				t.Errorf("%s of %s is not shown", name, task)
			}
		}
	}
	s.Marks = Marks{}
	lines := []Overlay{{chexstruct.Cardiomegaly, "thoracic_width_heart"}, {chexstruct.Rotation, "clavicle_both"}, {chexstruct.AorticKnobEnlargement, "aortic_knob"}}
	for _, o := range lines {
		if _, err := s.DrawStructure(rules, ProfileNative, o); s.Shows(rules, o) || !errors.Is(err, ErrNotShown) {
			t.Errorf("%v without its marks: %v", o, err)
		}
	}
	if s.Shows(rules, Overlay{chexstruct.Rotation, "elbow"}) {
		t.Error("an unknown structure is shown")
	}
	item := func(p Picture) []Item { return []Item{{Questions: []Question{{Pictures: []Picture{p}}}}} }
	for _, p := range []Picture{
		{AnnotatedPicture, "/rotation/c.png"}, {StructurePicture, "/cardiomegaly/thoracic_width_heart/c.png"},
	} {
		if _, err := s.DrawItems(rules, ProfileNative, item(p)); !errors.Is(err, ErrNotShown) {
			t.Errorf("%s: %v", p.Path, err)
		}
	}
	for _, p := range []Picture{{StructurePicture, "/rotation/c.png"}, {AnnotatedPicture, "/rotation/midline/c.png"}, {StructurePicture, "heart"}} {
		if _, err := s.DrawItems(rules, ProfileNative, item(p)); err == nil || errors.Is(err, ErrNotShown) {
			t.Errorf("%s: %v", p.Path, err)
		}
	}
	drawn, err := s.DrawItems(rules, ProfileOfficial, item(Picture{StructurePicture, "/cardiomegaly/heart/c.png"}))
	if err != nil || len(drawn["/cardiomegaly/heart/c.png"]) == 0 {
		t.Errorf("the heart: %v", err)
	}
}
