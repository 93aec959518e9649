package phantom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/dataset"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// namedBox is a reference box in picture pixels.
type namedBox struct {
	name string
	box  geom.Box
}

// boxes returns reference boxes as an annotation set would have them: near the true
// extent, wider for the mediastinum, now and then well beside it or missing.
func (p *Phantom) boxes(pic *Picture) []namedBox {
	s := newStream(p.Seed, p.Index, "boxes")
	var out []namedBox
	for _, k := range []struct {
		name      string
		structure anatomy.Structure
		wider     float64
	}{
		{dataset.BoxHeart, anatomy.Heart, 0},
		{dataset.BoxUpperMediastinum, anatomy.UpperMediastinum, 0.22},
		{"right lung", anatomy.RightLung, 0},
		{"left lung", anatomy.LeftLung, 0},
		{"trachea", anatomy.Trachea, 0.2},
		{"aortic arch", anatomy.AorticArch, 0.2},
	} {
		beside, missing := s.chance(0.05), s.chance(0.03)
		dx, dy := s.normal(0, 0.2), s.normal(0, 0.2)
		var edge [4]float64
		for i := range edge {
			edge[i] = s.clamped(0, 0.018, -0.05, 0.05)
		}
		b, ok := pic.Masks.Mask(k.structure).Box()
		if !ok || missing {
			continue
		}
		w, h := float64(b.Width()), float64(b.Height())
		if !beside {
			dx, dy = 0, 0
		}
		x0 := float64(b.X0) + float64(w*(edge[0]-float64(0.5*k.wider)+dx))
		x1 := float64(b.X1) + float64(w*(edge[1]+float64(0.5*k.wider)+dx))
		y0 := float64(b.Y0) + float64(h*(edge[2]+dy))
		y1 := float64(b.Y1) + float64(h*(edge[3]+dy))
		b = geom.Box{X0: clampInt(x0, pic.Image.Width), Y0: clampInt(y0, pic.Image.Height), X1: clampInt(x1, pic.Image.Width), Y1: clampInt(y1, pic.Image.Height)}
		if b.X1 > b.X0 && b.Y1 > b.Y0 {
			out = append(out, namedBox{k.name, b})
		}
	}
	return out
}

func clampInt(v float64, n int) int { return max(0, min(n-1, int(v+0.5))) }

// sceneObject is one region of a scene graph.
type sceneObject struct {
	ID     string `json:"object_id"`
	X1     int    `json:"x1"`
	Y1     int    `json:"y1"`
	X2     int    `json:"x2"`
	Y2     int    `json:"y2"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Box    string `json:"bbox_name"`
	Synset []any  `json:"synsets"`
	Name   string `json:"name"`
	OX1    int    `json:"original_x1"`
	OY1    int    `json:"original_y1"`
	OX2    int    `json:"original_x2"`
	OY2    int    `json:"original_y2"`
	OWidth int    `json:"original_width"`
	OHigh  int    `json:"original_height"`
}

// sceneGraph writes the boxes in the layout of Chest ImaGenome. The boxes without
// "original" refer to a copy of 224 x 224 pixels, padded to a square.
func sceneGraph(im *Image, boxes []namedBox) ([]byte, error) {
	long := max(im.Width, im.Height)
	px, py := (long-im.Width)/2, (long-im.Height)/2
	small := func(v, pad int) int { return (v + pad) * 224 / long }
	objects := make([]sceneObject, 0, len(boxes))
	for _, b := range boxes {
		o := sceneObject{ID: im.ID + "_" + b.name, Box: b.name, Name: b.name, Synset: []any{},
			X1: small(b.box.X0, px), X2: small(b.box.X1, px), Y1: small(b.box.Y0, py), Y2: small(b.box.Y1, py),
			OX1: b.box.X0, OY1: b.box.Y0, OX2: b.box.X1, OY2: b.box.Y1, OWidth: b.box.Width(), OHigh: b.box.Height()}
		o.Width, o.Height = o.X2-o.X1, o.Y2-o.Y1
		objects = append(objects, o)
	}
	study, err := strconv.Atoi(im.Study)
	if err != nil {
		return nil, fmt.Errorf("scene graph: %w", err)
	}
	patient, err := strconv.Atoi(im.Subject)
	if err != nil {
		return nil, fmt.Errorf("scene graph: %w", err)
	}
	return json.Marshal(struct {
		Image     string        `json:"image_id"`
		View      string        `json:"viewpoint"`
		Patient   int           `json:"patient_id"`
		Study     int           `json:"study_id"`
		Gender    string        `json:"gender"`
		Age       string        `json:"age_decile"`
		Reason    string        `json:"reason_for_exam"`
		Order     int           `json:"StudyOrder"`
		Time      string        `json:"StudyDateTime"`
		Objects   []sceneObject `json:"objects"`
		Attribute []any         `json:"attributes"`
		Relation  []any         `json:"relationships"`
	}{im.ID, im.View, patient, study, "", "", "synthetic picture", 1, "", objects, []any{}, []any{}})
}

// organs are the fields that a segmentation of the visible lungs and heart gives.
type organs struct{ right, left, heart mask.Mask }

// visibleOrgans cuts the lungs to what shows beside the heart and above the domes.
func visibleOrgans(m *anatomy.Masks) organs {
	cut := func(lung, dome anatomy.Structure) mask.Mask {
		return m.Mask(lung).AndNot(m.Mask(dome)).AndNot(m.Mask(anatomy.Cardiomediastinum)).Largest()
	}
	return organs{cut(anatomy.RightLung, anatomy.RightHemidiaphragm), cut(anatomy.LeftLung, anatomy.LeftHemidiaphragm), m.Mask(anatomy.Heart)}
}

var cheXmaskHeader = []string{"dicom_id", "Dice RCA (Mean)", "Dice RCA (Max)", "Landmarks", "Left Lung", "Right Lung", "Heart", "Height", "Width"}

// row is the organs' row of a CheXmask table.
func (o organs) row(im *Image) []string {
	var marks []geom.Point
	marks = append(marks, landmarks(o.right, 44)...)
	marks = append(marks, landmarks(o.left, 50)...)
	marks = append(marks, landmarks(o.heart, 26)...)
	var text strings.Builder
	text.WriteString("[")
	for i, q := range marks {
		if i > 0 {
			text.WriteString("\n ")
		}
		fmt.Fprintf(&text, "[%4d %4d]", q.X, q.Y)
	}
	text.WriteString("]")
	return []string{im.ID, "0.93", "0.96", text.String(), runLengths(o.left), runLengths(o.right), runLengths(o.heart), strconv.Itoa(im.Height), strconv.Itoa(im.Width)}
}

// landmarks walks round a mask: down the left ends of its rows and up the right ends, n
// points at equal steps.
func landmarks(m mask.Mask, n int) []geom.Point {
	y0, y1, ok := m.RowBounds()
	if !ok {
		return make([]geom.Point, n)
	}
	var ring []geom.Point
	for y := y0; y <= y1; y++ {
		if x0, _, ok := m.Span(y); ok {
			ring = append(ring, geom.Point{X: x0, Y: y})
		}
	}
	for y := y1; y >= y0; y-- {
		if _, x1, ok := m.Span(y); ok {
			ring = append(ring, geom.Point{X: x1, Y: y})
		}
	}
	out := make([]geom.Point, n)
	for i := range out {
		out[i] = ring[i*len(ring)/n]
	}
	return out
}

// runLengths writes a mask as pairs of start (from 1) and length over the rows laid end
// to end; runs that meet across a row's end are one.
func runLengths(m mask.Mask) string {
	var b bytes.Buffer
	start, end := -1, -1
	flush := func() {
		if start < 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%d %d", start+1, end-start)
	}
	for y := range m.H {
		for _, r := range m.Row(y) {
			a := y*m.W + int(r.X0)
			if a != end {
				flush()
				start = a
			}
			end = y*m.W + int(r.X1)
		}
	}
	flush()
	return b.String()
}

// caseFile writes masks and boxes as a measurement case: column-major run lengths by
// structure name, and the name of the picture beside it.
func caseFile(m *anatomy.Masks, boxes []namedBox, o organs, im *Image) ([]byte, error) {
	c := struct {
		Format string            `json:"format"`
		ID     string            `json:"id"`
		Size   [2]int            `json:"size"` // height, width
		View   string            `json:"view"`
		Native int               `json:"native_width"`
		Image  string            `json:"image"`
		Boxes  map[string][4]int `json:"boxes"`
		Masks  map[string][]int  `json:"masks"`
		Other  map[string][]int  `json:"chexmask"`
	}{Format: "chexstruct-case-1", ID: im.ID, Size: [2]int{im.Height, im.Width}, View: im.View, Native: im.Width,
		Image: im.ID + ".jpg", Boxes: map[string][4]int{}, Masks: map[string][]int{}, Other: map[string][]int{}}
	for _, b := range boxes {
		if b.name == dataset.BoxHeart || b.name == dataset.BoxUpperMediastinum {
			c.Boxes[b.name] = [4]int{b.box.X0, b.box.Y0, b.box.X1, b.box.Y1}
		}
	}
	for _, s := range m.Present().List() {
		c.Masks[s.Name()] = m.Mask(s).Counts()
	}
	if !o.right.IsEmpty() {
		c.Other["right lung"] = o.right.Counts()
	}
	data, err := json.Marshal(c)
	return append(data, '\n'), err
}
