package trainer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/trainertest"
)

// rig is a run of the fake trainer in a folder, with a service that records what it asks.
type rig struct {
	*testing.T
	trainer.Job
	opts    trainer.Options
	mu      sync.Mutex // guards samples
	samples []trainer.Sample
}

const fakeSteps = 6

func TestMain(m *testing.M) {
	trainertest.Main()
	os.Exit(m.Run())
}

// gpuKinds are the trainers that generate by themselves or read examples.
var gpuKinds = map[string]bool{"verl": true, "trl": true, "swift": true}

func newRig(t *testing.T, kind, how string) *rig {
	t.Helper()
	k, recipe := trainertest.Kinds[kind], trainertest.Recipe(t, kind)
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprintf("item-%02d", i))
	}
	schedule, err := trainer.NewSchedule(items, fakeSteps, 4, "order", 7)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := schedule.Encode()
	if err != nil {
		t.Fatal(err)
	}
	spec := trainer.Spec{Trainer: kind, Recipe: artifacts.Sum([]byte(kind)), Mode: trainer.TrainerDriven, Stage: k.Stage, Base: artifacts.Sum([]byte("base")),
		Schedule: artifacts.Sum(lines), Steps: fakeSteps, Group: 1, Updates: k.Updates, SaveEvery: 2}
	if k.Stage == trainer.GRPO {
		spec.Group, spec.Reward = 3, artifacts.Sum([]byte("reward"))
	}
	run, err := spec.Identity()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t}
	r.Job = trainer.Job{Folder: t.TempDir(), Spec: spec, Recipe: recipe, Segment: trainer.Segment{Run: run, To: fakeSteps, Weights: spec.Base},
		Values: trainer.Values{"how": how, "reward_url": "", "every": "2"}, Environment: []string{"TOKEN=hush-hush"}, Secrets: []string{"hush-hush"}}
	if k.Stage == trainer.GRPO {
		r.Values["reward_url"] = r.service()
	}
	if err := r.WriteFiles(lines, nil); err != nil {
		t.Fatal(err)
	}
	r.opts = trainer.Options{Poll: 5 * time.Millisecond, Stall: 20 * time.Second, Grace: 5 * time.Second}
	return r
}

// service records samples as the reward service does.
func (r *rig) service() string {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var got []trainer.Sample
		if err := json.NewDecoder(q.Body).Decode(&got); err != nil {
			r.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.samples = append(r.samples, got...)
	}))
	r.Cleanup(s.Close)
	return s.URL
}

func weightsOf(files []trainer.File) (artifacts.Digest, error) {
	text, err := artifacts.Canonical(files)
	return artifacts.Sum(text), err
}

// prove judges what lies in the folder.
func (r *rig) prove() (trainer.Proof, trainer.Reached, error) {
	r.Helper()
	e, _, err := r.Gather(r.samples, weightsOf)
	if err != nil {
		r.Fatal(err)
	}
	p, err := trainer.Prove(e)
	return p, e.Reached, err
}

// finish supervises until the trainer is done, over its crashes.
func (r *rig) finish() {
	r.Helper()
	for range 4 {
		err := trainer.Supervise(r.Context(), r.Job, r.opts)
		var f *trainer.Failure
		if !errors.As(err, &f) || f.Class != trainer.Killed {
			if err != nil {
				r.Fatal(err)
			}
			return
		}
	}
	r.Fatal("it does not come to an end")
}

// TestRefusals: a trainer that ends with 0 and did not train is refused, each lie by its own
// code, in the layout of every trainer.
func TestRefusals(t *testing.T) {
	for kind := range gpuKinds {
		for how, want := range map[string]trainer.Code{"honest": "", "nothing": trainer.NoProgress, "half": trainer.Short, "torn": trainer.Torn} {
			t.Run(kind+"/"+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, kind, how)
				if err := trainer.Supervise(t.Context(), r.Job, r.opts); err != nil {
					t.Fatal(err)
				}
				p, _, err := r.prove()
				if err != nil {
					t.Log(err)
				}
				if trainer.RefusalOf(err) != want || err != nil && want == "" {
					t.Errorf("%s, %s: %v, want %q", kind, how, err, want)
				}
				if want == "" && (p.Steps != fakeSteps || p.Items != 4*fakeSteps) {
					t.Errorf("proof %+v", p)
				}
			})
		}
		t.Run(kind+"/replay", func(t *testing.T) {
			t.Parallel()
			r := newRig(t, kind, "crash:before-step:4")
			var f *trainer.Failure
			if err := trainer.Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &f) || f.Class != trainer.Killed {
				t.Fatalf("a killed trainer: %v", err)
			}
			r.Values["how"] = "replay"
			if err := trainer.Supervise(t.Context(), r.Job, r.opts); err != nil {
				t.Fatal(err)
			}
			_, _, err := r.prove()
			t.Log(err)
			if trainer.RefusalOf(err) != trainer.Replayed {
				t.Errorf("replayed data is called %s: %v", trainer.RefusalOf(err), err)
			}
		})
	}
}

// TestResume: wherever a trainer is killed, it consumes the same items in the same order in the
// end and has the same weights as one that was not.
func TestResume(t *testing.T) {
	points := []string{"before-step", "rewarded", "updated", "mid-save", "untracked", "saved", "mid-event", "told"}
	for kind := range gpuKinds {
		calm := newRig(t, kind, "honest")
		calm.finish()
		want, reached, err := calm.prove()
		if err != nil {
			t.Fatal(err)
		}
		for _, point := range points {
			for _, step := range []int{1, 2, 3, 6} {
				if kind == "verl" && strings.HasSuffix(point, "event") || kind == "verl" && point == "told" {
					continue // it writes no events
				}
				t.Run(fmt.Sprint(kind, "/", point, "/", step), func(t *testing.T) {
					t.Parallel()
					r := newRig(t, kind, fmt.Sprint("crash:", point, ":", step))
					r.finish()
					got, at, err := r.prove()
					if err != nil {
						t.Fatal(err)
					}
					if got.Order != want.Order || at != reached {
						t.Errorf("order %s and %+v, undisturbed %s and %+v", got.Order.Short(), at, want.Order.Short(), reached)
					}
				})
			}
		}
	}
}

// TestAttach: a watcher that detaches or dies leaves its trainer running; the next one attaches
// and starts no second one, also where nobody wrote down that it was started.
func TestAttach(t *testing.T) {
	for _, dies := range []bool{false, true} {
		r := newRig(t, "trl", "slow")
		detach := make(chan struct{})
		opts := r.opts
		opts.Detach = detach
		opts.Beat = func(p trainer.Progress) {
			if p.Step == 2 {
				close(detach)
				opts.Beat = nil
			}
		}
		beat := opts.Beat
		opts.Beat = func(p trainer.Progress) {
			select {
			case <-detach:
			default:
				beat(p)
			}
		}
		if dies {
			opts.Fault = func(name string) { panic(name) }
			func() {
				defer func() {
					if recover() == nil {
						t.Error("the fault point was not met")
					}
				}()
				_ = trainer.Supervise(t.Context(), r.Job, opts)
			}()
		} else if err := trainer.Supervise(t.Context(), r.Job, opts); !errors.Is(err, trainer.ErrDetached) {
			t.Fatal(err)
		}
		if err := trainer.Supervise(t.Context(), r.Job, r.opts); err != nil {
			t.Fatal(err)
		}
		starts, err := r.Starts()
		if err != nil || len(starts) != 1 {
			t.Errorf("%d starts, %v, want 1", len(starts), err)
		}
		if _, _, err := r.prove(); err != nil {
			t.Error(err)
		}
	}
}

// TestStops: a trainer that hangs is ended after the stall limit and goes on from its
// checkpoint; one that ignores SIGTERM is killed when the context ends.
func TestStops(t *testing.T) {
	r := newRig(t, "swift", "hang:3")
	r.opts.Stall = 300 * time.Millisecond
	var f *trainer.Failure
	if err := trainer.Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &f) || f.Class != trainer.Stalled {
		t.Fatalf("a hanging trainer: %v", err)
	}
	r.opts.Stall = 20 * time.Second
	r.finish()
	if _, _, err := r.prove(); err != nil {
		t.Error(err)
	}

	r = newRig(t, "verl", "deaf:3")
	r.opts.Grace = 100 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	saved := 0
	r.opts.Beat = func(p trainer.Progress) {
		if saved = p.Saved; saved == 2 {
			cancel()
		}
	}
	begun := time.Now()
	if err := trainer.Supervise(ctx, r.Job, r.opts); !errors.Is(err, context.Canceled) || time.Since(begun) > 10*time.Second {
		t.Fatalf("a deaf trainer: %v after %v", err, time.Since(begun))
	}
	r.opts.Beat = nil
	r.finish()
	if _, _, err := r.prove(); err != nil {
		t.Error(err)
	}
}

// TestFailures: what a trainer said last names the class, without a secret; attempts without a
// step come to an end; another run's folder is refused.
func TestFailures(t *testing.T) {
	r := newRig(t, "trl", "memory")
	for range 3 {
		var f *trainer.Failure
		if err := trainer.Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &f) || f.Class != trainer.Memory || !f.Permanent() || strings.Contains(f.Said, "hush") || !strings.Contains(f.Said, "token ***") {
			t.Fatalf("out of memory: %v", err)
		}
	}
	var stuck *trainer.StuckError
	if err := trainer.Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &stuck) || stuck.Attempts != 3 {
		t.Errorf("the fourth attempt: %v", err)
	}
	other := r.Job
	other.Spec.Seed++
	var err error
	if other.Segment.Run, err = other.Spec.Identity(); err != nil {
		t.Fatal(err)
	}
	var mismatch *trainer.MismatchError
	if err := trainer.Supervise(t.Context(), other, r.opts); !errors.As(err, &mismatch) {
		t.Errorf("a spec with another seed: %v", err)
	}
}
