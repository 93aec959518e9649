package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/review"
)

// printOutcome prints tables and receipt, or the receipt as one JSON line, and returns the
// exit code that fits.
func (a *app) printOutcome(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, s *contract.Summary) error {
	sheet := a.sheetPath(ctx, store, r)
	if a.JSON() {
		if sheet != "" {
			a.say("review sheet: " + sheet)
		}
		if err := json.NewEncoder(a.out).Encode(r); err != nil {
			return err
		}
	} else {
		if s != nil {
			printSummary(a.out, s)
		}
		printReceipt(a.out, r, sheet)
	}
	if err := a.printAsked(ctx, store, r); err != nil {
		return err
	}
	a.sayQuarantined(ctx, store, r)
	return a.verdict(r)
}

// printAsked ends the output of a reproduction that asked models: the paper's summary
// tables beside the published figures, and where the whole report is.
func (a *app) printAsked(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) error {
	if !r.AgentTables.IsZero() {
		return a.printAgent(ctx, store, r)
	}
	if r.Tables.IsZero() {
		return nil
	}
	e, err := loadEvaluation(ctx, store, r)
	if err != nil {
		return err
	}
	var w io.Writer = a.out
	if a.JSON() {
		w = io.Discard
	}
	fmt.Fprintln(w)
	path, err := a.showEvaluation(ctx, e, w)
	if err != nil {
		return err
	}
	if a.JSON() {
		a.say("evaluation report: " + path)
		return nil
	}
	_, err = fmt.Fprintf(w, "\nevaluation report %s\n", path)
	return err
}

// quarantineSaid is how many quarantined items are named one by one.
const quarantineSaid = 10

// sayQuarantined names the first quarantined items with reason and detail, by case number.
func (a *app) sayQuarantined(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) {
	if contract.Total(r.Images.Quarantined) == 0 || r.Summary.IsZero() {
		return
	}
	var doc contract.Dataset
	var list []contract.Quarantined
	if readJSON(ctx, store, r.Manifest, &doc) != nil || readJSON(ctx, store, doc.Rejected, &list) != nil {
		return // the counts are in the receipt
	}
	for i, q := range list {
		if i == quarantineSaid {
			a.say(fmt.Sprintf("quarantined: and %d more: cxrepro artifacts cat %s", len(list)-i, doc.Rejected.Digest))
			return
		}
		line := fmt.Sprintf("quarantined: case %d: %s", q.Case, q.Reason)
		if detail := strings.TrimPrefix(q.Detail, q.Reason+": "); detail != "" {
			line += ": " + detail
		}
		a.say(line)
	}
}

// verdict is the exit code that fits a receipt.
func (a *app) verdict(r *contract.Receipt) error {
	if wrong := r.Check(); len(wrong) > 0 {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("the receipt does not add up: %s", strings.Join(wrong, "; "))}
	}
	if r.Incomplete() {
		return a.undetermined(r)
	}
	if n := contract.Total(r.Images.Quarantined); n > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("done, with %d images in quarantine: %s", n, countList(r.Images.Quarantined)),
			Hint: "the others are complete; `cxrepro dataset check FOLDER --depth pixels --orphans --paths` names the files. Mend them and run again: only they are read anew"}
	}
	return nil
}

// printSummary prints the tables in the form of the paper's Table 6.
func printSummary(w io.Writer, s *contract.Summary) {
	// Standard output that cannot be written has nobody to tell.
	_ = review.WriteText(w, s)
	fmt.Fprintln(w)
}

// printReceipt prints what the reproduction took and gave, and where its review sheet lies.
func printReceipt(w io.Writer, r *contract.Receipt, sheet string) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("reproduction", "%s", r.Reproduction)
	row("result", "%s (%s)", r.ResultDigest, r.Determinism)
	if r.Images.In > 0 {
		imageRows(row, r)
	}
	row("steps", "%d needed = %d run + %d reused; %d repeated%s", r.Steps.Needed, r.Steps.Run, r.Steps.Reused, r.Steps.Repeated, inBrackets(r.Steps.Causes))
	for _, s := range r.BySteps {
		row("", "%s: %d needed, %d run, %d reused, %d repeated, %s", s.Step, s.Needed, s.Run, s.Reused, s.Repeated, size(s.Bytes))
	}
	for _, c := range r.Checkpoints {
		row("checkpoint", "%s: weights %s", c.Name, c.Weights)
	}
	callRows(row, r)
	if r.RedoneWindows > 0 || r.Conflicts > 0 {
		row("mended", "%d windows done again, %d second results that differed", r.RedoneWindows, r.Conflicts)
	}
	row("bytes", "%s", size(r.Bytes))
	row("time", "%s from launch to end, %s of computing, %d workers", seconds(r.WallSeconds), seconds(r.BusySeconds), len(r.Workers))
	if sheet != "" {
		row("review sheet", "%s", sheet)
	}
	for _, rep := range r.Reports {
		row(rep.Name, "cxrepro artifacts cat %s", rep.Ref.Digest)
	}
	t.Flush()
}

func imageRows(row func(name, format string, args ...any), r *contract.Receipt) {
	row("images", "%d in = %d kept + %d filtered%s + %d quarantined%s", r.Images.In, r.Images.Kept,
		contract.Total(r.Images.Filtered), inBrackets(r.Images.Filtered), contract.Total(r.Images.Quarantined), inBrackets(r.Images.Quarantined))
	row("global filter", "%d kept + %d removed", r.Images.GlobalKept, r.Images.GlobalRemoved)
}

func countList(counts []contract.Count) string {
	var out []string
	for _, c := range counts {
		out = append(out, fmt.Sprintf("%d %s", c.N, c.Name))
	}
	return strings.Join(out, ", ")
}

func inBrackets(counts []contract.Count) string {
	if len(counts) == 0 {
		return ""
	}
	return " (" + countList(counts) + ")"
}

func seconds(s float64) string {
	return time.Duration(s * float64(time.Second)).Round(10 * time.Millisecond).String()
}

// size prints bytes for people.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}
