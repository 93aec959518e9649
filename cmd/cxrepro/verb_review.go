package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/internal/contract"
	"cxrepro/internal/review"
)

// reviewFlags are the flags of `chexstruct review`.
type reviewFlags struct {
	reproduction, out   string
	data                []string
	tiles, bins, perBin int
	by                  string
	labelsIn, labelsOut string
	verdictsIn          string
}

func newReviewCommand(a *app) *cobra.Command {
	var f reviewFlags
	c := &cobra.Command{
		Use:   "review [--reproduction ID] [--by RULE]",
		Short: "Show what a reproduction measured, and take a reviewer's verdicts",
		Long: `review writes the review sheet of a finished reproduction into a folder and prints the path
of its first page: sampled cases of every task with landmarks, measurement and verdict drawn
and in words, a page per step of the global filter, and the value ranges of every rule.

--by RULE shows examples per value range of one rule instead, with a table labels.csv to
fill in; --labels-in reads it back and says which limit agrees best with it. A rule is one
of a report's names, such as trachea.width_std; TASK.label is a task's own index.

--verdicts-in reads a table case,task,verdict,note with the verdicts good, minor or reject
(the sheet holds one to fill in). Tables that were read are kept in the store with a
manifest that names their digest.

Pictures are read from the data set's folder: --data, or where the last run here found it.
A picture out of reach is a tile that says so.

With --json one object: reproduction_id, index, pages, tiles, unseen, labels_out, record,
record_digest.

Exit codes: 0 done; 1 failed; 2 usage, no such reproduction or rule, or a table with lines
that cannot be used (each is named); 6 store unreachable.`,
		Example: `  cxrepro chexstruct review
  cxrepro chexstruct review --by trachea.width_std --bins 6
  cxrepro chexstruct review --by trachea.width_std --labels-in labels.csv
  cxrepro chexstruct review --verdicts-in verdicts.csv`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.review(c.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.reproduction, "reproduction", latest, "id of a finished reproduction, or latest")
	fl.StringVar(&f.out, "out", "", "folder to write into (default <state>/reports/<reproduction>/...)")
	fl.StringArrayVar(&f.data, "data", nil, "NAME=FOLDER: where the data set's pictures lie")
	fl.IntVar(&f.tiles, "tiles", 0, "draw the sheet anew with at most this many cases per outcome")
	fl.StringVar(&f.by, "by", "", "show examples per value range of this rule")
	fl.IntVar(&f.bins, "bins", 0, "number of value ranges (default 8)")
	fl.IntVar(&f.perBin, "per-bin", 0, "most cases per value range (default 6)")
	fl.StringVar(&f.labelsIn, "labels-in", "", "read a filled-in table of --by")
	fl.StringVar(&f.labelsOut, "labels-out", "", "where to write the table of --by (default labels.csv beside the page)")
	fl.StringVar(&f.verdictsIn, "verdicts-in", "", "read a filled-in table of verdicts")
	return c
}

// latest names the reproduction that ended last.
const latest = "latest"

func (f *reviewFlags) check() error {
	switch {
	case f.by == "" && (f.labelsIn != "" || f.labelsOut != ""):
		return usageError("name the rule with --by RULE", "--labels-in and --labels-out belong to the value ranges of a rule")
	case f.by != "" && f.verdictsIn != "":
		return usageError("read the two tables one after the other", "--verdicts-in does not go with --by")
	case f.by != "" && f.tiles > 0:
		return usageError("use --per-bin", "--tiles does not go with --by")
	case f.labelsIn != "" && f.labelsOut != "":
		return usageError("write the table, fill it in, then read it", "--labels-in does not go with --labels-out")
	case f.by == "" && f.perBin > 0:
		return usageError("name the rule with --by RULE", "--per-bin belongs to the value ranges of a rule")
	case f.tiles < 0 || f.bins < 0 || f.perBin < 0:
		return usageError("give numbers above 0", "--tiles %d, --bins %d, --per-bin %d", f.tiles, f.bins, f.perBin)
	case f.bins > 200:
		return usageError("more ranges than a page can show; give 200 or fewer", "--bins %d", f.bins)
	}
	return nil
}

// reviewed is what the verb prints.
type reviewed struct {
	Reproduction string            `json:"reproduction_id"`
	Index        string            `json:"index,omitempty"`
	Pages        int               `json:"pages,omitempty"`
	Tiles        int               `json:"tiles,omitempty"`
	Unseen       int               `json:"unseen,omitempty"`
	LabelsOut    string            `json:"labels_out,omitempty"`
	Record       *review.Record    `json:"record,omitempty"`
	RecordDigest *artifacts.Digest `json:"record_digest,omitempty"`
}

func (a *app) review(ctx context.Context, f reviewFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	r, err := a.finishedReceipt(ctx, store, f.reproduction)
	if err != nil {
		return err
	}
	out := reviewed{Reproduction: r.Reproduction}
	switch {
	case f.verdictsIn != "" || f.labelsIn != "":
		err = a.importTable(ctx, store, r, f, &out)
	case f.by != "":
		err = a.reviewRule(ctx, store, r, f, &out)
	case f.tiles > 0 || f.bins > 0:
		err = a.redraw(ctx, store, r, f, &out)
	default:
		out.Index, err = a.exportSheet(ctx, store, r, f.out)
		if errors.Is(err, errNoSheet) {
			err = a.redraw(ctx, store, r, f, &out)
		}
	}
	if err != nil {
		return err
	}
	return a.showReviewed(out)
}

func (a *app) showReviewed(out reviewed) error {
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(out)
	}
	if out.Unseen > 0 {
		a.say(fmt.Sprintf("%d cases have no picture: give the data set's folder with --data NAME=FOLDER", out.Unseen))
	}
	if out.Index != "" {
		fmt.Fprintln(a.out, out.Index)
	}
	if out.LabelsOut != "" {
		a.say("table to fill in: " + out.LabelsOut)
	}
	if rec := out.Record; rec != nil {
		t := review.VerdictTable(rec.Verdicts)
		if rec.Kind == review.KindLabels {
			t = review.AgreementTable(rec.Labels)
		}
		if err := t.WriteText(a.out); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "\n%d lines of %s recorded as %s\n", rec.Lines, rec.Table.Digest, out.RecordDigest)
	}
	return nil
}

// finishedReceipt returns the receipt of a reproduction that is finished.
func (a *app) finishedReceipt(ctx context.Context, store *artifacts.Repository, which string) (*contract.Receipt, error) {
	list, err := reproductions(ctx, store)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(list, (*remembered).finished) && which == latest {
		return nil, usageError("run one with `cxrepro demo` or `cxrepro run SPEC`", "no reproduction is finished in %s", a.storeAddress())
	}
	r, err := chooseReproduction(list, which, (*remembered).finished)
	if err != nil {
		return nil, err
	}
	if !r.finished() {
		return nil, usageError("the same `cxrepro run` goes on with it", "reproduction %s (%s) is not finished", r.ID, r.Name)
	}
	return r.receipt, nil
}

// reportFolder is where files of a reproduction go unless told otherwise.
func (a *app) reportFolder(r *contract.Receipt, name string) string {
	return filepath.Join(a.StateDir(), "reports", r.Reproduction, name)
}

var errNoSheet = errors.New("the reproduction was made without a review sheet")

// sheetMark is a file beside an exported sheet that names the archive it came from.
const sheetMark = ".sheet"

// exportSheet unpacks a receipt's review sheet into a folder, once, and returns its first
// page. Errors: errNoSheet.
func (a *app) exportSheet(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, dir string) (string, error) {
	ref, ok := review.Sheet(r)
	if !ok {
		return "", errNoSheet
	}
	if dir == "" {
		dir = a.reportFolder(r, "review")
	}
	index, mark := filepath.Join(dir, "index.html"), filepath.Join(dir, sheetMark)
	if was, err := os.ReadFile(mark); err == nil && string(was) == ref.Digest.String() {
		if _, err := os.Stat(index); err == nil {
			return index, nil
		}
	}
	data, err := store.Get(ctx, ref)
	if errors.Is(err, artifacts.ErrNotFound) {
		return "", errNoSheet
	}
	if err != nil {
		return "", storeError(err)
	}
	if _, err := review.Unpack(bytes.NewReader(data), int64(len(data)), dir); err != nil {
		return "", err
	}
	return index, os.WriteFile(mark, []byte(ref.Digest.String()), 0o644)
}

// sheetPath exports a finished reproduction's sheet for whoever just ran it. That it
// cannot be written fails nothing.
func (a *app) sheetPath(ctx context.Context, store *artifacts.Repository, r *contract.Receipt) string {
	index, err := a.exportSheet(ctx, store, r, "")
	if err != nil && !errors.Is(err, errNoSheet) {
		a.say("the review sheet was not written: " + err.Error())
	}
	return index
}

// openResults opens a finished reproduction for reports.
func (a *app) openResults(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, data []string) (activities.ReportInput, error) {
	roots, err := parseData(data)
	if err != nil {
		return activities.ReportInput{}, err
	}
	if len(roots) == 0 {
		roots = a.rememberedData()
	}
	open := map[string]fs.FS{}
	for _, root := range roots {
		open[root.name] = openFolder(root.path)
	}
	acts, err := activities.New(activities.Options{
		Store: store, Owner: localhost.New().Owner(artifacts.Owner{Worker: "review"}), Now: time.Now, Data: open,
		Cache: filepath.Join(a.StateDir(), "cache"),
	})
	if err != nil {
		return activities.ReportInput{}, err
	}
	in, err := acts.OpenReport(ctx, r)
	if err != nil {
		return in, storeError(fmt.Errorf("reproduction %s: %w", r.Reproduction, err))
	}
	return in, nil
}

// redraw makes the sheet again.
func (a *app) redraw(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, f reviewFlags, out *reviewed) error {
	in, err := a.openResults(ctx, store, r, f.data)
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = a.reportFolder(r, "review-again")
	}
	a.say("drawing the review sheet")
	made, err := review.Build(ctx, in, review.Folder(dir), review.Options{PerStratum: f.tiles, Bins: f.bins})
	if err != nil {
		return err
	}
	out.Index, out.Pages, out.Tiles, out.Unseen = filepath.Join(dir, "index.html"), made.Pages, made.Tiles, made.Unseen
	return nil
}

// reviewRule shows the value ranges of one rule.
func (a *app) reviewRule(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, f reviewFlags, out *reviewed) error {
	in, err := a.openResults(ctx, store, r, f.data)
	if err != nil {
		return err
	}
	dir := f.out
	if dir == "" {
		dir = a.reportFolder(r, "by-"+strings.NewReplacer("/", "-", ".", "-").Replace(f.by))
	}
	made, err := review.BuildRule(ctx, in, f.by, review.Folder(dir), review.Options{Bins: f.bins, PerBin: f.perBin})
	if err != nil {
		return ruleError(err)
	}
	out.Index, out.Pages, out.Tiles, out.Unseen = filepath.Join(dir, "index.html"), made.Pages, made.Tiles, made.Unseen
	out.LabelsOut = filepath.Join(dir, "labels.csv")
	if f.labelsOut != "" {
		out.LabelsOut = f.labelsOut
		return os.WriteFile(f.labelsOut, made.Labels, 0o644)
	}
	return nil
}

// importTable reads a reviewer's table.
func (a *app) importTable(ctx context.Context, store *artifacts.Repository, r *contract.Receipt, f reviewFlags, out *reviewed) error {
	file := f.verdictsIn + f.labelsIn // one of the two is empty
	data, err := os.ReadFile(file)
	if err != nil {
		return usageError("name the table that was filled in", "%v", err)
	}
	in, err := a.openResults(ctx, store, r, f.data)
	if err != nil {
		return err
	}
	var ref artifacts.Ref
	if f.by != "" {
		out.Record, ref, err = review.ImportLabels(ctx, in, r, f.by, file, data)
	} else {
		out.Record, ref, err = review.ImportVerdicts(ctx, in, r, file, data)
	}
	var bad *review.TableError
	if errors.As(err, &bad) {
		return &exitError{Code: exitUsage, Err: bad, Hint: "correct these lines and read the table again; nothing was recorded"}
	}
	if err != nil {
		return ruleError(err)
	}
	out.RecordDigest = &ref.Digest
	return nil
}

// ruleError makes a wrong rule a usage error.
func ruleError(err error) error {
	var unknown *review.UnknownRuleError
	if errors.As(err, &unknown) {
		return &exitError{Code: exitUsage, Err: fmt.Errorf("no rule called %q has values in this reproduction", unknown.Name), Hint: "rules with values: " + strings.Join(unknown.Known, " ")}
	}
	return err
}
