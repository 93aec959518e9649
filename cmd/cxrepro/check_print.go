package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"cxrepro/internal/checkpoint"
	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
)

// shownVerdicts are those that are listed without --all.
var shownVerdicts = claims.Shown{tables.Off, tables.Undetermined}

func (a *app) printChecked(r *contract.Receipt, e *evaluated, g *agentRun, c *claims.Checked, f checkFlags) error {
	shown, list := shownVerdicts, c.Results
	if f.all {
		shown = nil
		if f.paper {
			list = append(slices.Clone(list), c.Others...)
		}
	}
	lists, err := claims.Lists(list, shown)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("%s, reproduction %s, result %s", r.Name, r.Reproduction, r.ResultDigest)
	if e != nil && e.simulated() || g != nil && g.simulated() {
		head += "\nsimulated: stand-ins answered; nothing here is about a model"
	}
	for _, s := range blockedModels(e, g) {
		head += "\nblocked: " + s.Model + ": " + s.Detail
	}
	head += "\n" + c.TallyWords()
	out := []*tables.Table{c.TallyTable()}
	out = append(out, lists...)
	if f.paper {
		out = append(out, c.OutsideTable(), c.RelationTable())
	}
	if _, err := fmt.Fprintf(a.out, "%s\n\n", head); err != nil {
		return err
	}
	for _, t := range out {
		if len(t.Rows) == 0 {
			continue
		}
		write := t.WriteText
		if f.format == "md" {
			write = t.WriteMarkdown
		}
		if err := write(a.out); err != nil {
			return err
		}
		if _, err := io.WriteString(a.out, "\n"); err != nil {
			return err
		}
	}
	if !f.paper {
		_, err = fmt.Fprintln(a.out, c.OthersWords()+"; --paper lists them")
	}
	return err
}

// checkedJSON is what the verb prints with --json.
type checkedJSON struct {
	Reproduction string            `json:"reproduction_id"`
	ResultDigest string            `json:"result_digest"`
	Simulated    bool              `json:"simulated"`
	Complete     bool              `json:"complete"`
	Verdicts     map[string]int    `json:"verdicts"`
	Claims       []claims.Document `json:"claims"`
	Others       []claims.Document `json:"others,omitempty"`
	Outside      []claims.Outside  `json:"outside"`
	Relations    []claims.Relation `json:"relations"`
	// Blocked are the models about which no claim stands.
	Blocked []checkpoint.Standing `json:"blocked"`
}

func (a *app) printCheckedJSON(r *contract.Receipt, e *evaluated, g *agentRun, c *claims.Checked, f checkFlags) error {
	out := checkedJSON{Reproduction: r.Reproduction, ResultDigest: r.ResultDigest.String(), Complete: !r.Incomplete(), Verdicts: map[string]int{}, Outside: c.Outside(), Relations: c.Relations}
	out.Simulated = e != nil && e.simulated() || g != nil && g.simulated()
	out.Blocked = blockedModels(e, g)
	for _, v := range tables.Verdicts() {
		out.Verdicts[v.String()] = c.Tally()[v]
	}
	var err error
	if out.Claims, err = claims.Documents(c.Results); err == nil && f.paper {
		out.Others, err = claims.Documents(c.Others)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(a.out).Encode(out)
}

// blockedModels are the models about which no claim stands; none where no model was asked.
func blockedModels(e *evaluated, g *agentRun) []checkpoint.Standing {
	switch {
	case e != nil && e.overlaps != nil:
		return e.overlaps
	case g != nil && g.blocked != nil:
		return g.blocked
	}
	return []checkpoint.Standing{}
}

// simulated reports whether a stand-in answered or judged.
func (e *evaluated) simulated() bool {
	for _, s := range e.summary.Evaluations {
		if s.Model.Simulated {
			return true
		}
	}
	return e.summary.Judge != nil && e.summary.Judge.Simulated
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strings.TrimSpace(tables.Number(n) + " " + many)
}
