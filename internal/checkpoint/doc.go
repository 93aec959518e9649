// Package checkpoint keeps data sets, training sets and checkpoints as entries of the store,
// and says whether a model was judged on images that it was trained on.
//
// [Recorder] writes every such entry in one way: a key, the record, a provenance statement
// with its materials, a pin. Records name images and examples by digest, studies and patients
// by keyed digests (package overlap), and never an identifier of a data set. A checkpoint is
// found by its weights digest, which is the identity of the model in model cards and keys of
// calls.
//
// [Recorder.Check] compares the training lineage of a checkpoint, its own training set and
// those of its parents, with the images of an evaluation, and records the result. [Blocked]
// reads such records: it names the models of a reproduction whose claims do not stand.
//
// The package does not train, and decodes no pictures. What a published base model was
// trained on is not known here, and reports say so.
package checkpoint
