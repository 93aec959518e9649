package lineage

import (
	"cmp"
	"slices"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// Group is nodes that a picture shows as one.
type Group struct {
	Kind Kind
	// Title says how many they are, or what the only one is.
	Title string
	N     int
	// Removed counts those that are no longer in the store.
	Removed int
	// Examples are the first of several.
	Examples []Node
}

// GroupEdge joins two groups by their places. Names are what the edges between them are called.
type GroupEdge struct {
	From, To int
	N        int
	Names    []string
}

// examples is how many nodes of a group are shown.
const examples = 3

// alone is up to how many nodes of a kind stand for themselves, where each is worth its name.
const alone = 4

// GroupUp puts equal nodes of a graph together: by kind, calls by who is asked, documents by
// what they are. A few models or figures stay apart. Programs are left out: nearly everything
// was computed by one.
func GroupUp(g *Graph) ([]Group, []GroupEdge) {
	count := g.Counts()
	place := map[string]int{} // by class
	of := map[string]int{}    // by node
	var groups []Group
	for _, n := range g.Nodes {
		if n.Kind == KindCode {
			continue
		}
		class, words := n.class(count[n.Kind])
		i, ok := place[class]
		if !ok {
			i = len(groups)
			place[class] = i
			groups = append(groups, Group{Kind: n.Kind, Title: words})
		}
		of[n.ID] = i
		groups[i].N++
		if n.Removed {
			groups[i].Removed++
		}
		if len(groups[i].Examples) < examples {
			groups[i].Examples = append(groups[i].Examples, n)
		}
	}
	for i := range groups {
		groups[i].name()
	}
	return groups, joined(g.Edges, of)
}

// class is what a node has in common with those that it is shown with, and words for one of
// them.
func (n *Node) class(of int) (class, words string) {
	switch n.Kind {
	case KindCall:
		if k := n.at.kind; k != 0 {
			return "call " + k.String(), map[cxreasonbench.CallKind]string{cxreasonbench.CallModel: "model call", cxreasonbench.CallJudge: "judge call", cxreasonbench.CallExtract: "value extraction"}[k]
		}
	case KindParameter:
		if n.at.parameter != "" {
			return "parameter " + n.at.parameter, n.at.parameter
		}
	case KindDocument, KindResult, KindArtifact:
		return string(n.Kind) + " " + n.Title, n.Title
	case KindModel, KindSettings, KindCode, KindTable, KindEvaluation, KindBenchmark, KindCell:
		if of <= alone {
			return n.ID, ""
		}
	}
	return string(n.Kind), ""
}

func (g *Group) name() {
	switch {
	case g.N == 1:
		g.Title = g.Examples[0].Title
	case g.Title == "":
		g.Title = g.Kind.Count(g.N)
	case g.Kind == KindCall:
		g.Title = report.Number(g.N) + " " + g.Title + "s"
	case g.Kind == KindParameter:
		g.Title = report.Number(g.N) + " " + parameterPlurals[g.Title]
	default:
		g.Title = report.Number(g.N) + " x " + g.Title
	}
}

// Sorts of parameters, with a word for several.
const (
	threshold = "threshold row"
	option    = "switch"
	decoding  = "decoding"
)

var parameterPlurals = map[string]string{threshold: "threshold rows", option: "switches", decoding: "ways of decoding"}

// joined puts the edges between groups together; edges inside a group are left out.
func joined(edges []Edge, of map[string]int) []GroupEdge {
	type ends struct{ from, to int }
	at := map[ends]*GroupEdge{}
	for _, e := range edges {
		from, ok := of[e.From]
		to, there := of[e.To]
		if !ok || !there || from == to {
			continue
		}
		k := ends{from, to}
		g := at[k]
		if g == nil {
			g = &GroupEdge{From: k.from, To: k.to}
			at[k] = g
		}
		if g.N++; !slices.Contains(g.Names, e.Name) {
			g.Names = append(g.Names, e.Name)
		}
	}
	out := make([]GroupEdge, 0, len(at))
	for _, g := range at {
		slices.Sort(g.Names)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b GroupEdge) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	return out
}

// Programs names the programs that computed what a graph holds.
func (g *Graph) Programs() []string {
	var out []string
	for _, n := range g.Nodes {
		if n.Kind == KindCode {
			out = append(out, n.Title)
		}
	}
	return out
}

// Counts counts nodes by kind.
type Counts map[Kind]int

// Words lists them in the order of reading: "36 dialogues, 137 calls".
func (c Counts) Words() string {
	var parts []string
	for _, k := range Kinds() {
		if n := c[k]; n > 0 {
			parts = append(parts, k.Count(n))
		}
	}
	return strings.Join(parts, ", ")
}

// Counts counts the nodes of a graph by kind.
func (g *Graph) Counts() Counts {
	c := Counts{}
	for _, n := range g.Nodes {
		c[n.Kind]++
	}
	return c
}
