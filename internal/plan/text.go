package plan

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"cxrepro/internal/contract"
)

// WriteText prints a forecast for people.
func WriteText(w io.Writer, f *Forecast) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s (%s)\n", f.Name, f.Paper)
	fmt.Fprintf(b, "data         %s, %s\n", f.Data.inWords(), map[bool]string{true: "read now", false: "as recorded"}[f.Data.Read])
	if f.Reproduction != "" {
		fmt.Fprintf(b, "reproduction %s%s\n", f.Reproduction, map[bool]string{true: ", finished: a run prints its receipt and does nothing"}[f.Finished])
	}
	if a := f.Against; a != nil {
		fmt.Fprintf(b, "against      %s %s of %s\n", a.Reproduction, a.Name, a.Ended.Local().Format("2006-01-02 15:04"))
	}
	fmt.Fprintln(b)
	had := had
	if f.Finished {
		had = func(reused, done Figure) string { return reused.Add(done).String() }
	}
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "step\tneeded\treused\trun\tstale\ttime\twhy")
	for _, r := range f.Steps {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Step, r.Needed, had(r.Reused, r.Done), r.Run, r.Stale, clock(r.Seconds, r.Run), reasonsInWords(r.Why))
	}
	t.Flush()
	if len(f.Calls) > 0 {
		fmt.Fprintln(b)
		t = tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
		fmt.Fprintln(t, "calls\tsampling\tneeded\treused\trun\ttokens in\ttokens out\tcost\twhy")
		for _, r := range f.Calls {
			fmt.Fprintf(t, "%s %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Kind, r.Card, r.Sampling, r.Needed, had(r.Reused, r.Done), r.Run,
				r.Prompt, r.Completion, money(r.Cost, r.Currency), whyCalls(r))
		}
		t.Flush()
	}
	writeRollouts(b, f.Rollouts)
	writeTasks(b, f.Tasks)
	writeFlips(b, f.Flips)
	writeTotals(b, f, had)
	_, err := io.WriteString(w, b.String())
	return err
}

func (d Data) inWords() string {
	if d.Questions > 0 {
		return fmt.Sprintf("%d questions about %d pictures", d.Questions, d.Images)
	}
	return fmt.Sprintf("%d images, %d windows", d.Images, d.Windows)
}

// writeRollouts prints how far records lead the rollouts of an agent.
func writeRollouts(b io.Writer, rows []RolloutRow) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(b)
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "policy\tarm\trollouts\tended by records\topen\tpages\tcalls needed\tcalls to run")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", r.Policy, r.Arm, r.Rollouts, r.Ended, r.Open, r.Pages, r.Needed, r.Run)
	}
	t.Flush()
}

// had is what need not be run; what this reproduction did itself before is told apart.
func had(reused, done Figure) string {
	if done.Zero() {
		return reused.String()
	}
	return reused.String() + " + " + done.String() + " done"
}

func clock(seconds, run Figure) string {
	if run.Zero() {
		return "-"
	}
	return seconds.String() + " s"
}

func money(f Figure, currency string) string {
	if f.Zero() {
		return "-"
	}
	return strings.TrimSpace(f.String() + " " + currency)
}

// mostReasons is how many reasons a row shows.
const mostReasons = 2

// reasonsInWords prints the most frequent reasons.
func reasonsInWords(list []Reason) string {
	var out []string
	for i, r := range list {
		if i == mostReasons {
			out = append(out, fmt.Sprintf("and %d more reasons", len(list)-i))
			break
		}
		text := reasonInWords(r)
		if len(list) > 1 {
			text = fmt.Sprintf("%d: %s", r.Keys, text)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// whyCalls names why calls are made; what only follows from new answers has no other reason.
func whyCalls(r CallRow) string {
	if len(r.Why) == 0 && !r.Run.Zero() {
		return "by answers that nobody has yet"
	}
	return reasonsInWords(r.Why)
}

func reasonInWords(r Reason) string {
	_, input := cutInput(r.Field)
	switch {
	case r.After != "":
		return "after " + r.After
	case r.Field == "":
		return "nothing like it is recorded"
	case r.Field == "record":
		return "its record is gone"
	case input:
		return r.Field + " is another one"
	}
	return fmt.Sprintf("%s is %s, was %s", r.Field, clip(r.Ours), clip(r.Other))
}

// clip keeps a value to a part of a line.
func clip(s string) string {
	const most = 48
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// writeTasks prints where calls are to be made.
func writeTasks(w io.Writer, tasks []TaskRow) {
	var busy []string
	for _, t := range tasks {
		if !t.Run.Zero() {
			busy = append(busy, t.Task+" "+t.Run.String())
		}
	}
	if len(busy) > 0 {
		fmt.Fprintf(w, "\ncalls to run by task: %s; none in %d other tasks\n", strings.Join(busy, ", "), len(tasks)-len(busy))
	}
}

func writeFlips(w io.Writer, flips []Flip) {
	for _, f := range flips {
		fmt.Fprintf(w, "\n%s: %s\n", f.Task, strings.Join(f.Rows, ", "))
		if !f.Exact {
			fmt.Fprintf(w, "  at most %d images change: this needs masks (--exact assesses them)\n", f.Images)
			continue
		}
		fmt.Fprintf(w, "  %d images change\n", f.Images)
		for _, part := range []struct {
			name string
			list []Shift
		}{{"label", f.Labels}, {"status", f.Statuses}, {"rule", f.Checks}} {
			for _, s := range part.list {
				fmt.Fprintf(w, "  %s: %d from %s to %s\n", part.name, s.N, s.From, s.To)
			}
		}
	}
}

func writeTotals(w io.Writer, f *Forecast, had func(reused, done Figure) string) {
	t := f.Totals
	fmt.Fprintf(w, "\nsteps        %s needed = %s reused + %s to run\n", t.Steps.Needed, had(t.Steps.Reused, t.Steps.Done), t.Steps.Run)
	if len(f.Calls) > 0 {
		fmt.Fprintf(w, "calls        %s needed = %s reused + %s to run\n", t.Calls.Needed, had(t.Calls.Reused, t.Calls.Done), t.Calls.Run)
		fmt.Fprintf(w, "tokens       %s in, %s out\n", t.Prompt, t.Completion)
		var paid []string
		for _, m := range t.Cost {
			paid = append(paid, money(m.Amount, m.Currency))
		}
		if len(paid) == 0 {
			paid = []string{"nothing"}
		}
		fmt.Fprintf(w, "cost         %s\n", strings.Join(paid, " + "))
	}
	fmt.Fprintf(w, "time         %s min of segmentation, %s min of other computing, %s min of waiting for models\n", t.GPU, t.CPU, t.Endpoint)
	fmt.Fprintf(w, "in short     %s\n", inShort(f))
	for _, n := range f.Notes {
		fmt.Fprintln(w, "note         "+n)
	}
}

// inShort says in one line what a run does.
func inShort(f *Forecast) string {
	var parts []string
	open := 0
	for _, r := range f.Rollouts {
		open += r.Open
	}
	if len(f.Rollouts) > 0 {
		parts = append(parts, fmt.Sprintf("%d rollouts to finish", open))
	}
	flips, bound := 0, 0
	for _, x := range f.Flips {
		if !x.Exact {
			bound += x.Images
		}
		for _, l := range x.Labels {
			flips += l.N
		}
	}
	if len(f.Flips) > 0 {
		text := fmt.Sprintf("%d labels flip", flips)
		if bound > 0 {
			text = fmt.Sprintf("%d labels flip, at most %d more findings change", flips, bound)
		}
		if len(f.Rollouts) > 0 {
			text = fmt.Sprintf("%d measurements change", f.Flips[0].Images)
		}
		parts = append(parts, text)
	}
	for _, s := range []struct{ step, what string }{
		{contract.StepSegment, "images to segment"}, {contract.StepAssess, "windows and tasks to assess"}, {contract.StepBuildCase, "cases to build"},
		{contract.StepMeasure, "pictures to measure"},
	} {
		for _, r := range f.Steps {
			if r.Step == s.step {
				parts = append(parts, r.Run.String()+" "+s.what)
			}
		}
	}
	if len(f.Calls) > 0 {
		parts = append(parts, f.Totals.Calls.Run.String()+" calls")
	}
	for _, m := range f.Totals.Cost {
		parts = append(parts, money(m.Amount, m.Currency))
	}
	return strings.Join(append(parts, f.Totals.GPU.String()+" min of segmentation"), ", ")
}

// WriteCheck prints what became of a forecast.
func WriteCheck(w io.Writer, c *Check) error {
	b := &strings.Builder{}
	t := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "figure\tplanned\tcame\t")
	for _, v := range c.Verdicts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Figure, v.Predicted, short(v.Actual), v.Verdict)
	}
	t.Flush()
	for _, x := range c.Branches {
		what := fmt.Sprintf("%s, %s: %d dialogues", x.Evaluation, x.Path, x.Dialogues)
		if x.Rollouts != "" {
			what = fmt.Sprintf("%s: %d rollouts", x.Rollouts, x.Dialogues)
		}
		fmt.Fprintf(b, "branch       %s ended: %s\n", what, contract.CountsInWords(x.Ends))
	}
	fmt.Fprintf(b, "%d equal, %d in their range, %d off, %d were unknown, %d beyond what was recorded\n", c.Equal, c.Within, c.Off, c.Unknown, c.Beyond)
	_, err := io.WriteString(w, b.String())
	return err
}
