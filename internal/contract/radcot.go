package contract

import "cxrepro/artifacts"

// Media types of a data construction.
const (
	CandidatesMediaType   = "application/vnd.cxrepro.radcot-candidates+json"
	ExclusionsMediaType   = "application/vnd.cxrepro.radcot-exclusions+json"
	RadCoTLedgerMediaType = "application/vnd.cxrepro.radcot-ledger+json"
	DatasheetMediaType    = "application/vnd.cxrepro.radcot-datasheet+json"
	RadCoTMediaType       = "application/vnd.cxrepro.radcot+json"

	RadCoTRecordsMediaType = "application/vnd.cxrepro.radcot-records+json"
)

// ImportCandidatesInput takes a drawn candidate set into the store.
type ImportCandidatesInput struct {
	Plan artifacts.Ref `json:"plan"`
}

// CandidatesResult names a candidate set in the store and the reproduction that it makes with the
// plan.
type CandidatesResult struct {
	Candidates artifacts.Ref `json:"candidates"`
	Exclusions artifacts.Ref `json:"exclusions"`
	// Questions is a question set of the same pictures, for measuring.
	Questions    artifacts.Ref `json:"questions"`
	Reproduction string        `json:"reproduction"`
	Count        int           `json:"count"`
	Windows      int           `json:"windows"`
	// Card is the teacher's, whose queue is asked.
	Card string `json:"card"`
}

// CandidateRange says which data construction an activity is about.
type CandidateRange struct {
	Plan artifacts.Ref `json:"plan"`
	CandidatesResult
}

// CandidateInput is one candidate by its place in the set.
type CandidateInput struct {
	Range     CandidateRange `json:"range"`
	Candidate int            `json:"candidate"`
	// Budget is AskInput.Budget.
	Budget int64 `json:"budget,omitempty"`
}

// CandidateResult is what came of a candidate; the rest is in the records.
type CandidateResult struct {
	Accepted bool `json:"accepted"`
	// Rejected is phase and code of the last attempt.
	Rejected string `json:"rejected,omitempty"`
	// Asked counts the calls to models that it needed.
	Asked int `json:"asked"`
}

// FindCandidatesInput asks which candidates of [Begin, End) the records do not finish.
type FindCandidatesInput struct {
	Range CandidateRange `json:"range"`
	Begin int            `json:"begin"`
	End   int            `json:"end"`
}

// FindCandidatesResult lists them, in order.
type FindCandidatesResult struct {
	Missing []int `json:"missing,omitempty"`
}

// RadCoTInput builds training examples out of a candidate set. Range is empty at the first run:
// the set is imported then. The fields after Gate carry progress across continue-as-new.
type RadCoTInput struct {
	Common Common         `json:"common"`
	Range  CandidateRange `json:"range,omitzero"`
	// Parent is the workflow that is told of trouble; empty for none.
	Parent string `json:"parent,omitempty"`
	Gate   Gate   `json:"gate,omitzero"`

	Measured bool `json:"measured,omitempty"`
	Next     int  `json:"next,omitempty"`
	Done     int  `json:"done,omitempty"`
	Calls    int  `json:"calls,omitempty"`
	// Failed are candidates whose call failed for good, the first of FailedCount.
	Failed      []RolloutFailure `json:"failed,omitempty"`
	FailedCount int              `json:"failed_count,omitempty"`
}

// CloseRadCoTInput asks for the documents of a construction, from the records alone.
type CloseRadCoTInput struct {
	Range CandidateRange `json:"range"`
}

// RadCoTResult ends a construction. Doc is its RadCoTDoc, Account the CallsDoc of every call.
type RadCoTResult struct {
	Doc     artifacts.Ref `json:"doc"`
	Account artifacts.Ref `json:"account"`
	// Records is the RadCoTRecords.
	Records      artifacts.Ref `json:"records,omitzero"`
	Reproduction string        `json:"reproduction"`
	Candidates   int           `json:"candidates"`
	Undetermined int           `json:"undetermined,omitempty"`
	SFT          int           `json:"sft"`
	GRPO         int           `json:"grpo"`
	Calls        []Count       `json:"calls,omitempty"`
}

// RadCoTDoc is where everything about a construction is, but its account. It is a function of what
// was asked and answered: it names no time, attempt or worker.
type RadCoTDoc struct {
	Format     string        `json:"format"`
	Candidates artifacts.Ref `json:"candidates"`
	Exclusions artifacts.Ref `json:"exclusions"`
	Ledger     artifacts.Ref `json:"ledger"`
	Datasheet  artifacts.Ref `json:"datasheet"`
	// Files are what trainers and people read, by name.
	Files []Report `json:"files"`
	// Pictures are those that the files name beside the candidates' own: crops and outlines.
	Pictures []artifacts.Ref `json:"pictures,omitempty"`
}

// RadCoTRecords says, candidate by candidate, which answers, results of tools and measurements it
// rests on. It keeps them from garbage collection.
type RadCoTRecords struct {
	Format     string             `json:"format"`
	Candidates []CandidateRecords `json:"candidates"`
}

// CandidateRecords are those of one candidate.
type CandidateRecords struct {
	ID      string          `json:"id"`
	Records []artifacts.Ref `json:"records,omitempty"`
}

// RadCoTRecordsFormat is RadCoTRecords.Format.
const RadCoTRecordsFormat = "cxrepro-radcot-records-1"

// RadCoTPinPrefix starts the name of the pin that keeps a construction: an open pin while it is
// under way, and then its examples with everything that they rest on.
const RadCoTPinPrefix = "radcot-"

// RadCoTFormat is RadCoTDoc.Format.
const RadCoTFormat = "cxrepro-radcot-1"

// Workflow and activities of a data construction.
var (
	RadCoT = Workflow[RadCoTInput, RadCoTResult]{Name: "RadCoT"}

	ImportCandidates = Activity[ImportCandidatesInput, CandidatesResult]{Name: "ImportCandidates"}
	FindCandidates   = Activity[FindCandidatesInput, FindCandidatesResult]{Name: "FindCandidates"}
	BuildCandidate   = Activity[CandidateInput, CandidateResult]{Name: "BuildCandidate"}
	CloseRadCoT      = Activity[CloseRadCoTInput, RadCoTResult]{Name: "CloseRadCoT"}
)

// StageRadCoT is the stage of a data construction.
const StageRadCoT = "radcot"

// RadCoTWorkflowID is the id of the construction of a reproduction.
func RadCoTWorkflowID(reproduction string) string { return idRoot + reproduction + "/radcot" }
