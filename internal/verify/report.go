package verify

import (
	"cxrepro/artifacts"
	"cxrepro/internal/bundle"
	"cxrepro/internal/cxreasonbench"
)

// Levels.
const (
	Bytes    = 1 // digests, root, signatures
	Tables   = 2 // tables from outcome records
	Outcomes = 3 // outcomes from transcripts
	Images   = 4 // findings and questions from masks and pictures
)

// Fault is one thing that is wrong, at the level that found it.
type Fault struct {
	Level int `json:"level"`
	// Object is its name in the store or the bundle, empty where it is none.
	Object string `json:"object,omitempty"`
	// What says in words what it is, Detail what is wrong with it.
	What   string `json:"what,omitempty"`
	Detail string `json:"detail"`
}

// Signature is one signed statement that was found.
type Signature struct {
	KeyID string `json:"keyid"`
	// Signer is the name under which the key is known, empty for a stranger.
	Signer string `json:"signer,omitempty"`
	// Of is "reproduction" or "bundle".
	Of     string `json:"of"`
	Signed string `json:"signed"`
	// State is trusted, unknown or wrong.
	State string `json:"state"`
}

// States of signatures.
const (
	Trusted = "trusted"
	Unknown = "unknown"
	Wrong   = "wrong"
)

// Step is what was done at one level.
type Step struct {
	Level int `json:"level"`
	// Checked counts objects at L1, tables or evaluations at L2, dialogues at L3, images and
	// built cases at L4.
	Checked int64 `json:"checked"`
	// Done says in words what was looked at, Open what was not and why.
	Done string `json:"done"`
	Open string `json:"open,omitempty"`
	// Only are parts of the receipt that follow from nothing else, so that they reach this
	// level and no other.
	Only []string `json:"only,omitempty"`
}

// Unit is what levels are found out for: the findings, or one task of one evaluation on one
// path.
type Unit struct {
	// Findings is set for the findings; the others name a task of an evaluation.
	Findings   bool               `json:"findings,omitempty"`
	Evaluation int                `json:"evaluation"`
	Path       cxreasonbench.Path `json:"path,omitzero"`
	Task       cxreasonbench.Task `json:"task,omitzero"`
	Level      int                `json:"level"`
	// Why says why the level is not higher.
	Why string `json:"why,omitempty"`
}

// Table is a table with the lowest level of its cells.
type Table struct {
	Table int    `json:"table"`
	Level int    `json:"level"`
	Cells int    `json:"cells"`
	Why   string `json:"why,omitempty"`
}

// Cell is a cell with its level.
type Cell struct {
	Ref   string `json:"ref"`
	Level int    `json:"level"`
	Why   string `json:"why,omitempty"`
}

// Report is what verification found.
type Report struct {
	Reproduction string            `json:"reproduction_id"`
	Name         string            `json:"name"`
	Source       string            `json:"source"`
	Result       artifacts.Digest  `json:"result_digest"`
	DataUse      string            `json:"data_use"`
	Ledger       bundle.LedgerHead `json:"ledger"`
	// Withheld counts leaves without bytes, Restored those of them that the reader's own
	// store gave.
	Withheld int   `json:"withheld"`
	Restored int   `json:"restored"`
	Bytes    int64 `json:"bytes"`

	Signatures []Signature `json:"signatures"`
	Steps      []Step      `json:"levels"`
	// Level is the lowest level that any table reached.
	Level  int     `json:"level"`
	Tables []Table `json:"tables"`
	Units  []Unit  `json:"units"`
	Cells  []Cell  `json:"cells,omitempty"`
	Faults []Fault `json:"faults"`
}

// Signed reports whether a trusted signer signed.
func (r *Report) Signed() bool {
	for _, s := range r.Signatures {
		if s.State == Trusted {
			return true
		}
	}
	return false
}

// mostFaults is how many faults are listed one by one.
const mostFaults = 200

func (r *Report) fault(f Fault) {
	if len(r.Faults) < mostFaults {
		r.Faults = append(r.Faults, f)
	}
}
