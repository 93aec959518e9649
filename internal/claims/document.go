package claims

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// Document is a result as it is written for programs.
type Document struct {
	Claim
	// Ours is our figure as printed; empty where there is none.
	Ours string `json:"ours"`
	K    int    `json:"k"`
	N    int    `json:"n"`
	// Interval is what the published figure was compared with, RefinedInterval the one in
	// parentheses; null without.
	Interval        *Span `json:"interval"`
	RefinedInterval *Span `json:"refined_interval,omitempty"`
	// Flips are the decoding noise; null where it was not measured.
	Flips   *Flips `json:"flips"`
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"`
	Behind  Behind `json:"behind"`
}

// Span is an interval.
type Span struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func spanOf(i cxreasonbench.Interval) *Span {
	if !i.Known {
		return nil
	}
	return &Span{i.Low, i.High}
}

// Documents turns results into documents.
func Documents(results []Result) ([]Document, error) {
	list := make([]Document, len(results))
	for i, r := range results {
		b, err := r.Claim.Behind()
		if err != nil {
			return nil, err
		}
		d := Document{
			Claim: r.Claim, Ours: r.Ours, K: r.Counted.K, N: r.Counted.N, Interval: spanOf(r.Interval.Plain), Flips: r.Flips,
			Verdict: r.Verdict.String(), Why: r.Why, Behind: b,
		}
		if r.Claim.RefinedFormula != "" {
			d.RefinedInterval = spanOf(r.Interval.Refined)
		}
		list[i] = d
	}
	return list, nil
}

// csvHeader are the columns of WriteCSV.
var csvHeader = []string{
	"id", "paper", "source", "cells", "printed", "formula", "refined_formula", "population", "rounding", "tolerance", "ours", "k", "n",
	"interval_low", "interval_high", "refined_interval_low", "refined_interval_high", "flip_pairs_k", "flip_pairs_n", "verdict", "why",
	"solutions", "refined_solutions", "unique", "behind",
}

// WriteCSV writes a line for each result.
func WriteCSV(w io.Writer, results []Result) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return err
	}
	docs, err := Documents(results)
	if err != nil {
		return err
	}
	for _, d := range docs {
		if err := out.Write(d.line()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (d Document) line() []string {
	bounds := func(s *Span) (low, high string) {
		if s == nil {
			return "", ""
		}
		return strconv.FormatFloat(s.Low, 'f', 2, 64), strconv.FormatFloat(s.High, 'f', 2, 64)
	}
	low, high := bounds(d.Interval)
	refinedLow, refinedHigh := bounds(d.RefinedInterval)
	flipK, flipN := "not measured", "not measured"
	if d.Flips != nil {
		flipK, flipN = strconv.Itoa(d.Flips.Pairs.K), strconv.Itoa(d.Flips.Pairs.N)
	}
	k, n := "", ""
	if d.N > 0 {
		k, n = strconv.Itoa(d.K), strconv.Itoa(d.N)
	}
	var solutions, refined []string
	for _, s := range d.Behind.Solutions {
		solutions = append(solutions, fmt.Sprintf("%d/%d", s.K, s.N))
	}
	for _, s := range d.Behind.Refined {
		refined = append(refined, s.words())
	}
	return []string{
		d.ID, d.Paper, d.Source, strings.Join(d.Cells, " "), d.Printed, d.Formula, d.RefinedFormula, d.Population, d.Rounding,
		strconv.FormatFloat(d.Tolerance, 'f', -1, 64), d.Ours, k, n, low, high, refinedLow, refinedHigh, flipK, flipN, d.Verdict, d.Why,
		strings.Join(solutions, " "), strings.Join(refined, "; "), strconv.FormatBool(d.Behind.Unique), d.Behind.Words(),
	}
}

// TallyWords counts the verdicts in words.
func (c *Checked) TallyWords() string {
	n := c.Tally()
	var parts []string
	for _, v := range report.Verdicts() {
		parts = append(parts, report.Number(n[v])+" "+v.String())
	}
	return report.Number(len(c.Results)) + " claims: " + strings.Join(parts, ", ")
}

// OthersWords says in a line how much a reproduction has nothing to say of.
func (c *Checked) OthersWords() string {
	return report.Number(len(c.Others)) + " published figures are about something else, " + report.Number(len(c.Relations)) + " orders and sums are stated"
}

// Outside counts the claims that a reproduction has nothing to say of for one reason.
type Outside struct {
	Paper  string `json:"paper"`
	Claims int    `json:"claims"`
	Why    string `json:"why"`
}

// Outside groups the claims that a reproduction has nothing to say of by paper and reason.
func (c *Checked) Outside() []Outside {
	list := []Outside{}
	at := map[Outside]int{}
	for _, r := range c.Others {
		key := Outside{Paper: r.Claim.Paper, Why: r.Why}
		k, ok := at[key]
		if !ok {
			k = len(list)
			at[key] = k
			list = append(list, key)
		}
		list[k].Claims++
	}
	return list
}

// OutsideTable lists what a reproduction has nothing to say of, with the reason.
func (c *Checked) OutsideTable() *report.Table {
	t := &report.Table{Title: "Not computable from this reproduction", Name: "outside", Columns: []report.Column{{Name: "paper"}, {Name: "claims", Right: true}, {Name: "why"}}}
	for _, o := range c.Outside() {
		t.Add(report.Text(o.Paper), report.Text(report.Number(o.Claims)), report.Text(o.Why))
	}
	return t
}
