package plan

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
)

// benchmark is what is known of the questions.
type benchmark struct {
	// doc holds the cases whose questions are known; whole says that these are all, and ref
	// names the manifest then.
	doc   *derive.Benchmark
	ref   artifacts.Ref
	whole bool
	// unbuilt are drawn cases whose questions are to be built, by task; undrawn says that not
	// even the draw is known, and quotas bound it.
	unbuilt map[cxreasonbench.Task][]string
	undrawn bool
	quotas  []int
}

// drawWindows is the largest data set, in windows, of which cases are drawn only to know them.
const drawWindows = 256

// cases walks the draw and the questions of a benchmark that is built.
func (p *planner) cases(ctx context.Context) error {
	s := p.pl.Spec.Benchmark
	if s == nil || p.release() {
		return nil
	}
	recipe, quotas, err := experiments.BenchmarkRecipe(&p.pl.Spec)
	if err != nil {
		return err
	}
	p.bench.quotas = quotas
	prompts, err := derive.Prompts(p.pl.Plan, p.docs.pack(ctx))
	if err != nil {
		return err
	}
	if err := p.draw(ctx, recipe, quotas); err != nil {
		return err
	}
	p.bench.doc = &derive.Benchmark{Benchmark: contract.Benchmark{Format: contract.BenchmarkFormat, System: prompts.System(), DataUse: p.pl.Spec.Dataset.DataUse}}
	if p.drawn == nil {
		p.undrawn(quotas)
		return nil
	}
	return p.build(ctx, recipe, prompts)
}

// draw counts the draw, and draws where that is cheap.
func (p *planner) draw(ctx context.Context, recipe cxreasonbench.Recipe, quotas []int) error {
	list, whole := p.assessed()
	doc, err := derive.DrawCasesKey(p.out.Data.Manifest, list, recipe, quotas)
	if err != nil {
		return err
	}
	row := p.step(contract.StepDrawCases)
	if !whole {
		// The key names those of the assessment: where one of them is new, so is this one.
		fresh := false
		for i := range p.windows {
			fresh = fresh || p.windows[i].fresh || p.windows[i].whole && !p.windows[i].known()
		}
		if fresh {
			row.missing(1)
		} else {
			row.perhaps(sure(1), about(0, 1, 1))
		}
		row.why.after(p.lastMissing(), 1)
		return nil
	}
	var other *artifacts.KeyDoc
	if p.base != nil && p.base.drawn != nil {
		other = &p.base.drawKey
	}
	e, found, err := p.one(ctx, doc, other)
	if err != nil {
		return err
	}
	if found {
		p.drawn, err = get[*contract.BenchmarkPlan](ctx, p.docs, e.Result)
		return err
	}
	if p.o.Draw == nil || len(list) > drawWindows {
		p.note("the draw of cases is not known before it has run: %d windows are too many to draw on the way", len(list))
		return nil
	}
	p.drawn, err = p.o.Draw(ctx, p.o.Ref, p.data.Ref, list)
	return err
}

// undrawn counts cases of an unknown draw: one at least, as many as are asked for at most.
func (p *planner) undrawn(quotas []int) {
	most := 0
	for _, q := range quotas {
		most += q
	}
	needed := span(1, float64(most))
	if p.base != nil && p.base.drawn != nil {
		needed = about(1, float64(most), float64(len(p.base.drawn.Cases)))
	}
	row := p.step(contract.StepBuildCase)
	row.perhaps(needed, span(0, float64(most)))
	row.why.after(contract.StepDrawCases, most)
	p.bench.undrawn = true
}

// build counts the cases, and joins those that are there into what is known of the benchmark.
func (p *planner) build(ctx context.Context, recipe cxreasonbench.Recipe, prompts *cxreasonbench.Pack) error {
	docs := make([]artifacts.KeyDoc, len(p.drawn.Cases))
	for i := range p.drawn.Cases {
		docs[i] = p.pl.BuildCaseKey(&p.drawn.Cases[i], recipe, prompts)
	}
	keys, err := digests(docs)
	if err != nil {
		return err
	}
	found, err := p.shelf.Present(ctx, keys)
	if err != nil {
		return err
	}
	row := p.step(contract.StepBuildCase)
	p.bench.unbuilt, p.bench.whole = map[cxreasonbench.Task][]string{}, true
	built := []contract.BuiltCases{}
	for i := range p.drawn.Cases {
		if i%contract.CaseChunk == 0 {
			built = append(built, contract.BuiltCases{Chunk: i / contract.CaseChunk, Cases: []contract.BenchmarkCase{}})
		}
		c := &p.drawn.Cases[i]
		p.know(artifacts.Key{Step: contract.StepBuildCase, Digest: keys[i]})
		e, ok := found[keys[i]]
		if !ok {
			if err := row.lacks(docs[i], p.base.sameCase(c)); err != nil {
				return err
			}
			p.bench.unbuilt[c.Source.Task] = append(p.bench.unbuilt[c.Source.Task], c.Source.Case)
			p.bench.whole = false
			continue
		}
		row.found(p.mine(e), 1)
		doc, err := get[*contract.CaseDoc](ctx, p.docs, e.Result)
		if err != nil {
			return err
		}
		derive.Count(&built[len(built)-1], c.Source.Task, doc, e.Result)
	}
	if p.bench.whole {
		doc, err := p.pl.Assemble(recipe, prompts, p.drawn, built)
		if err != nil {
			return err
		}
		p.bench.doc.Benchmark = doc
		p.bench.ref, err = refOf(doc, contract.BenchmarkMediaType)
		return err
	}
	for _, b := range built {
		p.bench.doc.Cases = append(p.bench.doc.Cases, b.Cases...)
	}
	if len(p.bench.doc.Cases) == 0 {
		return nil
	}
	return p.pl.Finish(&p.bench.doc.Benchmark)
}

// caseKey is the key of the base's case i.
func (b *base) caseKey(i int) artifacts.KeyDoc {
	return b.pl.BuildCaseKey(&b.drawn.Cases[i], b.recipe, b.prompts)
}

// sameCase is the base's key of the same case, nil for none.
func (b *base) sameCase(c *contract.DrawnCase) *artifacts.KeyDoc {
	if b == nil || b.drawn == nil {
		return nil
	}
	i := slices.IndexFunc(b.drawn.Cases, func(o contract.DrawnCase) bool {
		return o.Source.Task == c.Source.Task && o.Source.Case == c.Source.Case
	})
	if i < 0 {
		return nil
	}
	doc := b.caseKey(i)
	return &doc
}
