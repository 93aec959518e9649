package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// sharedMasks is one file for many pictures with the place of every mask in it.
type sharedMasks struct {
	name   string
	file   fs.File
	at     io.ReaderAt
	images map[string][]int // stem -> image ids
	places map[int][]textPlace
}

type textPlace struct{ offset, end int64 }

// ownFileOf reports whether the file is not shared after all: a folder with one picture's
// own file, which may list the picture under any name.
func (s *sharedMasks) ownFileOf(stem string) bool {
	return s.name == stem+".json" && len(s.images[stem]) == 0
}

// annotations reads the masks of one picture.
func (s *sharedMasks) annotations(stem string) ([]cocoAnnotation, error) {
	ids := s.images[stem]
	switch {
	case len(ids) == 0:
		return nil, maskErrorf(MasksMissing, 0, "the folder's json file does not list the picture")
	case len(ids) > 1:
		return nil, maskErrorf(MasksDamaged, 0, "%d pictures of the folder's json file have this name", len(ids))
	}
	var list []cocoAnnotation
	for _, p := range s.places[ids[0]] {
		buf := make([]byte, p.end-p.offset)
		if _, err := s.at.ReadAt(buf, p.offset); err != nil {
			return nil, fmt.Errorf("read masks: %w", withoutPath(err))
		}
		var a cocoAnnotation
		if err := json.Unmarshal(bytes.TrimLeft(buf, ", \t\r\n"), &a); err != nil {
			return nil, jsonBroken(err)
		}
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b cocoAnnotation) int { return a.CategoryID - b.CategoryID })
	return list, nil
}

// indexShared walks the file once and notes where each annotation stands.
func indexShared(fsys fs.FS, name string) (*sharedMasks, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open masks: %w", err)
	}
	s := &sharedMasks{name: name, file: f, images: map[string][]int{}, places: map[int][]textPlace{}}
	var ok bool
	if s.at, ok = f.(io.ReaderAt); !ok {
		f.Close()
		return nil, fmt.Errorf("open masks %s: its storage cannot be read at an offset", name)
	}
	if err := s.index(json.NewDecoder(f)); err != nil {
		f.Close()
		return nil, fmt.Errorf("open masks %s: %w", name, err)
	}
	return s, nil
}

func (s *sharedMasks) index(dec *json.Decoder) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return jsonBroken(errors.Join(err, errors.New("want an object")))
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return jsonBroken(err)
		}
		switch key {
		case "images":
			var list cocoImages
			if err := dec.Decode(&list); err != nil {
				return jsonBroken(err)
			}
			for _, im := range list {
				s.images[stemOf(im.FileName)] = append(s.images[stemOf(im.FileName)], im.ID)
			}
		case "categories":
			var list []cocoCategory
			if err := dec.Decode(&list); err != nil {
				return jsonBroken(err)
			}
			if err := checkCategories(list); err != nil {
				return err
			}
		case "annotations":
			if err := s.indexAnnotations(dec); err != nil {
				return err
			}
		default:
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				return jsonBroken(err)
			}
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace: a cut file ends without
		return jsonBroken(err)
	}
	return nil
}

func (s *sharedMasks) indexAnnotations(dec *json.Decoder) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return jsonBroken(errors.Join(err, errors.New("annotations is no list")))
	}
	for dec.More() {
		p := textPlace{offset: dec.InputOffset()}
		var a struct {
			ImageID *int `json:"image_id"`
		}
		if err := dec.Decode(&a); err != nil {
			return jsonBroken(err)
		}
		if a.ImageID == nil {
			return maskErrorf(MasksDamaged, 0, "a mask without image_id")
		}
		p.end = dec.InputOffset()
		s.places[*a.ImageID] = append(s.places[*a.ImageID], p)
	}
	if _, err := dec.Token(); err != nil {
		return jsonBroken(err)
	}
	return nil
}
