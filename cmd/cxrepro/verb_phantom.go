package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"cxrepro/internal/phantom"
)

func newPhantomCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "phantom",
		Short: "Make synthetic chest radiographs with known truth",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPhantomGenerateCommand(a))
	return c
}

// phantomFlags are the flags of `phantom generate`.
type phantomFlags struct {
	n, first int
	seed     uint64
	out      string
	size     string
	cases    bool
	training bool
	views    bool
	shard    int
	workers  int
}

func newPhantomGenerateCommand(a *app) *cobra.Command {
	var f phantomFlags
	c := &cobra.Command{
		Use:   "generate --n N --seed S --out DIR",
		Short: "Write a data set of phantoms, or training samples",
		Long: `Writes N synthetic frontal radiographs in the published layouts: pictures and tables as
MIMIC-CXR-JPG (mimic-cxr-jpg/), boxes as Chest ImaGenome (chest-imagenome/), lung masks
as CheXmask (chexmask/), and what is true of each phantom (truth/). Now and then a study
has a lateral film or one without a view, on top of the N. The same seed gives the same
bytes everywhere.

With --training it writes raw 512 x 512 pairs of picture and masks instead: shards
images-NNNN.u8 (n x 512 x 512 bytes) and masks-NNNN.bits (n x 34 x 512 x 64 bytes, most
significant bit leftmost), described by meta.json. With --views it writes pictures for
the view check: any view, turned, mirrored, inverted, cut, slices and double pictures,
prepared to 256 x 256 (images-NNNN.u8), with five bytes of truth each (labels-NNNN.u8).

Exit codes: 0 ok; 1 failed; 2 usage.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.training {
				return a.writeTraining(f)
			}
			if f.views {
				return a.writeViews(f)
			}
			return a.writePhantoms(c.Context(), f)
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.n, "n", 24, "number of phantoms")
	fl.IntVar(&f.first, "first", 0, "number of the first phantom")
	fl.Uint64Var(&f.seed, "seed", 1, "seed")
	fl.StringVar(&f.out, "out", "", "folder to write (new or empty)")
	fl.StringVar(&f.size, "size", "native", "picture size: native (about 1024 x 1231), mimic (about 2544 x 3056), 512, or WxH")
	fl.BoolVar(&f.cases, "cases", false, "write the true masks as case files too")
	fl.BoolVar(&f.training, "training", false, "write raw 512 x 512 training samples instead")
	fl.BoolVar(&f.views, "views", false, "write pictures for the view check instead")
	fl.IntVar(&f.shard, "shard", 256, "samples per shard, with --training or --views")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "phantoms drawn at a time")
	return c
}

func (f *phantomFlags) check() error {
	switch {
	case f.out == "":
		return usageError("name a folder with --out DIR", "phantom generate: no output folder")
	case f.n < 1 || f.shard < 1 || f.workers < 1:
		return usageError("give --n, --shard and --workers of at least 1", "phantom generate: --n %d, --shard %d, --workers %d", f.n, f.shard, f.workers)
	case f.first < 0 || f.first > phantom.MaxIndex+1-f.n:
		return usageError(fmt.Sprintf("the phantoms of a folder have numbers 0 to %d", phantom.MaxIndex), "phantom generate: %d phantoms from number %d on", f.n, f.first)
	case f.training && f.views:
		return usageError("drop one of them", "phantom generate: --training and --views write different samples")
	case f.training && (f.cases || f.size != "native"):
		return usageError("drop --cases and --size, or --training", "phantom generate: --training writes 512 x 512 shards only")
	case f.views && (f.cases || f.size != "native"):
		return usageError("drop --cases and --size, or --views", "phantom generate: --views writes 256 x 256 shards only")
	}
	return unusedFolder("phantom generate", f.out)
}

// sizing reads --size.
func (f *phantomFlags) sizing() (phantom.Sizing, error) {
	switch f.size {
	case "native":
		return phantom.SizingNative, nil
	case "mimic":
		return phantom.SizingMIMIC, nil
	case "512":
		return phantom.Sizing512, nil
	}
	ws, hs, ok := strings.Cut(f.size, "x")
	w, errW := strconv.Atoi(ws)
	h, errH := strconv.Atoi(hs)
	if !ok || errW != nil || errH != nil || min(w, h) < phantom.MinSide || max(w, h) > phantom.MaxSide || w > 2*h || h > 2*w {
		return phantom.Sizing{}, usageError(
			fmt.Sprintf("give native, mimic, 512, or WxH with sides of %d to %d pixels, neither twice the other", phantom.MinSide, phantom.MaxSide),
			"phantom generate: size %q", f.size)
	}
	return phantom.Sizing{Width: w, Height: h}, nil
}

// writePhantoms writes a data set: the studies as they are drawn, then the tables.
func (a *app) writePhantoms(ctx context.Context, f phantomFlags) error {
	z, err := f.sizing()
	if err != nil {
		return err
	}
	o := phantom.DatasetOptions{Seed: f.seed, Sizing: z, Cases: f.cases}
	studies := make([]*phantom.Study, f.n)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(f.workers)
	for i := range f.n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := phantom.NewStudy(f.first+i, o)
			if err != nil {
				return err
			}
			err = writePhantomFiles(f.out, s.Files)
			s.Files = nil
			studies[i] = s
			if (i+1)%50 == 0 {
				fmt.Fprintf(a.err, "phantom generate: %d of %d\n", i+1, f.n)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("phantom generate: %w", err)
	}
	var t phantom.Tables
	for _, s := range studies {
		t.Add(s)
	}
	files, sum, err := t.Files(o)
	if err != nil {
		return fmt.Errorf("phantom generate: %w", err)
	}
	if err := writePhantomFiles(f.out, files); err != nil {
		return fmt.Errorf("phantom generate: %w", err)
	}
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(sum)
	}
	fmt.Fprintf(a.out, "%s: %d pictures (%d frontal, %d lateral, %d without a view), seed %d\n", f.out, sum.Images, sum.Frontal, sum.Lateral, sum.NoView, sum.Seed)
	return nil
}

func writePhantomFiles(root string, files []phantom.File) error {
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
