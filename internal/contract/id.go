package contract

import (
	"fmt"
	"strings"

	"cxrepro/artifacts"
)

// idDigits is how much of a digest an id shows: 64 bits, readable in a console.
const idDigits = 16

// SpecID is the short name of a plan, from its digest.
func SpecID(plan artifacts.Digest) string { return plan.Hex()[:idDigits] }

// IngestID names one reading of one row list under one plan. Statements of ingest carry it,
// since a reproduction has no id before its manifest is known.
func IngestID(plan, rows artifacts.Digest) string { return "i-" + mix("ingest", plan, rows) }

// ReproductionID names the effort of running a plan over a data set manifest.
func ReproductionID(plan, manifest artifacts.Digest) string {
	return mix("reproduction", plan, manifest)
}

// mix digests a purpose and two digests; all parts have fixed length but the first, which
// ends at a byte no purpose contains.
func mix(purpose string, a, b artifacts.Digest) string {
	buf := append([]byte(purpose), 0)
	buf = append(buf, a[:]...)
	buf = append(buf, b[:]...)
	return artifacts.Sum(buf).Hex()[:idDigits]
}

// Workflow ids.
const idRoot = "cxrepro/"

// LaunchWorkflowID is the id of the workflow that ingests and starts a plan.
func LaunchWorkflowID(specID string) string { return idRoot + "launch/" + specID }

// IngestWorkflowID is the id of a launch's ingest.
func IngestWorkflowID(specID string) string { return LaunchWorkflowID(specID) + "/ingest" }

// ReproductionWorkflowID is the id of a reproduction's workflow.
func ReproductionWorkflowID(reproduction string) string { return idRoot + reproduction }

// StageWorkflowID is the id of one shard of one stage.
func StageWorkflowID(reproduction, stage string, shard int) string {
	return fmt.Sprintf("%s%s/%s/%d", idRoot, reproduction, stage, shard)
}

// ReproductionOf returns the reproduction id that a workflow id belongs to, or "".
func ReproductionOf(workflowID string) string {
	rest, ok := strings.CutPrefix(workflowID, idRoot)
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	if id == "launch" {
		return ""
	}
	return id
}
