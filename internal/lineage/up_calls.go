package lineage

import (
	"context"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
)

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
		found, err := x.places(ctx, n)
		if err != nil || len(found) > 0 {
			return found, err
		}
		return x.using(ctx, n) // of a rollout: its page, and the call of the second turn
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
				pages, err := r.pagesOfTask(ctx, i, t.Task)
				if err != nil && !gone(err) {
					return nil, err
				}
				for _, p := range pages {
					r.pageOf[p.ref.Digest] = p
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
		pages, err := r.pagesOfTask(ctx, e, task)
		for _, p := range pages {
			for i := range p.doc.Dialogues {
				if d := &p.doc.Dialogues[i]; d.Case == number || d.Review == number {
					if err := fn(p, i); err != nil {
						return err
					}
				}
			}
		}
		if err != nil {
			return err
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
