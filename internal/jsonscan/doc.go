// Package jsonscan reads parts of a JSON text in one pass and without reflection, for those who
// read very many small texts and need little of each: index entries and provenance statements.
//
// It reads what package artifacts writes, canonical JSON. Names are compared byte by byte, and
// the last of equal names does not win: each is handed out. What is passed over is checked for
// its form, but not for being UTF-8.
package jsonscan
