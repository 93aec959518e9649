package contract

import (
	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
)

// DialoguesDoc is a page of finished dialogues: what was asked and answered, and how it was
// scored. It is a function of the recorded answers: it names no time, attempt or worker. Cases
// are numbers of the benchmark manifest, in it and in its states.
type DialoguesDoc struct {
	Format string `json:"format"`
	// Evaluation is EvaluationRef.Name.
	Evaluation string             `json:"evaluation"`
	Task       cxreasonbench.Task `json:"task"`
	// Path is Path1 or Path2; the latter holds the re-evaluations too.
	Path      cxreasonbench.Path `json:"path"`
	Dialogues []DialogueDoc      `json:"dialogues"`
}

// DialoguesFormat is DialoguesDoc.Format.
const DialoguesFormat = "cxrepro-dialogues-1"

// DialogueDoc is one dialogue.
type DialogueDoc struct {
	// Case is the number of the dialogue's case, Review that of the re-evaluation; -1 for
	// none.
	Case   int `json:"case"`
	Review int `json:"review"`
	// State holds every turn that has an outcome. In Path 2 the first State.Replayed turns
	// are those of Path 1.
	State cxreasonbench.State `json:"state"`
	// End is zero for an undetermined dialogue, which is in no denominator.
	End          cxreasonbench.End           `json:"end,omitzero"`
	Undetermined *cxreasonbench.Undetermined `json:"undetermined,omitempty"`
	// Turns are the dialogue's own turns: Turns[i] belongs to State.Turns[State.Replayed+i].
	Turns []TurnDoc `json:"turns"`
	// Values are the final questions of measurement tasks that were asked, in order.
	Values []ValueDoc `json:"values,omitempty"`
}

// TurnDoc is what is known about a turn beside its scores.
type TurnDoc struct {
	Key   cxreasonbench.Key `json:"key"`
	Draws []DrawDoc         `json:"draws"`
}

// DrawDoc is one reply to one question.
type DrawDoc struct {
	// Parsed is the reading without a judge, whoever scored; zero for a terminal outcome of
	// the call. Unread says that it found no answer.
	Parsed cxreasonbench.Score    `json:"parsed,omitzero"`
	Unread cxreasonbench.Terminal `json:"unread,omitzero"`
	// Verdict is the judge's answer that counted, zero without one; Again says that it was
	// not the first.
	Verdict artifacts.Ref `json:"verdict,omitzero"`
	Again   int           `json:"again,omitempty"`
}

// ValueDoc is the value that the kept reply to a final question tells.
type ValueDoc struct {
	Key cxreasonbench.Key `json:"key"`
	// Consistent: it lies in the range that was right before.
	Consistent bool `json:"consistent"`
	// Form is cxreasonbench.ValueForm in words.
	Form string `json:"form"`
	// Extracted is what the judge made of it; Extraction the judge's answer, zero without.
	Extracted  string                 `json:"extracted,omitempty"`
	Extraction artifacts.Ref          `json:"extraction,omitzero"`
	Terminal   cxreasonbench.Terminal `json:"terminal,omitzero"`
}

// CallsDoc accounts for the calls of a page, one entry for each key: what a page shares with
// another is in both, and sums over pages count a key once.
type CallsDoc struct {
	Format string             `json:"format"`
	Task   cxreasonbench.Task `json:"task,omitzero"`
	Path   cxreasonbench.Path `json:"path,omitzero"`
	// Set is RolloutSet.Name of a page of rollouts, which has neither task nor path.
	Set   string       `json:"set,omitempty"`
	Calls []CallRecord `json:"calls"`
	// Open are calls without a record that were attempted: what they took so far. They are
	// no calls that were needed, run or reused.
	Open []CallRecord `json:"open,omitempty"`
}

// CallsFormat is CallsDoc.Format.
const CallsFormat = "cxrepro-calls-1"

// CallRecord is one call by its key.
type CallRecord struct {
	// Key is the digest of the call's key.
	Key artifacts.Digest `json:"key"`
	// Times is how many turns of the page need the call.
	Times int `json:"times"`
	// Count holds the account of its record: kind, attempts, usage, cost. Its Needed is 1,
	// its Run 1 where this reproduction made the record.
	Count CallCount `json:"count"`
}

// PopulationDoc is who enters Path 2 of one task, and on which case each is re-evaluated. It is
// made once every case of the task has its Path 1 result.
type PopulationDoc struct {
	Format     string             `json:"format"`
	Evaluation string             `json:"evaluation"`
	Task       cxreasonbench.Task `json:"task"`
	// Entries are in the order of Path 2: "I don't know" first, then rejected criteria, each
	// by case number.
	Entries []PopulationEntry `json:"entries"`
	// FinalRight are the cases whose last question of Path 1 was right.
	FinalRight []int `json:"final_right"`
}

// PopulationFormat is PopulationDoc.Format.
const PopulationFormat = "cxrepro-population-1"

// PopulationEntry is one case of Path 2.
type PopulationEntry struct {
	Case  int                 `json:"case"`
	Entry cxreasonbench.Entry `json:"entry"`
	// Review is the re-selected case, -1 when there was none among Candidates.
	Review     int `json:"review"`
	Candidates int `json:"candidates"`
	// Path1 is the finished Path 1.
	Path1 cxreasonbench.State `json:"path1"`
}

// EvaluationDoc is where everything about one evaluation is, but its account. Like the pages it
// names no time, attempt or worker, so that its digest is part of the result.
type EvaluationDoc struct {
	Format     string           `json:"format"`
	Benchmark  artifacts.Ref    `json:"benchmark"`
	Index      int              `json:"index"`
	Evaluation EvaluationRef    `json:"evaluation"`
	Tasks      []EvaluationTask `json:"tasks"`
}

// EvaluationFormat is EvaluationDoc.Format.
const EvaluationFormat = "cxrepro-evaluation-1"

// EvaluationTask is one task of an evaluation. Path1 and Path2 are Packed lists of
// DialoguesDoc.
type EvaluationTask struct {
	Task  cxreasonbench.Task `json:"task"`
	Cases int                `json:"cases"`
	Path1 artifacts.Ref      `json:"path1"`
	// Population and Path2 are zero where Path 2 is not asked for or waits.
	Population artifacts.Ref `json:"population,omitzero"`
	Path2      artifacts.Ref `json:"path2,omitzero"`
	// Waits counts the cases without a Path 1 result that hold up Path 2.
	Waits int `json:"waits,omitempty"`
}
