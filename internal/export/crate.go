package export

import (
	"bytes"
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
)

// Profiles that a crate conforms to.
const (
	crateVersion      = "https://w3id.org/ro/crate/1.1"
	workflowCrate     = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
	processProfile    = "https://w3id.org/ro/wfrun/process/0.5"
	workflowProfile   = "https://w3id.org/ro/wfrun/workflow/0.5"
	provenanceProfile = "https://w3id.org/ro/wfrun/provenance/0.5"
	runContext        = "https://w3id.org/ro/terms/workflow-run/context"
)

// entity is one entry of a crate's graph.
type entity map[string]any

// ref refers to an entity.
type ref struct {
	ID string `json:"@id"`
}

// refs refers to several entities; to one it refers without a list around it.
func refs(ids ...string) any {
	if len(ids) == 1 {
		return ref{ids[0]}
	}
	out := make([]ref, len(ids))
	for i, id := range ids {
		out[i] = ref{id}
	}
	return out
}

// Ids of entities that are no files.
const (
	runID    = "#run"
	agentID  = "#operator"
	engineID = "#cxrepro"
	termsID  = "#terms"
)

// completed is the status of what ended well.
const completed = "http://schema.org/CompletedActionStatus"

// planFile is the main workflow of a crate.
const planFile = "plan.json"

// Crate returns ro-crate-metadata.json: the plan as the workflow that ran, the kinds of its
// steps as tools, what ran how often, and the tables. others are files and folders (their names
// end with a slash) that stand beside plan and tables.
func Crate(e *Effort, others []File) ([]byte, error) {
	c := &crate{e: e}
	c.descriptor()
	c.root(others)
	c.workflow()
	for i, s := range e.Steps {
		c.step(i, s)
	}
	c.run()
	for _, f := range append(append([]File{}, e.Tables...), others...) {
		c.file(f)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	err := enc.Encode(map[string]any{"@context": []any{crateVersion + "/context", runContext}, "@graph": c.graph})
	return out.Bytes(), err
}

// crate collects the entities of one crate.
type crate struct {
	e     *Effort
	graph []entity
}

func (c *crate) add(id string, kind any, fields entity) {
	out := entity{"@id": id, "@type": kind}
	for name, v := range fields {
		out[name] = v
	}
	c.graph = append(c.graph, out)
}

func (c *crate) descriptor() {
	c.add("ro-crate-metadata.json", "CreativeWork", entity{"about": ref{"./"}, "conformsTo": refs(crateVersion, workflowCrate)})
}

func (c *crate) root(others []File) {
	r := c.e.Receipt
	parts := []string{planFile}
	for _, f := range append(append([]File{}, c.e.Tables...), others...) {
		parts = append(parts, f.Name)
	}
	mentions := []string{runID, engineID + "-run"}
	for _, s := range c.e.Steps {
		mentions = append(mentions, actionID(s), controlID(s))
	}
	c.add("./", "Dataset", entity{
		"name": "Reproduction " + r.Reproduction + " of " + r.Name, "datePublished": stamp(r.Ended), "license": ref{termsID}, "author": ref{agentID}, "publisher": ref{agentID},
		"description": fmt.Sprintf("What cxrepro ran to reproduce %s, on which data, and the tables that came of it. Result digest %s.", r.Paper, r.ResultDigest),
		"conformsTo":  refs(processProfile, workflowProfile, provenanceProfile, workflowCrate),
		"hasPart":     refs(parts...), "mainEntity": ref{planFile}, "mentions": refs(mentions...), "identifier": site + ":reproduction:" + r.Reproduction,
	})
	for _, p := range []struct{ id, name, version string }{
		{processProfile, "Process Run Crate", "0.5"}, {workflowProfile, "Workflow Run Crate", "0.5"},
		{provenanceProfile, "Provenance Run Crate", "0.5"}, {workflowCrate, "Workflow RO-Crate", "1.0"},
	} {
		c.add(p.id, "CreativeWork", entity{"name": p.name, "version": p.version})
	}
	c.add(termsID, "CreativeWork", entity{
		"name":        "Terms of data of class " + r.DataUse,
		"description": "The data keep their own terms. What may not leave the place of the data is not part of this crate and named by digest alone.",
	})
	c.add(agentID, "Organization", entity{"name": "Whoever ran cxrepro", "description": "The signature of a bundle says whose state folder it was."})
}

func (c *crate) workflow() {
	var tools, steps []string
	for _, s := range c.e.Steps {
		tools, steps = append(tools, toolID(s)), append(steps, stepID(s))
	}
	outputs := make([]string, len(c.e.Tables))
	for i, f := range c.e.Tables {
		outputs[i] = outputID(f)
		c.add(outputs[i], "FormalParameter", entity{"name": f.Name, "additionalType": "File", "encodingFormat": f.MediaType, "workExample": ref{f.Name}})
	}
	c.add("#input-data", "FormalParameter", entity{"name": "dataset", "additionalType": "Text", "description": "the manifest of the data set that the plan names, by digest"})
	c.add(planFile, []string{"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"}, entity{
		"name": c.e.Receipt.Name, "programmingLanguage": ref{"#plan-language"}, "hasPart": refs(tools...), "step": refs(steps...),
		"version": c.e.Receipt.Plan.Digest.Short(), "input": refs("#input-data"), "output": refs(outputs...), "encodingFormat": "application/json",
		"contentSize": fmt.Sprint(len(c.e.PlanText)), "sha256": artifacts.Sum(c.e.PlanText).Hex(),
		"description": "The plan: a spec with everything that it names by digest. Its digest and that of the data make the id of the reproduction.",
	})
	c.add("#plan-language", "ComputerLanguage", entity{"name": "cxrepro plan", "identifier": ref{site + ":plan:1"}, "version": "1"})
	c.add(engineID, "SoftwareApplication", entity{"name": "cxrepro", "softwareVersion": c.e.version(), "description": "durable reproduction of chest X-ray papers"})
}

func toolID(s Step) string    { return "#tool-" + s.Name }
func stepID(s Step) string    { return "#step-" + s.Name }
func actionID(s Step) string  { return "#action-" + s.Name }
func controlID(s Step) string { return "#control-" + s.Name }
func resultsID(s Step) string { return "#results-" + s.Name }
func outputID(f File) string  { return "#output-" + f.Name }

// step adds one kind of steps: what it is, and what ran of it.
func (c *crate) step(i int, s Step) {
	c.add(toolID(s), "SoftwareApplication", entity{"name": s.Name, "description": title(s.Name), "softwareVersion": c.e.version()})
	c.add(stepID(s), "HowToStep", entity{"position": fmt.Sprint(i), "name": s.Name, "workExample": ref{toolID(s)}})
	action := entity{
		"name": title(s.Name), "instrument": ref{toolID(s)}, "object": refs("#data"), "result": ref{resultsID(s)}, "agent": ref{agentID},
		"description":  fmt.Sprintf("%d records of step %s; each stands with its statement under store/index/%s in a bundle.", s.Records, s.Name, s.Name),
		"actionStatus": completed,
	}
	if !s.Started.IsZero() {
		action["startTime"], action["endTime"] = stamp(s.Started), stamp(s.Ended)
	}
	c.add(actionID(s), "CreateAction", action)
	c.add(controlID(s), "ControlAction", entity{"name": "orchestrate " + s.Name, "instrument": ref{stepID(s)}, "object": ref{actionID(s)}})
	c.add(resultsID(s), "PropertyValue", entity{"name": "results of " + s.Name, "value": fmt.Sprintf("%d results, %d bytes", s.Records, s.Bytes)})
}

// run adds the run of the plan and that of the engine.
func (c *crate) run() {
	r := c.e.Receipt
	results := make([]string, len(c.e.Tables))
	for i, f := range c.e.Tables {
		results[i] = f.Name
	}
	c.add("#data", "PropertyValue", entity{
		"name": "data set " + c.e.Plan.Spec.Dataset.Name, "value": r.Manifest.Digest.String(), "exampleOfWork": ref{"#input-data"},
		"description": fmt.Sprintf("The manifest %s of data of class %s; the data are named by digest and lie elsewhere.", r.Manifest.Digest, r.DataUse),
	})
	c.add(runID, "CreateAction", entity{
		"name": "Reproduction " + r.Reproduction, "instrument": ref{planFile}, "object": refs("#data"), "result": refs(results...), "agent": ref{agentID},
		"startTime": stamp(r.FirstWork), "endTime": stamp(r.Ended), "actionStatus": completed,
		"description": fmt.Sprintf("Result digest %s; ledger root %s; receipt %s. %s.", r.ResultDigest, c.e.Root, c.e.ReceiptRef.Digest, r.Rules),
	})
	var controls []string
	for _, s := range c.e.Steps {
		controls = append(controls, controlID(s))
	}
	c.add(engineID+"-run", "OrganizeAction", entity{
		"name": "Run of cxrepro", "instrument": ref{engineID}, "object": refs(controls...), "result": ref{runID}, "agent": ref{agentID},
		"startTime": stamp(r.FirstWork), "endTime": stamp(r.Ended),
	})
}

// file adds a file or a folder.
func (c *crate) file(f File) {
	kind, fields := "File", entity{"name": f.Title}
	if f.Name[len(f.Name)-1] == '/' {
		kind = "Dataset"
	}
	if f.MediaType != "" {
		fields["encodingFormat"] = f.MediaType
	}
	if f.Data != nil {
		fields["contentSize"], fields["sha256"] = fmt.Sprint(len(f.Data)), artifacts.Sum(f.Data).Hex()
	}
	for _, t := range c.e.Tables {
		if t.Name == f.Name {
			fields["exampleOfWork"] = ref{outputID(f)}
		}
	}
	c.add(f.Name, kind, fields)
}
