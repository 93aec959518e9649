package derive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// DrawCasesKey is the key of a benchmark's cases, drawn out of the rows of every window.
func DrawCasesKey(manifest artifacts.Digest, assessed []contract.Assessed, r cxreasonbench.Recipe, quotas []int) (artifacts.KeyDoc, error) {
	rows, err := artifacts.Canonical(assessed)
	if err != nil {
		return artifacts.KeyDoc{}, err
	}
	return contract.DrawCasesKey(manifest, artifacts.Sum(rows), r, quotas), nil
}

// BuildCaseKey is the key of the questions and pictures of a drawn case.
func (p *Plan) BuildCaseKey(c *contract.DrawnCase, r cxreasonbench.Recipe, prompts *cxreasonbench.Pack) artifacts.KeyDoc {
	return contract.BuildCaseKey(c, r, prompts.Questions(), p.caseRows(c))
}

// caseRows are the threshold rows that the positions in the case's pictures depend on: those of
// its own task and of every task that lends it a structure, without the limits of labels. All
// of these tasks passed, as the source says, so that a label can change neither a position
// nor whether there is one; and no question or answer is made from it.
func (p *Plan) caseRows(c *contract.DrawnCase) map[string]any {
	rows := map[string]any{}
	for _, t := range CaseTasks(c) {
		maps.Copy(rows, p.Rules.KeyParams(t))
	}
	maps.DeleteFunc(rows, func(name string, _ any) bool { return strings.Contains(name, ".label.") })
	return rows
}

// CaseTasks are the tasks that a case's pictures show something of, its own first.
func CaseTasks(c *contract.DrawnCase) []cxreasonbench.Task {
	tasks := []cxreasonbench.Task{c.Source.Task}
	for _, o := range c.Source.Overlays {
		if !slices.Contains(tasks, o.Task) {
			tasks = append(tasks, o.Task)
		}
	}
	return tasks
}

// Count adds a case's document to what a chunk built: a document without items is that of a
// case of which a picture cannot be shown.
func Count(b *contract.BuiltCases, task cxreasonbench.Task, doc *contract.CaseDoc, ref artifacts.Ref) {
	if len(doc.Items) == 0 {
		b.Dropped = contract.AddCount(b.Dropped, task.String(), 1)
		return
	}
	b.Tally.Count(doc.Items...)
	b.Cases = append(b.Cases, contract.BenchmarkCase{Task: task, ID: doc.ID, Doc: ref})
}

// Assemble joins built cases into the manifest of the benchmark.
//
// Errors: fewer or more cases than were drawn; no case at all.
func (p *Plan) Assemble(r cxreasonbench.Recipe, prompts *cxreasonbench.Pack, drawn *contract.BenchmarkPlan, built []contract.BuiltCases) (contract.Benchmark, error) {
	doc := contract.Benchmark{
		Source: experiments.SourceBuild, Rules: r.Rules.String(), Seed: r.Seed,
		System: prompts.System(), Prompts: prompts.Digest(),
	}
	var dropped []contract.Count
	for i, b := range built {
		if b.Chunk != i {
			return doc, fmt.Errorf("built chunk %d stands at place %d", b.Chunk, i)
		}
		doc.Cases = append(doc.Cases, b.Cases...)
		doc.Tally.Add(b.Tally)
		dropped = contract.AddCounts(dropped, b.Dropped)
	}
	if got := len(doc.Cases) + contract.Total(dropped); got != len(drawn.Cases) {
		return doc, fmt.Errorf("%d cases were built or dropped, %d were drawn", got, len(drawn.Cases))
	}
	doc.Tasks = tasksTold(drawn.Tasks, dropped)
	return doc, p.Finish(&doc)
}

// tasksTold counts dropped cases as left out.
func tasksTold(tasks []cxreasonbench.TaskManifest, dropped []contract.Count) []cxreasonbench.TaskManifest {
	out := slices.Clone(tasks)
	for _, d := range dropped {
		for i := range out {
			if out[i].Task.String() != d.Name {
				continue
			}
			left := map[cxreasonbench.Ineligibility]int{cxreasonbench.MissingOverlay: d.N}
			for reason, n := range out[i].Left {
				left[reason] += n
			}
			out[i].Cases, out[i].Left = out[i].Cases-d.N, left
		}
	}
	return out
}

// Finish sorts and completes a manifest.
//
// Errors: one without cases.
func (p *Plan) Finish(doc *contract.Benchmark) error {
	doc.Format, doc.DataUse = contract.BenchmarkFormat, p.Spec.Dataset.DataUse
	slices.SortFunc(doc.Cases, func(x, y contract.BenchmarkCase) int {
		return cmp.Or(cmp.Compare(TaskPlace(x.Task), TaskPlace(y.Task)), cmp.Compare(x.ID, y.ID))
	})
	if len(doc.Cases) == 0 {
		return contract.Fail(contract.ErrTypeDataset, "the benchmark has no case; %s", LeftOut(doc.Tasks))
	}
	return nil
}

// TaskPlace is a task's place in the order of the tables, -1 for none of them.
func TaskPlace(t cxreasonbench.Task) int { return slices.Index(cxreasonbench.Tasks(), t) }

// LeftOut says why candidates were left out, for people.
func LeftOut(tasks []cxreasonbench.TaskManifest) string {
	var counts []contract.Count
	for _, t := range tasks {
		for reason, n := range t.Left {
			counts = contract.AddCount(counts, string(reason), n)
		}
	}
	return "left out: " + contract.CountsInWords(counts)
}

// TabulateKey is the key of the tables: what is counted, and what they print about it.
func (p *Plan) TabulateKey(benchmark artifacts.Digest, evaluations []artifacts.Digest) (artifacts.KeyDoc, error) {
	e := p.Spec.Evaluation
	if e == nil {
		return artifacts.KeyDoc{}, contract.Fail(contract.ErrTypeSpec, "plan %s evaluates nothing", p.Ref.Digest.Short())
	}
	return contract.TabulateKey(benchmark, evaluations, map[string]any{
		"name": p.Spec.Name, "paper": p.Spec.Paper, "scoring": e.Scoring, "bootstrap": e.Bootstrap, "seed": e.Seed,
		"models": p.Models, "judge": p.Judge,
	}), nil
}
