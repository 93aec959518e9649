package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/internal/contract"
	forecast "cxrepro/internal/plan"
	"cxrepro/internal/verify"
)

// TestPlanAgent: what a plan says of an agent's reproduction comes so: of the first run between the
// bounds of the protocol, of an interrupted one beside what it did, of another gate exactly, since the
// gate is asked about stored readings and masks.
func TestPlanAgent(t *testing.T) {
	s := newPolicyServer(t)
	b := newAgentBench(t, s.URL)
	plan := func(args ...string) (*forecast.Forecast, string) {
		t.Helper()
		file := filepath.Join(b.dir, "plan.json")
		code, out, talk := b.ask(append([]string{"plan", b.spec, "--json", "--out", file}, args...)...)
		var f forecast.Forecast
		if code != exitOK || json.Unmarshal([]byte(out), &f) != nil {
			t.Fatalf("plan %v: exit %d\n%s%s", args, code, out, talk)
		}
		if s.count() != 0 && len(args) == 0 && f.Against != nil {
			t.Errorf("compared with %+v, of which nothing is finished", f.Against)
		}
		return &f, file
	}
	agrees := func(r *contract.Receipt, file string, exact ...string) {
		t.Helper()
		code, out, talk := b.ask("receipt", r.Reproduction, "--plan", file, "--json")
		var c forecast.Check
		if code != exitOK || json.Unmarshal([]byte(out), &c) != nil || c.Off != 0 || c.Equal == 0 || len(c.Branches) != 3 {
			t.Fatalf("receipt --plan: exit %d\n%s%s", code, out, talk)
		}
		equal := ""
		for _, v := range c.Verdicts {
			if v.Verdict == forecast.VerdictEqual {
				equal += v.Figure + "\n"
			}
		}
		for _, name := range exact {
			if !strings.Contains(equal, name+"\n") {
				t.Errorf("%q is not exact and equal\n%s", name, out)
			}
		}
	}

	f, file := plan()
	row := calls(f, "policy")
	if !is(step(f, contract.StepMeasure).Run, 2) || len(f.Rollouts) != 3 || f.Rollouts[0].Open != 8 || f.Rollouts[0].Pages != 1 || row.Cost.Mark != forecast.Unknown {
		t.Errorf("nothing is recorded: %+v %+v", f.Rollouts, f.Steps)
	}
	// Two arms ask one thing first; each has one to two turns, and a direct prompt has one.
	if *row.Needed.Low != 24 || *row.Needed.High != 40 || *row.Run.Low != 16 || *row.Run.High != 32 {
		t.Errorf("calls of the first run: needed %s, run %s", row.Needed, row.Run)
	}
	if s.count() != 0 {
		t.Fatalf("planning asked %d times", s.count())
	}

	if !b.killedAt("after-call-commit", 9) {
		t.Fatal("the run was not killed")
	}
	asked := s.count()
	f, half := plan()
	if done := calls(f, "policy").Done; *done.Value == 0 || s.count() != asked {
		t.Errorf("planning an interrupted run asked %d times; done %s", s.count()-asked, done)
	}
	code, first, talk := b.run()
	if code != exitOK {
		t.Fatalf("run: exit %d\n%s", code, talk)
	}
	agrees(first, file, "segment run", "measure-picture run", "rollouts")
	agrees(first, half, "measure-picture needed", "rollouts")

	f, file = plan("--set", "agent.profile=table")
	row = calls(f, "policy")
	if row.Run.Mark != forecast.Exact || !is(step(f, contract.StepMeasure).Run, 2) || len(f.Flips) != 1 || f.Flips[0].Images == 0 {
		t.Errorf("another profile: %+v %+v", f.Calls, f.Flips)
	}
	if why := step(f, contract.StepMeasure).Why; len(why) != 1 || why[0].Field != "params.profile" {
		t.Errorf("another profile: %+v", why)
	}
	code, other, talk := b.run("--set", "agent.profile=table")
	if code != exitOK || other.Reproduction != f.Reproduction {
		t.Fatalf("run: exit %d\n%s", code, talk)
	}
	agrees(other, file, "model policy greedy run", "tool needed", "tool run", "tabulate-agent run", "calls run", "steps run")
	agentDiff(t, b, first, other)
	agentTampered(t, b, first)
}

// agentDiff lays two agents side by side that differ in the gate alone.
func agentDiff(t *testing.T, b *bench, first, other *contract.Receipt) {
	t.Helper()
	code, out, talk := b.ask("diff", first.Reproduction, first.Reproduction)
	if code != exitOK || !strings.HasPrefix(out, "equal: ") || !strings.Contains(out, "questions    the same 8") {
		t.Errorf("diff with itself: exit %d\n%s%s", code, out, talk)
	}
	code, out, talk = b.ask("diff", first.Reproduction, other.Reproduction)
	if code > exitFailed || !strings.Contains(out, "they part first at measure-picture") || !strings.Contains(out, "agent.profile") {
		t.Errorf("diff of two gates: exit %d\n%s%s", code, out, talk)
	}
}

// agentTampered writes receipts that contradict what they name: verification says where, also where
// a document that is there cannot be what it should be.
func agentTampered(t *testing.T, b *bench, r *contract.Receipt) {
	t.Helper()
	bucket, err := dirstore.Open(filepath.Join(b.state, "store"), dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	acts, err := activities.New(activities.Options{Store: store, Owner: artifacts.Owner{Worker: "test"}, Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(r *contract.Receipt)
		want   string
	}{
		{"nothing", func(*contract.Receipt) {}, ""},
		{"a count of rollouts", func(r *contract.Receipt) { r.Rollouts.Done, r.Rollouts.Undetermined = 23, 1 }, "the receipt: rollouts"},
		{"calls", func(r *contract.Receipt) { r.Calls.Attempts++ }, "the receipt: calls, tokens and cost"},
		{"a set in another's place", func(r *contract.Receipt) { r.RolloutSets[0] = r.RolloutSets[1] }, "a recorded document"},
		{"a set that is none", func(r *contract.Receipt) { r.RolloutSets[2] = r.Plan }, "a recorded document"},
	} {
		changed := *r
		rollouts, calls := *r.Rollouts, *r.Calls
		changed.Rollouts, changed.Calls, changed.RolloutSets = &rollouts, &calls, slices.Clone(r.RolloutSets)
		c.change(&changed)
		text, err := artifacts.Canonical(changed)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := store.Put(t.Context(), text, contract.ReceiptMediaType)
		if err != nil {
			t.Fatal(err)
		}
		got, err := verify.Run(t.Context(), verify.Options{Store: store, Activities: acts, Receipt: ref, Level: verify.Images})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		what := ""
		for _, f := range got.Faults {
			what += f.What + "; "
		}
		if (c.want == "") != (what == "") || !strings.Contains(what, c.want) {
			t.Errorf("%s: faults %+v, want %q", c.name, got.Faults, c.want)
		}
	}
}
