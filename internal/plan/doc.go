// Package plan says, before anything runs, which steps and calls an experiment will run, which
// it finds done, and why; and afterwards whether it was so.
//
// Terms. A [Forecast] has a row for each step and for each model card in one way of sampling.
// Needed = run + reused + done: run is what this effort will compute, reused what another one
// recorded, done what this very reproduction recorded before it was interrupted. A [Figure] is
// exact, between two numbers, or unknown; unknown is never 0. The base is the finished
// reproduction that a forecast is compared with.
//
// Keys are derived by package derive, as the activities derive them. Whether a key has a record
// is asked of the catalog. Results that are recorded are read and lead on; findings that differ
// from recorded ones in limits only are judged anew; dialogues go on to their first missing
// answer, and what follows is bounded by the state machine.
//
// The package writes nothing and starts nothing.
package plan
