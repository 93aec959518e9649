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
	"text/tabwriter"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/xragent"
	xrbench "cxrepro/internal/xragent/bench"
	"cxrepro/internal/xragent/radcot"
	"cxrepro/internal/xragent/radcot/fixture"
)

func newXragentRadcotCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "radcot",
		Short: "Build training examples: candidates, replies, files, datasheet",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError("see `"+c.CommandPath()+" --help`", "radcot needs a subcommand: fixture, draw, run, build or inspect")
		},
	}
	c.AddCommand(newRadcotFixtureCommand(a), newRadcotDrawCommand(a), newRadcotRunCommand(a), newRadcotBuildCommand(a), newRadcotInspectCommand(a))
	return c
}

// Files of a folder of candidates, and of one of examples.
const (
	radcotCandidates = activities.CandidatesFile
	radcotExclusions = activities.ExclusionsFile
	radcotLedger     = radcot.LedgerFile
	radcotExamples   = radcot.ExamplesFile
	radcotSheet      = radcot.DatasheetFile
)

func newRadcotFixtureCommand(a *app) *cobra.Command {
	var out string
	o := fixture.Options{Seed: 1}
	c := &cobra.Command{
		Use:   "fixture --out DIR",
		Short: "Write synthetic sources in their published layouts",
		Long: `fixture writes what a construction reads, in the layouts of the releases: LLaVA-Rad annotations
with pictures and labels of MIMIC-CXR-JPG, SLAKE, OpenI, Rad-ReStruct, and the CheXbench whose
pictures must stay out. Pictures are phantoms, texts are drawn; nothing is about a patient.

Exit codes: 0 written; 1 failed; 2 usage.`,
		Example: `  cxrepro xragent radcot fixture --out sources --studies 400`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if out == "" {
				return usageError("name the folder with --out", "no folder to write to")
			}
			if err := fixture.Write(outFolder(out), o); err != nil {
				return err
			}
			err := xrbench.Fixture(xrbench.CheXbench, xrbench.FixtureOptions{Seed: o.Seed + 1, // other pictures than those to train on
				Questions: 60, Long: o.Long}, outFolder(filepath.Join(out, "chexbench")))
			if err == nil {
				a.say("wrote synthetic sources to " + out)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&out, "out", "", "folder to write to")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed")
	f.IntVar(&o.Studies, "studies", 400, "studies of MIMIC-CXR-JPG")
	f.IntVar(&o.Slake, "slake", 60, "pictures of SLAKE")
	f.IntVar(&o.OpenI, "openi", 120, "reports of OpenI; the benchmark shows the first ones")
	f.IntVar(&o.Long, "long", 256, "longer side of the pictures, pixels")
	return c
}

// radcotSources are the folders that --data names.
type radcotSources struct {
	roots map[string]fs.FS
	src   radcot.Sources
	items []xragent.Item // of CheXbench
}

var radcotData = []string{"llava-rad", "mimic-cxr-jpg", "slake", "openi", "rad-restruct", "items", "chexbench"}

// itemsFile holds the list of items of the source items.
const itemsFile = "items.jsonl"

func openRadcotSources(data []string, use string, spec *radcot.Spec) (*radcotSources, error) {
	roots, err := parseData(data)
	if err != nil {
		return nil, err
	}
	s := &radcotSources{roots: map[string]fs.FS{}}
	for _, r := range roots {
		if !slices.Contains(radcotData, r.name) {
			return nil, usageError("sources are called "+strings.Join(radcotData, ", "), "--data %s is no source of Rad-CoT", r.name)
		}
		s.roots[r.name] = openFolder(r.path)
	}
	at := func(name string) fs.FS { return s.roots[name] }
	s.src = radcot.Sources{LLaVARad: at("llava-rad"), MIMIC: at("mimic-cxr-jpg"), Slake: at("slake"), OpenI: at("openi"), RadReStruct: at("rad-restruct")}
	if spec.Binary == radcot.BinaryItems && at("items") != nil {
		s.src.ItemsFolder = at("items")
		if s.src.ItemsUse, err = datause.Parse(use); err != nil {
			return nil, usageError("say with --items-data-use whose data the items are", "source items: %v", err)
		}
		if s.src.Items, err = readItems(s.src.ItemsFolder); err != nil {
			return nil, err
		}
	}
	if s.src.MIMIC != nil {
		m, err := dataset.OpenMIMIC(s.src.MIMIC, dataset.MIMICOptions{Selection: dataset.Selection{Views: []cxr.ViewPosition{cxr.ViewPA}}, NoChecksums: true})
		if err != nil {
			return nil, err
		}
		if s.src.Labels, _, err = m.Labels(); err != nil {
			return nil, err
		}
	}
	if at("chexbench") == nil {
		return nil, usageError("name the benchmark's folder with --data chexbench=PATH: its pictures must stay out", "no benchmark to keep out")
	}
	o := xrbench.Options{}
	if spec.Waiver != "" {
		o.Counts = xrbench.CountsAny
	}
	set, err := xrbench.Import(xrbench.CheXbench, at("chexbench"), o)
	if err != nil {
		return nil, err
	}
	s.items = set.Items
	return s, nil
}

// folderOf is the folder that a candidate's path lies in.
func (s *radcotSources) folderOf(source radcot.Source) fs.FS {
	switch source {
	case radcot.SourceMIMIC:
		return s.roots["mimic-cxr-jpg"]
	case radcot.SourceSlake:
		return s.roots["slake"]
	case radcot.SourceItems:
		return s.roots["items"]
	}
	return s.roots["openi"]
}

// readItems reads a list of items, one a line, with pictures relative to its folder.
func readItems(fsys fs.FS) ([]xragent.Item, error) {
	data, err := fs.ReadFile(fsys, itemsFile)
	if err != nil {
		return nil, fmt.Errorf("source items: %w", err)
	}
	var out []xragent.Item
	n := 0
	for line := range bytes.Lines(data) {
		if n++; len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var i xragent.Item
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		err := dec.Decode(&i)
		if err == nil {
			err = i.Validate()
		}
		if err != nil {
			return nil, fmt.Errorf("source items: %s line %d: %w; hint: a line is what `cxrepro xragent bench import --items` prints of an item", itemsFile, n, err)
		}
		out = append(out, i)
	}
	return out, nil
}

// pictureRef names a file by content.
func pictureRef(fsys fs.FS, name string) (artifacts.Ref, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return artifacts.Ref{}, err
	}
	info, err := cxr.ReadHeader(bytes.NewReader(data))
	if err != nil {
		return artifacts.Ref{}, err
	}
	return artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: info.Format.MediaType()}, nil
}

// readRadcotSpec reads a spec file, YAML or JSON, over the defaults; "" is the default.
func readRadcotSpec(file string) (radcot.Spec, error) {
	spec := radcot.DefaultSpec()
	if file == "" {
		return spec, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return spec, usageError("name a spec file with --spec", "spec: %v", err)
	}
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		return spec, usageError("the file is YAML", "%s: %v", file, err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&spec); err != nil {
		return spec, usageError("docs/rad-cot.md lists the fields", "%s: %v", file, err)
	}
	if err := spec.Validate(); err != nil {
		return spec, &exitError{Code: exitUsage, Err: fmt.Errorf("%s: %w", file, err), Hint: "docs/rad-cot.md lists the fields"}
	}
	return spec, nil
}

func newRadcotDrawCommand(a *app) *cobra.Command {
	var data []string
	var file, out, use string
	c := &cobra.Command{
		Use:   "draw --data NAME=PATH... --out DIR",
		Short: "Read the sources and draw the candidates of every part",
		Long: `draw reads the sources that the spec needs, leaves out what the rules do not want (each record
counted under a code), keeps evaluation pictures and their siblings out, and draws the candidates of
every part. The drawn set depends on the spec and the content of the sources alone.

Sources: llava-rad, mimic-cxr-jpg, slake, openi, rad-restruct, items, chexbench (to keep out). items,
for binary: items, is a folder with ` + itemsFile + `, one item a line, and its pictures. DIR gets ` + radcotCandidates + `
and ` + radcotExclusions + `. Both name files of licensed data sets: keep them where the data may be.

With --json: {"candidates","left","pool","short","parts","overlap","data_use"}.

Exit codes: 0 drawn; 1 a source cannot be read or is not what its format says; 2 usage or spec;
3 a part has fewer candidates than the spec draws.`,
		Example: `  cxrepro xragent radcot draw --spec radcot.yaml --data slake=/data/Slake1.0 --data chexbench=/data/chexbench --out set`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return usageError("name the folder with --out", "no folder to write to")
			}
			spec, err := readRadcotSpec(file)
			if err != nil {
				return err
			}
			return a.radcotDraw(c.Context(), spec, data, use, outFolder(out))
		},
	}
	f := c.Flags()
	f.StringVar(&file, "spec", "", "spec file (YAML); fields that it leaves out have their defaults")
	f.StringArrayVar(&data, "data", nil, "NAME=PATH: where a source lies")
	f.StringVar(&use, "items-data-use", "", "data-use class of the source items: synthetic, public, public_attribution or credentialed")
	f.StringVar(&out, "out", "", "folder to write to")
	return c
}

func (a *app) radcotDraw(ctx context.Context, spec radcot.Spec, data []string, use string, out outFolder) error {
	s, err := openRadcotSources(data, use, &spec)
	if err != nil {
		return err
	}
	ex, err := radcot.NewExclusions(s.src.Slake, s.items, spec.Waiver)
	if err != nil {
		return err
	}
	absent, err := s.evaluationFiles(ctx, ex)
	if err != nil {
		return err
	}
	if absent > 0 {
		a.say(fmt.Sprintf("%d evaluation pictures are not in their folders: their names keep them out, copies under other names are not noticed", absent))
	}
	pool, err := radcot.Gather(spec, s.src, ex)
	if err != nil {
		return err
	}
	set, err := radcot.Draw(spec, pool)
	if err != nil {
		return err
	}
	pin := func(c *radcot.Candidate) (artifacts.Ref, error) {
		if err := ctx.Err(); err != nil {
			return artifacts.Ref{}, err
		}
		return pictureRef(s.folderOf(c.Source), c.Picture.Path)
	}
	if err := set.Pin(ex, pin); err != nil {
		return err
	}
	if set.Files, err = s.files(spec); err != nil {
		return err
	}
	exclusions, err := json.Marshal(ex)
	if err != nil {
		return err
	}
	set.Exclusions = artifacts.Sum(exclusions)
	text, err := set.Encode()
	if err != nil {
		return err
	}
	if err := errors.Join(out.WriteFile(radcotExclusions, exclusions), out.WriteFile(radcotCandidates, text)); err != nil {
		return err
	}
	return a.showDrawn(set, ex.Overlap(set.Candidates), artifacts.Sum(text))
}

// evaluationFiles adds the evaluation pictures to the exclusions by content, where they lie, and
// counts those that are absent: their names alone keep them out.
func (s *radcotSources) evaluationFiles(ctx context.Context, ex *radcot.Exclusions) (absent int, err error) {
	type place struct {
		folder fs.FS
		name   string
	}
	places := map[place]bool{}
	for _, i := range s.items {
		for _, p := range i.Pictures {
			places[place{s.roots["chexbench"], p.Path}] = true
		}
	}
	for _, name := range ex.Slake {
		if s.src.Slake != nil {
			places[place{s.src.Slake, name}] = true
		}
	}
	var files []artifacts.Digest
	for p := range places {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		ref, err := pictureRef(p.folder, p.name)
		if errors.Is(err, fs.ErrNotExist) {
			absent++
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("evaluation picture %s: %w", p.name, err)
		}
		files = append(files, ref.Digest)
	}
	ex.Same(files...)
	return absent, nil
}

// files names the tables and texts of the sources by content.
func (s *radcotSources) files(spec radcot.Spec) ([]radcot.SourceFile, error) {
	var out []radcot.SourceFile
	for _, g := range []struct{ root, pattern string }{{"llava-rad", "chat_train_*.json"}, {"mimic-cxr-jpg", "mimic-cxr-*-chexpert.csv*"}, {"slake", "*.json"},
		{"rad-restruct", "id_to_img_mapping_frontal_reports.json"}, {"rad-restruct", "train_qa_pairs/*.json"}, {"openi", "ecgen-radiology/*.xml"}, {"items", itemsFile}, {"chexbench", "data.json"}} {
		if s.roots[g.root] == nil {
			continue
		}
		names, err := fs.Glob(s.roots[g.root], g.pattern)
		if err != nil {
			return nil, err
		}
		sums := ""
		for _, name := range names {
			data, err := fs.ReadFile(s.roots[g.root], name)
			if err != nil {
				return nil, err
			}
			sums += artifacts.Sum(data).String() + "  " + name + "\n"
			if len(names) <= 4 {
				out = append(out, radcot.SourceFile{Name: g.root + "/" + name, Digest: artifacts.Sum(data)})
			}
		}
		if len(names) > 4 { // a folder of files is one line: the digest of its list of digests
			out = append(out, radcot.SourceFile{Name: fmt.Sprintf("%s/%s (%d files)", g.root, g.pattern, len(names)), Digest: artifacts.Sum([]byte(sums))})
		}
	}
	return out, nil
}

func (a *app) showDrawn(set *radcot.Set, overlap []radcot.Count, digest artifacts.Digest) error {
	parts := map[radcot.Part]int{}
	for i := range set.Candidates {
		parts[set.Candidates[i].Part]++
	}
	var err error
	if a.JSON() {
		err = a.printJSON(map[string]any{"candidates": digest, "left": set.Left, "pool": set.Pool, "short": set.Short, "parts": parts, "overlap": len(overlap), "data_use": set.DataUse})
	} else {
		w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "part\tdrawn\tof\twanted")
		for _, p := range radcot.Parts() {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", p, parts[p], set.Spec.Amounts.Of(p).Draw, set.Spec.Amounts.Of(p).Want)
		}
		fmt.Fprintln(w, "\nleft out\tn")
		for _, c := range set.Left {
			fmt.Fprintf(w, "%s\t%d\n", c.Name, c.N)
		}
		err = w.Flush()
		fmt.Fprintf(a.out, "\noverlap with evaluation pictures: %d\ndata use: %s\ncandidates: %s\n", len(overlap), set.DataUse, digest)
	}
	if err == nil && len(set.Short) > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("parts with fewer candidates than the spec draws: %v", set.Short), Hint: "draw less of them, or give more sources"}
	}
	return err
}
