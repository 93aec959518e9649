// Package evaluation makes the report of an evaluation from its summary: the tables of the
// paper in the paper's order, in its formulas and in a textbook's, and what else the paper
// states or a reader needs to trust them: replies that were none, undetermined cases, how judge
// and parser agree, how values are told, sampling against sampling, recognition against
// measurement, time.
//
// Build makes a Document, which Markdown, CSV, LaTeX and HTML render. The HTML is one file
// without any reference to another: tables with the origin of every figure, plots of the
// stages, and the dialogues with their pictures.
//
// The package reads no store. It is given what it shows, and shows which of it is left out.
package evaluation
