package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Split is the published part of a data set that a picture belongs to. The zero value
// means "unknown" in a row and "all" in a [Selection].
type Split uint8

// The splits of MIMIC-CXR-JPG.
const (
	SplitTrain    Split = 1
	SplitValidate Split = 2
	SplitTest     Split = 3
)

var splitText = [...]string{SplitTrain: "train", SplitValidate: "validate", SplitTest: "test"}

// Valid reports whether s is one of the three.
func (s Split) Valid() bool { return s >= SplitTrain && s <= SplitTest }

// String returns the text form, "unset" for the zero value.
func (s Split) String() string {
	if !s.Valid() {
		return "unset"
	}
	return splitText[s]
}

// ParseSplit reads a text form.
func ParseSplit(text string) (Split, error) {
	for s := SplitTrain; s <= SplitTest; s++ {
		if splitText[s] == text {
			return s, nil
		}
	}
	return 0, fmt.Errorf("split %q is not one of train, validate, test", text)
}

// MarshalText encodes a valid split.
func (s Split) MarshalText() ([]byte, error) {
	if !s.Valid() {
		return nil, fmt.Errorf("split %d is not one of train, validate, test", uint8(s))
	}
	return []byte(splitText[s]), nil
}

// UnmarshalText accepts exactly the text forms.
func (s *Split) UnmarshalText(b []byte) error {
	v, err := ParseSplit(string(b))
	if err != nil {
		return err
	}
	*s = v
	return nil
}

// readSplits loads the split table, which lists its ids in another order than the
// metadata table.
//
// Errors: *TableError for a line that names no split, and for a picture with two splits.
func readSplits(fsys fs.FS, file string) (*keyed[Split], error) {
	t, err := openTable(fsys, file, "dicom_id", "split")
	if err != nil {
		return nil, err
	}
	defer t.close()
	id, split := t.column("dicom_id"), t.column("split")
	k := &keyed[Split]{}
	for {
		rec, line, bad, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if bad != "" {
			return nil, &TableError{File: file, Line: line, Detail: bad, Hint: hintDownload}
		}
		s, err := ParseSplit(rec[split])
		if err != nil {
			return nil, &TableError{File: file, Line: line, Column: "split", Detail: "holds no split", Err: err}
		}
		k.add(keyOf(rec[id]), s)
	}
	k.freeze()
	for i := 1; i < len(k.items); i++ {
		if a, b := k.items[i-1], k.items[i]; a.key == b.key && a.value != b.value {
			return nil, &TableError{File: file, Column: "split",
				Detail: fmt.Sprintf("gives one picture two splits, %s and %s", a.value, b.value)}
		}
	}
	return k, nil
}
