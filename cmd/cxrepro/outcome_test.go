package main

import (
	"errors"
	"strings"
	"testing"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// TestUndeterminedHint holds that verdicts that nobody can read get the way out that works for
// them, which is a change to the spec, and that other reasons get the same command.
func TestUndeterminedHint(t *testing.T) {
	unparsable := contract.Count{Name: cxreasonbench.JudgeUnparsable, N: 2}
	unreachable := contract.Count{Name: contract.ErrTypeUnreachable, N: 1}
	const retry, same = "`--set 'evaluation.retry={outcomes: [judge_unparsable], round: 1}'`", "the same command asks"
	for _, c := range []struct {
		reasons    []contract.Count
		want, lack string
	}{
		{[]contract.Count{unparsable}, retry, same},
		{[]contract.Count{unreachable}, same, "--set"},
		{[]contract.Count{unparsable, unreachable}, retry, "asks what is missing and nothing else"},
	} {
		var e *exitError
		if !errors.As((&app{}).undetermined(&contract.Receipt{Dialogues: &contract.DialogueTotals{Undetermined: 2, Reasons: c.reasons}}), &e) {
			t.Fatal("no exit code")
		}
		if hint := e.Hint; !strings.Contains(hint, c.want) || strings.Contains(hint, c.lack) {
			t.Errorf("%v: hint %q", c.reasons, hint)
		}
	}
}

// TestPausedHint holds that a run that was paused names one way on, the one for its reason, and
// not the one for workers as well.
func TestPausedHint(t *testing.T) {
	for _, c := range []struct{ by, reason, want string }{
		{contract.ErrTypeBudget, "ask: the budget is used up\nhint: other", "with a larger --budget"},
		{contract.ErrTypeEndpoint, "ask: model endpoint: configured, not_in_ledger: no\nhint: other", "without --recorded, with --endpoints"},
		{contract.ErrTypeEndpoint, "ask: model endpoint: configured, status 404\nhint: other", "correct the endpoint card"},
		{contract.ErrTypeEndpointDenied, "ask: status 401\nhint: other", "export the right credential"},
		{contract.ErrTypeQuota, "ask: status 402\nhint: other", "pay the endpoint's account"},
		{contract.ErrTypeModel, "segment: no library\nhint: fetch it", "fetch it; then run the same command"},
		{"user", "asked by a user", "the same command goes on"},
	} {
		var out strings.Builder
		code := report(&out, paused(contract.Gate{Paused: true, By: c.by, Reason: c.reason}))
		if talk := out.String(); code != exitPaused || strings.Count(talk, "hint: ") != 1 || !strings.Contains(talk, c.want) || strings.Contains(talk, "other") {
			t.Errorf("%s: exit %d\n%s", c.by, code, talk)
		}
	}
}
