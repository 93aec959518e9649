// Package lineage walks from a figure of a table down to the pixels, and from an image, a
// threshold row, a prompt or a checkpoint up to every figure that depends on it.
//
// A node is an artifact or a row of one: an image's finding in a window of 256, a dialogue on a
// page of 32, a call, a cell of a table. Rows lead to rows: a document is read and the row of
// the image's digest or of the case is followed, so that an image leads to its own findings,
// questions, calls and cells and not to those of its neighbours. Everything else is one hop of
// a catalog ([Index]). An edge goes from what depends to what it depends on, whichever way it
// was walked.
//
// Walks are breadth first and hand out nodes as they are found. What was removed from the store
// is a node that says so, and leads on as far as statements tell.
//
// No node holds an identifier, a path or a text of a data set, a prompt or a reply: only digests,
// our own numbers, names of tasks and models, and parameters.
//
//	x := lineage.New(index, store, runs)
//	start, err := x.Cell(ctx, run, "t3/path-1.gpt-4.1/completion")
//	g, err := x.Walk(ctx, []lineage.Node{start}, lineage.Down, lineage.Limits{})
package lineage
