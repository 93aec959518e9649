// Package trainertest is a trainer for tests: the test binary, started again. It learns nothing,
// keeps every promise of the layouts of verl, TRL, ms-swift and the small trainer, breaks those
// that it is told to break, and serves its checkpoints as a policy.
//
// Its weights are a digest of everything that it consumed, in order: equal weights mean equal
// training.
package trainertest
