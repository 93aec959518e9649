// Package review turns the results of a CheXStruct reproduction into what people and other
// programs read: summary tables, a Parquet table of every finding, CSV files in the columns
// of the released tables, and a review sheet on which a clinician sees for sampled cases
// what was measured, how quality control judged it, and why a case has no label.
//
// A Reporter makes all of it as artifacts at the end of a reproduction. Build makes a sheet
// again, with other samples or by the values of one rule.
//
// Terms. A tile is one case on one page: the radiograph, a drawing laid over it, and the
// verdict in words. A stratum is a group of cases of a page that ended alike: one label, or
// qc_failed, undecided, not_evaluable. Counts are over everything; tiles are a sample,
// spread evenly over each stratum in the order of the image digests.
//
// Cases carry their own number, their place in the data set's table. Identifiers of the
// data set stay out of every page and table, except the official CSV files, whose use is
// to be compared with tables that name them.
//
// Colours have one meaning each on every page: red is what is measured, blue what it is
// compared with, amber a line that it refers to, violet a box from outside, green the
// outline of a structure.
//
// The same results give the same bytes: no time, path or name of a machine is in them.
package review
