package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// callRows prints what an evaluation or an agent took: dialogues or rollouts, calls, tokens and money.
func callRows(row func(name, format string, args ...any), r *contract.Receipt) {
	d, t, c := r.Dialogues, r.Rollouts, r.Calls
	switch {
	case c == nil:
		return
	case d != nil:
		row("dialogues", "%d = %d done%s + %d undetermined%s", d.Dialogues, d.Done, inBrackets(d.Ends), d.Undetermined, inBrackets(d.Reasons))
		if d.Waiting > 0 {
			row("", "path 2 of %d tasks waits for path 1", d.Waiting)
		}
	case t != nil:
		row("rollouts", "%d = %d done%s + %d undetermined%s", t.Rollouts, t.Done, inBrackets(t.Endings), t.Undetermined, inBrackets(t.Reasons))
	}
	row("calls", "%d needed = %d run + %d reused; %d repeated; %d requests sent%s", c.Needed, c.Run, c.Reused, c.Repeated, c.Attempts, inBrackets(c.Failures))
	for _, k := range c.ByKind {
		row("", "%s: %d needed, %d run, %d reused, %d repeated, %d requests", k.Kind, k.Needed, k.Run, k.Reused, k.Repeated, k.Attempts)
	}
	if c.MaybeBilled > 0 {
		row("", "%d requests whose end nobody saw may have been billed", c.MaybeBilled)
	}
	if t := r.Tokens; t != nil {
		row("tokens", "%d in (%d from a cache) + %d out%s", t.Prompt, t.Cached, t.Completion, unreported(t.Unreported))
	}
	row("cost", "%s%s", moneyList(r.Cost), unpriced(c.Unpriced))
}

func unreported(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d replies reported none", n)
}

func unpriced(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d calls without a price)", n)
}

func moneyList(list []contract.Money) string {
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprintf("%.4f %s", float64(m.Micro)/1e6, m.Currency))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, " + ")
}

// retryVerdicts is the change to a spec that asks the judge again where its verdicts could not
// be read: what was recorded of them stays, and a new round is asked.
const retryVerdicts = "--set 'evaluation.retry={outcomes: [" + cxreasonbench.JudgeUnparsable + "], round: 1}'"

// undetermined says that cases have no result, and how they get one: what never was recorded is
// asked by the same command, a recorded verdict that nobody can read only in a new round.
func (a *app) undetermined(r *contract.Receipt) error {
	if t := r.Rollouts; t != nil {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("%d rollouts are undetermined: %s", t.Undetermined, countList(t.Reasons)),
			Hint: "they are in no denominator, and the tables are not complete; " + askMissing(t.Reasons)}
	}
	d := r.Dialogues
	text := fmt.Sprintf("%d dialogues are undetermined: %s", d.Undetermined, countList(d.Reasons))
	if d.Waiting > 0 {
		text += fmt.Sprintf("; path 2 of %d tasks waits for them", d.Waiting)
	}
	return &exitError{Code: exitQuarantined, Err: errors.New(text), Hint: "they are in no denominator, and the tables are not complete; " + askMissing(d.Reasons)}
}

// askMissing is the way to a result for dialogues that are undetermined for these reasons.
func askMissing(reasons []contract.Count) string {
	const again = "the same command asks what is missing and nothing else"
	unparsable := slices.IndexFunc(reasons, func(c contract.Count) bool { return c.Name == cxreasonbench.JudgeUnparsable })
	const verdicts = "`" + retryVerdicts + "` (the next round: 2) asks for the verdicts again that could not be read"
	switch {
	case unparsable < 0:
		return again
	case len(reasons) == 1:
		return "the same command with " + verdicts + ", and nothing else"
	}
	return "the same command asks again what got no answer, and with " + verdicts
}
