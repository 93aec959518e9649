package worker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/overlap"
	"cxrepro/internal/provenance"
	"cxrepro/internal/temporalconn"
	"cxrepro/internal/trainer"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// TestTrainTiny runs the small trainer through the platform: SFT on what the teacher wrote, then
// GRPO rounds that the platform rolls out. Killed twice it ends with the same weights and records.
// A small policy that proves the machinery and says nothing about the paper's numbers.
//
// CXREPRO_TRAIN_TINY is the number of rounds; CXREPRO_PYTHON names a Python with numpy.
func TestTrainTiny(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv("CXREPRO_TRAIN_TINY"))
	if err != nil {
		t.Skip("set CXREPRO_TRAIN_TINY to a number of rounds; it needs Python with numpy")
	}
	python := os.Getenv("CXREPRO_PYTHON")
	if python == "" {
		python = "python3"
	}
	if out, err := exec.Command(python, "-c", "import numpy").CombinedOutput(); err != nil {
		t.Fatalf("%s has no numpy: %v: %s", python, err, out)
	}
	conn := server(t)
	calm := newTinyTrainLab(t, conn, "tiny-calm", python, rounds)
	began := time.Now()
	want := calm.run()
	t.Logf("SFT and %d rounds: %v; weights %s", rounds, time.Since(began).Round(time.Second), want.Weights.Short())
	lineage, calls := calm.records()
	for _, r := range calm.rewards() {
		t.Logf("step %3d: mean reward %.3f, %d right, %d calls, %d malformed, %d of %d groups degenerate", r.Step, r.Rewards.Mean, r.Rewards.Correct, r.Rewards.Calls, r.Rewards.Malformed, r.Rewards.Degenerate, r.Rewards.Groups)
	}
	l := newTinyTrainLab(t, conn, "tiny-killed", python, rounds)
	got := l.run(trainKill{fault: "in-update:8"}, trainKill{fault: "after-call-commit:40"})
	if same, made := l.records(); got.Weights != want.Weights || same != lineage || made != calls {
		t.Errorf("killed: weights %s, records %s, %d calls; undisturbed %s, %s, %d", got.Weights.Short(), same.Short(), made, want.Weights.Short(), lineage.Short(), calls)
	}
	chain, err := checkpoint.LineageOf(t.Context(), l.store, got.Weights)
	if err != nil || len(chain.Chain) != rounds+1 || len(chain.Training) != rounds+1 || !chain.Unknown.IsZero() {
		t.Errorf("lineage of the last checkpoint: %d checkpoints with %d training sets, %v", len(chain.Chain), len(chain.Training), err)
	}
}

// rewards are the batches of a training, by step.
func (l *trainLab) rewards() []contract.Batch {
	l.Helper()
	var out []contract.Batch
	err := l.store.Keys(l.Context(), contract.StepBatch, func(key artifacts.Key, _ artifacts.Info) error {
		rec, err := l.store.Lookup(l.Context(), key)
		if err != nil {
			return err
		}
		data, err := l.store.Get(l.Context(), rec.Result)
		if err != nil {
			return err
		}
		var b contract.Batch
		if err := json.Unmarshal(data, &b); err != nil {
			return err
		}
		for len(out) < b.Step {
			out = append(out, contract.Batch{})
		}
		out[b.Step-1] = b
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
	return out
}

const (
	tinyPictures = 60
	tinySteps    = 150
	tinyArm      = xragent.ArmNoMeasure // no models here, and so no question about the heart
)

func newTinyTrainLab(t *testing.T, conn *temporalconn.Conn, name, python string, rounds int) *trainLab {
	t.Helper()
	l := newTrainLab(t, conn, name, rounds)
	l.o.Python = python
	var err error
	if l.o.Recipes, err = filepath.Abs("../infra/trainers"); err != nil {
		t.Fatal(err)
	}
	recipe, err := trainer.LoadRecipe(filepath.Join(l.o.Recipes, "tiny"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if out, err := exec.Command(python, filepath.Join(l.o.Recipes, "tiny"), "init", "--seed", "1", "--out", filepath.Join(folder, "checkpoint-0")).CombinedOutput(); err != nil {
		t.Fatalf("init: %v: %s", err, out)
	}
	tr := contract.Training{Format: contract.TrainingFormat, Name: "tiny", DataUse: "synthetic", Base: "tiny, seed 1", Arm: tinyArm, Plan: l.put(l.plan(tinyArm), experiments.PlanMediaType)}
	tr.BaseWeights, tr.BaseFiles = l.upload(folder)
	sft, grpo := l.quiz(recipe.Digest(), &tr)
	tr.Runs = []contract.TrainingRun{sft, grpo}
	l.in = l.input(name, tr)
	l.in.Common.Tuning.Calls.Open, l.in.Common.Tuning.Heartbeat, l.in.Common.Tuning.Calls.Heartbeat = 8, 10*time.Second, 10*time.Second
	return l
}

// quiz draws the questions, plays the teacher on them, and says what the two runs read.
func (l *trainLab) quiz(recipe artifacts.Digest, tr *contract.Training) (sft, grpo contract.TrainingRun) {
	l.Helper()
	arm, err := xragent.ArmOf(tinyArm, "table")
	if err != nil {
		l.Fatal(err)
	}
	questions := contract.Questions{Format: contract.QuestionsFormat, Layout: "quiz", DataUse: "synthetic"}
	items := manifest.NewWriter(l.store, contract.TrainingItemsKind, manifest.Limits{Items: math.MaxInt32})
	var examples bytes.Buffer
	var trained []contract.TrainingExample
	var images overlap.List
	files := map[string]artifacts.Ref{}
	for n := range tinyPictures {
		s, err := quiz.Draw(1, quiz.Train, n)
		if err != nil {
			l.Fatal(err)
		}
		if _, err := l.store.Put(l.Context(), s.PNG, "image/png"); err != nil {
			l.Fatal(err)
		}
		images.Images = append(images.Images, overlap.Image{Image: s.Image.Digest})
		picture, err := cxr.Decode(s.PNG, cxr.Limits{})
		if err != nil {
			l.Fatal(err)
		}
		for i, it := range s.Items {
			if quiz.Families()[i] == quiz.Heart {
				continue
			}
			questions.Items = append(questions.Items, it)
			if err := items.Add(l.Context(), contract.TrainingItem{ID: it.ID, Number: len(questions.Items) - 1}); err != nil {
				l.Fatal(err)
			}
			line := l.taught(arm.Agent, s, quiz.Families()[i], it, picture, files)
			trained = append(trained, contract.TrainingExample{Example: artifacts.Sum(line), Images: []artifacts.Digest{s.Image.Digest}})
			examples.Write(append(line, '\n'))
		}
	}
	tr.Questions = l.put(questions, contract.QuestionsMediaType)
	list, err := items.Close(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	file, err := l.store.Put(l.Context(), examples.Bytes(), contract.SamplesMediaType)
	if err != nil {
		l.Fatal(err)
	}
	rec := &checkpoint.Recorder{Store: l.store, Owner: artifacts.Owner{Worker: "lab"}, Code: provenance.Code{Version: "test"}, Now: time.Now}
	shown, err := rec.PutImages(l.Context(), images, "synthetic")
	if err != nil {
		l.Fatal(err)
	}
	set, err := rec.PutTrainingSet(l.Context(), contract.TrainingSet{Name: "tiny/teacher", DataUse: "synthetic", Images: shown}, trained)
	if err != nil {
		l.Fatal(err)
	}
	sft = contract.TrainingRun{Trainer: "tiny", Recipe: recipe, Mode: string(trainer.PlatformDriven), Stage: string(trainer.SFT), Steps: tinySteps, Batch: 16, Group: 1,
		Updates: 1, SaveEvery: 50, Segment: tinySteps, Seed: 1, Items: list, Trained: set, Hyper: map[string]any{"learning_rate": 0.003},
		Files: []contract.NamedRef{{Name: "examples.jsonl", Ref: file}}}
	for name, ref := range files {
		sft.Files = append(sft.Files, contract.NamedRef{Name: name, Ref: ref})
	}
	slices.SortFunc(sft.Files, func(a, b contract.NamedRef) int { return strings.Compare(a.Name, b.Name) })
	grpo = contract.TrainingRun{Trainer: "tiny", Recipe: recipe, Mode: string(trainer.PlatformDriven), Stage: string(trainer.GRPO), Steps: l.rounds, Batch: 16, Group: 4,
		Updates: 2, SaveEvery: 1, Segment: 1, Seed: 1, Reward: artifacts.Sum([]byte("reward")), Items: list, Hyper: map[string]any{"learning_rate": 0.001}}
	return sft, grpo
}

// taught is what the teacher wrote about an item, as a line of examples.jsonl.
func (l *trainLab) taught(agent xragent.Agent, s quiz.Study, family quiz.Family, it xragent.Item, picture *cxr.Image, files map[string]artifacts.Ref) []byte {
	l.Helper()
	teacher := quiz.DefaultTeacher()
	p, err := quiz.Table{Agent: agent, Item: it, Picture: picture}.Play(func(p quiz.Played, step xragent.Step) (xragent.Turn, error) {
		return teacher.Turn(s, family, 0, p.Rollout, step)
	})
	if err != nil {
		l.Fatal(err)
	}
	c, err := agent.Conversation(p.Rollout)
	if err != nil {
		l.Fatal(err)
	}
	row := map[string]any{"id": it.ID, "messages": c.Messages}
	names := []string{}
	for _, ref := range c.Images {
		data := s.PNG
		if crop, ok := p.Crops[ref.Digest]; ok {
			data = crop
		}
		name := fmt.Sprintf("pictures/%s.png", ref.Digest.Hex()[:32])
		if files[name], err = l.store.Put(l.Context(), data, "image/png"); err != nil {
			l.Fatal(err)
		}
		names = append(names, name)
	}
	row["images"] = names
	line, err := artifacts.Canonical(row)
	if err != nil {
		l.Fatal(err)
	}
	return line
}
