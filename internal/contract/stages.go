package contract

import (
	"time"

	"cxrepro/artifacts"
)

// ReproductionInput runs a plan over a manifest.
type ReproductionInput struct {
	Common       Common       `json:"common"`
	Reproduction string       `json:"reproduction"`
	Ingest       IngestResult `json:"ingest"`
	// Launched is when this effort's launch began.
	Launched time.Time `json:"launched"`
	// Benchmark is a benchmark that was there before the reproduction.
	Benchmark *BenchmarkResult `json:"benchmark,omitempty"`
	// Questions is the question set of an agent's reproduction.
	Questions *QuestionsResult `json:"questions,omitempty"`
}

// ReproductionResult ends a reproduction.
type ReproductionResult struct {
	Receipt      artifacts.Ref    `json:"receipt"`
	ResultDigest artifacts.Digest `json:"result_digest"`
}

// Gate says whether new work may start.
type Gate struct {
	Paused bool   `json:"paused"`
	Reason string `json:"reason,omitempty"`
	// By is "user" or an error type.
	By string `json:"by,omitempty"`
	// Seq counts the states that the reproduction has set. Signals may overtake each
	// other; an older state never replaces a newer one.
	Seq int `json:"seq,omitempty"`
	// Budget is CallTuning.Budget as it is now.
	Budget int64 `json:"budget,omitempty"`
}

// StageInput works on windows [Next, End) of a manifest. The fields after End carry
// progress across continue-as-new.
type StageInput struct {
	Common       Common          `json:"common"`
	Reproduction string          `json:"reproduction"`
	Ingest       string          `json:"ingest"`
	Manifest     artifacts.Ref   `json:"manifest"`
	Stage        string          `json:"stage"`
	Shard        int             `json:"shard"`
	Begin        int             `json:"begin"`
	End          int             `json:"end"`
	Parent       string          `json:"parent"`
	Gate         Gate            `json:"gate"`
	Next         int             `json:"next"`
	Done         int             `json:"done"`
	Packed       artifacts.Ref   `json:"packed"`
	Totals       ChunkTotals     `json:"totals"`
	Failed       []WindowFailure `json:"failed,omitempty"`
	FailedCount  int             `json:"failed_count"`
	Redone       int             `json:"redone"`
}

// WindowFailure is one window that could not be done.
type WindowFailure struct {
	Window  int    `json:"window"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// StageResult ends a shard of a stage.
type StageResult struct {
	// Outputs lists the chunk outputs by window.
	Outputs artifacts.Ref `json:"outputs"`
	Totals  ChunkTotals   `json:"totals"`
	// Failed shows the first failures, FailedCount says how many there are.
	Failed      []WindowFailure `json:"failed,omitempty"`
	FailedCount int             `json:"failed_count"`
	// Redone counts windows that reconciliation started again.
	Redone int `json:"redone"`
}

// WindowInput is one window of a manifest for one stage.
type WindowInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Manifest     artifacts.Ref `json:"manifest"`
	Window       int           `json:"window"`
	Reproduction string        `json:"reproduction"`
	Ingest       string        `json:"ingest"`
}

// ReconcileInput compares the expected keys of windows [Begin, End) with the index.
type ReconcileInput struct {
	Plan     artifacts.Ref `json:"plan"`
	Manifest artifacts.Ref `json:"manifest"`
	Stage    string        `json:"stage"`
	Begin    int           `json:"begin"`
	End      int           `json:"end"`
	Skip     []int         `json:"skip,omitempty"`
}

// ReconcileResult lists windows with at least one missing record, in order.
type ReconcileResult struct {
	Missing []int `json:"missing,omitempty"`
	Keys    int   `json:"keys"`
	Absent  int   `json:"absent"`
}

// SummariseInput turns assessed windows into tables.
type SummariseInput struct {
	Plan         artifacts.Ref   `json:"plan"`
	Manifest     artifacts.Ref   `json:"manifest"`
	Outputs      []artifacts.Ref `json:"outputs"`
	Reproduction string          `json:"reproduction"`
	Ingest       string          `json:"ingest"`
}

// SummariseResult names tables and the digest of everything that counts as the result.
type SummariseResult struct {
	Summary      artifacts.Ref    `json:"summary"`
	Results      artifacts.Ref    `json:"results"`
	ResultDigest artifacts.Digest `json:"result_digest"`
	Totals       ChunkTotals      `json:"totals"`
	Kept         int              `json:"kept"`
	Removed      int              `json:"removed"`
	Reports      []Report         `json:"reports,omitempty"`
}

// Report is a file for people or other programs, made from the results.
type Report struct {
	Name string        `json:"name"`
	Ref  artifacts.Ref `json:"ref"`
}

// ReceiptInput carries everything a receipt says.
type ReceiptInput struct {
	Common       Common          `json:"common"`
	Reproduction string          `json:"reproduction"`
	Ingest       IngestResult    `json:"ingest"`
	Summary      SummariseResult `json:"summary"`
	Outputs      []artifacts.Ref `json:"outputs"`
	Totals       ChunkTotals     `json:"totals"`
	Redone       int             `json:"redone"`
	Launched     time.Time       `json:"launched"`
	Ended        time.Time       `json:"ended"`
	// Benchmark is the manifest of what was asked or is only built; zero without a benchmark.
	Benchmark artifacts.Ref `json:"benchmark,omitzero"`
	// Evaluation is what was asked, nil where no model was.
	Evaluation *ReceiptEvaluation `json:"evaluation,omitempty"`
	// Rollouts are what an agent did.
	Rollouts *ReceiptRollouts `json:"rollouts,omitempty"`
}

// ReceiptEvaluation carries what a receipt says about calls to models.
type ReceiptEvaluation struct {
	Benchmark artifacts.Ref  `json:"benchmark"`
	Tables    TabulateResult `json:"tables"`
	// Evaluations are EvaluationDocs, Calls Packed lists of CallsDoc.
	Evaluations []artifacts.Ref `json:"evaluations"`
	Calls       []artifacts.Ref `json:"calls"`
	Totals      DialogueTotals  `json:"totals"`
}

// ReceiptResult names the stored receipt and repeats its result digest.
type ReceiptResult struct {
	Receipt      artifacts.Ref    `json:"receipt"`
	ResultDigest artifacts.Digest `json:"result_digest,omitzero"`
}
