package dataset

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/geom"
)

// The boxes that CheXStruct reads, by the name Chest ImaGenome gives them. A box named
// "mediastinum" exists too and is another one.
// Source: [official code] CheXStruct, quality control of cardiomegaly and mediastinum.
const (
	BoxHeart            = "cardiac silhouette"
	BoxUpperMediastinum = "upper mediastinum"
)

// BoxState says what became of a box. The zero value is invalid.
type BoxState uint8

// The states; every one but the first means that there is no box.
const (
	BoxPresent      BoxState = 1
	BoxNoScene      BoxState = 2 // no scene graph for the picture
	BoxSceneDamaged BoxState = 3 // the scene graph cannot be read
	BoxNotListed    BoxState = 4 // the scene graph lacks a box of that name
	BoxMalformed    BoxState = 5 // a coordinate is missing or no number
	BoxDegenerate   BoxState = 6 // no width or no height
	BoxOutside      BoxState = 7 // no part of it lies in the picture
)

var boxStateText = [...]string{
	BoxPresent: "present", BoxNoScene: "no_scene_graph", BoxSceneDamaged: "scene_graph_damaged",
	BoxNotListed: "not_listed", BoxMalformed: "malformed", BoxDegenerate: "degenerate", BoxOutside: "outside",
}

// String returns the state's reason code, "unset" for the zero value.
func (s BoxState) String() string {
	if s < BoxPresent || s > BoxOutside {
		return "unset"
	}
	return boxStateText[s]
}

// MarshalText encodes a valid state.
func (s BoxState) MarshalText() ([]byte, error) {
	if s < BoxPresent || s > BoxOutside {
		return nil, fmt.Errorf("box state %d does not exist", uint8(s))
	}
	return []byte(boxStateText[s]), nil
}

// UnmarshalText accepts exactly the reason codes.
func (s *BoxState) UnmarshalText(b []byte) error {
	for v := BoxPresent; v <= BoxOutside; v++ {
		if boxStateText[v] == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("box state %q does not exist", b)
}

// SceneBox is one box of a scene graph, in pixels of the full-size picture.
type SceneBox struct {
	State BoxState `json:"state"`
	// Box is set when State is BoxPresent; its corners are pixels inside the picture.
	Box geom.Box `json:"box,omitzero"`
	// Clamped says that the published box reached beyond the picture.
	Clamped bool `json:"clamped,omitempty"`
}

// Scene holds the boxes of one picture that CheXStruct reads.
type Scene struct {
	Heart            SceneBox `json:"heart"`
	UpperMediastinum SceneBox `json:"upper_mediastinum"`
}

// Boxes returns the boxes that are present, by published name.
func (s Scene) Boxes() map[string]geom.Box {
	m := map[string]geom.Box{}
	if s.Heart.State == BoxPresent {
		m[BoxHeart] = s.Heart.Box
	}
	if s.UpperMediastinum.State == BoxPresent {
		m[BoxUpperMediastinum] = s.UpperMediastinum.Box
	}
	return m
}

const (
	sceneSuffix   = "_SceneGraph.json"
	maxSceneBytes = 16 << 20
)

// sceneFolders and sceneZips are where the silver scene graphs are looked for, in order.
var (
	sceneFolders = []string{"silver_dataset/scene_graph", "scene_graph", "."}
	sceneZips    = []string{"silver_dataset/scene_graph.zip", "scene_graph.zip"}
)

// ImaGenome reads the silver scene graphs of Chest ImaGenome 1.0.0, from the folder or from
// the zip of it. It is safe for concurrent use when its fs.FS is; close it after use.
type ImaGenome struct {
	fsys   fs.FS
	folder string
	closer io.Closer
	byBase map[string]*zip.File
}

// OpenImaGenome finds the scene graphs below a root.
//
// Errors: neither a folder nor a zip with scene graphs is there; a zip whose storage cannot
// be read at an offset.
func OpenImaGenome(fsys fs.FS) (*ImaGenome, error) {
	for _, dir := range sceneFolders {
		if found, err := hasScene(fsys, dir); err != nil {
			return nil, err
		} else if found {
			return &ImaGenome{fsys: fsys, folder: dir}, nil
		}
	}
	for _, name := range sceneZips {
		f, err := fsys.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		g, err := openSceneZip(f, name)
		if err != nil {
			f.Close()
			return nil, err
		}
		return g, nil
	}
	return nil, &TableError{File: sceneFolders[0] + "/*" + sceneSuffix, Detail: "no scene graph is there, nor in scene_graph.zip",
		Hint: "point at the root of chest-imagenome 1.0.0, or set dataset.boxes to none"}
}

// hasScene looks for one scene graph without listing the whole folder.
func hasScene(fsys fs.FS, dir string) (bool, error) {
	f, err := fsys.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open %s: %w", dir, err)
	}
	defer f.Close()
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return false, nil
	}
	for {
		entries, err := d.ReadDir(256)
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), sceneSuffix) {
				return true, nil
			}
		}
		if err == io.EOF || err == nil && len(entries) == 0 {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("list %s: %w", dir, err)
		}
	}
}

func openSceneZip(f fs.File, name string) (*ImaGenome, error) {
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("open %s: its storage cannot be read at an offset; unpack it", name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	z, err := zip.NewReader(at, info.Size())
	if err != nil {
		return nil, &TableError{File: name, Detail: "is no readable zip", Hint: hintDownload, Err: err}
	}
	g := &ImaGenome{closer: f, byBase: make(map[string]*zip.File, len(z.File))}
	for _, e := range z.File {
		if base := path.Base(e.Name); strings.HasSuffix(base, sceneSuffix) {
			g.byBase[base] = e
		}
	}
	if len(g.byBase) == 0 {
		return nil, &TableError{File: name, Detail: "holds no *" + sceneSuffix, Hint: hintDownload}
	}
	return g, nil
}

// Close releases the zip, if one is open.
func (g *ImaGenome) Close() error {
	if g.closer == nil {
		return nil
	}
	return g.closer.Close()
}

// Scene returns the boxes of the picture with the given id, whose full size is
// width x height. A missing or damaged scene graph is a state of both boxes; details of a
// damaged one are returned apart, in words without identifiers.
//
// Frame: only the original_* corners are read; they are pixels of the full-size picture.
// Boxes partly outside are clamped to it.
// Errors: only the storage's own.
func (g *ImaGenome) Scene(id string, width, height int) (s Scene, detail string, err error) {
	data, err := g.read(id + sceneSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		none := SceneBox{State: BoxNoScene}
		return Scene{none, none}, "", nil
	}
	if err != nil {
		return Scene{}, "", fmt.Errorf("read scene graph: %w", withoutPath(err))
	}
	objects, bad := parseScene(data, id)
	if bad != "" {
		damaged := SceneBox{State: BoxSceneDamaged}
		return Scene{damaged, damaged}, bad, nil
	}
	return Scene{
		Heart:            findBox(objects, BoxHeart, width, height),
		UpperMediastinum: findBox(objects, BoxUpperMediastinum, width, height),
	}, "", nil
}

func (g *ImaGenome) read(base string) ([]byte, error) {
	if !plainName(base) {
		return nil, fs.ErrNotExist
	}
	var f io.ReadCloser
	var err error
	if g.byBase != nil {
		e, ok := g.byBase[base]
		if !ok {
			return nil, fs.ErrNotExist
		}
		f, err = e.Open()
	} else {
		f, err = g.fsys.Open(path.Join(g.folder, base))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSceneBytes))
}

// sceneObject is what is read of an object; further keys are passed over.
type sceneObject struct {
	Name string `json:"bbox_name"`
	X1   any    `json:"original_x1"`
	Y1   any    `json:"original_y1"`
	X2   any    `json:"original_x2"`
	Y2   any    `json:"original_y2"`
}

func parseScene(data []byte, id string) (objects []sceneObject, bad string) {
	var doc struct {
		ImageID *string       `json:"image_id"`
		Objects []sceneObject `json:"objects"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, "the scene graph is no JSON object of the published form"
	}
	if doc.ImageID != nil && *doc.ImageID != id {
		return nil, "the scene graph names another picture than its file name"
	}
	if doc.Objects == nil {
		return nil, "the scene graph has no objects"
	}
	return doc.Objects, ""
}

// findBox returns the first object of a name.
func findBox(objects []sceneObject, name string, w, h int) SceneBox {
	i := slices.IndexFunc(objects, func(o sceneObject) bool { return o.Name == name })
	if i < 0 {
		return SceneBox{State: BoxNotListed}
	}
	o := objects[i]
	var b geom.Box
	for _, c := range []struct {
		from any
		to   *int
	}{{o.X1, &b.X0}, {o.Y1, &b.Y0}, {o.X2, &b.X1}, {o.Y2, &b.Y1}} {
		v, ok := coordinate(c.from)
		if !ok {
			return SceneBox{State: BoxMalformed}
		}
		*c.to = v
	}
	return clampBox(b, w, h)
}

// coordinate reads a whole number of pixels, however JSON spells it; fractions are rounded
// to the nearest, ties to even.
func coordinate(v any) (int, bool) {
	var text string
	switch v := v.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	default:
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1<<24 {
		return 0, false
	}
	return int(math.RoundToEven(f)), true
}

// clampBox cuts a box to the picture; what is left must be a box again.
func clampBox(b geom.Box, w, h int) SceneBox {
	if b.X1 <= b.X0 || b.Y1 <= b.Y0 {
		return SceneBox{State: BoxDegenerate}
	}
	c := geom.Box{X0: max(b.X0, 0), Y0: max(b.Y0, 0), X1: min(b.X1, w-1), Y1: min(b.Y1, h-1)}
	if c.X1 <= c.X0 || c.Y1 <= c.Y0 {
		return SceneBox{State: BoxOutside}
	}
	return SceneBox{State: BoxPresent, Box: c, Clamped: c != b}
}
