package quiztraining_test

import (
	"path/filepath"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/provenance"
	"cxrepro/internal/resolve/resolvetest"
	"cxrepro/internal/sourcetree"
	"cxrepro/internal/trainer/quiztraining"
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
		b, err := dirstore.Open(t.TempDir(), dirstore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		store, err := artifacts.New(b, artifacts.Options{Host: localhost.New()})
		if err != nil {
			t.Fatal(err)
		}
		training, ref, err := quiztraining.Put(t.Context(), quiztraining.Options{
			Recorder: &checkpoint.Recorder{Store: store, Owner: artifacts.Owner{Worker: "test"}, Code: provenance.Code{Version: "test"}, Now: time.Now},
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
