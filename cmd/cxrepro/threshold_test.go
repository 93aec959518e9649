package main

import (
	"encoding/json"
	"strings"
	"testing"

	"cxrepro/internal/compare"
	"cxrepro/internal/contract"
)

// TestOneThreshold changes one quality threshold of an experiment with real inference: no
// image is segmented or measured for another task, and explain names the field with both
// values.
func TestOneThreshold(t *testing.T) {
	b := phantomBench(t, 3)
	code, first, talk := b.run()
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	code, next, talk := b.run("--set", "thresholds.rotation.clavicle_y_diff.max=0.2")
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	for step, run := range map[string]int{contract.StepSegment: 0, contract.StepPixelFacts: 0, contract.StepAssess: 1, contract.StepSummarise: 1} {
		if s := stepCount(next, step); s.Run != run || s.Reused != s.Needed-run || s.Needed != stepCount(first, step).Needed {
			t.Errorf("%s: %+v, want %d run and the rest reused", step, s, run)
		}
	}
	out, err := b.command("explain", next.Reproduction, "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var e explainedReproduction
	if err := json.Unmarshal(out, &e); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(e.Reasons) != 2 || e.Reasons[0].Step != contract.StepAssess || e.Reasons[0].Field != "params.rows.rotation.clavicle_y_diff.max" || e.Reasons[0].Ours != "0.2" || e.Reasons[0].Other == "0.2" {
		t.Fatalf("reasons %+v", e.Reasons)
	}
	text, err := b.command("explain", e.Reasons[0].Example.String()).Output()
	want := "computed by " + next.Reproduction + ", because params.rows.rotation.clavicle_y_diff.max is 0.2; in the nearest earlier key it is " + e.Reasons[0].Other + "\n"
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("explain: %v\n%s\nwant %s", err, text, want)
	}
	var one explanation
	out, err = b.command("explain", e.Reasons[0].Example.String(), "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &one)
	}
	if err != nil {
		t.Fatal(err)
	}
	statement, err := b.command("artifacts", "cat", one.Statement.Digest.String()).Output()
	if err != nil || !strings.Contains(string(statement), `"binary":"`+executableDigest().String()+`"`) {
		t.Errorf("the statement does not name the program %s: %v\n%s", executableDigest(), err, statement)
	}
	text, err = b.command("explain", first.Reproduction).Output()
	if err != nil || !strings.Contains(string(text), "segment       3 run, because no other reproduction had computed this step before") {
		t.Errorf("explain of the first: %v\n%s", err, text)
	}
	diffThreshold(t, b, first.Reproduction, next.Reproduction)
}

// diffThreshold: two reproductions that differ in one row of the data side part at the one task that
// reads it, in that field; everything before is equal.
func diffThreshold(t *testing.T, b *bench, first, next string) {
	t.Helper()
	text, err := b.command("diff", first, next).Output()
	if err != nil && b.exit(err) != exitFailed {
		t.Fatalf("diff: %v\n%s", err, text)
	}
	t.Log("\n" + string(text))
	out, _ := b.command("diff", first, next, "--json").Output()
	var d compare.Diff
	if err := json.Unmarshal(out, &d); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p := d.Parted
	if p == nil || p.Step != contract.StepAssess || p.Item != "window 0, rotation" || len(p.Differs) != 1 || p.Differs[0].Field != "params.rows.rotation.clavicle_y_diff.max" || p.Differs[0].Other != "0.2" {
		t.Errorf("parted %+v", p)
	}
	for _, s := range d.Steps {
		if before := s.Step == contract.StepPixelFacts || s.Step == contract.StepSegment; before && (s.Compared != 3 || s.ResultsDiffer+s.KeysDiffer > 0 || s.Keys != 1) {
			t.Errorf("%+v, want three equal results", s)
		}
	}
	if len(d.Spec) != 1 || d.Spec[0].Field != "thresholds.rotation.clavicle_y_diff.max" || !d.Inputs.SameImages || d.Inputs.Images[0] != 3 {
		t.Errorf("spec %+v, inputs %+v", d.Spec, d.Inputs)
	}
}
