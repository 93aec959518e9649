// Package experiments holds experiment specs: everything that can change a number of a
// reproduction, and nothing that cannot.
//
// A spec is one YAML file in a folder of its own, decoded strictly: an unknown field, a
// wrong type or a missing number is an error that names file, line and the way out. Values
// given with --set are applied before anything is hashed, so two ways of writing the same
// experiment are the same experiment.
//
// Terms. A Spec is the file as written. A Plan is a spec whose outside files (model card,
// weights) are replaced by their digests; its canonical bytes are what a reproduction id
// is derived from. Where data lie, which server runs the work and how fast are flags of
// the command and never enter a spec.
//
// The published figures a paper gives for an experiment are part of its spec, so that the
// summary can put both numbers side by side.
package experiments
