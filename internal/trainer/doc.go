// Package trainer runs trainers that are programs of others, and does not take their word.
//
// Terms: a [Spec] is everything that decides what a training gives; its digest is the run
// identity. A [Plan] is a spec with the steps of one segment: those after From up to To. The
// [Schedule] says which items each step consumes, shuffled here; a trainer's own shuffle is
// off. A [Recipe] is how one trainer is started. A checkpoint is complete when everything that
// a resume needs is there ([Layout]), torn when something is missing.
//
// [Supervise] starts a trainer in a process group of its own, or attaches to the one that a
// worker that died left behind, watches what it writes, hands complete checkpoints on, and ends
// it. [Prove] then compares what was recorded with the schedule and what lies in the checkpoint
// with the target; whatever is wrong is a [Refusal] with one of four codes. That a program
// ended with 0 is not among the reasons to believe it.
//
// The package holds no store and no Temporal; it never reads weights as numbers. It trains
// nothing: the determinism of a trainer is declared by its recipe and shown elsewhere.
package trainer
