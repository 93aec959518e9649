// Package picture prepares pictures for model endpoints: a named, versioned rule turns the
// bytes of an artifact into the bytes that are sent.
//
// The rules. original sends what is stored. long1024 reduces a picture whose longer side
// exceeds 1024 pixels to 1024, cutting the shorter side to a whole number, bicubic as Pillow
// resamples, and codes it as PNG; a smaller one goes as it is stored. An EXIF orientation is
// applied, since some servers ignore it. cxrb_original does what the first evaluation programs
// of CXReasonBench did: the same reduction, no orientation, and PNG bytes that are declared
// as the type of their source, so that a JPEG travels as PNG called JPEG.
//
// A rule's version changes when any byte it makes may change. Rule and version stand in the
// key of every call and of every prepared picture. The package reads no file and no clock.
package picture
