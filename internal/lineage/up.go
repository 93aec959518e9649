package lineage

import (
	"context"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// up returns what depends on a node.
func (x *Explorer) up(ctx context.Context, n *Node) ([]next, error) {
	switch n.Kind {
	case KindCell, KindReproduction, KindCode, KindPlan:
		return nil, nil
	case KindTable:
		return x.cellsOfTable(ctx, n)
	case KindEvaluation:
		return x.cellsOf(ctx, n, func(*cxreasonbench.CellRef) bool { return true })
	case KindDialogue:
		return x.scored(ctx, n)
	case KindCall:
		return x.heard(ctx, n)
	case KindQuestion:
		return x.answered(ctx, n)
	case KindCase:
		return x.asking(ctx, n)
	case KindFinding:
		return x.found(ctx, n)
	case KindFindings:
		return x.summed(ctx, n)
	case KindBenchmark:
		return x.put(ctx, n)
	case KindMasks, KindFacts, KindImage:
		return x.pictured(ctx, n)
	case KindModel:
		return x.modelled(ctx, n)
	}
	return x.using(ctx, n)
}

// using is one hop up without the documents that only list things: what lists an artifact does
// not depend on it.
func (x *Explorer) using(ctx context.Context, n *Node) ([]next, error) {
	found, err := x.hop(ctx, n, Up)
	return slices.DeleteFunc(found, func(f next) bool {
		return f.name == "refers to" && f.node.Kind != KindTable && f.node.Kind != KindEvaluation
	}), err
}

// cellsOf are the figures of an evaluation that a filter takes.
func (x *Explorer) cellsOf(ctx context.Context, n *Node, take func(*cxreasonbench.CellRef) bool) ([]next, error) {
	r := n.at.run
	if r == nil {
		return x.using(ctx, n)
	}
	if _, err := r.Evaluations(ctx); err != nil {
		return nil, err
	}
	var out []next
	for i := range r.cells {
		// The refined figure and the textbook reading stand in the same cell.
		if c := &r.cells[i]; c.Evaluation == n.at.evaluation && c.Ref.Kind == "" && take(c) {
			out = append(out, next{r.cellNode(*c), "counted in"})
		}
	}
	return out, nil
}

// scored are the figures that count a dialogue, and of Path 1 the dialogue that follows it.
func (x *Explorer) scored(ctx context.Context, n *Node) ([]next, error) {
	p, d := n.at.page, &n.at.page.doc.Dialogues[n.at.dialogue]
	var out []next
	if d.Undetermined == nil {
		cells, err := x.cellsOf(ctx, n, func(c *cxreasonbench.CellRef) bool {
			path := c.Path
			if path == cxreasonbench.RePath1 && d.Review >= 0 {
				path = cxreasonbench.Path2
			}
			return path == p.key.path && slices.Contains(c.Tasks(), p.key.task)
		})
		if err != nil {
			return nil, err
		}
		out = cells
	}
	if p.key.path != cxreasonbench.Path1 {
		return out, nil
	}
	after, i, err := x.dialogueOf(ctx, p.run, pagesKey{p.key.evaluation, p.key.task, cxreasonbench.Path2}, d.Case)
	if after == nil || err != nil {
		return out, err
	}
	return append(out, next{after.node(i), "Path 1"}), nil
}

// heard is what an answer went into: its dialogue, the judge's calls about it, and the later
// calls of the dialogue that repeat it.
func (x *Explorer) heard(ctx context.Context, n *Node) ([]next, error) {
	if n.at.page == nil {
		return x.places(ctx, n)
	}
	p, i := n.at.page, n.at.dialogue
	out := []next{{p.node(i), n.at.kind.String()}}
	if n.at.kind != cxreasonbench.CallModel {
		return out, nil
	}
	asks, err := p.asks(ctx, i)
	if err != nil {
		return nil, err
	}
	t := own(&p.doc.Dialogues[i])[n.at.turn]
	for _, a := range asks {
		at := a.node.at
		switch {
		case at.kind != cxreasonbench.CallModel && at.turn == n.at.turn && at.draw == n.at.draw:
			out = append(out, next{a.node, "reply"})
		case at.kind == cxreasonbench.CallModel && at.turn > n.at.turn && n.at.draw == t.Kept:
			out = append(out, next{a.node, "answer to " + t.Key.String()})
		}
	}
	return out, nil
}

// places finds the dialogues that a call belongs to: among those on the pages that refer to its
// answer the ones whose account names its key.
func (x *Explorer) places(ctx context.Context, n *Node) ([]next, error) {
	links, err := x.links(ctx, n.Digest, Up)
	if err != nil {
		return nil, err
	}
	var out []next
	for _, l := range links {
		if !l.Key.IsZero() {
			continue
		}
		for _, r := range x.runs {
			p, err := r.pageAt(ctx, l.From)
			if err != nil {
				return nil, err
			}
			if p == nil {
				continue
			}
			for i := range p.doc.Dialogues {
				asks, err := p.asks(ctx, i)
				if err != nil {
					return nil, err
				}
				if k := slices.IndexFunc(asks, func(a next) bool { return a.node.ID == n.ID }); k >= 0 {
					out = append(out, next{p.node(i), asks[k].node.at.kind.String()})
				}
			}
		}
	}
	return out, nil
}

// pageAt returns a page of the run by its digest; nil for one of another run.
func (r *Run) pageAt(ctx context.Context, d artifacts.Digest) (*page, error) {
	if r.pageOf == nil {
		r.pageOf = map[artifacts.Digest]*page{}
		for i := range r.Receipt.Evaluations {
			doc, err := r.evaluation(ctx, i)
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			for _, t := range doc.Tasks {
				for _, path := range []cxreasonbench.Path{cxreasonbench.Path1, cxreasonbench.Path2} {
					pages, err := r.pagesOf(ctx, pagesKey{i, t.Task, path})
					if err != nil && !gone(err) {
						return nil, err
					}
					for _, p := range pages {
						r.pageOf[p.ref.Digest] = p
					}
				}
			}
		}
	}
	return r.pageOf[d], nil
}

// answered are the calls that put a question of a case.
func (x *Explorer) answered(ctx context.Context, n *Node) ([]next, error) {
	if n.at.run == nil {
		return x.using(ctx, n)
	}
	var out []next
	err := x.dialoguesOf(ctx, n.at.run, n.at.number, func(p *page, i int) error {
		asks, err := p.asks(ctx, i)
		if err != nil {
			return err
		}
		for _, a := range asks {
			t := own(&p.doc.Dialogues[i])[a.node.at.turn]
			if t.Key == n.at.question && t.Case == strconv.Itoa(n.at.number) {
				out = append(out, next{a.node, "question"})
			}
		}
		return nil
	})
	return out, err
}

// dialoguesOf calls fn for every dialogue about a case, or that re-evaluates on it.
func (x *Explorer) dialoguesOf(ctx context.Context, r *Run, number int, fn func(p *page, i int) error) error {
	b, err := r.Benchmark(ctx)
	if err != nil {
		return err
	}
	task := b.Cases[number].Task
	for e := range r.Receipt.Evaluations {
		for _, path := range []cxreasonbench.Path{cxreasonbench.Path1, cxreasonbench.Path2} {
			pages, err := r.pagesOf(ctx, pagesKey{e, task, path})
			if err != nil {
				return err
			}
			for _, p := range pages {
				for i := range p.doc.Dialogues {
					if d := &p.doc.Dialogues[i]; d.Case == number || d.Review == number {
						if err := fn(p, i); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// asking is what came of a case in every run that asks about it: its questions and dialogues.
func (x *Explorer) asking(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		number, ok, err := r.caseNumber(ctx, n.Digest)
		if err != nil && !gone(err) {
			return nil, err
		}
		if !ok {
			continue
		}
		doc, err := r.caseDoc(ctx, number)
		if err != nil {
			return nil, err
		}
		for _, item := range doc.Items {
			for _, q := range item.Questions {
				to, err := r.questionNode(ctx, number, q.Key)
				if err != nil {
					return nil, err
				}
				out = append(out, next{to, "item"})
			}
		}
		err = x.dialoguesOf(ctx, r, number, func(p *page, i int) error {
			out = append(out, next{p.node(i), "case"})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// found is what a row of findings goes into: the figures of the table of labels that count it,
// and the cases of its image and task.
func (x *Explorer) found(ctx context.Context, n *Node) ([]next, error) {
	r, f := n.at.run, n.at.finding
	var out []next
	o, err := r.outcome(ctx, f.doc, f.place)
	if err != nil {
		return nil, err
	}
	keep, err := x.keeps(ctx, r, f)
	if err != nil {
		return nil, err
	}
	labels, err := r.Labels(ctx)
	if err != nil {
		return nil, err
	}
	if labels != nil && keep {
		for _, l := range labels.Labels() {
			if l.Task == f.task && o.counts(&l) {
				cell, err := r.labelNode(ctx, l.Ref)
				if err != nil {
					return nil, err
				}
				out = append(out, next{cell, "counted in"})
			}
		}
	}
	cases, err := x.casesOf(ctx, r, f.image.Image)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if task := r.bench.Cases[c.at.number].Task.String(); task == f.task || f.task == chexstruct.Global.String() {
			out = append(out, next{c, "finding"})
		}
	}
	return out, nil
}

// keeps reports whether the global filter keeps a row's image.
func (x *Explorer) keeps(ctx context.Context, r *Run, f *finding) (bool, error) {
	rows, err := r.rowsOf(ctx, f.image.Image)
	if err != nil {
		return false, err
	}
	for _, g := range rows {
		if g.task == chexstruct.Global.String() {
			o, err := r.outcome(ctx, g.doc, g.place)
			return err == nil && !o.removes(), err
		}
	}
	return false, nil
}

// casesOf are the cases of a run that were built from an image.
func (x *Explorer) casesOf(ctx context.Context, r *Run, image artifacts.Digest) ([]Node, error) {
	links, err := x.links(ctx, image, Up)
	if err != nil {
		return nil, err
	}
	var out []Node
	for _, l := range links {
		n, ok, err := r.caseNumber(ctx, l.From)
		if err != nil {
			return nil, err
		}
		if !ok || l.Key.IsZero() {
			continue
		}
		c, err := x.caseNode(ctx, r, n)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// summed is what a task's findings of a whole window go into: the figures of the table of
// labels, and the draw of the cases, which looks at every row.
func (x *Explorer) summed(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		task, err := r.taskOf(ctx, n.Digest)
		if err != nil && !gone(err) {
			return nil, err
		}
		if task == "" {
			continue
		}
		labels, err := r.Labels(ctx)
		if err != nil {
			return nil, err
		}
		if labels != nil {
			for _, l := range labels.Labels() {
				if l.Task == task || task == chexstruct.Global.String() {
					cell, err := r.labelNode(ctx, l.Ref)
					if err != nil {
						return nil, err
					}
					out = append(out, next{cell, "counted in"})
				}
			}
		}
		if b, err := r.Benchmark(ctx); err != nil {
			return nil, err
		} else if b != nil && !r.Receipt.Manifest.IsZero() {
			out = append(out, next{r.benchmarkNode(), "drawn from"})
		}
	}
	return out, nil
}

// taskOf is the task of a window's findings; empty for findings of another run.
func (r *Run) taskOf(ctx context.Context, doc artifacts.Digest) (string, error) {
	if r.taskBy == nil {
		chunks, err := r.chunks(ctx)
		if err != nil {
			return "", err
		}
		by := map[artifacts.Digest]string{}
		for i := range chunks {
			assessed, ok, err := r.window(ctx, i)
			if err != nil {
				return "", err
			}
			if ok {
				for _, t := range assessed.Tasks {
					by[t.Result.Digest] = t.Task
				}
			}
		}
		r.taskBy = by
	}
	return r.taskBy[doc], nil
}

// put are the evaluations of a benchmark.
func (x *Explorer) put(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		if r.Receipt.Benchmark.Digest != n.Digest {
			continue
		}
		if _, err := r.Summary(ctx); err != nil {
			return nil, err
		}
		for i := range r.Receipt.Evaluations {
			out = append(out, next{r.evaluationNode(i), "benchmark"})
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return x.using(ctx, n)
}

// pictured is what an image, its facts or its masks go into: other artifacts of the image, its
// own rows of findings, its cases. Lists of images are left out.
func (x *Explorer) pictured(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.using(ctx, n)
	if err != nil {
		return nil, err
	}
	// A film that was sent as it is leads to its calls by way of its cases.
	if n.Kind == KindImage && slices.ContainsFunc(out, func(f next) bool { return f.node.Kind == KindCase }) {
		out = slices.DeleteFunc(out, func(f next) bool { return f.node.Kind == KindCall })
	}
	images := []artifacts.Digest{n.Digest}
	if n.Kind != KindImage {
		if images, err = x.imagesOf(ctx, n); err != nil {
			return nil, err
		}
	}
	for _, r := range x.runs {
		for _, image := range images {
			rows, err := r.rowsOf(ctx, image)
			if err != nil && !gone(err) {
				return nil, err
			}
			for _, f := range rows {
				if n.Kind != KindMasks || f.image.Masks.Digest == n.Digest {
					out = append(out, next{f.node(r), string(n.Kind)})
				}
			}
		}
	}
	return out, nil
}

// imagesOf are the images that masks or facts belong to: the material of their step, or for
// masks that were made elsewhere the row of a window's inputs.
func (x *Explorer) imagesOf(ctx context.Context, n *Node) ([]artifacts.Digest, error) {
	links, err := x.links(ctx, n.Digest, Down)
	if err != nil {
		return nil, err
	}
	var out []artifacts.Digest
	for _, l := range links {
		if l.Name == "image" {
			out = append(out, l.To)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if links, err = x.links(ctx, n.Digest, Up); err != nil {
		return nil, err
	}
	for _, l := range links {
		a := x.described[l.From]
		if !l.Key.IsZero() || a.Ref.MediaType != contract.WindowInMediaType {
			continue
		}
		in, err := read[contract.WindowIn](ctx, x.docs, a.Ref)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, i := range in.Images {
			if i.Masks.Digest == n.Digest {
				out = append(out, i.Image)
			}
		}
	}
	return out, nil
}

// modelled is what a model answered or segmented. Its figures are those of its evaluations, and
// where it made the masks every figure of the run: what each of its calls and masks went into is
// not followed one by one.
func (x *Explorer) modelled(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.using(ctx, n)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if k := out[i].node.Kind; k == KindCall || k == KindMasks {
			out[i].node.at.stop = true
		}
	}
	for _, r := range x.runs {
		m, err := r.models(ctx)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.segmentation == n.Digest {
			if _, err := r.taskOf(ctx, n.Digest); err != nil {
				return nil, err
			}
			for _, d := range sortedDigests(r.taskBy) {
				f, err := x.artifact(ctx, d)
				if err != nil {
					return nil, err
				}
				f.Title = "findings of a window, " + words(r.taskBy[d])
				out = append(out, next{f, "masks"})
			}
		}
		s, err := r.Summary(ctx)
		if s == nil || err != nil {
			continue
		}
		for i, e := range s.Evaluations {
			if m.judge == n.Digest || m.asked[e.Model.Name] == n.Digest {
				out = append(out, next{r.evaluationNode(i), catalog.LinkModel})
			}
		}
	}
	return out, nil
}

func sortedDigests(m map[artifacts.Digest]string) []artifacts.Digest {
	list := make([]artifacts.Digest, 0, len(m))
	for d := range m {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b artifacts.Digest) int { return slices.Compare(a[:], b[:]) })
	return list
}

// cellsOfTable are all figures of the tables that one document holds.
func (x *Explorer) cellsOfTable(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		if r.Receipt.Tables.Digest == n.Digest {
			for i := range r.Receipt.Evaluations {
				e := r.evaluationNode(i)
				cells, err := x.cellsOf(ctx, &e, func(*cxreasonbench.CellRef) bool { return true })
				if err != nil {
					return nil, err
				}
				out = append(out, cells...)
			}
		}
		if r.Receipt.Summary.Digest == n.Digest {
			labels, err := r.Labels(ctx)
			if err != nil {
				return nil, err
			}
			for _, l := range labels.Labels() {
				cell, err := r.labelNode(ctx, l.Ref)
				if err != nil {
					return nil, err
				}
				out = append(out, next{cell, "table"})
			}
		}
	}
	return out, nil
}
