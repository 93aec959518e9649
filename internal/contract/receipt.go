package contract

import (
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// Receipt says what a reproduction took and what it gave. Only ResultDigest is the result;
// times, counts and workers are this effort's own.
type Receipt struct {
	Format       string `json:"format"`
	Reproduction string `json:"reproduction_id"`
	Name         string `json:"name"`
	Paper        string `json:"paper"`
	// Rules names preset, caveats and overridden rows; Determinism the class of the
	// result: bit-exact or tolerance.
	Rules       string `json:"rules"`
	Determinism string `json:"determinism"`

	Plan         artifacts.Ref    `json:"plan"`
	Manifest     artifacts.Ref    `json:"manifest"`
	ResultDigest artifacts.Digest `json:"result_digest"`
	Results      artifacts.Ref    `json:"results"`
	Summary      artifacts.Ref    `json:"summary"`
	Reports      []Report         `json:"reports"`
	// Assessed lists, by shard, where the rows of every window are.
	Assessed []artifacts.Ref `json:"assessed"`

	// Images: In = Kept + Filtered + Quarantined, and Kept = GlobalKept + GlobalRemoved.
	Images ReceiptImages `json:"images"`
	Notes  []Count       `json:"notes"`

	// Steps sums BySteps: Needed = Run + Reused.
	Steps   ReceiptSteps `json:"steps"`
	BySteps []StepCount  `json:"by_step"`
	// RedoneWindows counts windows that a reconciliation started again; Conflicts second,
	// different results, of which the first stayed.
	RedoneWindows int `json:"redone_windows"`
	Conflicts     int `json:"conflicts"`

	Bytes int64 `json:"bytes"`
	// WallSeconds is from the launch to the end, interruptions included; BusySeconds sums
	// the computing of what was run. FirstWork is when the first record of this effort was
	// begun, which may lie before the launch when an earlier one was lost.
	WallSeconds float64   `json:"wall_seconds"`
	BusySeconds float64   `json:"busy_seconds"`
	FirstWork   time.Time `json:"first_work"`
	Launched    time.Time `json:"launched"`
	Ended       time.Time `json:"ended"`
	Workers     []Count   `json:"workers"`
	DataUse     string    `json:"data_use"`

	// The rest is there where models were asked. Benchmark is the manifest, Evaluations the
	// EvaluationDocs, Tables the EvaluationSummary, Accounts the accounts of the evaluations'
	// calls, each a Packed list of CallsDoc.
	Benchmark   artifacts.Ref   `json:"benchmark,omitzero"`
	Evaluations []artifacts.Ref `json:"evaluations,omitempty"`
	Tables      artifacts.Ref   `json:"tables,omitzero"`
	Accounts    []artifacts.Ref `json:"accounts,omitempty"`
	Dialogues   *DialogueTotals `json:"dialogues,omitempty"`
	Calls       *ReceiptCalls   `json:"calls,omitempty"`
	Tokens      *dialogue.Usage `json:"tokens,omitempty"`
	Cost        []Money         `json:"cost,omitempty"`

	// Of an agent: the question set (the manifest too), its RolloutSetDocs, its tables and what
	// became of the rollouts. Accounts, calls, tokens and cost are as above.
	Questions   artifacts.Ref   `json:"questions,omitzero"`
	RolloutSets []artifacts.Ref `json:"rollout_sets,omitempty"`
	AgentTables artifacts.Ref   `json:"agent_tables,omitzero"`
	Rollouts    *RolloutTotals  `json:"rollouts,omitempty"`
	// Of a training: its TrainingDoc, and the weights that it gave by name. The account of its
	// calls is the last of Accounts.
	Training    artifacts.Ref  `json:"training,omitzero"`
	Checkpoints []NamedWeights `json:"checkpoints,omitempty"`
}

// ReceiptCalls sums what became of the calls to models, over every attempt of every worker:
// Needed = Run + Reused. Reused counts calls that another reproduction made, and every
// further turn that needs a call which was made already: equal calls are made once.
type ReceiptCalls struct {
	Needed   int `json:"needed"`
	Run      int `json:"run"`
	Reused   int `json:"reused"`
	Repeated int `json:"repeated"`
	// Attempts are requests sent, failed ones included; MaybeBilled those whose end nobody
	// saw.
	Attempts    int     `json:"attempts"`
	MaybeBilled int     `json:"maybe_billed"`
	Failures    []Count `json:"failures,omitempty"`
	// ByKind has a row for model and for judge.
	ByKind []CallCount `json:"by_kind"`
	// Unpriced counts calls without a price.
	Unpriced int `json:"unpriced,omitempty"`
}

// Money is an amount in micro-units of a currency.
type Money struct {
	Currency string `json:"currency"`
	Micro    int64  `json:"micro"`
}

// ReceiptFormat is Receipt.Format.
const ReceiptFormat = "cxrepro-receipt-1"

// ReceiptImages is the account of a data set through the global filter.
type ReceiptImages struct {
	In            int     `json:"in"`
	Kept          int     `json:"kept"`
	Filtered      []Count `json:"filtered"`
	Quarantined   []Count `json:"quarantined"`
	GlobalKept    int     `json:"global_kept"`
	GlobalRemoved int     `json:"global_removed"`
}

// ReceiptSteps sums what became of the planned keys.
type ReceiptSteps struct {
	Needed   int     `json:"needed"`
	Run      int     `json:"run"`
	Reused   int     `json:"reused"`
	Repeated int     `json:"repeated"`
	Causes   []Count `json:"causes"`
}

// Check returns a sentence for each way in which the receipt does not add up.
func (r *Receipt) Check() []string {
	var out []string
	if r.Steps.Needed != r.Steps.Run+r.Steps.Reused {
		out = append(out, "steps needed differ from run + reused")
	}
	if r.Images.In != r.Images.Kept+Total(r.Images.Filtered)+Total(r.Images.Quarantined) {
		out = append(out, "images in differ from kept + filtered + quarantined")
	}
	if r.Images.Kept != r.Images.GlobalKept+r.Images.GlobalRemoved {
		out = append(out, "images kept differ from those the global filter kept and removed")
	}
	if c := r.Calls; c != nil && c.Needed != c.Run+c.Reused {
		out = append(out, "calls needed differ from run + reused")
	}
	if d := r.Dialogues; d != nil && d.Dialogues != d.Done+d.Undetermined {
		out = append(out, "dialogues differ from done + undetermined")
	}
	if t := r.Rollouts; t != nil && t.Rollouts != t.Done+t.Undetermined {
		out = append(out, "rollouts differ from done + undetermined")
	}
	return out
}

// Incomplete reports whether something that was asked for has no result: the reproduction is
// not recorded as finished, and the same command asks what is missing.
func (r *Receipt) Incomplete() bool {
	if r.Rollouts != nil && r.Rollouts.Undetermined > 0 {
		return true
	}
	return r.Dialogues != nil && (r.Dialogues.Undetermined > 0 || r.Dialogues.Waiting > 0)
}
