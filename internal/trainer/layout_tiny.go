package trainer

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
)

// tinyLayout is checkpoint-<n>/ as docs/trainer-contract.md has it: the trainer's own manifest
// names every file.
type tinyLayout struct{}

func (tinyLayout) Name() string { return "tiny" }

func (tinyLayout) Folder(number int) string { return tinyPrefix + strconv.Itoa(number) }

func (tinyLayout) ByCounter() bool { return false }

func (tinyLayout) Restored(string, int) error { return nil }

// tinyPrefix begins the names of folders.
const tinyPrefix = "checkpoint-"

func (tinyLayout) Checkpoints(folder string) ([]Checkpoint, error) {
	return scan(folder, tinyPrefix, func(dir string, c *Checkpoint) error {
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
