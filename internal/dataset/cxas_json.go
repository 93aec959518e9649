package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// maxMaskJSON bounds a file that holds one picture.
const maxMaskJSON = 512 << 20

// jsonMasks reads COCO-like files with compressed run lengths. A picture has a file of its
// own, <stem>.json, or shares one file with all others (folder mode), which is indexed when
// the source is opened.
type jsonMasks struct {
	fsys   fs.FS
	want   anatomy.Set
	shared *sharedMasks // nil without a folder file
}

// cocoImage is an entry of "images"; file_name may be a full path of another machine.
type cocoImage struct {
	ID       int    `json:"id"`
	FileName string `json:"file_name"`
}

// cocoAnnotation is one mask. Its own id is not read: it repeats across pictures.
type cocoAnnotation struct {
	ImageID      int `json:"image_id"`
	CategoryID   int `json:"category_id"`
	Segmentation struct {
		Size   [2]int `json:"size"` // height, width
		Counts string `json:"counts"`
	} `json:"segmentation"`
}

type cocoCategory struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

func (j *jsonMasks) Declared() anatomy.Set { return j.want }

func (j *jsonMasks) Close() error {
	if j.shared == nil {
		return nil
	}
	return j.shared.file.Close()
}

// openJSONMasks finds out which of the two ways a folder has.
func openJSONMasks(fsys fs.FS, want anatomy.Set) (MaskSource, error) {
	j := &jsonMasks{fsys: fsys, want: want}
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("list masks: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".json") { // a folder file may be called just ".json"
			files = append(files, e.Name())
		}
	}
	if len(files) == 0 {
		return nil, maskErrorf(MasksMissing, 0, "the folder holds no json file")
	}
	if len(files) == 1 {
		if j.shared, err = indexShared(fsys, files[0]); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (j *jsonMasks) Masks(stem string, width, height int) (*anatomy.Masks, error) {
	if err := stemName(stem); err != nil {
		return nil, err
	}
	var list []cocoAnnotation
	var err error
	if j.shared != nil && !j.shared.ownFileOf(stem) {
		list, err = j.shared.annotations(stem)
	} else {
		list, err = j.ownFile(stem)
	}
	if err != nil {
		return nil, err
	}
	out, err := newMasks(width, height, j.want)
	if err != nil {
		return nil, err
	}
	seen := anatomy.Set{}
	for _, a := range list {
		s, ok := anatomy.FromClassID(a.CategoryID)
		if !ok {
			return nil, maskErrorf(MasksWrongChannels, 0, "category_id %d, want 0 to %d", a.CategoryID, anatomy.Count-1)
		}
		if seen.Has(s) {
			return nil, maskErrorf(MasksDamaged, s, "two masks of one structure")
		}
		seen = seen.With(s)
		h, w := a.Segmentation.Size[0], a.Segmentation.Size[1]
		if w != width || h != height {
			return nil, wrongSize(s, w, h, width, height)
		}
		if !j.want.Has(s) {
			continue
		}
		m, err := mask.DecodeCOCO(w, h, a.Segmentation.Counts)
		if err != nil {
			return nil, &MaskFileError{Class: MasksDamaged, Structure: s, Detail: "run lengths", Err: err}
		}
		if err := out.Put(s, m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ownFile reads <stem>.json.
func (j *jsonMasks) ownFile(stem string) ([]cocoAnnotation, error) {
	f, err := j.fsys.Open(stem + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, maskErrorf(MasksMissing, 0, "no json file for the picture")
	}
	if err != nil {
		return nil, fmt.Errorf("read masks: %w", withoutPath(err))
	}
	defer f.Close()
	var doc struct {
		Images      cocoImages       `json:"images"`
		Categories  []cocoCategory   `json:"categories"`
		Annotations []cocoAnnotation `json:"annotations"`
	}
	if err := json.NewDecoder(io.LimitReader(f, maxMaskJSON)).Decode(&doc); err != nil {
		return nil, jsonBroken(err)
	}
	if err := checkCategories(doc.Categories); err != nil {
		return nil, err
	}
	if len(doc.Images) != 1 {
		return nil, maskErrorf(MasksDamaged, 0, "the picture's own file lists %d pictures, want 1", len(doc.Images))
	}
	for _, a := range doc.Annotations {
		if a.ImageID != doc.Images[0].ID {
			return nil, maskErrorf(MasksDamaged, 0, "a mask of picture %d in the file of picture %d", a.ImageID, doc.Images[0].ID)
		}
	}
	return doc.Annotations, nil
}

// cocoImages reads "images" in both shapes: a list, or (an upstream slip) a list in a list.
type cocoImages []cocoImage

// UnmarshalJSON accepts objects and lists of objects as elements.
func (c *cocoImages) UnmarshalJSON(data []byte) error {
	var outer []json.RawMessage
	if err := json.Unmarshal(data, &outer); err != nil {
		return err
	}
	*c = nil
	for _, raw := range outer {
		var inner []cocoImage
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &inner); err != nil {
				return err
			}
		} else {
			inner = make([]cocoImage, 1)
			if err := json.Unmarshal(raw, &inner[0]); err != nil {
				return err
			}
		}
		*c = append(*c, inner...)
	}
	return nil
}

// checkCategories compares the class list with the official one. A file without a list is
// taken at its numbers.
func checkCategories(list []cocoCategory) error {
	for _, c := range list {
		s, ok := anatomy.FromClassID(c.ID)
		if !ok || s.Name() != c.Name {
			return maskErrorf(MasksWrongChannels, 0, "category %d is called %q, want the %d official classes", c.ID, clip(c.Name), anatomy.Count)
		}
	}
	return nil
}

func jsonBroken(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("read masks: %w", withoutPath(err))
	}
	return &MaskFileError{Class: MasksDamaged, Detail: "the json file breaks off or has another form", Err: err}
}

// stemOf is the base name without its last extension, whatever the path's separators.
func stemOf(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}
