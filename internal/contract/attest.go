package contract

import "cxrepro/artifacts"

// StepAttest records a signed statement about a finished reproduction; its result is the
// envelope. SubjectLedger is the name of the ledger among the subjects of its statement.
const (
	StepAttest    = "attest"
	versionAttest = 1
	SubjectLedger = "ledger"
)

// LedgerMediaType is the media type of a stored ledger.
const LedgerMediaType = "text/vnd.cxrepro.ledger"

// AttestKey is the key of one signer's statement about the reproduction of a receipt.
func AttestKey(receipt artifacts.Digest, signer string) artifacts.KeyDoc {
	return artifacts.KeyDoc{
		Step: StepAttest, Version: versionAttest, Params: map[string]any{"signer": signer},
		Inputs: []artifacts.Material{{Name: "receipt", Digest: receipt}},
	}
}
