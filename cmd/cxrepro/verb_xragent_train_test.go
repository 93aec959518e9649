package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestTrainRefuses: what cannot be trained is said before anything is started. Whole trainings
// are worker.TestTrainTiny.
func TestTrainRefuses(t *testing.T) {
	for says, args := range map[string][]string{
		"--pictures 6 is the least": {"--pictures", "5"}, "--sft-steps 0": {"--sft-steps", "0"}, "--rounds -1": {"--rounds", "-1"},
		"--trainers names a folder with the recipe tiny": {"--trainers", t.TempDir()},
	} {
		var out, errs bytes.Buffer
		code := execute(t.Context(), append([]string{"xragent", "train", "--state", t.TempDir()}, args...), strings.NewReader(""), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), says) {
			t.Errorf("%v: exit %d: %s", args, code, errs.String())
		}
	}
}
