package lineage

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
)

// reader returns what a node leads to in one direction.
type reader func(x *Explorer, ctx context.Context, n *Node) ([]next, error)

// readers say how each kind leads on. Down one without a reader takes one hop of the index, up
// it is what uses it.
var readers = map[Kind]struct{ down, up reader }{
	KindCell:         {(*Explorer).counted, nowhere},
	KindReproduction: {(*Explorer).ran, nowhere},
	KindTable:        {nowhere, (*Explorer).cellsOfTable}, // its rows are asked for cell by cell
	KindEvaluation:   {(*Explorer).evaluated, (*Explorer).cellsOfEvaluation},
	KindRollouts:     {nil, nil},
	KindDialogue:     {(*Explorer).held, (*Explorer).scored},
	KindCall:         {(*Explorer).sent, (*Explorer).heard},
	KindModel:        {(*Explorer).trained, (*Explorer).modelled},
	KindCheckpoint:   {(*Explorer).begun, (*Explorer).gave},
	KindTrainingSet:  {(*Explorer).shown, (*Explorer).taughtTo},
	KindRollout:      {(*Explorer).restsOn, (*Explorer).inSet},
	KindExample:      {(*Explorer).restsOn, (*Explorer).inSet},
	KindQuestion:     {(*Explorer).posed, (*Explorer).answered},
	KindPicture:      {(*Explorer).drawn, (*Explorer).pictures},
	KindBenchmark:    {nil, (*Explorer).put},
	KindCase:         {(*Explorer).built, (*Explorer).asking},
	KindFinding:      {(*Explorer).measured, (*Explorer).found},
	KindFindings:     {nil, (*Explorer).summed},
	KindMasks:        {nil, (*Explorer).pictured},
	KindFacts:        {nil, (*Explorer).pictured},
	KindImage:        {nowhere, (*Explorer).pictured},
	KindPlan:         {nil, nowhere},
	KindCode:         {nowhere, nowhere},
}

func nowhere(*Explorer, context.Context, *Node) ([]next, error) { return nil, nil }

// follow returns what a node leads to, read where there is something to read.
func (x *Explorer) follow(ctx context.Context, n *Node, way Way) ([]next, error) {
	r := readers[n.Kind]
	switch {
	case way == Down && r.down != nil:
		return r.down(x, ctx, n)
	case way == Down:
		return x.hop(ctx, n, Down)
	case r.up != nil:
		return r.up(x, ctx, n)
	}
	return x.using(ctx, n)
}

// hops reports whether a node's own links are asked for: a row and a call have none under their
// digest.
func (n *Node) hops() bool {
	switch n.Kind {
	case KindCell, KindDialogue, KindFinding, KindCode, KindQuestion, KindCall, KindExample, KindRollout:
		return false
	}
	return !n.Digest.IsZero()
}

// hop is one hop of the index.
func (x *Explorer) hop(ctx context.Context, n *Node, way Way) ([]next, error) {
	links, err := x.links(ctx, n.Digest, way)
	if err != nil {
		return nil, err
	}
	return x.ends(ctx, links, way)
}

// using is one hop up without the documents that only list things: what lists an artifact does
// not depend on it.
func (x *Explorer) using(ctx context.Context, n *Node) ([]next, error) {
	found, err := x.hop(ctx, n, Up)
	return slices.DeleteFunc(found, func(f next) bool {
		return f.name == refersTo && f.node.Kind != KindTable && f.node.Kind != KindEvaluation && f.node.Kind != KindRollouts
	}), err
}

// refersTo names the links that no step made: of a document to what it refers to.
const refersTo = "refers to"

// ends are the nodes at the ends of links.
func (x *Explorer) ends(ctx context.Context, links []catalog.Link, way Way) ([]next, error) {
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
			name = refersTo
		}
		out = append(out, under(name, found...)...)
	}
	return out, nil
}

// under are nodes that an edge of some name leads to.
func under(name string, nodes ...Node) []next {
	out := make([]next, len(nodes))
	for i, n := range nodes {
		out[i] = next{n, name}
	}
	return out
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
