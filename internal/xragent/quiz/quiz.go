package quiz

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
)

// Version changes whenever an item or a pixel may.
const Version = 1

// Side is the edge of a picture in pixels, PolicySide the edge at which a small policy sees
// a picture or a crop.
const (
	Side       = 256
	PolicySide = 32
)

// Family names one of the four kinds of question.
type Family string

// The families, in the order of every output. [ours]
const (
	Heart  Family = "heart"
	Crop   Family = "crop"
	Lookup Family = "lookup"
	Plain  Family = "plain"
)

// Families lists them in order.
func Families() []Family { return []Family{Heart, Crop, Lookup, Plain} }

// Tool is the tool without which a question can only be guessed; empty where none helps.
func (f Family) Tool() string {
	switch f {
	case Crop:
		return xragent.ToolCrop
	case Lookup:
		return xragent.ToolLookup
	}
	return ""
}

// Split names a part of a question set.
type Split string

// The splits.
const (
	Train   Split = "train"
	HeldOut Split = "held-out"
)

// MaxPictures bounds the pictures of a split: its rows of phantoms end there.
const MaxPictures = 1 << 16

// first is where a split's row of phantoms begins.
func (s Split) first() (int, error) {
	switch s {
	case Train:
		return 0, nil
	case HeldOut:
		return MaxPictures, nil
	}
	return 0, fmt.Errorf("quiz: split %q; hint: %s or %s", string(s), Train, HeldOut)
}

// Study is a picture with its four questions.
type Study struct {
	// Path is where a set keeps the picture; PNG are its bytes, Image names them.
	Path  string
	PNG   []byte
	Image artifacts.Ref
	// Kind is what the picture is; Hidden and Shown are the marks in it.
	Kind          phantom.Kind
	Hidden, Shown Mark
	// Items are one question of each family, in order.
	Items []xragent.Item
}

// Draw draws picture number n of a split with its items. It does not depend on others.
//
// Errors: an unknown split, a number outside 0..MaxPictures-1.
func Draw(seed uint64, split Split, n int) (Study, error) {
	first, err := split.first()
	if err != nil {
		return Study{}, err
	}
	if n < 0 || n >= MaxPictures {
		return Study{}, fmt.Errorf("quiz: picture %d; hint: 0 to %d", n, MaxPictures-1)
	}
	id := fmt.Sprintf("quiz/%s/%06d", split, n)
	d := drawer{seed: seed, id: id}
	film, large, err := d.film(first + n)
	if err != nil {
		return Study{}, fmt.Errorf("%s: %w", id, err)
	}
	s := Study{Path: fmt.Sprintf("%s/%06d.png", split, n), Kind: film.Kind}
	s.Hidden, s.Shown = d.marks()
	s.Hidden.drawFine(film.Image)
	s.Shown.drawPlain(film.Image)
	if s.PNG, err = cxr.EncodePNG(film.Image); err != nil {
		return Study{}, fmt.Errorf("%s: %w", id, err)
	}
	s.Image = artifacts.Ref{Digest: artifacts.Sum(s.PNG), Size: int64(len(s.PNG)), MediaType: "image/png"}
	s.Items = d.items(s, large)
	return s, nil
}

// Sink takes what Write draws.
type Sink interface {
	Picture(path string, png []byte) error
	Item(xragent.Item) error
}

// Write draws the first n pictures of a split with their items, in order.
func Write(seed uint64, split Split, n int, to Sink) error {
	for k := range n {
		s, err := Draw(seed, split, k)
		if err != nil {
			return err
		}
		if err := to.Picture(s.Path, s.PNG); err != nil {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
		for _, item := range s.Items {
			if err := to.Item(item); err != nil {
				return fmt.Errorf("%s: %w", item.ID, err)
			}
		}
	}
	return nil
}
