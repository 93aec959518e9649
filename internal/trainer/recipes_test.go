package trainer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/resolve/resolvetest"
	"cxrepro/internal/trainer"
)

// recipes is the folder of the recipes that ship.
const recipes = "../../infra/trainers"

// hyper are settings that fill every placeholder of the recipes; the values are those of
// docs/training.md.
var hyper = map[string]any{
	"norm_adv_by_std": true, "batch": 16, "mini_batch": 8, "micro_batch": 2, "max_prompt_length": 8192, "max_response_length": 8192, "image_patch_size": 16,
	"learning_rate": 2e-6, "clip": 0.2, "use_kl": false, "kl": 0.0, "beta": 0.0, "loss_agg_mode": "token-mean", "freeze_vision": true, "engine": "vllm",
	"temperature": 1.0, "loss_type": "grpo", "scale_rewards": "group", "max_completion_length": 8192, "max_length": 8192, "warmup": 0.03, "accumulation": 8,
	"freeze_aligner": false, "max_pixels": 1048576, "tuner": "full", "steps_per_generation": 4,
}

// TestRecipes: every recipe loads, fills its command lines for a start and for a resume, and
// writes no setting that is known to lose rows, order or a checkpoint.
func TestRecipes(t *testing.T) {
	for name, stages := range map[string][]trainer.Stage{"tiny": {trainer.SFT, trainer.GRPO}, "verl": {trainer.GRPO}, "trl": {trainer.GRPO}, "swift": {trainer.SFT, trainer.GRPO}} {
		r, err := trainer.LoadRecipe(filepath.Join(recipes, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, stage := range stages {
			s := trainer.Spec{Trainer: name, Mode: trainer.TrainerDriven, Stage: stage, Steps: 300, Group: 4, Updates: 2, SaveEvery: 10, GPUs: 4, Hyper: hyper,
				Reward: artifacts.Sum([]byte("reward"))}
			v := trainer.Values{"run": "/runs/one", "checkpoints": "/runs/one/checkpoints", "python": "python3", "base": "/models/base", "cache": "/runs/cache", "attempt": "1", "token": "t",
				"reward_url": "http://127.0.0.1:1/v1/rewards", "observations_url": "http://127.0.0.1:1/v1/observations", "rollout_url": "http://127.0.0.1:2"}
			g := trainer.Segment{To: 300, Batch: "batches/step-000001.jsonl"}
			fresh, env, err := r.Argv(s, g, v, "")
			if err != nil {
				t.Error(err)
				continue
			}
			resumed, _, err := r.Argv(s, g, v, "/runs/one/checkpoints/checkpoint-20")
			if err != nil {
				t.Error(err)
			}
			if slices.Equal(fresh, resumed) || !strings.Contains(strings.Join(resumed, " "), "checkpoint-20") {
				t.Errorf("%s %s: a resume is started as %v", name, stage, resumed)
			}
			for _, w := range slices.Concat(fresh, resumed, env) {
				if strings.ContainsAny(w, "{}") && !strings.HasPrefix(w, "trainer.logger") {
					t.Errorf("%s %s: placeholder left in %q", name, stage, w)
				}
			}
			line := strings.Join(fresh, " ")
			for _, want := range map[string][]string{
				"verl":  {"data.shuffle=False", "trainer.save_freq=10", "rollout.n=4", "multi_turn.max_parallel_calls=5", "trainer.total_training_steps=300", "async_save=False"},
				"trl":   {"--save 20", "--updates 2"},
				"swift": {"--add_version false", "--dataset_shuffle false", "--save_only_model false", "--loss_scale default", "--max_steps 600"},
			}[name] {
				if !strings.Contains(line, want) {
					t.Errorf("%s %s: %q is not in %s", name, stage, want, line)
				}
			}
		}
	}
}

// TestClient: the shims' client waits where the service asks for it, raises on what is refused or
// missing, and never makes up a reward; draws of an item are told apart across processes.
func TestClient(t *testing.T) {
	python := resolvetest.Bare(t)
	asked := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked++
		var in struct {
			Samples []struct {
				ID   string `json:"sample_id"`
				Item string `json:"item_id"`
			} `json:"samples"`
		}
		if err := json.NewDecoder(q.Body).Decode(&in); err != nil || q.Header.Get("Authorization") != "Bearer hush" {
			t.Errorf("request %v, %q", err, q.Header.Get("Authorization"))
		}
		switch item := in.Samples[0].Item; {
		case item == "late" && asked == 1:
			w.Header().Set("Retry-After", "0.01")
			w.WriteHeader(http.StatusServiceUnavailable)
		case item == "refused":
			http.Error(w, `{"code":"unknown_item"}`, http.StatusUnprocessableEntity)
		case item == "unanswered":
			fmt.Fprint(w, `{"results":[]}`)
		default:
			fmt.Fprintf(w, `{"results":[{"sample_id":%q,"score":1.15}]}`, in.Samples[0].ID)
		}
	}))
	defer s.Close()
	folder := t.TempDir()
	ask := func(item string) (string, error) {
		cmd := exec.Command(python, "-c", `
import sys, client
k = client.draw(3, sys.argv[1], 2)
got = client.reward([client.sample(3, sys.argv[1], k, "C", client.trajectory("<think>x</think>", "stop"))])
print(k, got[0]["sample_id"], got[0]["score"])`, item)
		shared, err := filepath.Abs(filepath.Join(recipes, "shared"))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(os.Environ(), "PYTHONPATH="+shared, "PYTHONDONTWRITEBYTECODE=1", "CXREPRO_TOKEN=hush", "CXREPRO_FOLDER="+folder, "CXREPRO_ATTEMPT=2",
			"CXREPRO_RUN=r", "REWARD_CONFIG=c", "REWARD_URL="+s.URL)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, want := range []string{"0 a2/3/late/0 1.15\n", "1 a2/3/late/1 1.15\n"} {
		if got, err := ask("late"); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if got, err := ask("late"); err == nil || !strings.Contains(got, "more than 2 times") {
		t.Errorf("a third draw of two: %q, %v", got, err)
	}
	for _, item := range []string{"refused", "unanswered"} {
		if got, err := ask(item); err == nil {
			t.Errorf("%s: %q, want an error", item, got)
		}
	}
}
