// Package workflows holds order, concurrency, waiting and retry options, and nothing else.
//
// Launch reads a data set and starts its reproduction; IngestDataset turns rows of tables
// into a manifest of windows; Reproduction runs the stages over the manifest, shard by
// shard; Stage runs one activity per window of its shard, a page at a time.
//
// An experiment with an evaluation goes on from there: Reproduction builds the benchmark, or
// takes a released one; Evaluation puts it to one model in one way of sampling, task by task;
// Dialogues holds the dialogues of one task on one path, each call to a model an activity.
//
// Truth is in the artifact store: a window is done when its records exist, a call when its
// answer is recorded. Workflows carry digests, offsets and counts; cases are numbers of the
// benchmark's manifest. See docs/design/0005-histories.md and 0006-evaluations.md.
//
// Replay-frozen, since workflow code calls them: of package contract the id and counting
// functions, DialogueRange.AskInput and AskResult.CallResult; of package cxreasonbench the
// Session with everything that decides what it asks next: State.Step, Next, Reselected, Vote,
// JudgementOf, ExpertDefined, KindOf and Rules.Value. They are covered by the recorded
// histories in testdata, and a change of their results needs workflow.GetVersion.
package workflows
