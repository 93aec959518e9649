package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/artifacts"
	"cxrepro/internal/dataset"
	"cxrepro/internal/xragent/radcot"
)

// radcotBuildFlags are the flags of `radcot build`.
type radcotBuildFlags struct {
	set, work, labels, labelled, teacher, out string
}

func newRadcotBuildCommand(a *app) *cobra.Command {
	var f radcotBuildFlags
	c := &cobra.Command{
		Use:   "build --set DIR --work FILE --out DIR",
		Short: "Judge finished work and write the files that trainers read",
		Long: `build judges the replies of finished work, candidate by candidate, and writes what verl, TRL
and ms-swift read: sft.* and grpo.* as JSONL and Parquet, the ledger of every attempt, the examples
and a datasheet. The same work gives the same bytes. Rows name pictures by content, below images/.

--set is a folder that ` + "`radcot draw`" + ` wrote. --work has one line a candidate, in the set's order:
{"candidate","written":[{"text","finish_reason"}],"rollouts":[...]}. --labels is a table of the 14
CheXpert labels by candidate (columns candidate and the labels), as a labeller such as CheXbert gives
for the report examples; missing categories are named.

With --json: the datasheet.

Exit codes: 0 written; 1 the work is not that of the set, or an example overlaps with evaluation
data (nothing is written then); 2 usage; 3 written, with fewer examples than wanted, undetermined
candidates or labels that are missing.`,
		Example: `  cxrepro xragent radcot build --set set --work work.jsonl --labels chexbert.csv --labelled-by "CheXbert, table of 2 December" --out corpus`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, x := range []struct{ name, value string }{{"set", f.set}, {"work", f.work}, {"out", f.out}} {
				if x.value == "" {
					return usageError("see `cxrepro xragent radcot build --help`", "--%s is missing", x.name)
				}
			}
			return a.radcotBuild(f)
		},
	}
	l := c.Flags()
	l.StringVar(&f.set, "set", "", "folder of candidates")
	l.StringVar(&f.work, "work", "", "file of finished work, - for standard input")
	l.StringVar(&f.labels, "labels", "", "table of labels by candidate")
	l.StringVar(&f.labelled, "labelled-by", "an imported table", "what made the table of labels, for the datasheet")
	l.StringVar(&f.teacher, "teacher", "", "who was asked, for the datasheet")
	l.StringVar(&f.out, "out", "", "folder to write to")
	return c
}

// readRadcotSet reads a folder of candidates.
func readRadcotSet(dir string) (*radcot.Set, artifacts.Digest, *radcot.Exclusions, error) {
	data, err := os.ReadFile(filepath.Join(dir, radcotCandidates))
	if err != nil {
		return nil, artifacts.Digest{}, nil, usageError("name a folder that `cxrepro xragent radcot draw` wrote", "candidates: %v", err)
	}
	set, err := radcot.ReadSet(data)
	if err != nil {
		return nil, artifacts.Digest{}, nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, radcotExclusions))
	if err != nil {
		return nil, artifacts.Digest{}, nil, err
	}
	if artifacts.Sum(text) != set.Exclusions {
		return nil, artifacts.Digest{}, nil, fmt.Errorf("%s is not the one that the candidates were drawn under; hint: draw again", filepath.Join(dir, radcotExclusions))
	}
	ex, err := radcot.ReadExclusions(text)
	return set, artifacts.Sum(data), ex, err
}

func (a *app) radcotBuild(f radcotBuildFlags) (err error) {
	set, digest, ex, err := readRadcotSet(f.set)
	if err != nil {
		return err
	}
	in := a.in
	if f.work != "-" {
		file, err := os.Open(f.work)
		if err != nil {
			return usageError("name a file with --work", "work: %v", err)
		}
		defer file.Close()
		in = file
	}
	b, err := radcot.Finish(set, radcot.NewClosing(set, digest, ex), radcot.ReadWork(in, f.work))
	if err != nil {
		return err
	}
	audit, err := f.audit(b)
	if err != nil {
		return err
	}
	sheet, err := b.Save(ex, f.teacher, audit, func(name, _ string, data []byte) error { return outFolder(f.out).WriteFile(name, data) })
	if err != nil {
		return err
	}
	return a.showSheet(sheet)
}

// audit reads the table of labels; nil without one.
func (f radcotBuildFlags) audit(b *radcot.Built) (*radcot.Audit, error) {
	if f.labels == "" {
		return nil, nil
	}
	l, err := dataset.OpenLabels(openFolder(filepath.Dir(f.labels)), filepath.Base(f.labels), "candidate")
	if err != nil {
		return nil, err
	}
	audit := radcot.AuditReports(f.labelled, b.Examples, func(e *radcot.Example) string {
		labels, ok := l.Named(e.ID)
		if !ok {
			return ""
		}
		return radcot.LabelMarks(labels)
	})
	return &audit, nil
}

// showSheet prints a datasheet and says what it lacks.
func (a *app) showSheet(sheet radcot.Datasheet) error {
	var err error
	if a.JSON() {
		err = a.printJSON(sheet)
	} else {
		err = sheet.Markdown(a.out)
	}
	if err != nil {
		return err
	}
	var lacks []string
	for _, p := range sheet.Parts {
		if p.Kept < p.Wanted {
			lacks = append(lacks, fmt.Sprintf("%s: %d of %d", p.Part, p.Kept, p.Wanted))
		}
		if p.Undetermined > 0 {
			lacks = append(lacks, fmt.Sprintf("%s: %d undetermined", p.Part, p.Undetermined))
		}
	}
	if sheet.Audit != nil && !sheet.Audit.Complete() {
		lacks = append(lacks, "labels: "+sheet.Audit.String())
	}
	if len(lacks) > 0 {
		return &exitError{Code: exitQuarantined, Err: errors.New(strings.Join(lacks, "; ")), Hint: "draw more candidates, finish the undetermined ones, or label the rest"}
	}
	return nil
}
