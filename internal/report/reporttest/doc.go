// Package reporttest makes evaluations for tests of what reads them: a benchmark of built
// questions in a store, and the documents that an evaluation of it leaves behind, answered by
// a script. Every dialogue goes through the session that a live evaluation uses; only the
// endpoint is missing. Sources and pictures are made up and show no person.
package reporttest
