package dataset

import (
	"fmt"
	"io/fs"

	"cxrepro/internal/anatomy"
)

// MaskFormat is a form in which the CXAS program writes its masks. The zero value is
// invalid.
type MaskFormat uint8

// The formats read here.
const (
	MaskPNG  MaskFormat = 1 // <stem>/<official name>.png
	MaskJPEG MaskFormat = 2 // <stem>/<official name>.jpg
	MaskNPY  MaskFormat = 3 // <stem>.npy
	MaskNPZ  MaskFormat = 4 // <stem>.npz
	MaskJSON MaskFormat = 5 // <stem>.json, or one <folder>.json for all pictures
)

var maskFormatText = [...]string{MaskPNG: "png", MaskJPEG: "jpg", MaskNPY: "npy", MaskNPZ: "npz", MaskJSON: "json"}

// String returns the format's name as the CXAS program spells it, "unset" if invalid.
func (f MaskFormat) String() string {
	if f < MaskPNG || f > MaskJSON {
		return "unset"
	}
	return maskFormatText[f]
}

// ParseMaskFormat reads a format's name.
func ParseMaskFormat(s string) (MaskFormat, error) {
	for f := MaskPNG; f <= MaskJSON; f++ {
		if maskFormatText[f] == s {
			return f, nil
		}
	}
	return 0, fmt.Errorf("mask format %q is not one of png, jpg, npy, npz, json", s)
}

// MaskFileClass says why a picture's mask files cannot be used. The zero value is invalid.
type MaskFileClass uint8

// The classes.
const (
	MasksMissing       MaskFileClass = 1 // no file for the picture, or none for a declared structure
	MasksDamaged       MaskFileClass = 2 // the file breaks off or contradicts itself
	MasksWrongSize     MaskFileClass = 3 // masks of another size than the picture
	MasksWrongChannels MaskFileClass = 4 // other than the 159 classes in their order
	MasksWrongType     MaskFileClass = 5 // numbers where true and false should be, or another order of axes
)

var maskFileClassText = [...]string{
	MasksMissing: "masks_missing", MasksDamaged: "masks_damaged", MasksWrongSize: "masks_wrong_size",
	MasksWrongChannels: "masks_wrong_channels", MasksWrongType: "masks_wrong_type",
}

// MaskFileClasses lists the valid classes.
func MaskFileClasses() []MaskFileClass {
	return []MaskFileClass{MasksMissing, MasksDamaged, MasksWrongSize, MasksWrongChannels, MasksWrongType}
}

// String returns the reason code, "unset" for anything invalid.
func (c MaskFileClass) String() string {
	if c < MasksMissing || c > MasksWrongType {
		return "unset"
	}
	return maskFileClassText[c]
}

// MaskFileError reports a picture whose masks cannot be used. It holds no identifier and is
// permanent: reading again gives the same.
type MaskFileError struct {
	Class     MaskFileClass
	Structure anatomy.Structure // 0 unless one structure is meant
	Detail    string
	Err       error
}

func (e *MaskFileError) Error() string {
	s := e.Class.String()
	if e.Structure.Valid() {
		s += fmt.Sprintf(" (%s)", e.Structure.Name())
	}
	s += ": " + e.Detail
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *MaskFileError) Unwrap() error { return e.Err }

func maskErrorf(c MaskFileClass, s anatomy.Structure, format string, args ...any) error {
	return &MaskFileError{Class: c, Structure: s, Detail: fmt.Sprintf(format, args...)}
}

// MaskSource gives the masks of a picture from files made elsewhere.
type MaskSource interface {
	// Masks returns the masks of the picture whose file name without extension is stem
	// and whose size is width x height. The grid is the picture itself. An empty mask
	// means that the structure was looked for and not found.
	//
	// Errors: *MaskFileError for files that cannot be used, the storage's own otherwise.
	Masks(stem string, width, height int) (*anatomy.Masks, error)
	// Declared is what the source can produce at all.
	Declared() anatomy.Set
	// Close releases open files.
	Close() error
}

// CXASOptions chooses what is read of a CXAS output folder.
type CXASOptions struct {
	// Structures limits what is read; the zero value means all 159. A picture folder must
	// hold a file for each, the other formats hold all anyway.
	Structures anatomy.Set
}

// OpenCXAS opens a folder that the CXAS program wrote. Mirrored or mislabelled masks are
// not noticed here: the orientation rule of the global filter finds them.
//
// Errors: an unknown format, or for json a folder file that cannot be indexed.
func OpenCXAS(fsys fs.FS, format MaskFormat, opt CXASOptions) (MaskSource, error) {
	want := opt.Structures
	if want.Len() == 0 {
		want = anatomy.AllSet()
	}
	switch format {
	case MaskPNG:
		return &pictureMasks{fsys: fsys, want: want, ext: ".png", threshold: 1}, nil
	case MaskJPEG:
		return &pictureMasks{fsys: fsys, want: want, ext: ".jpg", threshold: 128}, nil
	case MaskNPY:
		return &arrayMasks{fsys: fsys, want: want}, nil
	case MaskNPZ:
		return &arrayMasks{fsys: fsys, want: want, zipped: true}, nil
	case MaskJSON:
		return openJSONMasks(fsys, want)
	}
	return nil, fmt.Errorf("open masks: format %d is not one of png, jpg, npy, npz, json", uint8(format))
}

// newMasks returns an empty set at the picture's own size.
func newMasks(width, height int, declared anatomy.Set) (*anatomy.Masks, error) {
	if width < 1 || height < 1 {
		return nil, fmt.Errorf("read masks: picture of %d x %d pixels", width, height)
	}
	return anatomy.NewMasks(width, height, width, height, declared)
}

// stemName checks that a stem can be a file name.
func stemName(stem string) error {
	if !plainName(stem) {
		return maskErrorf(MasksMissing, 0, "the picture's name cannot be a file name")
	}
	return nil
}
