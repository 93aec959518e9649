package quiztraining_test

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/experiments"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
	"cxrepro/internal/resolve/resolvetest"
	"cxrepro/internal/sourcetree"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// TestPut: the same options are the same training in any store; another seed is another one, and
// everything that a training names is in the store. Nothing is a round before it is rolled out.
func TestPut(t *testing.T) {
	p := resolvetest.Python(t)
	root, err := sourcetree.Root("infra/trainers/tiny")
	if err != nil {
		t.Fatal(err)
	}
	put := func(seed uint64) artifacts.Ref {
		recorder := newRecorder(t)
		store := recorder.Store
		training, ref, err := quiztraining.Put(t.Context(), quiztraining.Options{
			Recorder: recorder,
			Recipes:  filepath.Join(root, "infra/trainers"), Python: p.Path,
			Pictures: quiztraining.FewestPictures, Steps: 20, Rounds: 2, Seed: seed,
		})
		if err != nil {
			t.Fatal(err)
		}
		sft := training.Runs[0]
		named := []artifacts.Ref{ref, training.BaseFiles, training.Plan, training.Questions, sft.Items, sft.Trained}
		for _, f := range sft.Files {
			named = append(named, f.Ref)
		}
		for _, r := range named {
			if _, err := store.Get(t.Context(), r); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
		rounds := quiztraining.Rounds{Store: store, Training: training, Ref: ref}
		if list, err := rounds.Next(t.Context()); err != nil || len(list) != 0 {
			t.Errorf("%d rounds of a training that nobody started, %v", len(list), err)
		}
		return ref
	}
	one, same, other := put(1), put(1), put(2)
	if one != same || one == other {
		t.Errorf("seed 1 gives %s and %s, seed 2 %s", one, same, other)
	}
}

func newRecorder(t *testing.T) *checkpoint.Recorder {
	t.Helper()
	b, err := dirstore.Open(t.TempDir(), dirstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := artifacts.New(b, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	return &checkpoint.Recorder{Store: store, Owner: artifacts.Owner{Worker: "test"}, Code: provenance.Code{Version: "test"}, Now: time.Now}
}

// TestDrawMeasured: where the arm measures, every picture is asked for once, and what the teacher is
// shown and says of a heart is what was measured; elsewhere nobody asks about hearts.
func TestDrawMeasured(t *testing.T) {
	recorder := newRecorder(t)
	asked := map[artifacts.Digest]int{}
	measured := func(_ context.Context, image artifacts.Ref) (xragent.Bundle, error) {
		asked[image.Digest]++
		return xragent.Bundle{View: "PA", Values: [3]*xragent.Verified{{Value: 0.61, Category: string(xragent.Enlarged)}}}, nil
	}
	const pictures = 8
	lines := func(arm string) string {
		a, err := xragent.ArmOf(arm, xragent.ProfileCalibrated)
		if err != nil {
			t.Fatal(err)
		}
		data, err := quiztraining.Draw(t.Context(), recorder, "test", a, experiments.Quiz{Seed: 1, Split: "train", Pictures: pictures}, measured, func() {})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(data.Files, func(f contract.NamedRef) bool { return f.Name == "examples.jsonl" })
		text, err := recorder.Store.Get(t.Context(), data.Files[i].Ref)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := lines(xragent.ArmNoMeasure); strings.Contains(text, "heart size") || len(asked) != 0 {
		t.Errorf("without measurements hearts are asked about, or %d pictures were measured", len(asked))
	}
	hearts, said := 0, 0
	for _, line := range strings.Split(lines(xragent.ArmDefault), "\n") {
		if strings.Contains(line, "What is the heart size?") {
			if hearts++; strings.Contains(line, "0.61") && strings.Contains(line, ") enlarged</answer>") {
				said++
			}
		}
	}
	if hearts != pictures || said < pictures/2 {
		t.Errorf("%d questions about %d hearts, %d answered as measured", hearts, pictures, said)
	}
	for image, n := range asked {
		if n != 1 {
			t.Errorf("picture %s was measured %d times", image.Short(), n)
		}
	}
	if len(asked) != pictures {
		t.Errorf("%d of %d pictures were measured", len(asked), pictures)
	}
}

// TestScores: a checkpoint is counted by family, its calls by whether a tool is needed, and two are
// compared question by question.
func TestScores(t *testing.T) {
	sft, grpo := quiztraining.Score{Model: "sft"}, quiztraining.Score{Model: "grpo"}
	for i := range 40 {
		f := quiz.Families()[i%4]
		id := strconv.Itoa(i)
		sft.Add(id, f, f == quiz.Plain, i < 8, false, 0)
		grpo.Add(id, f, true, f.Tool() != "", false, 1)
	}
	needed, needless := grpo.Calls()
	if grpo.Right != 40 || sft.Right != 10 || needed.K != 20 || needed.N != 20 || needless.K != 0 || needless.N != 20 {
		t.Errorf("right %d and %d, calls %v and %v", grpo.Right, sft.Right, needed, needless)
	}
	if p := grpo.Against(sft); p.OnlyFirst != 30 || p.OnlySecond != 0 || p.Both != 10 {
		t.Errorf("pairs %+v", p)
	}
	table := quiztraining.HeldOut([]quiztraining.Score{sft, grpo})
	if wrong := table.Check(); len(wrong) > 0 || len(table.Rows) != 2 || !strings.Contains(table.Notes[0], "p = 1.9e-09") {
		t.Errorf("%v, %d rows, notes %q", wrong, len(table.Rows), table.Notes)
	}
	// A question that one of them never answered is in no pair, and shifts no other.
	late := quiztraining.Score{Model: "late", Undetermined: 1}
	for i := 1; i < 40; i++ {
		late.Add(strconv.Itoa(i), quiz.Families()[i%4], true, false, false, 1)
	}
	if p := late.Against(sft); p.N() != 39 || p.OnlyFirst != 29 || p.Both != 10 {
		t.Errorf("pairs of one that answered 39 %+v", p)
	}
	if notes := quiztraining.HeldOut([]quiztraining.Score{sft, late}).Notes; len(notes) != 2 || !strings.HasPrefix(notes[0], "late: 1 undetermined, in no count") {
		t.Errorf("notes %q", notes)
	}
}
