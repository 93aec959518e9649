package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
)

func newRadcotInspectCommand(a *app) *cobra.Command {
	var example string
	c := &cobra.Command{
		Use:   "inspect DIR",
		Short: "Check a folder of examples, or show one of them",
		Long: `inspect reads a folder that ` + "`radcot build`" + ` wrote, recounts it, and lays every routed example out
again by the agent: the conversation must be the stored one byte for byte. It prints the datasheet.

With --example ID the conversation is printed, the parts that carry loss between » and «.
With --json: the datasheet, or the example.

Exit codes: 0 in order; 1 something does not agree; 2 usage.`,
		Example: `  cxrepro xragent radcot inspect corpus
  cxrepro xragent radcot inspect corpus --example mcq-00007`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.radcotInspect(args[0], example)
		},
	}
	c.Flags().StringVar(&example, "example", "", "the example to show")
	return c
}

func (a *app) radcotInspect(dir, example string) error {
	var sheet radcot.Datasheet
	data, err := os.ReadFile(filepath.Join(dir, radcotSheet))
	if err != nil {
		return usageError("name a folder that `cxrepro xragent radcot build` wrote", "datasheet: %v", err)
	}
	if err := json.Unmarshal(data, &sheet); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, radcotSheet), err)
	}
	ledger, err := os.ReadFile(filepath.Join(dir, radcotLedger))
	if err != nil {
		return err
	}
	if got := artifacts.Sum(ledger); got != sheet.Ledger {
		return fmt.Errorf("%s is %s, the datasheet names %s", filepath.Join(dir, radcotLedger), got.Short(), sheet.Ledger.Short())
	}
	l, err := radcot.ReadLedger(ledger)
	if err != nil {
		return err
	}
	shown, err := a.recount(dir, &sheet, l, example)
	switch {
	case err != nil:
		return err
	case example == "":
		if a.JSON() {
			return a.printJSON(sheet)
		}
		return sheet.Markdown(a.out)
	case shown == nil:
		return usageError("ids stand in "+filepath.Join(dir, radcotExamples), "no example is called %q", example)
	case a.JSON():
		return a.printJSON(shown)
	}
	return a.showExample(shown)
}

// recount reads every example, compares the counts, and lays routed ones out again.
func (a *app) recount(dir string, sheet *radcot.Datasheet, l *radcot.Ledger, want string) (shown *radcot.Example, err error) {
	file := filepath.Join(dir, radcotExamples)
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counts, sft, grpo := map[radcot.Part]int{}, 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxTrajectory)
	for n := 1; lines.Scan(); n++ {
		var e radcot.Example
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", file, n, err)
		}
		if err := checkExample(&e, sheet.Spec, l); err != nil {
			return nil, fmt.Errorf("%s line %d: example %s: %w", file, n, e.ID, err)
		}
		counts[e.Part]++
		if e.Part.SFT() {
			sft++
		}
		if e.Part.GRPO() {
			grpo++
		}
		if e.ID == want {
			shown = &e
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, p := range sheet.Parts {
		if counts[p.Part] != p.Kept {
			return nil, fmt.Errorf("%s has %d examples of part %s, the datasheet says %d", file, counts[p.Part], p.Part, p.Kept)
		}
	}
	if sft != sheet.SFT || grpo != sheet.GRPO {
		return nil, fmt.Errorf("%s has %d and %d examples of SFT and GRPO, the datasheet says %d and %d", file, sft, grpo, sheet.SFT, sheet.GRPO)
	}
	return shown, nil
}

// checkExample holds an example against the ledger and the agent.
func checkExample(e *radcot.Example, spec radcot.Spec, l *radcot.Ledger) error {
	phase := radcot.Writing
	if e.Rollout != nil {
		phase = radcot.Routing
	}
	attempt := 0
	for attempt < spec.Rules.Attempts && !accepted(l, e.ID, phase, attempt) {
		attempt++
	}
	if attempt == spec.Rules.Attempts {
		return fmt.Errorf("the ledger accepts no attempt of phase %s", phase)
	}
	if e.Rollout == nil {
		return nil
	}
	messages, err := spec.Conversation(*e.Rollout)
	if err != nil {
		return err
	}
	one, err := json.Marshal(messages)
	if err != nil {
		return err
	}
	two, err := json.Marshal(e.Messages)
	if err != nil {
		return err
	}
	if string(one) != string(two) {
		return fmt.Errorf("the agent lays its rollout out otherwise; was it built by another version?")
	}
	if v := spec.Trajectory(*e.Rollout); !v.Accepted {
		return fmt.Errorf("its rollout is rejected: %v", v.Codes)
	}
	return nil
}

func accepted(l *radcot.Ledger, id string, phase radcot.Phase, attempt int) bool {
	e, ok := l.Find(id, phase, attempt)
	return ok && e.Verdict.Accepted
}

// showExample prints a conversation with marks around what carries loss.
func (a *app) showExample(e *radcot.Example) error {
	text, loss := radcot.Render(e.Messages)
	if len(e.Messages) == 0 {
		text = xragent.QuestionText(*e.Question) + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "example %s, part %s, source %s\n", e.ID, e.Part, e.Source)
	if e.Question != nil {
		fmt.Fprintf(&b, "key: %s\n", e.Question.Key)
	}
	b.WriteByte('\n')
	at := 0
	for _, s := range loss {
		b.WriteString(text[at:s.Begin] + "»" + text[s.Begin:s.End] + "«")
		at = s.End
	}
	b.WriteString(text[at:])
	_, err := fmt.Fprint(a.out, b.String())
	return err
}
