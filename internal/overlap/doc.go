// Package overlap finds what a model saw of the images it is judged on: the same file, a
// near-duplicate picture, another image of the same study or of the same patient.
//
// It compares two lists of images, those of the training lineage of a checkpoint and those of
// an evaluation. An image is a digest, a perceptual hash ([Perceptual]) where its pixels were
// read, and keyed digests of study and patient ([Grouping]) where the data set names them.
// What cannot be compared, because one side has no hash or groups under another key, is
// counted and said: it is not the absence of an overlap.
//
// A near-duplicate is a guess with a limit: two films of one kind can be nearer to each other
// than a film to its own cut. docs/design/0017-checkpoints-and-overlap.md has what was
// measured on phantoms.
//
// The package is pure: keys, pictures and lists are passed in. It refuses to compare hashes
// of different names.
package overlap
