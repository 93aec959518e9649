// Package picture prepares pictures for model endpoints: a named, versioned rule turns the
// bytes of an artifact into the bytes that are sent.
//
// The rules. original sends what is stored. long1024 reduces pictures whose longer side
// exceeds 1024 pixels to 1024, the shorter side cut to a whole number, bicubic as Pillow
// resamples, three channels, as PNG; smaller ones are coded anew without a change of size.
// cxrb_original is long1024 as the first evaluation programs of CXReasonBench sent it: the
// bytes are PNG, the declared type is that of the source.
//
// A rule's version changes when any byte it makes may change. Rule and version stand in the
// key of every call and of every prepared picture. The package reads no file and no clock.
package picture
