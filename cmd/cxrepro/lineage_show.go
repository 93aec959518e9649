package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cxrepro/internal/lineage"
)

const (
	// pageNodes is how many nodes are found before the first page is printed.
	pageNodes = 2_000
	// heldNodes is how many nodes a picture or one JSON document is made from.
	heldNodes = 10_000
	// shownOfKind is how many nodes of each kind the first page names.
	shownOfKind = 6
)

// lineageWalk is one walk and how it is shown.
type lineageWalk struct {
	x      *lineage.Explorer
	ref    string
	starts []lineage.Node
	way    lineage.Way
	flags  lineageFlags
}

// direct decides which way to go where no flag says so.
func (w *lineageWalk) direct(ctx context.Context) error {
	switch {
	case w.flags.up:
		w.way = lineage.Up
		return nil
	case w.flags.down:
		w.way = lineage.Down
		return nil
	}
	switch w.starts[0].Kind {
	case lineage.KindCell, lineage.KindCase, lineage.KindReproduction:
		w.way = lineage.Down
		return nil
	}
	if w.x.Trained(&w.starts[0]) {
		w.way = lineage.Down
		return nil
	}
	w.way = lineage.Up
	g, err := w.x.Walk(ctx, w.starts, lineage.Up, lineage.Limits{Depth: 1, Nodes: len(w.starts) + 1})
	if err == nil && len(g.Nodes) == len(w.starts) && !g.More {
		w.way = lineage.Down
	}
	return err
}

func (a *app) lineageOut(to string) (io.Writer, func() error, error) {
	if to == "" {
		return a.out, func() error { return nil }, nil
	}
	f, err := os.Create(to)
	if err != nil {
		return nil, nil, &exitError{Code: exitFailed, Err: fmt.Errorf("lineage: %w", err), Hint: "name another file with --out"}
	}
	return f, func() error {
		err := f.Close()
		if err == nil {
			_, err = fmt.Fprintln(a.out, to)
		}
		return err
	}, nil
}

func (w *lineageWalk) show(ctx context.Context, out io.Writer) error {
	switch w.flags.format {
	case "text":
		return w.text(ctx, out)
	case "json":
		return w.json(ctx, out)
	}
	g, err := w.x.Walk(ctx, w.starts, w.way, lineage.Limits{Depth: w.flags.depth, Nodes: heldNodes})
	if err != nil {
		return err
	}
	title := w.words()
	if w.flags.format == "dot" {
		return lineage.WriteDOT(out, g, title)
	}
	rest := w.found(g)
	note := rest.Counts().Words()
	if g.More {
		note = "the first of more: " + note
	}
	if programs := g.Programs(); len(programs) > 0 {
		note += ". Computed by " + strings.Join(programs, ", ")
	}
	return lineage.WriteSVG(out, g, title, note)
}

// found is a graph without what the walk began with.
func (w *lineageWalk) found(g *lineage.Graph) lineage.Graph {
	return lineage.Graph{Nodes: g.Nodes[min(len(w.starts), len(g.Nodes)):]}
}

// pageSink holds the first page back, then hands on. counts leave out what the walk began with.
type pageSink struct {
	w      *lineageWalk
	out    io.Writer
	page   lineage.Graph
	met    int
	counts lineage.Counts
	shown  bool
}

func (s *pageSink) Node(n lineage.Node) error {
	if s.met++; s.met > len(s.w.starts) {
		s.counts[n.Kind]++
	}
	if !s.shown {
		s.page.Nodes = append(s.page.Nodes, n)
		if s.met < len(s.w.starts)+pageNodes {
			return nil
		}
		return s.show(false)
	}
	if !s.w.flags.all {
		return errPagePrinted
	}
	return s.line(n)
}

func (s *pageSink) Edge(lineage.Edge) error { return nil }

// errPagePrinted ends a walk whose first page is all that was asked for.
var errPagePrinted = errors.New("the first page is printed")

// text prints counts and a first page at once, and with --all a line for every node.
func (w *lineageWalk) text(ctx context.Context, out io.Writer) error {
	s := &pageSink{w: w, out: out, counts: lineage.Counts{}}
	more, err := w.x.Stream(ctx, w.starts, w.way, lineage.Limits{Depth: w.flags.depth}, s)
	if errors.Is(err, errPagePrinted) {
		_, err = fmt.Fprintln(out, "\nThere is more: --all goes on with every node.")
		return err
	}
	if err != nil {
		return err
	}
	if !s.shown {
		if err := s.show(true); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(out, "in all: %s\n", s.counts.Words()); err != nil {
		return err
	}
	switch {
	case more && w.flags.depth > 0:
		_, err = fmt.Fprintf(out, "\nThere is more below depth %d.\n", w.flags.depth)
	case more:
		_, err = fmt.Fprintln(out, "\nThere is more: something has more links than are read of one artifact.")
	}
	return err
}

// show prints the first page. ended says that it holds everything.
func (s *pageSink) show(ended bool) error {
	s.shown = true
	rest := s.w.found(&s.page)
	counts := rest.Counts()
	words := counts.Words()
	if words == "" {
		words = "nothing that the store knows"
	}
	if !ended {
		words = "at least " + words
	}
	if _, err := fmt.Fprintf(s.out, "%s:\n%s\n", s.w.words(), words); err != nil {
		return err
	}
	if s.w.flags.all {
		if _, err := fmt.Fprintln(s.out); err != nil {
			return err
		}
		for _, n := range s.page.Nodes {
			if err := s.line(n); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range lineage.Kinds() {
		if err := s.kind(k, counts[k]); err != nil {
			return err
		}
	}
	return nil
}

// kind prints the first nodes of a kind.
func (s *pageSink) kind(k lineage.Kind, of int) error {
	if of == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(s.out, "\n%s\n", k.Count(of)); err != nil {
		return err
	}
	shown := 0
	for _, n := range s.w.found(&s.page).Nodes {
		if n.Kind != k {
			continue
		}
		if shown++; shown > shownOfKind {
			_, err := fmt.Fprintf(s.out, "  and %d more\n", of-shownOfKind)
			return err
		}
		if _, err := fmt.Fprintf(s.out, "  %s\n", nodeWords(n)); err != nil {
			return err
		}
	}
	return nil
}

func (s *pageSink) line(n lineage.Node) error {
	_, err := fmt.Fprintf(s.out, "%3d  %-12s %s\n", n.Depth, n.Kind, nodeWords(n))
	return err
}

// nodeWords is a node in one line.
func nodeWords(n lineage.Node) string {
	parts := []string{short(n.Title)}
	if !n.Digest.IsZero() {
		parts = append(parts, n.Digest.Short())
	}
	if !n.Key.IsZero() {
		parts = append(parts, "by "+n.Key.Short())
	}
	if n.Removed {
		parts = append(parts, "no longer in the store")
	}
	return strings.Join(parts, "  ")
}

// lineageDoc is what --json prints.
type lineageDoc struct {
	Ref   string   `json:"ref"`
	Way   string   `json:"way"`
	Start []string `json:"start"`
	// LeftOut names what the walk does not follow.
	LeftOut []string       `json:"left_out,omitempty"`
	Counts  lineage.Counts `json:"counts"`
	More    bool           `json:"more"`
	Nodes   []lineage.Node `json:"nodes,omitempty"`
	Edges   []lineage.Edge `json:"edges,omitempty"`
}

func (w *lineageWalk) doc() lineageDoc {
	d := lineageDoc{Ref: w.ref, Way: "down", Start: []string{}}
	if w.way == lineage.Up {
		d.Way = "up"
	}
	if w.withoutDraw() {
		d.LeftOut = []string{drawOfCases}
	}
	for _, n := range w.starts {
		d.Start = append(d.Start, n.ID)
	}
	return d
}

// lineSink prints a line for every node and edge.
type lineSink struct {
	enc    *json.Encoder
	counts lineage.Counts
}

func (s *lineSink) Node(n lineage.Node) error {
	s.counts[n.Kind]++
	return s.enc.Encode(map[string]any{"node": n})
}

func (s *lineSink) Edge(e lineage.Edge) error { return s.enc.Encode(map[string]any{"edge": e}) }

func (w *lineageWalk) json(ctx context.Context, out io.Writer) error {
	d, enc := w.doc(), json.NewEncoder(out)
	limits := lineage.Limits{Depth: w.flags.depth}
	if w.flags.all {
		s := &lineSink{enc: enc, counts: lineage.Counts{}}
		more, err := w.x.Stream(ctx, w.starts, w.way, limits, s)
		if err != nil {
			return err
		}
		d.Counts, d.More = s.counts, more
		return enc.Encode(d)
	}
	limits.Nodes = heldNodes
	g, err := w.x.Walk(ctx, w.starts, w.way, limits)
	if err != nil {
		return err
	}
	d.Counts, d.More, d.Nodes, d.Edges = g.Counts(), g.More, g.Nodes, g.Edges
	return enc.Encode(d)
}
