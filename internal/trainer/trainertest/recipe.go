package trainertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"cxrepro/internal/trainer"
)

// Kind is a trainer whose layout and habits are taken.
type Kind struct {
	Layout, Counter string
	Updates         int
	Silent          bool
	Stage           trainer.Stage
}

// Kinds are the trainers by name.
var Kinds = map[string]Kind{
	"verl":  {"verl", trainer.CountsSteps, 2, true, trainer.GRPO},
	"trl":   {"hf", trainer.CountsUpdates, 2, false, trainer.GRPO},
	"swift": {"hf", trainer.CountsUpdates, 1, false, trainer.SFT},
	"tiny":  {"tiny", trainer.CountsUpdates, 2, false, trainer.GRPO},
}

// Write writes the recipe of a kind into a folder. Its placeholders {how} and {reward_url} are
// the job's to fill.
func Write(folder, kind string) error {
	k := Kinds[kind]
	resume := ""
	if k.Layout == "tiny" {
		resume = `
    fresh: ["{base}", "{batch}", "{identity}"]
    resume: ["{checkpoint}", "{batch}", "{identity}"]`
	} else {
		resume = `
    fresh: ["", "", ""]
    resume: ["{checkpoint}", "", ""]`
	}
	text := fmt.Sprintf(`trainer: %s
version: fake
layout: %s
determinism: bit_exact
counter: %s
silent: %t
checkpoints: checkpoints
progress: [out.log, err.log]
commands:
  %s:
    program: ["%s"]
    arguments: [%s, "{run}", "{from}", "{to}", "{every}", "{updates}", "{group}", "{attempt}"]%s
serve:
  program: ["%s", serve]
  arguments: ["{port}"]
  folder: --checkpoints
environment: {%s: "{how}", REWARD_URL: "{reward_url}"}
`, kind, k.Layout, k.Counter, k.Silent, k.Stage, os.Args[0], k.Layout, resume, os.Args[0], Env)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, trainer.RecipeName), []byte(text), 0o600)
}

// Recipe writes and loads the recipe of a kind.
func Recipe(t testing.TB, kind string) *trainer.Recipe {
	t.Helper()
	folder := filepath.Join(t.TempDir(), kind)
	if err := Write(folder, kind); err != nil {
		t.Fatal(err)
	}
	r, err := trainer.LoadRecipe(folder)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
