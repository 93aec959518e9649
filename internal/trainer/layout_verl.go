package trainer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// verlLayout is global_step_<n>/ with a shard of model, optimizer and extra state for each of W
// ranks, the place in the data, and beside the folders a tracker that is written last.
//
// Source: [official code], which says global_step where the documentation says global_steps.
type verlLayout struct{}

func (verlLayout) Name() string { return "verl" }

func (verlLayout) Folder(number int) string { return verlPrefix + strconv.Itoa(number) }

func (verlLayout) ByCounter() bool { return false }

// Restored names the checkpoint in the tracker, which is where verl looks.
func (verlLayout) Restored(folder string, number int) error {
	return replaceFile(filepath.Join(folder, trackerName), fmt.Appendf(nil, "%d", number))
}

// verlPrefix begins the names of folders.
const verlPrefix = "global_step_"

// trackerName is the file that names the newest checkpoint.
const trackerName = "latest_checkpointed_iteration.txt"

// shard is the name of a rank's file.
var shard = regexp.MustCompile(`^actor/(model|optim|extra_state)_world_size_(\d+)_rank_(\d+)\.pt$`)

func (verlLayout) Checkpoints(folder string) ([]Checkpoint, error) {
	tracked := 0
	if data, err := os.ReadFile(filepath.Join(folder, trackerName)); err == nil {
		tracked, _ = strconv.Atoi(strings.TrimSpace(string(data))) // what is no number names nothing
	}
	return scan(folder, verlPrefix, func(dir string, c *Checkpoint) error {
		if tracked < c.Step {
			return fmt.Errorf("the tracker names step %d: it was not finished", tracked)
		}
		return c.shards(dir)
	})
}

// shards fills in the weights and the counter.
func (c *Checkpoint) shards(dir string) error {
	if !slices.Contains(c.Names, "data.pt") {
		return errors.New("data.pt is missing: a resume would begin the data anew")
	}
	world, have := 0, map[string]bool{}
	for _, name := range c.Names {
		m := shard.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[2])
		if err != nil || world != 0 && n != world {
			return fmt.Errorf("%s: shards of %d ranks were there before", name, world)
		}
		world, have[name] = n, true
		if m[1] == "model" {
			c.Weights = append(c.Weights, name)
		}
	}
	if world == 0 {
		return errors.New("it has no shards")
	}
	for _, kind := range []string{"model", "optim", "extra_state"} {
		for rank := range world {
			name := fmt.Sprintf("actor/%s_world_size_%d_rank_%d.pt", kind, world, rank)
			if !have[name] {
				return fmt.Errorf("%s is missing", name)
			}
			if err := checkTorch(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	var err error
	c.Counter, err = schedulerStep(filepath.Join(dir, "actor", fmt.Sprintf("extra_state_world_size_%d_rank_0.pt", world)))
	return err
}

// schedulerStep reads how often the learning rate moved, the only count that verl keeps inside
// a checkpoint: the integer that follows the name last_epoch in the pickle of an extra state.
// Nothing of the pickle is executed.
func schedulerStep(path string) (int, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	defer z.Close()
	for _, f := range z.File {
		if filepath.Base(f.Name) != "data.pkl" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return 0, err
		}
		defer r.Close()
		data, err := io.ReadAll(io.LimitReader(r, 64<<20))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if n, ok := pickledInt(data, "last_epoch"); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s has no last_epoch of a scheduler: how far the optimizer came is not known", filepath.Base(path))
}

// pickledInt returns the small integer that a pickle of protocol 2 or later has for a key.
func pickledInt(data []byte, key string) (int, bool) {
	name := append(binary.LittleEndian.AppendUint32([]byte{'X'}, uint32(len(key))), key...)
	_, rest, ok := bytes.Cut(data, name)
	if !ok {
		return 0, false
	}
	switch { // the key may be remembered: BINPUT, LONG_BINPUT, MEMOIZE
	case len(rest) > 2 && rest[0] == 'q':
		rest = rest[2:]
	case len(rest) > 5 && rest[0] == 'r':
		rest = rest[5:]
	case len(rest) > 1 && rest[0] == 0x94:
		rest = rest[1:]
	}
	switch { // BININT1, BININT2, BININT
	case len(rest) > 1 && rest[0] == 'K':
		return int(rest[1]), true
	case len(rest) > 2 && rest[0] == 'M':
		return int(binary.LittleEndian.Uint16(rest[1:])), true
	case len(rest) > 4 && rest[0] == 'J':
		return int(int32(binary.LittleEndian.Uint32(rest[1:]))), true
	}
	return 0, false
}
