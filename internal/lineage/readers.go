package lineage

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/cxreasonbench"
)

// hopsOnly reports whether a node leads on by the index alone.
func (x *Explorer) hopsOnly(n *Node, way Way) bool {
	switch n.Kind {
	case KindCell, KindDialogue, KindFinding, KindCode, KindQuestion:
		return false
	case KindCall:
		return false
	}
	return !n.Digest.IsZero()
}

// down returns what a node depends on.
func (x *Explorer) down(ctx context.Context, n *Node) ([]next, error) {
	switch n.Kind {
	case KindCell:
		if n.at.label != nil {
			return x.labelled(ctx, n)
		}
		return x.counted(ctx, n)
	case KindDialogue:
		return x.held(ctx, n)
	case KindCall:
		return x.sent(ctx, n)
	case KindQuestion:
		if n.at.run == nil {
			return nil, nil // known by its text alone
		}
		c, err := x.caseNode(ctx, n.at.run, n.at.number)
		return []next{{c, "case"}}, err
	case KindFinding:
		return x.measured(ctx, n)
	case KindCase:
		return x.built(ctx, n)
	case KindPicture:
		return x.drawn(ctx, n)
	case KindReproduction:
		return x.ran(ctx, n)
	case KindEvaluation:
		return x.evaluated(ctx, n)
	case KindTable:
		return nil, nil // its rows are asked for cell by cell
	case KindImage, KindCode:
		return nil, nil
	}
	return x.hop(ctx, n, Down)
}

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

// hop is one hop of the index.
func (x *Explorer) hop(ctx context.Context, n *Node, way Way) ([]next, error) {
	links, err := x.links(ctx, n.Digest, way)
	if err != nil {
		return nil, err
	}
	out := make([]next, 0, len(links))
	for _, l := range links {
		to := l.To
		if way == Up {
			to = l.From
		}
		found, err := x.end(ctx, l, to, way)
		if err != nil {
			return nil, err
		}
		name := l.Name
		if name == "" {
			name = "refers to"
		}
		for _, f := range found {
			out = append(out, next{f, name})
		}
	}
	return out, nil
}

// end is the node at the end of a link. Up from something that a call used it is that call, not
// another one with the same answer.
func (x *Explorer) end(ctx context.Context, l catalog.Link, to artifacts.Digest, way Way) ([]Node, error) {
	n, err := x.artifact(ctx, to)
	if err != nil {
		return nil, err
	}
	if n.Kind != KindCall {
		return x.placed(ctx, n)
	}
	if way == Up && !l.Key.IsZero() {
		return x.Calls(ctx, []artifacts.Digest{l.Key})
	}
	if k := n.Key.Digest; !k.IsZero() {
		return x.Calls(ctx, []artifacts.Digest{k})
	}
	return []Node{n}, nil
}

// using is one hop up without the documents that only list things: what lists an artifact does
// not depend on it.
func (x *Explorer) using(ctx context.Context, n *Node) ([]next, error) {
	found, err := x.hop(ctx, n, Up)
	return slices.DeleteFunc(found, func(f next) bool {
		return f.name == "refers to" && f.node.Kind != KindTable && f.node.Kind != KindEvaluation
	}), err
}
