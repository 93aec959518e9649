package dataset

import (
	"fmt"

	"cxrepro/internal/cxr"
)

// Outcome is what became of one item of a data set, with its reason. The zero value is
// invalid. The text form is the reason code and is stable.
type Outcome uint8

// The outcomes, in the order in which they are decided.
const (
	Kept Outcome = 1

	// Filtered: in order, but not wanted by the selection.

	ViewUnknown      Outcome = 2 // ViewPosition empty or not a published value
	ViewNotSelected  Outcome = 3
	SplitUnknown     Outcome = 4 // a split is selected, the split table lacks the picture
	SplitNotSelected Outcome = 5

	// Quarantined by the tables.

	BadRow             Outcome = 6 // a field missing or malformed
	DuplicateID        Outcome = 7 // the picture's id stood in an earlier row
	MissingMetadataRow Outcome = 8 // a file under files/ that no row mentions

	// Quarantined by the file.

	MissingFile       Outcome = 9
	ZeroBytes         Outcome = 10
	NotAnImage        Outcome = 11
	UnsupportedImage  Outcome = 12
	Truncated         Outcome = 13
	Damaged           Outcome = 14
	TooLarge          Outcome = 15
	BadDimensions     Outcome = 16
	DimensionMismatch Outcome = 17 // picture size differs from Rows and Columns
	DigestMismatch    Outcome = 18 // bytes differ from the published checksum
)

const lastOutcome = DigestMismatch

var outcomeText = [lastOutcome + 1]string{
	Kept: "kept", ViewUnknown: "view_unknown", ViewNotSelected: "view_not_selected",
	SplitUnknown: "split_unknown", SplitNotSelected: "split_not_selected",
	BadRow: "bad_row", DuplicateID: "duplicate_dicom_id", MissingMetadataRow: "missing_metadata_row",
	MissingFile: "missing_file", ZeroBytes: "zero_bytes", NotAnImage: "not_an_image",
	UnsupportedImage: "unsupported_image", Truncated: "truncated", Damaged: "damaged",
	TooLarge: "too_large", BadDimensions: "bad_dimensions",
	DimensionMismatch: "dimension_mismatch", DigestMismatch: "digest_mismatch",
}

// Outcomes lists every valid outcome.
func Outcomes() []Outcome {
	list := make([]Outcome, 0, lastOutcome)
	for o := Kept; o <= lastOutcome; o++ {
		list = append(list, o)
	}
	return list
}

// Valid reports whether o is one of the outcomes.
func (o Outcome) Valid() bool { return o >= Kept && o <= lastOutcome }

// String returns the reason code, "unset" for anything invalid.
func (o Outcome) String() string {
	if !o.Valid() {
		return "unset"
	}
	return outcomeText[o]
}

// MarshalText encodes a valid outcome.
func (o Outcome) MarshalText() ([]byte, error) {
	if !o.Valid() {
		return nil, fmt.Errorf("outcome %d does not exist", uint8(o))
	}
	return []byte(outcomeText[o]), nil
}

// UnmarshalText accepts exactly the reason codes.
func (o *Outcome) UnmarshalText(b []byte) error {
	for _, v := range Outcomes() {
		if outcomeText[v] == string(b) {
			*o = v
			return nil
		}
	}
	return fmt.Errorf("outcome %q does not exist", b)
}

// Status says whether an item goes on, was not wanted, or is broken.
type Status uint8

// The statuses.
const (
	StatusKept        Status = 1
	StatusFiltered    Status = 2
	StatusQuarantined Status = 3
)

// String returns "kept", "filtered" or "quarantined".
func (s Status) String() string {
	switch s {
	case StatusKept:
		return "kept"
	case StatusFiltered:
		return "filtered"
	case StatusQuarantined:
		return "quarantined"
	}
	return "unset"
}

// Status returns the status an outcome belongs to, 0 for an invalid outcome.
func (o Outcome) Status() Status {
	switch {
	case !o.Valid():
		return 0
	case o == Kept:
		return StatusKept
	case o <= SplitNotSelected:
		return StatusFiltered
	}
	return StatusQuarantined
}

// outcomeOfClass maps a decoding failure to the outcome of the same name.
func outcomeOfClass(c cxr.Class) Outcome {
	switch c {
	case cxr.ClassEmpty:
		return ZeroBytes
	case cxr.ClassNotAnImage:
		return NotAnImage
	case cxr.ClassUnsupported:
		return UnsupportedImage
	case cxr.ClassTruncated:
		return Truncated
	case cxr.ClassTooLarge:
		return TooLarge
	case cxr.ClassBadDimensions:
		return BadDimensions
	}
	return Damaged
}
