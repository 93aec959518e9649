package lineage

import (
	"context"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/scoring"
)

// held are the calls of a dialogue, its cases, and of Path 2 the dialogue that led to it.
func (x *Explorer) held(ctx context.Context, n *Node) ([]next, error) {
	p, r := n.at.page, n.at.run
	d := &p.doc.Dialogues[n.at.dialogue]
	out, err := p.asks(ctx, n.at.dialogue)
	if err != nil {
		return nil, err
	}
	for i, number := range []int{d.Case, d.Review} {
		if number < 0 {
			continue
		}
		c, err := x.caseNode(ctx, r, number)
		if err != nil {
			return nil, err
		}
		out = append(out, next{c, [...]string{"case", "case of the re-evaluation"}[i]})
	}
	if p.key.path == cxreasonbench.Path1 {
		return out, nil
	}
	before, i, err := x.dialogueOf(ctx, r, pagesKey{p.key.evaluation, p.key.task, cxreasonbench.Path1}, d.Case)
	if before == nil || err != nil {
		return out, err
	}
	return append(out, next{before.node(i), "Path 1"}), nil
}

// dialogueOf finds the dialogue about a case among the pages of a task and path.
func (x *Explorer) dialogueOf(ctx context.Context, r *Run, k pagesKey, number int) (*page, int, error) {
	pages, err := r.pagesOf(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range pages {
		if i := slices.IndexFunc(p.doc.Dialogues, func(d contract.DialogueDoc) bool { return d.Case == number }); i >= 0 {
			return p, i, nil
		}
	}
	return nil, 0, nil
}

// sent is what a call put before a model: prompt, question, pictures and earlier answers, the
// model and its decoding. Answers lead to the calls of the same dialogue that gave them.
func (x *Explorer) sent(ctx context.Context, n *Node) ([]next, error) {
	if n.Key.IsZero() {
		return nil, nil
	}
	links, err := x.index.Via(ctx, []artifacts.Digest{n.Key.Digest})
	if err != nil {
		return nil, err
	}
	earlier, err := x.earlier(ctx, n)
	if err != nil {
		return nil, err
	}
	var out []next
	for _, l := range links {
		if e, ok := earlier[l.Name]; ok && e.Digest == l.To {
			out = append(out, next{e, l.Name})
			continue
		}
		if l.Name == catalog.LinkQuestion {
			q, err := x.question(ctx, n, l.To)
			if err != nil {
				return nil, err
			}
			out = append(out, next{q, l.Name})
			continue
		}
		found, err := x.end(ctx, l, l.To, Down)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Kind == KindPicture {
				found[i] = n.shown(found[i], l.Name)
			}
		}
		out = append(out, under(l.Name, found...)...)
	}
	return out, nil
}

// shown says for which case a picture of a call was drawn: the same picture may show the same
// structure in cases of other tasks.
func (n *Node) shown(picture Node, name string) Node {
	p := n.at.page
	if p == nil {
		return picture
	}
	for _, t := range p.doc.Dialogues[n.at.dialogue].State.Turns {
		if "picture of "+t.Key.String() == name {
			if number, err := scoring.CaseNumber(t.Case); err == nil {
				picture.at.run, picture.at.number = p.run, number
			}
		}
	}
	return picture
}

// earlier are the calls of a call's dialogue by what its statement calls their answers.
func (x *Explorer) earlier(ctx context.Context, n *Node) (map[string]Node, error) {
	p := n.at.page
	if p == nil {
		return nil, nil
	}
	out := map[string]Node{}
	add := func(p *page, i int) error {
		asks, err := p.asks(ctx, i)
		if err != nil {
			return err
		}
		for _, a := range asks {
			t := own(&p.doc.Dialogues[i])[a.node.at.turn]
			if a.node.at.kind != cxreasonbench.CallModel {
				continue
			}
			if a.node.at.draw == t.Kept {
				out["answer to "+t.Key.String()] = a.node
			}
			if p == n.at.page && a.node.at.turn == n.at.turn && a.node.at.draw == n.at.draw {
				out["reply"] = a.node
			}
		}
		return nil
	}
	if p.key.path == cxreasonbench.Path2 {
		before, i, err := x.dialogueOf(ctx, p.run, pagesKey{p.key.evaluation, p.key.task, cxreasonbench.Path1}, p.doc.Dialogues[n.at.dialogue].Case)
		if err != nil {
			return nil, err
		}
		if before != nil {
			if err := add(before, i); err != nil {
				return nil, err
			}
		}
	}
	return out, add(p, n.at.dialogue)
}

// question is the question of a case that a call asks; without a dialogue it is known by its
// text alone.
func (x *Explorer) question(ctx context.Context, n *Node, text artifacts.Digest) (Node, error) {
	p := n.at.page
	if p == nil {
		return x.artifact(ctx, text)
	}
	t := own(&p.doc.Dialogues[n.at.dialogue])[n.at.turn]
	number, err := scoring.CaseNumber(t.Case)
	if err != nil {
		return Node{}, err
	}
	return p.run.questionNode(ctx, number, t.Key)
}

// posed is the case that a question is of; one that is known by its text alone leads nowhere.
func (x *Explorer) posed(ctx context.Context, n *Node) ([]next, error) {
	if n.at.run == nil {
		return nil, nil
	}
	c, err := x.caseNode(ctx, n.at.run, n.at.number)
	if err != nil {
		return nil, err
	}
	return under("case", c), nil
}

// questionNode is a question of a case of the run.
func (r *Run) questionNode(ctx context.Context, number int, k cxreasonbench.Key) (Node, error) {
	b, err := r.Benchmark(ctx)
	if err != nil {
		return Node{}, err
	}
	q := Node{Kind: KindQuestion, Digest: b.Cases[number].Doc.Digest, Title: k.String() + " of case " + strconv.Itoa(number)}
	q.at = place{run: r, number: number, question: k}
	return q.row(k.String()), nil
}
