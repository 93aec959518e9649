// Package differ compares the run-length implementation of the measurements with the
// dense one on cases that are made to be awkward.
//
// A case is a golden case or a phantom, brought to a small and usually not square grid and
// then changed a few times: parts erased, moved, split, swapped, grown; specks added; the
// picture collimated; boxes, view, native width and the second lung mask varied; the grid
// cut so that a rule's value falls on its limit. Case i of a seed is always the same case,
// so a difference is reported as two numbers.
//
// Two results differ when a status, a reason, a failed rule, a rule's verdict or value, a
// label, an index or a measurement differs; numbers by more than 1e-9 of their size.
package differ
