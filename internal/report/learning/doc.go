// Package learning shows what a training showed: its learning curves as SVG, and a page that
// stands alone with curves, facts and tables. It is a function of the rounds that are given.
//
// The small policy of this project proves the machinery and says nothing about the paper's
// numbers; [Note] says so, and stands on every page and picture of it.
package learning
