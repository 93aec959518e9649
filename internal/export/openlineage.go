package export

import (
	"encoding/json"
	"io"
	"time"

	"cxrepro/artifacts"
)

// The schemas that events and facets follow.
const (
	eventSchema     = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
	runFacetSchema  = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunFacet"
	parentSchema    = "https://openlineage.io/spec/facets/1-1-0/ParentRunFacet.json#/$defs/ParentRunFacet"
	engineSchema    = "https://openlineage.io/spec/facets/1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet"
	jobTypeSchema   = "https://openlineage.io/spec/facets/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet"
	jobDocSchema    = "https://openlineage.io/spec/facets/1-1-0/DocumentationJobFacet.json#/$defs/DocumentationJobFacet"
	versionSchema   = "https://openlineage.io/spec/facets/1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet"
	lineageProducer = "urn:cxrepro"
	jobNamespace    = "cxrepro"
	// dataNamespace is that of artifacts: their names are digests, so that no two of them can
	// be taken for one another.
	dataNamespace = "urn:cxrepro:artifact"
)

// facet is a facet with the fields that every facet has.
type facet map[string]any

func newFacet(schema string, fields facet) facet {
	out := facet{"_producer": lineageProducer, "_schemaURL": schema}
	for k, v := range fields {
		out[k] = v
	}
	return out
}

type lineageRun struct {
	ID     string           `json:"runId"`
	Facets map[string]facet `json:"facets,omitempty"`
}

type lineageJob struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Facets    map[string]facet `json:"facets,omitempty"`
}

type lineageData struct {
	Namespace string           `json:"namespace"`
	Name      string           `json:"name"`
	Facets    map[string]facet `json:"facets,omitempty"`
}

type lineageEvent struct {
	Type     string        `json:"eventType"`
	Time     string        `json:"eventTime"`
	Run      lineageRun    `json:"run"`
	Job      lineageJob    `json:"job"`
	Inputs   []lineageData `json:"inputs"`
	Outputs  []lineageData `json:"outputs"`
	Producer string        `json:"producer"`
	Schema   string        `json:"schemaURL"`
}

// OpenLineage writes the reproduction as run events, one JSON object a line: START and COMPLETE
// of the whole, and of every kind of steps as its part. Data sets are named by digest.
func OpenLineage(w io.Writer, e *Effort) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	r := e.Receipt
	whole := lineageRun{ID: runUUID(r.Reproduction, ""), Facets: map[string]facet{
		"processing_engine": newFacet(engineSchema, facet{"name": "cxrepro", "version": e.version()}),
		"cxrepro_receipt": newFacet(runFacetSchema, facet{
			"reproduction_id": r.Reproduction, "receipt": e.ReceiptRef.Digest.String(), "result_digest": r.ResultDigest.String(), "ledger_root": e.Root.String(),
		}),
	}}
	job := lineageJob{jobNamespace, r.Name, map[string]facet{
		"jobType":       newFacet(jobTypeSchema, facet{"processingType": "BATCH", "integration": "CXREPRO", "jobType": "REPRODUCTION"}),
		"documentation": newFacet(jobDocSchema, facet{"description": "Reproduction of " + r.Paper}),
	}}
	inputs := []lineageData{named(r.Plan.Digest), named(r.Manifest.Digest)}
	outputs := []lineageData{named(r.ResultDigest)}
	for _, d := range []artifacts.Digest{r.Summary.Digest, r.Tables.Digest} {
		if !d.IsZero() {
			outputs = append(outputs, named(d))
		}
	}
	events := pair(whole, job, inputs, outputs, r.FirstWork, r.Ended)
	for _, s := range e.Steps {
		events = append(events, e.part(s, whole)...)
	}
	for _, ev := range events {
		if err := enc.Encode(ev); err != nil {
			return err
		}
	}
	return nil
}

// part are the events of one kind of steps.
func (e *Effort) part(s Step, whole lineageRun) []lineageEvent {
	r := e.Receipt
	run := lineageRun{ID: runUUID(r.Reproduction, s.Name), Facets: map[string]facet{
		"parent": newFacet(parentSchema, facet{
			"run": map[string]string{"runId": whole.ID}, "job": map[string]string{"namespace": jobNamespace, "name": r.Name},
		}),
		"cxrepro_step": newFacet(runFacetSchema, facet{"step": s.Name, "records": s.Records, "result_bytes": s.Bytes}),
	}}
	job := lineageJob{jobNamespace, r.Name + "/" + s.Name, map[string]facet{
		"jobType":       newFacet(jobTypeSchema, facet{"processingType": "BATCH", "integration": "CXREPRO", "jobType": "STEP"}),
		"documentation": newFacet(jobDocSchema, facet{"description": title(s.Name)}),
	}}
	started, ended := s.Started, s.Ended
	if started.IsZero() {
		started, ended = r.FirstWork, r.Ended
	}
	return pair(run, job, []lineageData{named(r.Plan.Digest)}, []lineageData{named(r.ResultDigest)}, started, ended)
}

func pair(run lineageRun, job lineageJob, in, out []lineageData, started, ended time.Time) []lineageEvent {
	first := lineageEvent{Type: "START", Time: stamp(started), Run: run, Job: job, Inputs: in, Outputs: []lineageData{}, Producer: lineageProducer, Schema: eventSchema}
	last := first
	last.Type, last.Time, last.Outputs = "COMPLETE", stamp(ended), out
	return []lineageEvent{first, last}
}

// named is an artifact as a data set.
func named(d artifacts.Digest) lineageData {
	return lineageData{dataNamespace, d.String(), map[string]facet{"version": newFacet(versionSchema, facet{"datasetVersion": d.String()})}}
}

// runUUID is a UUID of version 8 (RFC 9562) that follows from what it names.
func runUUID(reproduction, part string) string {
	d := artifacts.Sum([]byte("openlineage run\x00" + reproduction + "\x00" + part))
	d[6] = d[6]&0x0f | 0x80
	d[8] = d[8]&0x3f | 0x80
	h := d.Hex()
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:32]
}
