// Package experiments holds experiment specs: everything that can change a number of a
// reproduction, and nothing that cannot.
//
// A spec is one YAML file in a folder of its own, decoded strictly: an unknown field, a
// wrong type or a missing number is an error that names file, line and the way out. Values
// given with --set are applied before anything is hashed, so two ways of writing the same
// experiment are the same experiment.
//
// A spec that goes on where the findings end has a benchmark section, which says what is asked
// with which prompts, and an evaluation section, which names the model cards: one YAML file for
// each model under evaluation and one for the judge, read as strictly as the spec. A ModelCard
// holds what of a model can change an answer: whose it is, how pictures are prepared, what is
// sent about decoding. Where a model runs stands in an endpoint card (internal/lvlm/endpoint).
//
// Terms. A Spec is the file as written. A Plan is a spec with what its outside files say in
// place of their names: the segmentation model and the prompt pack by digest, model cards in
// full; its canonical bytes are what a reproduction id is derived from. Where data lie, which
// server runs the work and how fast are flags of the command and never enter a spec.
//
// The published figures a paper gives for an experiment are part of its spec, so that the
// summary can put both numbers side by side.
package experiments
