package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

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
	training bool
	shard    int
	workers  int
}

func newPhantomGenerateCommand(a *app) *cobra.Command {
	var f phantomFlags
	c := &cobra.Command{
		Use:   "generate --n N --seed S --out DIR",
		Short: "Write phantoms with their true masks",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.n < 1 || f.first < 0 || f.shard < 1 || f.workers < 1 {
				return usageError("give --n, --shard and --workers of at least 1, --first of at least 0", "phantom generate: count out of range")
			}
			if f.out == "" {
				return usageError("name a folder with --out DIR", "phantom generate: no output folder")
			}
			if !f.training {
				return usageError("add --training", "phantom generate: only training samples are built in this version")
			}
			return a.writeTraining(f)
		},
	}
	fl := c.Flags()
	fl.IntVar(&f.n, "n", 24, "number of phantoms")
	fl.IntVar(&f.first, "first", 0, "number of the first phantom")
	fl.Uint64Var(&f.seed, "seed", 1, "seed")
	fl.StringVar(&f.out, "out", "", "folder to write")
	fl.BoolVar(&f.training, "training", false, "write 512 x 512 training samples as raw shards")
	fl.IntVar(&f.shard, "shard", 256, "training samples per shard")
	fl.IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "phantoms drawn at a time")
	return c
}

// trainingMeta is meta.json of a training folder.
type trainingMeta struct {
	Format     string              `json:"format"`
	Model      int                 `json:"appearance_version"`
	Seed       uint64              `json:"seed"`
	First      int                 `json:"first"`
	Count      int                 `json:"count"`
	Shard      int                 `json:"shard"`
	Size       int                 `json:"size"`
	Structures []trainingStructure `json:"structures"`
}

type trainingStructure struct {
	Channel int    `json:"channel"`
	ClassID int    `json:"class_id"`
	Name    string `json:"name"`
}

// writeTraining writes shards images-NNNN.u8 and masks-NNNN.bits, then meta.json.
func (a *app) writeTraining(f phantomFlags) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("phantom generate: %w", err)
	}
	meta := trainingMeta{Format: "phantom-training-1", Model: phantom.AppearanceVersion, Seed: f.seed, First: f.first, Count: f.n, Shard: f.shard, Size: phantom.SampleSize}
	for i, s := range phantom.Structures() {
		meta.Structures = append(meta.Structures, trainingStructure{i, s.ClassID(), s.Name()})
	}
	for k := 0; k*f.shard < f.n; k++ {
		if err := a.writeShard(f, k); err != nil {
			return err
		}
	}
	b, err := json.MarshalIndent(meta, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(f.out, "meta.json"), append(b, '\n'), 0o644)
}

// writeShard draws the samples of shard k and writes its two files.
func (a *app) writeShard(f phantomFlags, k int) error {
	n := min(f.shard, f.n-k*f.shard)
	samples := make([]*phantom.Sample, n)
	var g errgroup.Group
	g.SetLimit(f.workers)
	for i := range n {
		g.Go(func() (err error) {
			samples[i], err = phantom.TrainingSample(f.seed, f.first+k*f.shard+i)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var pix, bits bytes.Buffer
	for _, s := range samples {
		pix.Write(s.Pix)
		bits.Write(s.Masks)
	}
	for name, b := range map[string][]byte{"images-%04d.u8": pix.Bytes(), "masks-%04d.bits": bits.Bytes()} {
		if err := os.WriteFile(filepath.Join(f.out, fmt.Sprintf(name, k)), b, 0o644); err != nil {
			return fmt.Errorf("phantom generate: %w", err)
		}
	}
	fmt.Fprintf(a.err, "phantom generate: shard %d, %d of %d samples\n", k, k*f.shard+n, f.n)
	return nil
}
