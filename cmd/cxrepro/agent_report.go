package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	tables "cxrepro/internal/report"
	"cxrepro/internal/report/agent"
	"cxrepro/internal/report/evaluation"
)

// hasAgentTables fits a reproduction of an agent, finished or with undetermined rollouts.
func hasAgentTables(r *remembered) bool { return r.receipt != nil && !r.receipt.AgentTables.IsZero() }

// agentTables reads the figures of an agent's reproduction, and makes its tables.
func agentTables(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) (*contract.AgentTables, []*tables.Table, error) {
	t := &contract.AgentTables{}
	if err := readJSON(ctx, store, r.AgentTables, t); err != nil {
		return nil, nil, err
	}
	return t, agent.Tables(t), nil
}

// printAgent ends the output of an agent's reproduction: its tables, and where its report is.
func (a *app) printAgent(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) error {
	t, list, err := agentTables(ctx, store, r)
	if err != nil {
		return err
	}
	to := a.reportFolder(r, "agent.html")
	curves, err := a.writeLearning(ctx, store, r, t)
	if err != nil {
		return err
	}
	list = append(list, curves.Tables...)
	var page bytes.Buffer
	if err := a.writeAgentPage(ctx, &page, store, r, t, list); err != nil {
		return err
	}
	_, local := evaluation.ClassNotice(t.Questions.DataUse)
	if err := writeReport(to, page.Bytes(), local); err != nil {
		return err
	}
	if a.JSON() {
		a.say("agent report: " + to)
		return nil
	}
	for _, table := range list {
		fmt.Fprintln(a.out)
		if err := table.WriteText(a.out); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.out, "\nagent report %s\n", to)
	if err == nil && curves.Title != "" {
		_, err = fmt.Fprintf(a.out, "learning curves %s\n", a.reportFolder(r, learningPage))
	}
	return err
}

// reportAgent prints or writes the report of an agent's reproduction.
func (a *app) reportAgent(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, f reportFlags) error {
	if len(f.tables) > 0 || f.claims != "" || f.withPictures || f.cases != 0 || f.pictureMiB != 0 || f.cells {
		return usageError("leave them out", "--table, --claims, --cells and the flags of pictures are about evaluations; reproduction %s is an agent's", r.Reproduction)
	}
	t, list, err := agentTables(ctx, store, r)
	if err != nil {
		return err
	}
	if f.compare != "" {
		more, err := paperTables(ctx, store, r)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	curves, err := a.writeLearning(ctx, store, r, t)
	if err != nil {
		return err
	}
	list = append(list, curves.Tables...)
	var out bytes.Buffer
	if f.format == "html" {
		err = a.writeAgentPage(ctx, &out, store, r, t, list)
	} else {
		err = writeAgent(&out, f.format, list)
	}
	if err != nil {
		return err
	}
	to := f.out
	if f.format == "html" && to == "" {
		to = a.reportFolder(r, "agent.html")
	}
	_, local := evaluation.ClassNotice(t.Questions.DataUse)
	if to != "" {
		if err := writeReport(to, out.Bytes(), local); err != nil {
			return err
		}
	}
	switch {
	case a.JSON():
		err = json.NewEncoder(a.out).Encode(map[string]any{
			"reproduction_id": r.Reproduction, "result_digest": r.ResultDigest, "simulated": agent.Simulated(t), "complete": agent.Complete(t),
			"format": f.format, "out": to, "tables": t,
		})
	case to != "":
		_, err = fmt.Fprintln(a.out, to)
	default:
		_, err = a.out.Write(out.Bytes())
	}
	if err == nil && r.Incomplete() {
		err = a.undetermined(r)
	}
	return err
}

func writeAgent(w io.Writer, format string, list []*tables.Table) error {
	write := map[string]func(*tables.Table, io.Writer) error{
		"md": (*tables.Table).WriteMarkdown, "csv": (*tables.Table).WriteCSV, "latex": (*tables.Table).WriteLaTeX,
	}[format]
	if write == nil {
		return fmt.Errorf("no tables are written as %s", format)
	}
	for i, table := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := write(table, w); err != nil {
			return err
		}
	}
	return nil
}

// agentStyle is the look of the page: plain, readable on paper and on a dark screen.
const agentStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1d2733;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.2rem}table{border-collapse:collapse;font-size:.92rem}
th,td{padding:.3rem .7rem;border-bottom:1px solid #d8dee6;text-align:left;vertical-align:top}.wide{overflow-x:auto}
p.note{color:#4a5a6a;font-size:.9rem}code{font-size:.85em}.wide caption{display:none}
@media(prefers-color-scheme:dark){body{color:#dde5ee;background:#12181f}th,td{border-color:#2b3947}p.note{color:#9fb0c1}}`

// writeAgentPage writes the report as one page without scripts: tables, then transcripts.
func (a *app) writeAgentPage(ctx context.Context, w io.Writer, store *artifacts.Repository, r *contract.Receipt, t *contract.AgentTables, list []*tables.Table) error {
	title := html.EscapeString(t.Name)
	fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>%s</style>\n<h1>%s</h1>\n", title, agentStyle, title)
	fmt.Fprintf(w, "<p>%s</p>\n<p class=\"note\">reproduction <code>%s</code>, result <code>%s</code></p>\n", html.EscapeString(t.Paper), html.EscapeString(r.Reproduction), r.ResultDigest)
	for _, table := range list {
		fmt.Fprintf(w, "<h2>%s</h2>\n<div class=\"wide\">%s</div>\n", html.EscapeString(table.Title), table.HTML())
	}
	if err := writeTranscripts(ctx, w, store, r, t); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "</html>")
	return err
}

// writeTranscripts ends the page with rollouts as they were, where the data may be shown.
func writeTranscripts(ctx context.Context, w io.Writer, store *artifacts.Repository, r *contract.Receipt, t *contract.AgentTables) error {
	var told agent.Transcripts
	left := ""
	if _, local := evaluation.ClassNotice(t.Questions.DataUse); local {
		left = "Left out: the questions are data of class " + t.Questions.DataUse + "."
	} else if err := tellRollouts(ctx, store, r, told.Add); err != nil {
		return err
	}
	return told.Write(w, left, func(ref artifacts.Ref) ([]byte, error) { return store.Get(ctx, ref) })
}

// tellRollouts calls fn for every rollout of a reproduction, in the order of sets and items.
func tellRollouts(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, fn func(agent.Told)) error {
	var q contract.Questions
	if err := readJSON(ctx, store, r.Questions, &q); err != nil {
		return err
	}
	for _, ref := range r.RolloutSets {
		var set contract.RolloutSetDoc
		if err := readJSON(ctx, store, ref, &set); err != nil {
			return err
		}
		err := activities.EachRollout(ctx, store, ref, func(d *contract.RolloutDoc) error {
			if d.Item < 0 || d.Item >= len(q.Items) {
				return fmt.Errorf("rollout of item %d: the question set has %d", d.Item, len(q.Items))
			}
			fn(agent.Told{Item: &q.Items[d.Item], Policy: set.Set.Card, Arm: set.Set.Arm, Repeat: set.Set.Repeat, Doc: *d})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
