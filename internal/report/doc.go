// Package report holds tables whose every figure shows where it comes from: a share is its
// k of n with the name of its formula, a figure that does not exist says why, and a
// published figure stands beside ours with a verdict.
//
// A Table renders as text for a terminal, as Markdown, as LaTeX, as HTML (HTML for a printed
// page, Grid for one with details), and as CSV with one line per figure (WriteCells with all
// that is known of it). Renderers only lay out; they never round k or n, and never drop a
// figure.
//
//	t := report.Table{Title: "Labels", Columns: []report.Column{{Name: "task"}, {Name: "share", Right: true}}}
//	t.Formulas = []report.Formula{{ID: "label", Text: "k images with the label of n labelled"}}
//	t.Add(report.Text("cardiomegaly"), report.Share(12, 20, "label"))
//	err := t.WriteText(os.Stdout)
package report
