package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/provenance"
)

// effort is a reproduction with findings and one evaluation.
func effort() *Effort {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := func(s string) artifacts.Ref {
		return artifacts.Ref{Digest: artifacts.Sum([]byte(s)), Size: 1, MediaType: "application/json"}
	}
	plan := &experiments.Plan{}
	plan.Spec.Dataset.Name = "phantom"
	v := 36.39
	return &Effort{
		Receipt: &contract.Receipt{
			Reproduction: "0123456789abcdef", Name: "demo", Paper: "a paper", Rules: "corrected", DataUse: "synthetic", Plan: d("plan"), Manifest: d("data"),
			ResultDigest: d("result").Digest, Summary: d("summary"), Tables: d("tables"), FirstWork: at, Launched: at, Ended: at.Add(time.Hour),
		},
		ReceiptRef: d("receipt"), Plan: plan, PlanText: []byte(`{"a":1}`), Root: d("root").Digest, Code: provenance.Code{Commit: "abc"},
		Findings: &contract.Summary{Tasks: []contract.SummaryTask{{Task: "rotation", Total: 3, Labels: []contract.LabelCount{{Label: "rotated", N: 1}}}}},
		Evaluation: &contract.EvaluationSummary{Evaluations: []contract.SummaryEvaluation{{
			Name: "m/greedy", Model: contract.SummaryModel{Title: "M"}, Sampling: "greedy", Draws: 1,
			Paths: []contract.SummaryPath{{Path: cxreasonbench.Path1, Groups: []contract.SummaryRow{{Name: "overall", Cells: []contract.SummaryCell{
				{Column: "completion", Plain: contract.SummaryFigure{Value: &v, K: 1, N: 1}}, {Column: "depth", Plain: contract.SummaryFigure{Why: "no case"}},
			}}}}},
		}}},
		Steps:  []Step{{Name: "call", Records: 4, Started: at, Ended: at.Add(time.Minute), Bytes: 9}, {Name: "tabulate", Records: 1}},
		Tables: []File{{Name: "tables/evaluation.csv", Title: "every figure", MediaType: "text/csv", Data: []byte("a,b\n")}},
	}
}

// rule is one rule of testdata/rocrate/must.json.
type rule struct {
	ID       string `json:"id"`
	Of       struct{ ID, Type string }
	Type     string   `json:"type"`
	Property string   `json:"property"`
	RefersTo string   `json:"refers_to_id"`
	Types    []string `json:"refers_to_types"`
	OneOf    []string `json:"refers_to_one_of"`
	Contains string   `json:"contains"`
	Refers   bool     `json:"refers"`
	ISO8601  bool     `json:"iso8601"`
	AllOf    string   `json:"all_of_type"`
}

// graph is a crate as rules look at it.
type graph map[string]map[string]any

func (g graph) types(id string) []string { return texts(g[id]["@type"]) }

// texts lists a text, or the texts or ids of a list.
func texts(v any) []string {
	switch t := v.(type) {
	case string:
		return []string{t}
	case map[string]any:
		return texts(t["@id"])
	case []any:
		var out []string
		for _, e := range t {
			out = append(out, texts(e)...)
		}
		return out
	}
	return nil
}

var iso8601 = regexp.MustCompile(`^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d|Z))?$`)

// breaks says how an entity breaks a rule, "" for nowise.
func (r rule) breaks(g graph, id string) string {
	if r.Type != "" && !slices.Contains(g.types(id), r.Type) {
		return fmt.Sprintf("%s is %v, want %s", id, g.types(id), r.Type)
	}
	if r.Property == "" {
		return ""
	}
	values := texts(g[id][r.Property])
	if len(values) == 0 {
		return fmt.Sprintf("%s has no %s", id, r.Property)
	}
	for _, v := range values {
		switch {
		case r.RefersTo != "" && v != r.RefersTo:
			return fmt.Sprintf("%s: %s is %s, want %s", id, r.Property, v, r.RefersTo)
		case (r.Refers || r.Types != nil || r.OneOf != nil) && g[v] == nil:
			return fmt.Sprintf("%s: %s refers to %s, which is not there", id, r.Property, v)
		case r.ISO8601 && !iso8601.MatchString(v):
			return fmt.Sprintf("%s: %s is %s, want a date", id, r.Property, v)
		case r.OneOf != nil && !slices.ContainsFunc(r.OneOf, func(t string) bool { return slices.Contains(g.types(v), t) }):
			return fmt.Sprintf("%s: %s refers to %s of type %v, want one of %v", id, r.Property, v, g.types(v), r.OneOf)
		}
		for _, t := range r.Types {
			if !slices.Contains(g.types(v), t) {
				return fmt.Sprintf("%s: %s refers to %s of type %v, want %s", id, r.Property, v, g.types(v), t)
			}
		}
	}
	if r.Contains != "" && !slices.Contains(values, r.Contains) {
		return fmt.Sprintf("%s: %s is %v, want %s among it", id, r.Property, values, r.Contains)
	}
	for other := range g {
		if r.AllOf != "" && slices.Contains(g.types(other), r.AllOf) && !slices.Contains(values, other) {
			return fmt.Sprintf("%s: %s does not refer to %s", id, r.Property, other)
		}
	}
	return ""
}

func rules(t *testing.T) []rule {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "rocrate", "must.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Rules []rule }
	if err := json.Unmarshal(data, &doc); err != nil || len(doc.Rules) < 25 {
		t.Fatalf("%d rules, %v", len(doc.Rules), err)
	}
	return doc.Rules
}

func broken(t *testing.T, data []byte) []string {
	t.Helper()
	var doc struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	g := graph{}
	for _, e := range doc.Graph {
		id := e["@id"].(string)
		if g[id] != nil {
			t.Errorf("two entities are called %s", id)
		}
		g[id] = e
	}
	var out []string
	for _, r := range rules(t) {
		met := false
		for id := range g {
			if r.Of.ID != "" && r.Of.ID != id || r.Of.Type != "" && !slices.Contains(g.types(id), r.Of.Type) {
				continue
			}
			met = true
			if why := r.breaks(g, id); why != "" {
				out = append(out, r.ID+": "+why)
			}
		}
		if !met {
			out = append(out, r.ID+": nothing in the crate is what it is about")
		}
	}
	return out
}

// TestCrate: every MUST of the profiles holds, and each of them can be broken.
func TestCrate(t *testing.T) {
	data, err := Crate(effort(), []File{{Name: "bundle.json", Title: "manifest", MediaType: "application/json"}, {Name: "store/", Title: "objects"}})
	if err != nil {
		t.Fatal(err)
	}
	if wrong := broken(t, data); len(wrong) > 0 {
		t.Errorf("the crate breaks %d rules:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	again, err := Crate(effort(), []File{{Name: "bundle.json", Title: "manifest", MediaType: "application/json"}, {Name: "store/", Title: "objects"}})
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the same reproduction gives another crate (%v)", err)
	}
	for _, change := range [][2]string{
		{`"programmingLanguage"`, `"language"`}, {`"mainEntity"`, `"main"`}, {`"ControlAction"`, `"Action"`}, {`"instrument"`, `"tool"`}, {`"license"`, `"terms"`},
		{`"datePublished"`, `"date"`}, {`"additionalType"`, `"kind"`}, {`"HowToStep"`, `"Step"`}, {`https://w3id.org/ro/wfrun/provenance/0.5`, `https://example.org`},
	} {
		if wrong := broken(t, bytes.ReplaceAll(data, []byte(change[0]), []byte(change[1]))); len(wrong) == 0 {
			t.Errorf("%s in place of %s breaks no rule", change[1], change[0])
		}
	}
}

// TestOpenLineage: every event keeps to the schema; each run begins once and ends once.
func TestOpenLineage(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile(filepath.Join("testdata", "openlineage", "event.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := OpenLineage(&out, effort()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	states := map[string][]string{}
	for _, l := range lines {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(l))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s\n%v", l, err)
		}
		e := v.(map[string]any)
		id := e["run"].(map[string]any)["runId"].(string)
		states[id] = append(states[id], e["eventType"].(string))
	}
	if len(lines) != 2*3 || len(states) != 3 {
		t.Errorf("%d events of %d runs", len(lines), len(states))
	}
	for id, s := range states {
		if !slices.Equal(s, []string{"START", "COMPLETE"}) {
			t.Errorf("run %s: %v", id, s)
		}
	}
	for _, change := range [][2]string{{`"runId"`, `"id"`}, {`"START"`, `"BEGIN"`}, {`"_producer"`, `"producer"`}, {`"processingType"`, `"type"`}, {"2026-03-01T12:00:00+00:00", "yesterday"}} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(strings.ReplaceAll(lines[0], change[0], change[1])))
		if err == nil {
			err = schema.Validate(v)
		}
		if err == nil {
			t.Errorf("%s in place of %s keeps to the schema", change[1], change[0])
		}
	}
}

// TestMLflow: the files are those of a file store: two runs, each with its figures.
func TestMLflow(t *testing.T) {
	files, err := MLflow(effort())
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	runs := map[string]string{}
	line := regexp.MustCompile(`^\d{13} -?[0-9.e+-]+ \d+\n$`)
	for _, f := range files {
		if _, twice := byName[f.Name]; twice {
			t.Errorf("%s is written twice", f.Name)
		}
		byName[f.Name] = string(f.Data)
		parts := strings.Split(f.Name, "/")
		switch {
		case len(parts) == 3 && parts[2] == "meta.yaml":
			var meta map[string]any
			if err := yaml.Unmarshal(f.Data, &meta); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{"artifact_uri", "end_time", "entry_point_name", "experiment_id", "lifecycle_stage", "run_id", "run_name", "run_uuid", "source_name", "source_type", "source_version", "start_time", "status", "tags", "user_id"} {
				if _, ok := meta[field]; !ok {
					t.Errorf("%s has no %s", f.Name, field)
				}
			}
			if meta["run_id"] != parts[1] || meta["experiment_id"] != parts[0] || meta["lifecycle_stage"] != "active" {
				t.Errorf("%s: %v", f.Name, meta)
			}
			runs[fmt.Sprint(meta["run_name"])] = parts[0] + "/" + parts[1]
		case len(parts) == 4 && parts[2] == "metrics" && !line.MatchString(string(f.Data)):
			t.Errorf("%s: %q", f.Name, f.Data)
		}
	}
	if len(runs) != 2 {
		t.Fatalf("runs %v", runs)
	}
	for name, want := range map[string]string{
		runs["m/greedy"] + "/metrics/path1.overall.completion": " 36.39 0\n", runs["findings"] + "/metrics/rotation.rotated": " 1 0\n",
		runs["m/greedy"] + "/params/model": "M", runs["m/greedy"] + "/tags/mlflow.runName": "m/greedy", runs["findings"] + "/artifacts/tables/evaluation.csv": "a,b\n",
	} {
		if !strings.HasSuffix(byName[name], want) || byName[name] == "" {
			t.Errorf("%s is %q, want %q", name, byName[name], want)
		}
	}
	if _, there := byName[runs["m/greedy"]+"/metrics/path1.overall.depth"]; there {
		t.Error("a figure without a value is a metric")
	}
}

func TestTally(t *testing.T) {
	var tally Tally
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range []string{"tabulate", "call", "call"} {
		text := fmt.Sprintf(`{"predicate":{"invocation":{"started":%q,"finished":%q}}}`, at.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), at.Add(time.Duration(i+1)*time.Minute).Format(time.RFC3339))
		tally.Add(artifacts.Record{Key: artifacts.Key{Step: step}, Result: artifacts.Ref{Size: 5}}, []byte(text))
	}
	tally.Add(artifacts.Record{Key: artifacts.Key{Step: "new-step"}}, nil)
	got := tally.Steps()
	if len(got) != 3 || got[0].Name != "call" || got[0].Records != 2 || got[0].Bytes != 10 || got[0].Ended.Sub(got[0].Started) != 2*time.Minute || got[1].Name != "tabulate" || got[2].Name != "new-step" || !got[2].Started.IsZero() {
		t.Errorf("%+v", got)
	}
}
