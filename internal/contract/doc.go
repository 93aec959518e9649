// Package contract holds what workflows, activities, workers and commands agree on: names,
// inputs and results of every workflow and activity, error types, queue names, step names
// with their versions, and the receipt.
//
// It imports neither Temporal nor a store. Names that leave the process are constants
// written out here; renaming a Go identifier changes nothing outside.
//
// Everything here that crosses a history stays small: digests, counts and our own words.
// Lists live in artifacts, and no identifier of a licensed data set appears.
package contract
