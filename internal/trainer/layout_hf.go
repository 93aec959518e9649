package trainer

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// hfLayout is checkpoint-<n>/ as the Trainer of transformers writes it, which TRL and ms-swift
// build on: weights, optimizer (plain, sharded by FSDP, or of DeepSpeed), scheduler, and
// trainer_state.json with the step.
type hfLayout struct{}

func (hfLayout) Name() string { return "hf" }

func (hfLayout) Folder(number int) string { return hfPrefix + strconv.Itoa(number) }

func (hfLayout) ByCounter() bool { return true }

func (hfLayout) Restored(string, int) error { return nil }

// hfPrefix begins the names of folders.
const hfPrefix = "checkpoint-"

func (hfLayout) Checkpoints(folder string) ([]Checkpoint, error) {
	return scan(folder, hfPrefix, func(dir string, c *Checkpoint) error {
		s, err := readState(dir, c.Step)
		if err != nil {
			return err
		}
		c.Counter = *s.Step
		if err := c.modelFiles(dir); err != nil {
			return err
		}
		for _, name := range c.Weights {
			if err := checkWeights(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
		return c.optimizer(dir)
	})
}

// single are names of weights in one file, indexes those that list several.
var (
	single  = []string{"model.safetensors", "adapter_model.safetensors", "pytorch_model.bin", "adapter_model.bin"}
	indexes = []string{"model.safetensors.index.json", "pytorch_model.bin.index.json"}
)

// modelFiles finds the files of the weights.
func (c *Checkpoint) modelFiles(dir string) error {
	for _, name := range single {
		if slices.Contains(c.Names, name) {
			c.Weights = append(c.Weights, name)
		}
	}
	for _, name := range indexes {
		if !slices.Contains(c.Names, name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		var index struct {
			Map map[string]string `json:"weight_map"`
		}
		if err := json.Unmarshal(data, &index); err != nil {
			return fmt.Errorf("%s does not parse: %v", name, err)
		}
		for _, file := range index.Map {
			if !slices.Contains(c.Weights, file) {
				c.Weights = append(c.Weights, file)
			}
		}
	}
	slices.Sort(c.Weights)
	if len(c.Weights) == 0 {
		return errors.New("it has no weights")
	}
	for _, name := range c.Weights {
		if !slices.Contains(c.Names, name) {
			return fmt.Errorf("%s is missing", name)
		}
	}
	return nil
}

// optimizer refuses a checkpoint whose optimizer is missing or cut off.
func (c *Checkpoint) optimizer(dir string) error {
	found := false
	for _, name := range c.Names {
		base := path.Base(name)
		switch {
		case name == "optimizer.pt", name == "optimizer.bin", strings.HasSuffix(base, "_optim_states.pt"):
			if err := checkTorch(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
			found = true
		case strings.HasPrefix(name, "optimizer_") && base == ".metadata": // written after the shards
			found = true
		}
	}
	if !found {
		return errors.New("the optimizer is missing: it was saved for its weights alone")
	}
	if slices.Contains(c.Names, "latest") {
		tag, err := os.ReadFile(filepath.Join(dir, "latest"))
		if want := fmt.Sprintf("global_step%d", c.Step); err != nil || strings.TrimSpace(string(tag)) != want {
			return fmt.Errorf("latest names %q, want %s", strings.TrimSpace(string(tag)), want)
		}
	}
	return nil
}
