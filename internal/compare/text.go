package compare

import (
	"fmt"
	"io"
	"strings"

	"cxrepro/internal/provenance"
	"cxrepro/internal/report"
)

// Bounds of what the text lists; JSON has everything.
const (
	mostLines    = 12
	mostNamed    = 6
	replyLetters = 160
)

// verdict is the comparison in one line.
func (d *Diff) verdict() string {
	var what []string
	add := func(n int, one, many string) {
		if n > 0 {
			what = append(what, plural(n, one, many))
		}
	}
	switch {
	case d.Identical:
		return "equal: both results are " + d.A.Result.Short()
	case d.Equal && (d.Parted == nil || d.Parted.titled()):
		return "equal in every figure and outcome; the result digests differ, since names stand in them"
	case d.Equal:
		return "equal in every figure and outcome; they part at " + d.Parted.Step + " (" + d.Parted.reason() + ")"
	}
	add(len(d.Cells), "figure", "figures")
	add(d.FlipsAll, "outcome", "outcomes")
	text := "different"
	if len(what) > 0 {
		text = strings.Join(what, " and ") + " differ"
		if len(d.Cells)+d.FlipsAll == 1 {
			text += "s"
		}
	} else if d.Inputs.differ() {
		text = "different inputs"
	} else if len(d.Unpaired) > 0 {
		text = d.Unpaired[0]
	}
	if p := d.Parted; p != nil {
		text += "; they part at " + p.Step + " (" + p.reason() + ")"
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return report.Number(n) + " " + many
}

// reason is why two sides part, in a few words.
func (p *Parted) reason() string {
	switch {
	case p.Why != "":
		return p.Why
	case len(p.Differs) > 0:
		f := p.Differs[0]
		return f.Field + " is " + report.Clip(f.Ours, 40) + " and " + report.Clip(f.Other, 40)
	}
	return p.Item
}

// WriteText writes the comparison for people: the verdict first, and only what differs. Of a flip
// it prints the turn in which the sides part, with transcripts every reply in full.
func (d *Diff) WriteText(w io.Writer, transcripts bool) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n\n", d.Verdict)
	for i, h := range []Head{d.A, d.B} {
		open := ""
		if !h.Complete {
			open = ", not complete"
		}
		fmt.Fprintf(b, "%s  %s (%s), %s, result %s%s\n", []string{"A", "B"}[i], h.Reproduction, h.Name, h.Rules, h.Result.Short(), open)
	}
	d.specText(b)
	d.inputsText(b)
	madeText(b, "code", d.Code)
	madeText(b, "environment", d.Environment)
	d.partedText(b)
	if err := d.cellsText(b); err != nil {
		return err
	}
	d.flipsText(b, transcripts)
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, name string) { fmt.Fprintf(b, "\n%s\n", name) }

func (d *Diff) specText(b *strings.Builder) {
	if len(d.Spec) == 0 {
		b.WriteString("\nspec         equal\n")
		return
	}
	section(b, "spec: "+plural(len(d.Spec), "field differs", "fields differ"))
	fieldsText(b, d.Spec, "  ")
}

func fieldsText(b *strings.Builder, list []provenance.Difference, indent string) {
	for i, f := range list {
		if i == mostLines {
			fmt.Fprintf(b, "%sand %d more (--json lists them)\n", indent, len(list)-i)
			return
		}
		fmt.Fprintf(b, "%s%s: %s | %s\n", indent, f.Field, report.Clip(f.Ours, 70), report.Clip(f.Other, 70))
	}
}

func (d *Diff) inputsText(b *strings.Builder) {
	in := d.Inputs
	line := func(what string, same bool, n [2]int, only ...[]string) {
		if n[0]+n[1] == 0 {
			return
		}
		if same {
			fmt.Fprintf(b, "%-12s the same %s\n", what, report.Number(n[0]))
			return
		}
		fmt.Fprintf(b, "%-12s A %s, B %s", what, report.Number(n[0]), report.Number(n[1]))
		for i, list := range only {
			if len(list) > 0 {
				fmt.Fprintf(b, "; %s: %s", []string{"only A", "only B", "other questions or pictures"}[i], listed(list))
			}
		}
		b.WriteByte('\n')
	}
	if in.Images[0]+in.Images[1]+in.Cases[0]+in.Cases[1]+in.Questions[0]+in.Questions[1] > 0 {
		b.WriteByte('\n')
	}
	line("images", in.SameImages, in.Images, in.OnlyImagesA, in.OnlyImagesB)
	line("questions", in.SameQuestions, in.Questions, in.OnlyQuestionsA, in.OnlyQuestionsB, in.ChangedQuestions)
	line("cases", in.SameCases, in.Cases, in.OnlyCasesA, in.OnlyCasesB, in.Changed)
}

func listed(list []string) string {
	if len(list) <= mostNamed {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:mostNamed], ", ") + fmt.Sprintf(" and %d more", len(list)-mostNamed)
}

func madeText(b *strings.Builder, name string, list []Made) {
	if len(list) == 0 {
		fmt.Fprintf(b, "%-12s the same\n", name)
		return
	}
	section(b, name)
	for _, m := range list {
		steps := ""
		if len(m.Steps) > 0 {
			steps = " of " + strings.Join(m.Steps, ", ")
		}
		fmt.Fprintf(b, "  %s%s: %s | %s\n", m.Field, steps, report.Clip(listed(m.A), 70), report.Clip(listed(m.B), 70))
	}
}

func (d *Diff) partedText(b *strings.Builder) {
	p := d.Parted
	if p == nil {
		b.WriteString("\nthey part    nowhere: every step that was compared is equal\n")
		return
	}
	section(b, "they part first at "+p.Step+": "+p.Item)
	if len(p.Differs) > 0 {
		fieldsText(b, p.Differs, "  ")
	}
	if p.Why != "" {
		fmt.Fprintf(b, "  %s\n", p.Why)
	}
	for i, k := range []string{p.KeyA.String(), p.KeyB.String()} {
		if !p.KeyA.IsZero() && !p.KeyB.IsZero() {
			fmt.Fprintf(b, "  key of %s  %s\n", []string{"A", "B"}[i], k)
		}
	}
	var states []string
	for _, s := range d.Steps {
		text := fmt.Sprintf("%s %d of %d", s.Step, s.ResultsDiffer, s.Compared)
		if s.Compared > 0 {
			states = append(states, text)
		}
	}
	fmt.Fprintf(b, "  other results: %s\n", strings.Join(states, ", "))
}

func (d *Diff) cellsText(b *strings.Builder) error {
	if len(d.Cells) == 0 {
		fmt.Fprintf(b, "\nfigures      all %s equal\n", report.Number(d.Compared))
		return nil
	}
	t := &report.Table{
		Title: fmt.Sprintf("figures: %s of %s differ", report.Number(len(d.Cells)), report.Number(d.Compared)),
		Columns: []report.Column{{Name: "of"}, {Name: "row"}, {Name: "column"}, {Name: "A", Right: true}, {Name: "k/n", Right: true},
			{Name: "B", Right: true}, {Name: "k/n", Right: true}, {Name: "same cases, paired"}},
		Notes: []string{"k/n: cases, questions, stages or tasks, as the formula counts. A : B are cases that are yes, or more, on one side only: exact McNemar for shares, sign test for depths and rewards, " +
			"95 % paired bootstrap over cases for means of tasks. No test looks at several figures at once."},
	}
	for i, c := range d.Cells {
		if i == 3*mostLines {
			t.Notes = append(t.Notes, fmt.Sprintf("%d more figures differ; --json lists them.", len(d.Cells)-i))
			break
		}
		of := strings.TrimSpace(c.Of + " " + c.Path)
		kn := func(f Figure) string {
			if f.Why != "" || f.N == 0 {
				return ""
			}
			return fmt.Sprintf("%d/%d", f.K, f.N)
		}
		t.Add(report.Text(of), report.Text(title(c.Row)), report.Text(c.Column), report.Text(c.A.Text), report.Text(kn(c.A)), report.Text(c.B.Text), report.Text(kn(c.B)), report.Text(c.Test.String()))
	}
	b.WriteByte('\n')
	return t.WriteText(b)
}

func (d *Diff) flipsText(b *strings.Builder, transcripts bool) {
	for _, u := range d.Unpaired {
		fmt.Fprintf(b, "%s\n", u)
	}
	if d.FlipsAll == 0 {
		if d.FlipsCases > 0 {
			fmt.Fprintf(b, "\noutcomes     all %s equal\n", report.Number(d.FlipsCases))
		}
		return
	}
	section(b, fmt.Sprintf("outcomes: %s of %s differ", report.Number(d.FlipsAll), report.Number(d.FlipsCases)))
	for _, f := range d.Flips {
		of := strings.TrimSpace(f.Of + " " + f.Path)
		if of != "" {
			of += ", "
		}
		number := fmt.Sprintf("case %d", f.Case)
		if f.Of != "" && f.Path == "" {
			number = fmt.Sprintf("question %d", f.Case)
		}
		if f.Of != "" && f.CaseB != f.Case {
			number += fmt.Sprintf(" (B: %d)", f.CaseB)
		}
		fmt.Fprintf(b, "  %s%s, %s: %s -> %s\n", of, title(f.Task), number, f.Before, f.After)
		fieldsText(b, f.Fields, "      ")
		turnsText(b, f.Turns, transcripts)
	}
	if n := d.FlipsAll - len(d.Flips); n > 0 {
		fmt.Fprintf(b, "  and %d more (--flips)\n", n)
	}
}

// turnsText prints the questions of a flip: those before and after the first in which the sides
// part in one line each side of it.
func turnsText(b *strings.Builder, turns []TurnPair, all bool) {
	var line []string
	rest := func() {
		if len(line) > 0 {
			fmt.Fprintf(b, "      %s\n", strings.Join(line, ", "))
		}
		line = nil
	}
	parted := false
	for _, t := range turns {
		switch {
		case all || t.Parts() && !parted:
			rest()
			parted = parted || t.Parts()
			turnText(b, t, all)
		case t.ScoreA == t.ScoreB:
			line = append(line, t.Key+" "+t.ScoreA)
		default:
			line = append(line, t.Key+" "+scored(t.ScoreA)+" | "+scored(t.ScoreB))
		}
	}
	rest()
}

func scored(s string) string {
	if s == "" {
		return "not asked"
	}
	return s
}

// turnText prints one question with both replies.
func turnText(b *strings.Builder, t TurnPair, all bool) {
	letters := replyLetters
	if all {
		letters = 1 << 20
	}
	side := func(name, score, reply, judge string) {
		fmt.Fprintf(b, "        %s  %s", name, scored(score))
		if score != "" {
			fmt.Fprintf(b, ": %s", report.Clip(reply, letters))
		}
		if judge != "" {
			fmt.Fprintf(b, " (judge: %s)", report.Clip(judge, letters))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "      %s\n", t.Key)
	if all && !t.Parts() {
		side("both", t.ScoreA, t.ReplyA, t.JudgeA)
		return
	}
	side("A", t.ScoreA, t.ReplyA, t.JudgeA)
	side("B", t.ScoreB, t.ReplyB, t.JudgeB)
}
