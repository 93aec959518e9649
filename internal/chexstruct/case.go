package chexstruct

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// CaseFormat is the value of the field "format" of a case file.
const CaseFormat = "chexstruct-case-1"

// maxCaseSide bounds the grid of a case file.
const maxCaseSide = 1 << 14

// Case is one picture with its masks, boxes and view as a case file describes it.
//
// A case file is JSON: format; id; size [H, W]; view; native_width; image, the name of a
// grey picture beside the file; boxes by name as [x1, y1, x2, y2] in mask pixels; masks by
// official structure name as uncompressed COCO run lengths (column by column, unset first);
// chexmask with the right lung or empty. A structure that is not listed is an empty mask.
type Case struct {
	Name  string // base name of the file
	ID    string
	Image string // name of the picture, empty for none
	Input Input
}

type caseJSON struct {
	Format      string               `json:"format"`
	ID          string               `json:"id"`
	Size        []int                `json:"size"`
	View        *string              `json:"view"`
	NativeWidth *int                 `json:"native_width"`
	Image       *string              `json:"image"`
	Boxes       map[string][]float64 `json:"boxes"`
	Masks       map[string][]int     `json:"masks"`
	CheXmask    map[string][]int     `json:"chexmask"`
}

// CaseError reports a case file that cannot be used.
type CaseError struct {
	File  string
	Field string // empty when the file as a whole is at fault
	Err   error
}

func (e *CaseError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("case %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("case %s: field %s: %v", e.File, e.Field, e.Err)
}

func (e *CaseError) Unwrap() error { return e.Err }

// ReadCase reads a case file and the picture it names.
//
// Errors are [*CaseError].
func ReadCase(fsys fs.FS, name string) (*Case, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, &CaseError{File: name, Err: err}
	}
	c, err := ParseCase(name, data)
	if err != nil || c.Image == "" {
		return c, err
	}
	file := path.Join(path.Dir(name), c.Image)
	picture, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, &CaseError{File: name, Field: "image", Err: err}
	}
	if err := c.SetPicture(picture); err != nil {
		return nil, &CaseError{File: name, Field: "image", Err: err}
	}
	return c, nil
}

// SetPicture decodes a picture file and measures its pixels.
//
// Errors: a file that does not decode, or a picture that is not on the masks' grid.
func (c *Case) SetPicture(data []byte) error {
	img, err := cxr.Decode(data, cxr.Limits{})
	if err != nil {
		return fmt.Errorf("picture %s: %w", c.Image, err)
	}
	if m := c.Input.Masks; img.Width != m.GridW || img.Height != m.GridH {
		return fmt.Errorf("picture %s is %dx%d, the masks are %dx%d (width x height); they must share one grid", c.Image, img.Width, img.Height, m.GridW, m.GridH)
	}
	facts := Facts(img)
	c.Input.Facts = &facts
	return nil
}

// ParseCase reads a case file without its picture: Input.Facts stays nil.
//
// Errors are [*CaseError].
func ParseCase(name string, data []byte) (*Case, error) {
	var j caseJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return nil, &CaseError{File: name, Err: fmt.Errorf("not a case file: %w", err)}
	}
	if d.More() {
		return nil, &CaseError{File: name, Err: fmt.Errorf("more than one JSON value")}
	}
	c := &Case{Name: path.Base(name), ID: j.ID}
	for _, step := range []func(*caseJSON) (field string, err error){c.readHead, c.readBoxes, c.readMasks, c.readCheXmask} {
		if field, err := step(&j); err != nil {
			return nil, &CaseError{File: name, Field: field, Err: err}
		}
	}
	if err := c.Input.Check(); err != nil {
		return nil, &CaseError{File: name, Err: err}
	}
	return c, nil
}

func (c *Case) readHead(j *caseJSON) (field string, err error) {
	if j.Format != CaseFormat {
		return "format", fmt.Errorf("is %q, want %q", j.Format, CaseFormat)
	}
	if len(j.Size) != 2 || j.Size[0] < 1 || j.Size[1] < 1 || j.Size[0] > maxCaseSide || j.Size[1] > maxCaseSide {
		return "size", fmt.Errorf("is %v, want [height, width], each from 1 to %d", j.Size, maxCaseSide)
	}
	h, w := j.Size[0], j.Size[1]
	masks, err := anatomy.NewMasks(w, h, w, h, anatomy.AllSet())
	if err != nil {
		return "size", err
	}
	c.Input.Masks = masks
	if j.View != nil && *j.View != "" {
		v, ok := cxr.ParseView(*j.View)
		if !ok {
			v = cxr.ViewOther
		}
		c.Input.View = v
	}
	if j.NativeWidth != nil {
		if *j.NativeWidth < 1 {
			return "native_width", fmt.Errorf("is %d, want at least 1 or nothing", *j.NativeWidth)
		}
		c.Input.NativeWidth = *j.NativeWidth
	}
	if j.Image != nil {
		if *j.Image != "" && (path.Base(*j.Image) != *j.Image || !fs.ValidPath(*j.Image)) {
			return "image", fmt.Errorf("is %q, want the plain name of a file beside the case", *j.Image)
		}
		c.Image = *j.Image
	}
	return "", nil
}

func (c *Case) readBoxes(j *caseJSON) (field string, err error) {
	c.Input.Boxes = make(map[string]geom.Box, len(j.Boxes))
	for _, name := range sortedNames(j.Boxes) {
		field = fmt.Sprintf("boxes[%q]", name)
		list := j.Boxes[name]
		if list == nil {
			continue
		}
		var v [4]int
		if len(list) != len(v) {
			return field, fmt.Errorf("has %d numbers, want [x1, y1, x2, y2]", len(list))
		}
		for i, f := range list {
			if f != math.Trunc(f) || math.Abs(f) > 1<<20 {
				return field, fmt.Errorf("number %d is %v, want a whole pixel", i+1, f)
			}
			v[i] = int(f)
		}
		if v[2] < v[0] || v[3] < v[1] {
			return field, fmt.Errorf("is %v: it ends before it starts", v)
		}
		c.Input.Boxes[name] = geom.Box{X0: v[0], Y0: v[1], X1: v[2], Y1: v[3]}
	}
	return "", nil
}

func (c *Case) readMasks(j *caseJSON) (field string, err error) {
	m := c.Input.Masks
	for _, name := range sortedNames(j.Masks) {
		field = fmt.Sprintf("masks[%q]", name)
		s, ok := anatomy.ByName(name)
		if !ok {
			return field, fmt.Errorf("is none of the %d structures", anatomy.Count)
		}
		k, err := mask.FromCounts(m.GridW, m.GridH, j.Masks[name])
		if err != nil {
			return field, err
		}
		if err := m.Put(s, k); err != nil {
			return field, err
		}
	}
	return "", nil
}

func (c *Case) readCheXmask(j *caseJSON) (field string, err error) {
	for _, name := range sortedNames(j.CheXmask) {
		field = fmt.Sprintf("chexmask[%q]", name)
		m := c.Input.Masks
		k, err := mask.FromCounts(m.GridW, m.GridH, j.CheXmask[name])
		if err != nil {
			return field, err
		}
		switch name {
		case anatomy.RightLung.Name():
			c.Input.CheXmaskRightLung = &k
		case anatomy.LeftLung.Name(), anatomy.Heart.Name(): // known to that source, not used here
		default:
			return field, fmt.Errorf("is no structure of that source; it has right lung, left lung, heart")
		}
	}
	return "", nil
}

func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
