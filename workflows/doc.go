// Package workflows holds order, concurrency, waiting and retry options, and nothing else.
//
// Launch reads a data set and starts its reproduction; IngestDataset turns rows of tables
// into a manifest of windows; Reproduction runs the stages over the manifest, shard by
// shard; Stage runs one activity per window of its shard, a page at a time.
//
// Truth is in the artifact store: a window is done when its records exist. Workflows carry
// digests, offsets and counts. See docs/design/0005-histories.md.
//
// Replay-frozen: no function of a domain package is called from workflow code. Of package
// contract, the id and counting functions are called; they are covered by the recorded
// histories in testdata, and a change of their results needs workflow.GetVersion.
package workflows
