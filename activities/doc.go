// Package activities does the work of a reproduction: each activity loads by reference,
// calls one domain or adapter function per item, stores, and returns a reference and a
// small summary.
//
// Every activity may be killed anywhere and started again anywhere. It looks for the
// record of an item before it computes it, holds a claim while it computes, and commits
// with put-if-absent, so that an attempt that the server has given up harms nothing.
//
// Errors are translated into types of package contract in one place, errors.go. What
// enters a history or a log names digests, counts and case numbers, never a path or an
// identifier of the data set.
package activities
