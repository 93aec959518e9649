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
