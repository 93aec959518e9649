// Package export tells a finished reproduction in the formats of others: as a crate of the
// Workflow Run RO-Crate profiles, as OpenLineage events, and as a folder that MLflow reads.
//
// An [Effort] is what all of them tell: what ran, on what, to what end. Nothing in it is bound
// by a data-use class: it holds digests, counts, figures and times.
//
// Steps are told by kind, not one by one: what ran how often, from when to when. Which call gave
// which answer stands in the ledger of a bundle, not in formats that were made for dozens of
// steps. docs/bundles.md says what outside validators said of the results.
package export
