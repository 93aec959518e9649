package workflows_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
)

// faults is a fault script of some rules.
func faults(rules string) string {
	return "format: cxrepro-responder-faults-1\nseed: 1\nrules:\n" + rules
}

// brief is the smallest evaluation with both paths.
func brief() evaltest.Options {
	o := small()
	o.Cases = 3
	return o
}

// with is brief on a store, with a fault script.
func with(t *testing.T, store *artifacts.Repository, rules string) *asked {
	t.Helper()
	o := brief()
	if rules != "" {
		o.Faults = faults(rules)
	}
	return newAsked(t, store, o)
}

// dialogues reads every dialogue of a receipt.
func (a *asked) dialogues(r *contract.Receipt) (list []contract.DialogueDoc) {
	a.t.Helper()
	for _, ref := range r.Evaluations {
		var doc contract.EvaluationDoc
		a.get(ref, &doc)
		for _, task := range doc.Tasks {
			for _, pages := range []artifacts.Ref{task.Path1, task.Path2} {
				var packed contract.Packed
				if !pages.IsZero() {
					a.get(pages, &packed)
				}
				for _, item := range packed.Items {
					var page contract.DialoguesDoc
					a.get(item.Ref, &page)
					list = append(list, page.Dialogues...)
				}
			}
		}
	}
	return list
}

// TestFaultsThatPass throttles, breaks and cuts: the result is the undisturbed one, every
// request is accounted for, and nothing of it is in a score.
func TestFaultsThatPass(t *testing.T) {
	calm := with(t, memstore.Open(), "")
	want, _ := calm.run()
	for name, rules := range map[string]string{
		"throttled":   "  - {do: throttle, every: 4, after: 10ms}\n",
		"broken":      "  - {do: server_error, every: 5}\n",
		"cut":         "  - {do: cut, every: 6, times: 5}\n",
		"reset":       "  - {do: reset, every: 7, times: 5}\n",
		"judge apart": "  - {do: server_error, kind: judge, attempts: 1}\n",
	} {
		t.Run(name, func(t *testing.T) {
			a := with(t, memstore.Open(), rules)
			r, _ := a.run()
			n := a.Responder.Counts()
			if r.ResultDigest != want.ResultDigest || r.Dialogues.Undetermined > 0 {
				t.Errorf("result %s with %+v, undisturbed %s", r.ResultDigest, r.Dialogues, want.ResultDigest)
			}
			if r.Calls.Needed != want.Calls.Needed || r.Calls.Run != want.Calls.Run || r.Calls.Attempts != int(n.Requests) || contract.Total(r.Calls.Failures) != int(n.Requests)-r.Calls.Run {
				t.Errorf("calls %+v, undisturbed %+v, the endpoint counted %d", r.Calls, want.Calls, n.Requests)
			}
			if n.Repeated > 0 && name != "cut" {
				t.Errorf("%d answered requests came again", n.Repeated)
			}
		})
	}
}

// TestFaultsThatStay holds what the protocol makes of replies that cannot be judged: each is an
// outcome of its own, scored wrong at its stage, and the case is complete.
func TestFaultsThatStay(t *testing.T) {
	for rule, terminal := range map[string]cxreasonbench.Terminal{
		"do: refusal": cxreasonbench.Refusal, "do: empty": cxreasonbench.EmptyReply, "do: truncated, keep: 3": cxreasonbench.Truncated,
		"do: filtered": cxreasonbench.SafetyBlock, "do: too_long": cxreasonbench.RequestInvalid,
	} {
		t.Run(terminal.String(), func(t *testing.T) {
			a := with(t, memstore.Open(), fmt.Sprintf("  - {%s, kind: model, share: 0.2}\n", rule))
			r, _ := a.run()
			counts := map[cxreasonbench.TerminalPlace]int{}
			found := 0
			for _, d := range a.dialogues(&r) {
				cxreasonbench.CountTerminals(d.State, counts)
				for _, turn := range d.State.Turns {
					for _, draw := range turn.Draws {
						if draw.Terminal != 0 && draw.Score != cxreasonbench.Wrong {
							t.Errorf("%s is scored %s", draw.Terminal, draw.Score)
						}
					}
				}
			}
			for place, n := range counts {
				if place.Terminal != terminal {
					t.Errorf("%d times %s at %s", n, place.Terminal, place.Stage)
				}
				found += n
			}
			if found == 0 || r.Dialogues.Undetermined > 0 || r.Incomplete() {
				t.Errorf("%d outcomes, dialogues %+v", found, r.Dialogues)
			}
			before := a.requests()
			if again, _ := a.run(); a.requests() != before || again.ResultDigest != r.ResultDigest {
				t.Errorf("a second run asked %d calls", a.requests()-before)
			}
		})
	}
}

// TestUndetermined breaks one stage, or the judge, for good: no case of it has a result, none is
// in a denominator, the reproduction is not marked as finished, and a run without the fault
// asks what is missing and nothing else.
func TestUndetermined(t *testing.T) {
	calm := with(t, memstore.Open(), "")
	want, _ := calm.run()
	for name, c := range map[string]struct{ rules, reason string }{
		"a stage":              {"  - {do: server_error, kind: model, stage: criteria}\n", contract.ErrTypeUnreachable},
		"the judge, gone":      {"  - {do: server_error, kind: judge, from: 9}\n", contract.ErrTypeUnreachable},
		"the judge, throttled": {"  - {do: throttle, kind: judge, from: 5, after: 1ms}\n", contract.ErrTypeThrottled},
	} {
		t.Run(name, func(t *testing.T) {
			store := memstore.Open()
			a := with(t, store, c.rules)
			r, s := a.run()
			d := r.Dialogues
			if d.Undetermined == 0 || d.Waiting == 0 || !r.Incomplete() || len(d.Reasons) != 1 || d.Reasons[0].Name != c.reason {
				t.Errorf("dialogues %+v, want undetermined for %s", d, c.reason)
			}
			for _, doc := range a.dialogues(&r) {
				if doc.Undetermined != nil && (doc.End != 0 || doc.Undetermined.Why != c.reason) {
					t.Errorf("case %d: %+v, end %s", doc.Case, doc.Undetermined, doc.End)
				}
			}
			if len(s.Evaluations) != 1 {
				t.Errorf("%d evaluations in the tables", len(s.Evaluations))
			}
			sent := a.Responder.Counts().Requests
			if int64(r.Calls.Attempts) != sent {
				t.Errorf("the receipt has %d requests, %d were sent", r.Calls.Attempts, sent)
			}
			answered := a.Responder.Counts().Answered
			b := with(t, store, "")
			again, _ := b.run()
			if got := answered + b.Responder.Counts().Answered; again.ResultDigest != want.ResultDigest || int(got) != want.Calls.Run {
				t.Errorf("in the end result %s after %d answers, undisturbed %s after %d", again.ResultDigest, got, want.ResultDigest, want.Calls.Run)
			}
			if sent += b.Responder.Counts().Requests; int64(again.Calls.Attempts) != sent {
				t.Errorf("the last receipt has %d requests, %d were sent in all", again.Calls.Attempts, sent)
			}
		})
	}
}

// TestGarbageJudge: one verdict that cannot be read is asked for again; a judge that never says
// one leaves every case undetermined.
func TestGarbageJudge(t *testing.T) {
	calm := with(t, memstore.Open(), "")
	want, _ := calm.run()
	// The first request to the judge is a verdict: a value that cannot be read is not asked for
	// again.
	once := with(t, memstore.Open(), "  - {do: garbage, kind: judge, times: 1}\n")
	r, _ := once.run()
	if r.Incomplete() || r.Calls.Run != want.Calls.Run+1 {
		t.Errorf("dialogues %+v, calls %+v, undisturbed %+v", r.Dialogues, r.Calls, want.Calls)
	}
	store := memstore.Open()
	never := with(t, store, "  - {do: garbage, kind: judge}\n")
	r, _ = never.run()
	if d := r.Dialogues; d.Done != 0 || d.Waiting != 2 || len(d.Reasons) != 1 || d.Reasons[0].Name != cxreasonbench.JudgeUnparsable {
		t.Errorf("dialogues %+v", d)
	}
	o := brief()
	o.Sets = []string{"evaluation.retry={outcomes: [judge_unparsable], round: 1}"}
	mended := newAsked(t, store, o)
	r, _ = mended.run()
	if n := mended.Responder.Counts(); r.Incomplete() || r.Calls.Reused == 0 || r.Dialogues.Done != want.Dialogues.Done || int(n.Answered) != r.Calls.Run {
		t.Errorf("asked again: dialogues %+v, calls %+v; undisturbed %+v", r.Dialogues, r.Calls, want.Dialogues)
	}
}

// TestEndpointPauses: a refused credential and an empty purse pause the reproduction with the
// reason; it goes on when told so.
func TestEndpointPauses(t *testing.T) {
	calm := with(t, memstore.Open(), "")
	want, _ := calm.run()
	for fault, errType := range map[string]string{"denied": contract.ErrTypeEndpointDenied, "quota": contract.ErrTypeQuota} {
		t.Run(fault, func(t *testing.T) {
			a := with(t, memstore.Open(), fmt.Sprintf("  - {do: %s, from: 20, to: 22}\n", fault))
			env := a.env()
			paused := 0
			answer := &answers{}
			var look func()
			look = func() {
				v, err := env.QueryWorkflow(contract.QueryProgress)
				var p contract.Progress
				if err := errors.Join(err, v.Get(&p)); err != nil {
					t.Error(err)
				}
				if p.State == contract.StatePaused {
					paused++
					if p.Gate.By != errType || p.Gate.Reason == "" {
						t.Errorf("paused by %+v, want %s", p.Gate, errType)
					}
					env.UpdateWorkflow(contract.UpdateResume, fmt.Sprint("r", paused), answer)
				}
				if p.State != contract.StateDone {
					env.RegisterDelayedCallback(look, time.Hour)
				}
			}
			env.RegisterDelayedCallback(look, time.Hour)
			env.ExecuteWorkflow(contract.Reproduction.Name, a.Input("test", a.tuning))
			r := a.ended(env)
			if paused == 0 || r.ResultDigest != want.ResultDigest || r.Calls.Run != want.Calls.Run {
				t.Errorf("paused %d times, result %s with %+v, undisturbed %s with %+v", paused, r.ResultDigest, r.Calls, want.ResultDigest, want.Calls)
			}
		})
	}
}

// ended returns the receipt of a workflow that ended well.
func (a *asked) ended(env *testsuite.TestWorkflowEnvironment) contract.Receipt {
	a.t.Helper()
	if err := env.GetWorkflowError(); err != nil {
		a.t.Fatal(err)
	}
	var out contract.ReproductionResult
	if err := env.GetWorkflowResult(&out); err != nil {
		a.t.Fatal(err)
	}
	var r contract.Receipt
	a.get(out.Receipt, &r)
	if wrong := r.Check(); len(wrong) > 0 {
		a.t.Errorf("receipt: %v", wrong)
	}
	return r
}
