package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/claims"
	"cxrepro/internal/mask"
	"cxrepro/internal/segment"
)

func newSegmentEvalCommand(a *app) *cobra.Command {
	var pred, truth string
	c := &cobra.Command{
		Use:   "eval --pred DIR --truth DIR",
		Short: "Compare found masks with true ones, in the form of the paper's Table 7",
		Long: `eval reads the case files (*.json) of two folders, pairs them by name and prints, per
structure, the overlap over all cases beside the figures that the paper's Table 7 gives
for CXAS on its own test set: F1 of all pixels pooled, IoU and Dice as means over cases
with the least case beside them. Cases in which neither side has the structure are left
out of its row and counted. Found masks on another grid are brought onto the truth's by
the nearest rule, as the published pipeline does.

Exit codes: 0 all pairs compared; 1 failed; 2 usage; 3 some true cases have no found one.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if pred == "" || truth == "" {
				return usageError("name both folders: cxrepro segment eval --pred DIR --truth DIR", "segment eval: --pred or --truth is missing")
			}
			return a.segmentEval(os.DirFS(pred), os.DirFS(truth), pred, truth)
		},
	}
	fl := c.Flags()
	fl.StringVar(&pred, "pred", "", "folder of case files with the masks that were found")
	fl.StringVar(&truth, "truth", "", "folder of case files with the true masks")
	return c
}

// evaluationReport is what `segment eval --json` prints.
type evaluationReport struct {
	Cases     int            `json:"cases"`
	Missing   []string       `json:"missing"`
	Published string         `json:"published_source"`
	Rows      []evaluatedRow `json:"rows"`
}

type evaluatedRow struct {
	segment.Row
	Published *claims.OverlapRow `json:"published,omitempty"`
}

func (a *app) segmentEval(pred, truth fs.FS, predName, truthName string) error {
	names, err := fs.Glob(truth, "*.json")
	if err != nil {
		return fmt.Errorf("segment eval: %w", err)
	}
	published, err := claims.PublishedOverlaps()
	if err != nil {
		return err
	}
	var e segment.Evaluation
	report := evaluationReport{Missing: []string{}, Published: published.Source}
	for _, name := range names {
		t, isCase, err := readCaseMasks(truth, name)
		if err != nil {
			return fmt.Errorf("segment eval: %s: %w", truthName, err)
		}
		if !isCase {
			continue
		}
		p, _, err := readCaseMasks(pred, name)
		if errors.Is(err, fs.ErrNotExist) {
			report.Missing = append(report.Missing, name)
			continue
		}
		if err == nil {
			p, err = ontoGrid(p, t.GridW, t.GridH)
		}
		if err == nil {
			err = e.Add(p, t)
		}
		if err != nil {
			return fmt.Errorf("segment eval: %s: %w", predName, err)
		}
	}
	if e.Cases() == 0 {
		return &exitError{Code: exitFailed, Err: fmt.Errorf("segment eval: no case file of %s has its match in %s", truthName, predName),
			Hint: "both folders should hold case files (" + chexstruct.CaseFormat + ") of the same names, as `cxrepro segment --out` writes them"}
	}
	report.Cases = e.Cases()
	for _, r := range e.Rows(published.Structures()...) {
		row := evaluatedRow{Row: r}
		if p, ok := published.For(r.Structure); ok {
			row.Published = &p
		}
		report.Rows = append(report.Rows, row)
	}
	if err := a.printEvaluation(report); err != nil {
		return err
	}
	if n := len(report.Missing); n > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("segment eval: %d of %d true cases have no found masks, the first is %s", n, n+report.Cases, report.Missing[0])}
	}
	return nil
}

// readCaseMasks reads a case file's masks; other JSON beside the cases is passed over.
func readCaseMasks(fsys fs.FS, name string) (m *anatomy.Masks, isCase bool, err error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, false, err
	}
	var head struct {
		Format string `json:"format"`
	}
	if json.Unmarshal(data, &head) == nil && head.Format != chexstruct.CaseFormat {
		return nil, false, nil
	}
	c, err := chexstruct.ParseCase(path.Base(name), data)
	if err != nil {
		return nil, true, err
	}
	return c.Input.Masks, true, nil
}

// ontoGrid brings masks onto a w x h grid by the nearest rule.
func ontoGrid(m *anatomy.Masks, w, h int) (*anatomy.Masks, error) {
	if m == nil {
		return nil, errors.New("is not a case file")
	}
	if m.GridW == w && m.GridH == h {
		return m, nil
	}
	z, err := mask.NewResizer(m.GridW, m.GridH, w, h)
	if err != nil {
		return nil, err
	}
	out, err := anatomy.NewMasks(w, h, w, h, m.Declared)
	if err != nil {
		return nil, err
	}
	for _, s := range m.Present().List() {
		k, err := z.Resize(m.Mask(s))
		if err != nil {
			return nil, err
		}
		if err := out.Put(s, k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// printEvaluation prints the table; the last three columns are the paper's.
func (a *app) printEvaluation(r evaluationReport) error {
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %5s %6s  %5s  %5s %6s  %5s %6s   | %s\n", "", "", "", "", "", "", "", "", r.Published)
	fmt.Fprintf(&b, "%-26s %5s %6s  %5s  %5s %6s  %5s %6s   |   %5s  %5s  %5s\n", "structure", "cases", "absent", "F1", "IoU", "least", "Dice", "least", "F1", "IoU", "Dice")
	var rows []segment.Row
	for _, row := range r.Rows {
		rows = append(rows, row.Row)
		title, paper := row.Structure, fmt.Sprintf("%5s  %5s  %5s", "-", "-", "-")
		if p := row.Published; p != nil {
			title, paper = p.Title, fmt.Sprintf("%5.2f  %5.2f  %5.2f", p.F1, p.IoU, p.Dice)
		}
		fmt.Fprintf(&b, "%-26s %5d %6d  %5.3f  %5.3f %6.3f  %5.3f %6.3f   |   %s\n", title, row.Cases, row.Absent, row.F1, row.IoU, row.IoUMin, row.Dice, row.DiceMin, paper)
	}
	mean, least := segment.MeanMin(rows)
	fmt.Fprintf(&b, "%d cases; Dice over %d structures: mean %.3f, least %.3f\n", r.Cases, len(rows), mean, least)
	_, err := a.out.Write([]byte(b.String()))
	return err
}
