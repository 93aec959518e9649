package lineage

import (
	"fmt"
	"io"
	"strings"

	"cxrepro/internal/report"
)

// WriteDOT writes a graph with equal nodes put together in the language of Graphviz.
func WriteDOT(w io.Writer, g *Graph, title string) error {
	groups, edges := GroupUp(g)
	b := &strings.Builder{}
	fmt.Fprintf(b, "digraph lineage {\n  label=%s; labelloc=t; fontname=\"sans-serif\";\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11];\n  edge [color=\"#a9b4c0\", fontname=\"sans-serif\", fontsize=9];\n", quoted(title))
	for i := range groups {
		l := groups[i].label()
		lines := append([]string{l.title}, l.lines...)
		if l.small != "" {
			lines = append([]string{l.title, l.small}, l.lines...)
		}
		c := colours(groups[i].Kind)
		fmt.Fprintf(b, "  g%d [label=%s, color=%q, fillcolor=%q];\n", i, quoted(strings.Join(lines, "\n")), c[0], c[1])
	}
	for _, e := range edges {
		fmt.Fprintf(b, "  g%d -> g%d [tooltip=%s];\n", e.From, e.To, quoted(report.Number(e.N)+" links: "+strings.Join(e.Names, ", ")))
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

var dotEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func quoted(s string) string { return `"` + dotEscapes.Replace(s) + `"` }
