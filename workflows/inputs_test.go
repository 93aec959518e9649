package workflows_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"go.temporal.io/sdk/temporal"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/casedata"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// halves is a model of few words: the left half of the picture is the right lung, the right
// half the left one.
type halves struct {
	mu   sync.Mutex // guards seen
	seen []artifacts.Digest
}

func (h *halves) Segment(_ context.Context, img *cxr.Image) (*anatomy.Masks, error) {
	h.mu.Lock()
	h.seen = append(h.seen, artifacts.Sum(img.Pix))
	h.mu.Unlock()
	declared := anatomy.SetOf(anatomy.RightLung, anatomy.LeftLung)
	m, err := anatomy.NewMasks(img.Width, img.Height, img.Width, img.Height, declared)
	if err != nil {
		return nil, err
	}
	right, left := mask.NewBuilder(img.Width, img.Height), mask.NewBuilder(img.Width, img.Height)
	for y := range img.Height {
		right.Add(y, 0, img.Width/2)
		left.Add(y, img.Width/2, img.Width)
	}
	return m, errors.Join(m.Put(anatomy.RightLung, right.Mask()), m.Put(anatomy.LeftLung, left.Mask()))
}

// newModelLab plans tiny images with the model halves.
func newModelLab(t *testing.T, n int, preprocessing string) (*lab, *halves) {
	t.Helper()
	l := newTinyLab(t, n)
	spec := *l.spec
	spec.Masks = experiments.Masks{Source: experiments.MasksONNX, Card: "card.yaml", Provider: "cpu"}
	l.spec = &spec
	blob := func(name string) artifacts.Ref {
		return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: 1, MediaType: "x"}
	}
	model := &experiments.Model{Name: "halves", Card: blob("card"), Weights: blob("weights"), Settings: blob("settings").Digest, Preprocessing: "halves-1"}
	p, err := experiments.NewPlan(l.spec, model)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if l.plan, err = l.store.Put(context.Background(), text, experiments.PlanMediaType); err != nil {
		t.Fatal(err)
	}
	h := &halves{}
	l.engine = func(context.Context, *experiments.Plan) (*activities.Engine, error) {
		return &activities.Engine{Segmenter: h, Identity: contract.Inference{
			Model: model.Weights.Digest, Settings: model.Settings, Provider: "cpu", Preprocessing: preprocessing, Decoder: cxr.DecoderVersion,
		}}, nil
	}
	return l, h
}

// TestCopiedInputs segments on a worker that has no folder, from the copies that ingest
// made. Copies change no key and no result.
func TestCopiedInputs(t *testing.T) {
	plain, _ := newModelLab(t, 20, "halves-1")
	want, _ := plain.run()
	l, h := newModelLab(t, 20, "halves-1")
	l.copyInputs = true
	in := l.input(l.ingest())
	l.data = nil
	env := l.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	r, _ := l.receipt(env)
	if r.ResultDigest != want.ResultDigest || len(h.seen) != 20 {
		t.Errorf("%s after %d inferences, want %s after 20", r.ResultDigest, len(h.seen), want.ResultDigest)
	}
}

// TestOtherModelCode holds that a worker whose code would give other masks under the plan's
// keys makes none: the reproduction waits for a person.
func TestOtherModelCode(t *testing.T) {
	l, h := newModelLab(t, 5, "halves-2")
	in := l.input(l.ingest())
	env := l.env()
	asked := &answers{}
	paused := false
	env.RegisterDelayedCallback(func() {
		v, err := env.QueryWorkflow(contract.QueryProgress)
		var p contract.Progress
		if err := errors.Join(err, v.Get(&p)); err != nil || p.Gate.By != contract.ErrTypeModel {
			t.Errorf("got %+v, %v; want paused by %s", p.Gate, err, contract.ErrTypeModel)
		}
		paused = true
		env.UpdateWorkflow(contract.UpdateCancel, "c", asked)
	}, 1e12)
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	var cancelled *temporal.CanceledError
	if err := env.GetWorkflowError(); !errors.As(err, &cancelled) || !paused {
		t.Errorf("ended with %v, paused %t", err, paused)
	}
	if len(h.seen) > 0 {
		t.Errorf("%d inferences by the wrong code", len(h.seen))
	}
}

// TestFileChangedAfterIngest holds that other bytes under an ingested name stop the window.
func TestFileChangedAfterIngest(t *testing.T) {
	l, _ := newModelLab(t, 5, "halves-1")
	in := l.input(l.ingest())
	files := casedata.Tiny(t, 6)
	files[casedata.Path(2)] = files[casedata.Path(5)]
	l.data = map[string]fs.FS{"golden-cases": casedata.FS(files)}
	env := l.env()
	env.ExecuteWorkflow(contract.Reproduction.Name, in)
	var app *temporal.ApplicationError
	if err := env.GetWorkflowError(); !errors.As(err, &app) || app.Type() != contract.ErrTypeIncomplete {
		t.Errorf("ended with %v, want %s", err, contract.ErrTypeIncomplete)
	}
}
