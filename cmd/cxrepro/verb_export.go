package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/bundle"
	"cxrepro/internal/contract"
	"cxrepro/internal/export"
	"cxrepro/internal/report/evaluation"
	"cxrepro/internal/review"
)

// Formats of `export`.
const (
	formatBundle      = "bundle"
	formatCrate       = "ro-crate"
	formatOpenLineage = "openlineage"
	formatMLflow      = "mlflow"
)

var exportFormats = []string{formatBundle, formatCrate, formatOpenLineage, formatMLflow}

func newExportCommand(a *app) *cobra.Command {
	var format, out string
	c := &cobra.Command{
		Use:   "export [RUN|ID] --format bundle|ro-crate|openlineage|mlflow [--out PATH]",
		Short: "Write a finished reproduction for others: a bundle, a crate, events, MLflow",
		Long: `export writes a finished reproduction.

  bundle       one file with everything that its tables follow from: ` + "`verify`" + ` derives them
               again from it without any network, ` + "`reproduce`" + ` starts the same reproduction
  ro-crate     plan and tables as a crate of the Workflow Run RO-Crate profiles: a folder, or a
               zip file where --out ends with .zip
  openlineage  run events, one JSON object a line
  mlflow       a folder of runs that MLflow reads as its tracking store

Bytes of credentialed data are in none of them: a bundle names them by digest, and says so. It
is signed where this state folder has a key (` + "`cxrepro keys`" + `).

With --json one object: reproduction_id, format, out, bytes, and of a bundle objects, withheld,
root, signed.

Exit codes: 0 done; 1 something of the reproduction is damaged; 2 usage, or no such
reproduction; 6 store unreachable.`,
		Example: `  cxrepro export --format bundle
  cxrepro export cxreasonbench-demo --format ro-crate --out crate/
  cxrepro export --format openlineage --out events.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			which := latest
			if len(args) > 0 {
				which = args[0]
			}
			if !slices.Contains(exportFormats, format) {
				return usageError("the formats are "+strings.Join(exportFormats, ", "), "--format %q is not known", format)
			}
			return a.export(c.Context(), which, format, out)
		},
	}
	c.Flags().StringVar(&format, "format", "", strings.Join(exportFormats, ", "))
	c.Flags().StringVar(&out, "out", "", "file or folder to write (default: by name and id in the current folder; openlineage: standard output)")
	return c
}

// exported is what the verb prints with --json.
type exported struct {
	Reproduction string           `json:"reproduction_id"`
	Format       string           `json:"format"`
	Out          string           `json:"out"`
	Bytes        int64            `json:"bytes"`
	Objects      int64            `json:"objects,omitempty"`
	Withheld     int64            `json:"withheld,omitempty"`
	Root         artifacts.Digest `json:"root,omitzero"`
	Signed       bool             `json:"signed,omitempty"`
}

// exporter is one export.
type exporter struct {
	a      *app
	store  *artifacts.Repository
	acts   *activities.Activities
	ref    artifacts.Ref
	ledger *bundle.Ledger
	effort *export.Effort
	out    exported
}

func (a *app) export(ctx context.Context, which, format, out string) error {
	x, err := a.newExporter(ctx, which)
	if err != nil {
		return err
	}
	r := x.effort.Receipt
	x.out.Reproduction, x.out.Format, x.out.Out = r.Reproduction, format, out
	name := fmt.Sprintf("%s-%s", r.Name, r.Reproduction)
	switch format {
	case formatBundle:
		if x.out.Out == "" {
			x.out.Out = name + ".cxbundle.zip"
		}
		err = x.bundle(ctx)
	case formatCrate:
		if x.out.Out == "" {
			x.out.Out = name + "-crate"
		}
		err = x.crate()
	case formatOpenLineage:
		err = x.openLineage()
	case formatMLflow:
		if x.out.Out == "" {
			x.out.Out = "mlruns"
		}
		err = x.mlflow()
	}
	if err != nil {
		return err
	}
	if a.JSON() && (format != formatOpenLineage || out != "") {
		return json.NewEncoder(a.out).Encode(x.out)
	}
	if x.out.Out == "" {
		return nil // it went to standard output
	}
	line := fmt.Sprintf("%s (%s)", x.out.Out, size(x.out.Bytes))
	if format == formatBundle {
		line = fmt.Sprintf("%s (%s, %d objects, %d withheld, %s)", x.out.Out, size(x.out.Bytes), x.out.Objects, x.out.Withheld, map[bool]string{true: "signed", false: "not signed"}[x.out.Signed])
	}
	_, err = fmt.Fprintln(a.out, line)
	return err
}

// newExporter reads a finished reproduction.
func (a *app) newExporter(ctx context.Context, which string) (*exporter, error) {
	store, err := a.readStore(ctx)
	if err != nil {
		return nil, err
	}
	list, err := reproductions(ctx, store)
	if err != nil {
		return nil, err
	}
	r, err := chooseReproduction(list, which, (*remembered).finished)
	if err != nil {
		return nil, err
	}
	if !r.finished() {
		return nil, usageError("the same `cxrepro run` goes on with it", "reproduction %s (%s) is not finished", r.ID, r.Name)
	}
	x := &exporter{a: a, store: store, ref: r.ref}
	if x.acts, err = a.lookers(store, nil, nil); err != nil {
		return nil, err
	}
	if x.ledger, err = a.survey(ctx, store, x.acts, r.ref); err != nil {
		return nil, err
	}
	x.effort, err = x.tell(ctx, r.receipt)
	return x, err
}

// tell collects what every format tells.
func (x *exporter) tell(ctx context.Context, r *contract.Receipt) (*export.Effort, error) {
	e := &export.Effort{Receipt: r, ReceiptRef: x.ref, Root: x.ledger.Root, Code: claimOf(r, x.ref, x.ledger).Code}
	var err error
	if e.PlanText, err = x.store.Get(ctx, r.Plan); err != nil {
		return nil, storeError(err)
	}
	if err := json.Unmarshal(e.PlanText, &e.Plan); err != nil {
		return nil, fmt.Errorf("plan %s: %w", r.Plan, err)
	}
	if !r.Summary.IsZero() {
		e.Findings = &contract.Summary{}
		if err := readJSON(ctx, x.store, r.Summary, e.Findings); err != nil {
			return nil, err
		}
	}
	if !r.Tables.IsZero() {
		e.Evaluation = &contract.EvaluationSummary{}
		if err := readJSON(ctx, x.store, r.Tables, e.Evaluation); err != nil {
			return nil, err
		}
	}
	if e.Steps, err = x.steps(ctx); err != nil {
		return nil, err
	}
	e.Tables, err = tableFiles(e)
	return e, err
}

// steps counts the records of the ledger by kind.
func (x *exporter) steps(ctx context.Context) ([]export.Step, error) {
	var t export.Tally
	for _, l := range x.ledger.Leaves {
		_, _, key := artifacts.ObjectOf(l.Object)
		if key.IsZero() {
			continue
		}
		rec, err := x.store.Entry(ctx, key)
		if err != nil {
			return nil, storeError(err)
		}
		text, err := x.store.StatementOf(ctx, rec)
		if err != nil && !errors.Is(err, artifacts.ErrNotFound) {
			return nil, storeError(err)
		}
		t.Add(rec, text)
	}
	return t.Steps(), nil
}

// tableFiles are the figures as CSV files.
func tableFiles(e *export.Effort) ([]export.File, error) {
	var out []export.File
	add := func(name, title string, write func(w io.Writer) error) error {
		var text strings.Builder
		if err := write(&text); err != nil {
			return err
		}
		out = append(out, export.File{Name: bundle.TablesPrefix + name + ".csv", Title: title, MediaType: "text/csv", Data: []byte(text.String())})
		return nil
	}
	if e.Findings != nil {
		for i, t := range review.Tables(e.Findings) {
			if err := add(fmt.Sprintf("findings-%d", i+1), t.Title, t.WriteCSV); err != nil {
				return nil, err
			}
		}
	}
	if e.Evaluation == nil {
		return out, nil
	}
	d, err := evaluation.Build(evaluation.Input{Summary: e.Evaluation, Reproduction: e.Receipt.Reproduction, Result: e.Receipt.ResultDigest.String()}, evaluation.Options{})
	if err != nil {
		return nil, err
	}
	return out, add("evaluation", "Every figure of the evaluation", d.WriteCSV)
}
