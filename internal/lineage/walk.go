package lineage

import (
	"context"
	"errors"

	"cxrepro/artifacts"
)

// Limits bound a walk. The zero value bounds nothing.
type Limits struct {
	// Depth is how many steps are gone, Nodes how many nodes are handed out; 0: any number.
	Depth, Nodes int
}

// Graph is what a walk found.
type Graph struct {
	// Nodes begin with the starts, nearest first.
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
	// More is true where something was left out.
	More bool `json:"more"`
}

// Sink takes nodes and edges as a walk finds them. An edge comes after both of its nodes.
type Sink interface {
	Node(Node) error
	Edge(Edge) error
}

// Node appends a node.
func (g *Graph) Node(n Node) error {
	g.Nodes = append(g.Nodes, n)
	return nil
}

// Edge appends an edge.
func (g *Graph) Edge(e Edge) error {
	g.Edges = append(g.Edges, e)
	return nil
}

// Walk collects what lies within the limits.
func (x *Explorer) Walk(ctx context.Context, starts []Node, way Way, l Limits) (*Graph, error) {
	g := &Graph{Nodes: []Node{}, Edges: []Edge{}}
	more, err := x.Stream(ctx, starts, way, l, g)
	g.More = more
	return g, err
}

// Stream hands out nodes and edges breadth first. more is true where the limits left something
// out, or an artifact has more links than are read of one.
func (x *Explorer) Stream(ctx context.Context, starts []Node, way Way, l Limits, to Sink) (more bool, err error) {
	w := &walk{x: x, way: way, limits: l, to: to, seen: map[string]bool{}}
	for _, n := range starts {
		if _, err := w.meet(n); err != nil {
			return false, err
		}
	}
	for depth := 1; len(w.level) > 0; depth++ {
		if l.Depth > 0 && depth > l.Depth {
			ends, err := w.leaves(ctx)
			return !ends || w.more || x.cut, err
		}
		level := w.level
		w.level = nil
		for len(level) > 0 {
			batch := level[:min(atOnce, len(level))]
			level = level[len(batch):]
			if err := w.expand(ctx, batch, depth); err != nil {
				return false, err
			}
			if w.full() {
				return true, nil
			}
		}
	}
	return w.more || x.cut, nil
}

type walk struct {
	x      *Explorer
	way    Way
	limits Limits
	to     Sink
	seen   map[string]bool
	level  []Node
	handed int
	more   bool
}

func (w *walk) full() bool { return w.limits.Nodes > 0 && w.handed > w.limits.Nodes }

// meet hands a node out when it is new. ok is false when there is no room for it.
func (w *walk) meet(n Node) (ok bool, err error) {
	if w.seen[n.ID] {
		return true, nil
	}
	if w.handed++; w.full() {
		w.more = true
		return false, nil
	}
	w.seen[n.ID] = true
	w.level = append(w.level, n)
	return true, w.to.Node(n)
}

func (w *walk) expand(ctx context.Context, batch []Node, depth int) error {
	if err := w.x.prefetch(ctx, batch, w.way); err != nil {
		return err
	}
	for i := range batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		found, err := w.x.step(ctx, &batch[i], w.way)
		if err != nil {
			return err
		}
		edges := map[Edge]bool{}
		for _, f := range found {
			f.node.Depth = depth
			if f.node.ID == batch[i].ID {
				continue
			}
			ok, err := w.meet(f.node)
			if err != nil {
				return err
			}
			if !ok {
				return nil
			}
			e := Edge{From: batch[i].ID, To: f.node.ID, Name: f.name}
			if w.way == Up {
				e.From, e.To = e.To, e.From
			}
			if edges[e] {
				continue
			}
			edges[e] = true
			if err := w.to.Edge(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves reports whether nothing follows the nodes that were reached last.
func (w *walk) leaves(ctx context.Context) (bool, error) {
	for i := range w.level {
		found, err := w.x.step(ctx, &w.level[i], w.way)
		if err != nil {
			return false, err
		}
		for _, f := range found {
			if !w.seen[f.node.ID] {
				return false, nil
			}
		}
	}
	return true, nil
}

// prefetch asks the index once for a batch of nodes.
func (x *Explorer) prefetch(ctx context.Context, batch []Node, way Way) error {
	var ds []artifacts.Digest
	for _, n := range batch {
		if n.hops() {
			ds = append(ds, n.Digest)
		}
	}
	return x.fetch(ctx, ds, way)
}

// step returns what a node leads to. A row whose document is gone leads nowhere but to what the
// statement of its artifact says.
func (x *Explorer) step(ctx context.Context, n *Node, way Way) ([]next, error) {
	if n.at.stop && way == Up || n.at.leaf && way == Down {
		return nil, nil
	}
	found, err := x.follow(ctx, n, way)
	if errors.Is(err, errGone) {
		var more []next
		more, err = x.hop(ctx, n, way)
		found = append(found, more...)
	}
	if err != nil || way == Up || n.at.code == "" {
		return found, err
	}
	return append(found, next{codeNode(n.at.code), "program"}), nil
}
