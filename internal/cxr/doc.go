// Package cxr holds one radiograph: its pixels, its view position, and the bounded way
// from the bytes of a file to 8-bit grey.
//
// Terms. A file's format is found by its first bytes, never by its name. A conversion
// from what the file stores to grey is a named [Rule]; [Decode] lists the rules it
// applied, in order, in [Image.Rules], so that every later result can say how its pixels
// came about. A file that cannot become pixels gives a [*DecodeError] whose [Class] is
// one of a closed set.
//
// Frame: pixel (0,0) is the top-left pixel, x grows to the image right, y downwards. All
// consumers get the oriented picture: an EXIF orientation is applied once, here.
//
// Bounds: the header is read before anything is allocated; [Limits] caps the file's bytes,
// the picture's pixels and the decoder's memory. A short file that promises a huge picture
// costs a header read.
//
// What the package refuses: formats other than PNG and JPEG, lossless, arithmetic and
// 12-bit JPEG, files that end early, and pictures above the limits. It reads no clock and
// no file system.
//
//	img, err := cxr.Decode(data, cxr.Limits{})
//	var bad *cxr.DecodeError
//	if errors.As(err, &bad) && bad.Class == cxr.ClassTruncated { ... }
package cxr
