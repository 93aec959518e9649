package trainer

import (
	"errors"
	"path/filepath"
	"slices"
)

// tinyLayout is checkpoint-<n>/ as docs/trainer-contract.md has it: the trainer's own manifest
// names every file.
type tinyLayout struct{}

func (tinyLayout) Name() string { return "tiny" }

func (tinyLayout) Checkpoints(folder string) ([]Checkpoint, error) {
	return scan(folder, "checkpoint-", func(dir string, c *Checkpoint) error {
		s, err := readState(dir, c.Step)
		if err != nil {
			return err
		}
		c.Counter = s.Optimizer
		m, err := readManifest(dir)
		if err != nil {
			return err
		}
		if err := m.check(dir, c.Step); err != nil {
			return err
		}
		for _, name := range []string{"model.safetensors", "optimizer.safetensors"} {
			if !slices.Contains(c.Names, name) {
				return errors.New(name + " is missing")
			}
			if err := checkSafetensors(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		c.Weights = []string{"model.safetensors"}
		return nil
	})
}
