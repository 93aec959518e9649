package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/lineage"
	"cxrepro/internal/overlap"
	"cxrepro/internal/resolve/resolvetest"
)

// Sizes of the training of this test: pictures with four questions each, rounds of 16 x 4.
const (
	stagePictures = 30
	stageRounds   = 2
	stageJudged   = 3
)

// trainedShelf is a state directory with a real short training: SFT, two rounds, and its first weights and
// both checkpoints judged on other questions.
type trainedShelf struct {
	*shelf
	receipt contract.Receipt
	doc     contract.TrainingDoc
}

// stageArgs run the committed spec in the size of the test.
func stageArgs(more ...string) []string {
	args := []string{"run", "../../experiments/xragent-tiny", "--json"}
	for _, set := range append([]string{
		"training.data.quiz={seed: 1, split: train, pictures: 30}", "training.sft.steps=120", "training.grpo.rounds=2", "dataset.quiz.pictures=3",
	}, more...) {
		args = append(args, "--set", set)
	}
	return args
}

func (s *trainedShelf) read(ref artifacts.Ref, v any) {
	s.t.Helper()
	if err := readJSON(s.t.Context(), s.store, ref, v); err != nil {
		s.t.Fatal(err)
	}
}

func newTrainedShelf(t *testing.T) *trainedShelf {
	t.Helper()
	t.Setenv("CXREPRO_PYTHON", resolvetest.Python(t).Path)
	s := &trainedShelf{shelf: &shelf{t: t, state: t.TempDir()}}
	out, _ := s.do(exitOK, stageArgs()...)
	s.receipt = receiptOf(t, out)
	var err error
	if s.store, err = storeurl.Open(t.Context(), filepath.Join(s.state, "store"), storeurl.Options{}); err != nil {
		t.Fatal(err)
	}
	s.read(s.receipt.Training, &s.doc)
	return s
}

func receiptOf(t *testing.T, out string) (r contract.Receipt) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// TestTrainingStage: one spec trains and judges, as one reproduction. Of a real short training
// lineage lists exactly the rollouts, examples and pictures of each checkpoint, both ways; verify
// makes its documents again; a picture that is trained and judged on is blocked by name.
// A small policy that proves the machinery and says nothing about the paper's numbers.
func TestTrainingStage(t *testing.T) {
	s := newTrainedShelf(t)
	s.one(t)
	s.exactLineage(t)
	s.leaks(t)
}

// one holds that there is one receipt of everything, and that it follows from the records.
func (s *trainedShelf) one(t *testing.T) {
	t.Helper()
	r := s.receipt
	names := []string{}
	for _, c := range r.Checkpoints {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"base", "sft", "grpo"}) || r.Rollouts == nil || r.Rollouts.Done != 3*4*stageJudged || s.doc.Rollouts != stageRounds*64 {
		t.Errorf("checkpoints %v, rollouts %+v, and %d in training", names, r.Rollouts, s.doc.Rollouts)
	}
	// Two turns of each whole rollout, one of those whose first turn is malformed.
	if c := r.Calls; c == nil || c.Needed <= stageRounds*64 || c.Needed > 2*(stageRounds*64+r.Rollouts.Done) || c.Repeated != 0 {
		t.Errorf("calls %+v", c)
	}
	again, _ := s.do(exitOK, stageArgs()...)
	if other := receiptOf(t, again); other.Reproduction != r.Reproduction || !other.Ended.Equal(r.Ended) {
		t.Errorf("the same command again gave %s, ended %s", other.Reproduction, other.Ended)
	}
	if said, _ := s.do(exitOK, "verify", r.Reproduction); !strings.Contains(said, "the training from the records of its rollouts, batches and segments") {
		t.Errorf("verify:\n%s", said)
	}
	if said, _ := s.do(exitOK, "status", r.Reproduction); !strings.Contains(said, "done") {
		t.Errorf("status:\n%s", said)
	}
}

// walked are the nodes of a walk by kind.
func (s *trainedShelf) walked(ref string, way string) map[lineage.Kind][]lineage.Node {
	s.t.Helper()
	out, _ := s.do(exitOK, "lineage", ref, way, "--json")
	var g struct{ Nodes []lineage.Node }
	if err := json.Unmarshal([]byte(out), &g); err != nil {
		s.t.Fatal(err)
	}
	by := map[lineage.Kind][]lineage.Node{}
	for _, n := range g.Nodes {
		by[n.Kind] = append(by[n.Kind], n)
	}
	return by
}

// exactLineage holds what lineage lists against the records that the rounds left.
func (s *trainedShelf) exactLineage(t *testing.T) {
	t.Helper()
	sft, grpo := s.doc.Runs[0], s.doc.Runs[1]
	weights := []artifacts.Digest{sft.Weights}
	for _, ref := range grpo.Segments {
		var seg contract.TrainedSegment
		s.read(ref, &seg)
		weights = append(weights, seg.Weights)
	}
	taught := map[artifacts.Digest]bool{}
	for round, w := range weights {
		l, err := checkpoint.LineageOf(t.Context(), s.store, w)
		if err != nil {
			t.Fatal(err)
		}
		shown := map[artifacts.Digest]bool{}
		for _, set := range l.Training {
			list, err := checkpoint.Images(t.Context(), s.store, set.Value.Images)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list.Images {
				shown[m.Image] = true
			}
		}
		calls := map[artifacts.Digest]bool{}
		for _, r := range grpo.Rounds[:round] {
			var b contract.Batch
			var page contract.RolloutsDoc
			s.read(r.Batch, &b)
			s.read(b.Rollouts, &page)
			for _, d := range page.Rollouts {
				for _, c := range d.Calls {
					calls[c.Key] = true
				}
			}
		}
		got := s.walked(w.Hex(), "--down")
		pictures := 0
		for _, n := range append(got[lineage.KindImage], got[lineage.KindPicture]...) {
			if shown[n.Digest] {
				pictures++
			}
		}
		if len(got[lineage.KindRollout]) != round*64 || len(got[lineage.KindExample]) != 4*stagePictures || len(got[lineage.KindCall]) != len(calls) || pictures != len(shown) {
			t.Errorf("after round %d: %d rollouts, %d examples of SFT, %d calls of %d, %d pictures of %d",
				round, len(got[lineage.KindRollout]), len(got[lineage.KindExample]), len(got[lineage.KindCall]), len(calls), pictures, len(shown))
		}
		for _, n := range got[lineage.KindCall] {
			if !calls[n.Key.Digest] {
				t.Errorf("after round %d: call %s is of no round before it", round, n.Key.Short())
			}
		}
		for d := range shown {
			taught[d] = true
		}
	}
	for d := range taught { // every one leads to all checkpoints, since all descend from SFT
		if up := s.walked(d.Hex(), "--up"); len(up[lineage.KindCheckpoint]) != len(weights) {
			t.Errorf("training picture %s leads up to %d checkpoints of %d", d.Short(), len(up[lineage.KindCheckpoint]), len(weights))
		}
		break
	}
	var judged contract.Questions
	s.read(s.receipt.Questions, &judged)
	if up := s.walked(judged.Pictures()[0].Digest.Hex(), "--up"); len(up[lineage.KindCheckpoint]) != 0 || len(up[lineage.KindCall]) == 0 {
		t.Errorf("a picture that is only judged on leads up to %d checkpoints and %d calls", len(up[lineage.KindCheckpoint]), len(up[lineage.KindCall]))
	}
}

// leaks: other pictures pass; shared ones are refused before the training, and a planted one in a
// reproduction of a trained checkpoint is blocked by name.
func (s *trainedShelf) leaks(t *testing.T) {
	t.Helper()
	clean, _ := s.do(exitQuarantined, "overlap", s.receipt.Reproduction) // nothing found; studies of drawn pictures are not known
	if strings.Contains(clean, string(overlap.SameBytes)+": image") || strings.Contains(clean, "trained on what it is judged on") {
		t.Errorf("the clean set:\n%s", clean)
	}
	if said, _ := s.do(exitOK, "check", s.receipt.Reproduction); strings.Contains(said, "blocked:") {
		t.Errorf("check of the clean set:\n%s", said)
	}
	_, talk := s.do(exitUsage, stageArgs("dataset.quiz.split=train")...)
	for _, word := range []string{"trained on what they are judged on", "3 of 3 pictures", string(overlap.SameBytes)} {
		if !strings.Contains(talk, word) {
			t.Errorf("a spec that judges on training pictures: lacks %q:\n%s", word, talk)
		}
	}
	id := s.plant(t)
	said, _ := s.do(exitFailed, "overlap", id)
	checked, _ := s.do(exitQuarantined, "check", id)
	for _, word := range []string{"policy-sft", "policy-grpo", string(overlap.SameBytes)} {
		if !strings.Contains(said, word) || !strings.Contains(checked, word) {
			t.Errorf("the planted leak: lacks %q:\n%s\n%s", word, said, checked)
		}
	}
	if !strings.Contains(checked, "blocked: policy-grpo: checkpoint policy/grpo/2 was trained on what it is judged on") {
		t.Errorf("check of the planted leak:\n%s", checked)
	}
}

// plant leaves a reproduction whose question set holds a picture that the policy was trained on.
func (s *trainedShelf) plant(t *testing.T) (id string) {
	t.Helper()
	var trained contract.Training
	var learned, asked contract.Questions
	s.read(s.doc.Training, &trained)
	s.read(trained.Questions, &learned)
	s.read(s.receipt.Questions, &asked)
	asked.Items[0].Pictures = learned.Items[0].Pictures
	put := func(v any, mediaType string) artifacts.Ref {
		text, err := artifacts.Canonical(v)
		if err != nil {
			t.Fatal(err)
		}
		ref, err := s.store.Put(t.Context(), text, mediaType)
		if err != nil {
			t.Fatal(err)
		}
		return ref
	}
	r := s.receipt
	r.Questions = put(asked, contract.QuestionsMediaType)
	r.Manifest, r.Reproduction = r.Questions, contract.ReproductionID(r.Plan.Digest, r.Questions.Digest)
	ref := put(r, contract.ReceiptMediaType)
	pin := artifacts.Pin{Name: contract.PinPrefix + r.Reproduction, Roots: []artifacts.Ref{r.Plan, ref}, Note: "planted", Open: true}
	if err := s.store.SetPin(t.Context(), pin); err != nil {
		t.Fatal(err)
	}
	return r.Reproduction
}
