package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/answer"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
	tables "cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
)

// Readings of `rescore`.
const (
	readParser    = "parser"
	readJudge     = "judge"
	readSubstring = "substring"
)

func newRescoreCommand(a *app) *cobra.Command {
	var reading string
	c := &cobra.Command{
		Use:   "rescore [RUN|ID] --scoring parser|judge|substring",
		Short: "Score the stored replies of an evaluation in another way",
		Long: `rescore reads every stored reply of an evaluation again and lists the flips: replies that
now get another score than in the run. It makes no call to a model, and changes nothing that is
stored.

parser reads replies without a judge, as this program does now; judge reads the judge's stored
texts as single verdict words; substring reads them as the authors' programs do.

A flip can change what would have been asked. Dialogues that would go on with a question that
was never asked are counted as open and are in no denominator of the figures after; those
that would no longer come to Path 2 are counted as leaving.

RUN and ID are as for ` + "`cxrepro report`" + `.

With --json: reproduction_id, scoring, calls (always 0), complete, evaluations[{name, model, sampling,
read, same, kappa, unread, open, entering, leaving, flips[{task,case,key,draw,before,after}],
completion[{path,before,after}]}].

Exit codes: 0 done; 2 usage, or nothing stored that could be read so; 3 done, of a run with
undetermined cases; 6 store unreachable.`,
		Example: `  cxrepro rescore --scoring parser
  cxrepro rescore cxreasonbench-demo --scoring substring --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			return a.rescore(c.Context(), which, reading)
		},
	}
	c.Flags().StringVar(&reading, "scoring", "", "parser, judge or substring")
	return c
}

// rescored is what came of one evaluation.
type rescored struct {
	Name       string               `json:"name"`
	Model      string               `json:"model"`
	Sampling   string               `json:"sampling"`
	Read       int                  `json:"read"`
	Same       int                  `json:"same"`
	Kappa      *float64             `json:"kappa"`
	Unread     int                  `json:"unread"`
	Open       int                  `json:"open"`
	Entering   int                  `json:"entering"`
	Leaving    int                  `json:"leaving"`
	Flips      []cxreasonbench.Flip `json:"flips"`
	Completion []beforeAfter        `json:"completion"`
}

// beforeAfter is the overall completion of a path in both readings; nil without a value.
type beforeAfter struct {
	Path   cxreasonbench.Path `json:"path"`
	Before *float64           `json:"before"`
	After  *float64           `json:"after"`
}

func (a *app) rescore(ctx context.Context, which, reading string) error {
	if !slices.Contains([]string{readParser, readJudge, readSubstring}, reading) {
		return usageError("give --scoring parser, judge or substring", "--scoring %q is not known", reading)
	}
	e, err := a.openEvaluation(ctx, which)
	if err != nil {
		return err
	}
	if reading != readParser && e.summary.Judge == nil {
		return usageError("use --scoring parser", "reproduction %s had no judge, so there are no verdicts to read", e.receipt.Reproduction)
	}
	var list []rescored
	for i := range e.docs {
		r, err := e.rescoreOne(ctx, i, reading)
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(map[string]any{
			"reproduction_id": e.receipt.Reproduction, "scoring": reading, "calls": 0, "complete": !e.receipt.Incomplete(), "evaluations": list,
		})
	} else {
		err = printRescored(a.out, e, reading, list)
	}
	if err == nil && e.receipt.Incomplete() {
		return a.undetermined(e.receipt)
	}
	return err
}

// rescoreOne reads the replies of one evaluation again.
func (e *evaluated) rescoreOne(ctx context.Context, i int, reading string) (rescored, error) {
	s := &e.summary.Evaluations[i]
	out := rescored{Name: s.Name, Model: s.Model.Title, Sampling: s.Sampling, Flips: []cxreasonbench.Flip{}}
	ref := e.docs[i].Evaluation
	var err error
	if ref.Rules, err = rulesOfReading(ref.Rules, reading); err != nil {
		return out, err
	}
	rd := &rereader{ctx: ctx, e: e, rules: ref.Rules}
	read := rd.parse
	if reading != readParser {
		read = rd.verdict
	}
	again := scoring.NewRescored(ref, read, rd.value)
	err = e.pages(ctx, i, func(page *contract.DialoguesDoc) error {
		rd.task = page.Task
		return again.Add(page)
	})
	if err != nil {
		return out, err
	}
	again.Close()
	flips, agreement, _ := cxreasonbench.Flips(again.Before, again.After)
	if flips != nil {
		out.Flips = flips
	}
	same := agreement.Observed()
	out.Read, out.Same, out.Unread = same.N, same.K, again.Unread
	out.Open, out.Entering, out.Leaving = again.Open, again.Entering, again.Leaving
	if k, ok := agreement.Kappa(); ok {
		out.Kappa = &k
	}
	after := again.Counted().Summary(s.Model, s.Sampling, scoring.Bootstrap{})
	for k, p := range s.Paths {
		out.Completion = append(out.Completion, beforeAfter{p.Path, overallCompletion(&s.Paths[k]), overallCompletion(&after.Paths[k])})
	}
	return out, nil
}

func overallCompletion(p *contract.SummaryPath) *float64 {
	for _, row := range p.Groups {
		for _, c := range row.Cells {
			if row.Name == cxreasonbench.Overall.String() && c.Column == cxreasonbench.Completion.String() {
				return c.Plain.Value
			}
		}
	}
	return nil
}

// rulesOfReading are the rules with the verdict reading that was asked for.
func rulesOfReading(rules cxreasonbench.Rules, reading string) (cxreasonbench.Rules, error) {
	want := map[string]string{readJudge: cxreasonbench.Words, readSubstring: cxreasonbench.Substring}[reading]
	if want == "" {
		return rules, nil
	}
	overrides := map[string]string{}
	for _, o := range rules.Overrides() {
		name, value, _ := strings.Cut(o, "=")
		overrides[name] = value
	}
	overrides[string(cxreasonbench.VerdictReading)] = want
	return cxreasonbench.NewRules(rules.Preset(), overrides)
}

// rereader reads stored replies and verdicts. task is that of the page in hand.
type rereader struct {
	ctx   context.Context
	e     *evaluated
	rules cxreasonbench.Rules
	task  cxreasonbench.Task
}

func (r *rereader) question(t *cxreasonbench.Turn) (*cxreasonbench.Question, error) {
	n, err := scoring.CaseNumber(t.Case)
	if err != nil {
		return nil, err
	}
	doc, err := r.e.caseDoc(r.ctx, n)
	if err != nil {
		return nil, err
	}
	q, ok := cxreasonbench.FindQuestion(doc.Items, t.Key)
	if !ok {
		return nil, fmt.Errorf("case %d has no question %s", n, t.Key)
	}
	return &q, nil
}

// parse reads a reply without a judge. What was no reply stays what it was.
func (r *rereader) parse(t *cxreasonbench.Turn, _ *contract.TurnDoc, i int) (cxreasonbench.Score, cxreasonbench.Terminal, bool, error) {
	d := t.Draws[i]
	if d.Reply.IsZero() {
		return 0, 0, false, nil
	}
	a, err := r.e.answer(r.ctx, d.Reply)
	if err != nil {
		return 0, 0, false, err
	}
	if a.Outcome != lvlm.Answered && d.Terminal != 0 {
		return cxreasonbench.Wrong, d.Terminal, true, nil
	}
	q, err := r.question(t)
	if err != nil {
		return 0, 0, false, err
	}
	s, terminal, err := cxreasonbench.ScoreParsed(q, answer.Parse(q.Readable(), a.Text))
	return s, terminal, err == nil, err
}

// verdict reads the judge's stored text.
func (r *rereader) verdict(t *cxreasonbench.Turn, doc *contract.TurnDoc, i int) (cxreasonbench.Score, cxreasonbench.Terminal, bool, error) {
	d := t.Draws[i]
	if d.Terminal != 0 {
		return cxreasonbench.Wrong, d.Terminal, true, nil
	}
	ref := doc.Draws[i].Verdict
	if ref.IsZero() {
		return 0, 0, false, nil
	}
	a, err := r.e.answer(r.ctx, ref)
	if err != nil {
		return 0, 0, false, err
	}
	v, ok := cxreasonbench.ReadVerdict(r.rules, cxreasonbench.JudgementOf(r.rules, r.task, t.Key).Prompt, a.Text)
	return v.Score, 0, ok, nil
}

// value reads the value of a final reply that was not kept in the run. What the judge would
// extract from it was never asked, so it is read from the reply.
func (r *rereader) value(task cxreasonbench.Task, t cxreasonbench.Turn) (contract.ValueDoc, error) {
	v := contract.ValueDoc{Key: t.Key, Form: cxreasonbench.NoNumber.String(), Terminal: t.Draws[t.Kept].Terminal}
	ref := t.Draws[t.Kept].Reply
	if ref.IsZero() {
		return v, nil
	}
	a, err := r.e.answer(r.ctx, ref)
	if err != nil {
		return v, err
	}
	before := t
	before.Key.Stage = cxreasonbench.StageMeasurement
	q, err := r.question(&before)
	if err != nil {
		return v, err
	}
	v.Form = cxreasonbench.FormOf(task, a.Text).String()
	v.Consistent = cxreasonbench.Consistent(r.rules, task, q.Answer, a.Text)
	return v, nil
}

func printRescored(w io.Writer, e *evaluated, reading string, list []rescored) error {
	const agreement = "agreement"
	sum := &tables.Table{
		Title: "Replies of " + e.summary.Name + " read again: " + reading,
		Columns: []tables.Column{{Name: "model"}, {Name: "sampling"}, {Name: "same score", Right: true}, {Name: "kappa", Right: true}, {Name: "flips", Right: true},
			{Name: "not readable", Right: true}, {Name: "open", Right: true}, {Name: "entering", Right: true}, {Name: "leaving", Right: true}},
		Formulas: []tables.Formula{{ID: agreement, Text: "k of the n stored replies get the score of the run"}},
		Notes:    []string{"No call was made. Open dialogues would go on with questions that were never asked; entering ones would come to Path 2 for the first time, leaving ones no longer."},
	}
	if e.receipt.Incomplete() {
		sum.Title += ", not complete"
		sum.Notes = append(sum.Notes, "Not complete: cases of the run are undetermined, and only replies that are stored were read.")
	}
	flips := &tables.Table{Title: "Flips", Columns: []tables.Column{{Name: "model"}, {Name: "sampling"}, {Name: "task"}, {Name: "case", Right: true}, {Name: "question"}, {Name: "draw", Right: true}, {Name: "before"}, {Name: "after"}}}
	completion := &tables.Table{Title: "Completion, all tasks, in the paper's formula", Columns: []tables.Column{{Name: "model"}, {Name: "sampling"}, {Name: "path"}, {Name: "before", Right: true}, {Name: "after", Right: true}}}
	number := func(v *float64) tables.Cell {
		if v == nil {
			return tables.None("no task has a value")
		}
		return tables.Text(fmt.Sprintf("%.2f", *v))
	}
	for _, r := range list {
		kappa := tables.None("every reply has the same score")
		if r.Kappa != nil {
			kappa = tables.Text(fmt.Sprintf("%.3f", *r.Kappa))
		}
		sum.Add(tables.Text(r.Model), tables.Text(r.Sampling), tables.Share(r.Same, r.Read, agreement), kappa, tables.Count(len(r.Flips), ""),
			tables.Count(r.Unread, ""), tables.Count(r.Open, ""), tables.Count(r.Entering, ""), tables.Count(r.Leaving, ""))
		for _, f := range r.Flips {
			flips.Add(tables.Text(r.Model), tables.Text(r.Sampling), tables.Text(f.Task.String()), tables.Text(f.Case), tables.Text(f.Key.String()),
				tables.Text(fmt.Sprint(f.Draw+1)), tables.Text(f.Before.String()), tables.Text(f.After.String()))
		}
		for _, c := range r.Completion {
			completion.Add(tables.Text(r.Model), tables.Text(r.Sampling), tables.Text(cxreasonbench.PathTitle(c.Path)), number(c.Before), number(c.After))
		}
	}
	for _, t := range []*tables.Table{sum, flips, completion} {
		if len(t.Rows) == 0 {
			continue
		}
		if err := t.WriteText(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
}
