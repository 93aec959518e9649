package cxr

import "fmt"

// Class says why a file gives no pixels. The zero value is invalid.
type Class uint8

// The classes. Their text forms are stable: they are written into records.
const (
	ClassEmpty         Class = 1 // zero bytes
	ClassNotAnImage    Class = 2 // no known picture format, whatever the name says
	ClassUnsupported   Class = 3 // a picture, in a format or coding that is not read here
	ClassTruncated     Class = 4 // ends before its own end mark
	ClassDamaged       Class = 5 // contradicts itself: checksum, marker order, entropy code
	ClassTooLarge      Class = 6 // above a limit: bytes, pixels, memory or scans
	ClassBadDimensions Class = 7 // width or height zero
)

var classText = [...]string{
	ClassEmpty: "zero_bytes", ClassNotAnImage: "not_an_image", ClassUnsupported: "unsupported_image",
	ClassTruncated: "truncated", ClassDamaged: "damaged", ClassTooLarge: "too_large",
	ClassBadDimensions: "bad_dimensions",
}

// Classes lists every valid class.
func Classes() []Class {
	return []Class{ClassEmpty, ClassNotAnImage, ClassUnsupported, ClassTruncated, ClassDamaged, ClassTooLarge, ClassBadDimensions}
}

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool { return c >= ClassEmpty && c <= ClassBadDimensions }

// String returns the stable text form, "invalid" for the zero value.
func (c Class) String() string {
	if !c.Valid() {
		return "invalid"
	}
	return classText[c]
}

// DecodeError reports a file that gives no pixels.
//
// Detail says what was found and, where known, where; it never quotes the file's text.
type DecodeError struct {
	Class  Class
	Format Format // 0 when unknown
	Detail string
	Err    error // the decoder's own error, if any
}

func (e *DecodeError) Error() string {
	format := "picture"
	if e.Format.Valid() {
		format = e.Format.String()
	}
	if e.Err != nil {
		return fmt.Sprintf("decode %s: %s: %s: %v", format, e.Class, e.Detail, e.Err)
	}
	return fmt.Sprintf("decode %s: %s: %s", format, e.Class, e.Detail)
}

func (e *DecodeError) Unwrap() error { return e.Err }

func decodeErrorf(c Class, f Format, format string, args ...any) error {
	return &DecodeError{Class: c, Format: f, Detail: fmt.Sprintf(format, args...)}
}
