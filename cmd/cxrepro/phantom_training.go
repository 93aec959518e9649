package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"cxrepro/internal/phantom"
)

// trainingMeta is meta.json of a training folder.
type trainingMeta struct {
	Format     string              `json:"format"`
	Appearance int                 `json:"appearance_version"`
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

// writeTraining writes the shards, then meta.json: a folder with it is complete.
func (a *app) writeTraining(f phantomFlags) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("phantom generate: %w", err)
	}
	meta := trainingMeta{Format: "phantom-training-1", Appearance: phantom.AppearanceVersion, Seed: f.seed,
		First: f.first, Count: f.n, Shard: f.shard, Size: phantom.SampleSize}
	for i, s := range phantom.Structures() {
		meta.Structures = append(meta.Structures, trainingStructure{i, s.ClassID(), s.Name()})
	}
	for k := 0; k*f.shard < f.n; k++ {
		if err := a.writeShard(f, k); err != nil {
			return fmt.Errorf("phantom generate: shard %d: %w", k, err)
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
	var pix, planes []byte
	for _, s := range samples {
		pix = append(pix, s.Pix...)
		planes = append(planes, s.Masks...)
	}
	if err := os.WriteFile(filepath.Join(f.out, fmt.Sprintf("images-%04d.u8", k)), pix, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(f.out, fmt.Sprintf("masks-%04d.bits", k)), planes, 0o644); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "phantom generate: shard %d, %d of %d samples\n", k, k*f.shard+n, f.n)
	return nil
}
