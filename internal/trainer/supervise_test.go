package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
)

// rig is a run of the fake trainer in a folder, with a service that records what it asks.
type rig struct {
	*testing.T
	Job
	opts    Options
	mu      sync.Mutex // guards samples
	samples []Sample
}

// kinds are the trainers whose layout and habits the fake takes.
var kinds = map[string]struct {
	layout, counter string
	updates         int
	silent          bool
	stage           Stage
}{
	"verl":  {"verl", CountsSteps, 2, true, GRPO},
	"trl":   {"hf", CountsUpdates, 2, false, GRPO},
	"swift": {"hf", CountsUpdates, 1, false, SFT},
}

const fakeSteps = 6

func newRig(t *testing.T, kind, how string) *rig {
	t.Helper()
	k := kinds[kind]
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
    arguments: [%s, "{run}", "{from}", "{to}", "{hyper.every}", "{updates}", "{group}", "{attempt}", "{checkpoint}"]
environment: {%s: "{how}", REWARD_URL: "{reward_url}"}
`, kind, k.layout, k.counter, k.silent, k.stage, os.Args[0], k.layout, fakeEnv)
	folder := t.TempDir()
	writeFile(filepath.Join(folder, RecipeName), []byte(text))
	recipe, err := LoadRecipe(folder)
	if err != nil {
		t.Fatal(err)
	}
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprintf("item-%02d", i))
	}
	schedule, err := NewSchedule(items, fakeSteps, 4, "order", 7)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := schedule.Encode()
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{Trainer: kind, Recipe: artifacts.Sum([]byte(kind)), Mode: TrainerDriven, Stage: k.stage, Base: artifacts.Sum([]byte("base")),
		Schedule: artifacts.Sum(lines), Steps: fakeSteps, Group: 1, Updates: k.updates, SaveEvery: 2, Hyper: map[string]any{"every": 2}}
	if k.stage == GRPO {
		spec.Group, spec.Reward = 3, artifacts.Sum([]byte("reward"))
	}
	run, err := spec.Identity()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t}
	r.Job = Job{Folder: t.TempDir(), Spec: spec, Recipe: recipe, Segment: Segment{Run: run, To: fakeSteps, Weights: spec.Base},
		Values: Values{"how": how, "reward_url": ""}, Environment: []string{"TOKEN=hush-hush"}, Secrets: []string{"hush-hush"}}
	if k.stage == GRPO {
		r.Values["reward_url"] = r.service()
	}
	if err := r.WriteFiles(lines, nil); err != nil {
		t.Fatal(err)
	}
	r.opts = Options{Poll: 5 * time.Millisecond, Stall: 20 * time.Second, Grace: 5 * time.Second}
	return r
}

// service records samples as the reward service does.
func (r *rig) service() string {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		var got []Sample
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

func weightsOf(files []File) (artifacts.Digest, error) {
	text, err := artifacts.Canonical(files)
	return artifacts.Sum(text), err
}

// prove judges what lies in the folder.
func (r *rig) prove() (Proof, Reached, error) {
	r.Helper()
	e, _, err := r.Gather(r.samples, weightsOf)
	if err != nil {
		r.Fatal(err)
	}
	p, err := Prove(e)
	return p, e.Reached, err
}

// finish supervises until the trainer is done, over its crashes.
func (r *rig) finish() {
	r.Helper()
	for range 4 {
		err := Supervise(r.Context(), r.Job, r.opts)
		var f *Failure
		if !errors.As(err, &f) || f.Class != Killed {
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
	for kind := range kinds {
		for how, want := range map[string]Code{"honest": "", "nothing": NoProgress, "half": Short, "torn": Torn} {
			t.Run(kind+"/"+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, kind, how)
				if err := Supervise(t.Context(), r.Job, r.opts); err != nil {
					t.Fatal(err)
				}
				p, _, err := r.prove()
				if RefusalOf(err) != want || err != nil && want == "" {
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
			var f *Failure
			if err := Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &f) || f.Class != Killed {
				t.Fatalf("a killed trainer: %v", err)
			}
			r.Values["how"] = "replay"
			if err := Supervise(t.Context(), r.Job, r.opts); err != nil {
				t.Fatal(err)
			}
			_, _, err := r.prove()
			if RefusalOf(err) != Replayed {
				t.Errorf("replayed data is called %s: %v", RefusalOf(err), err)
			}
		})
	}
}

// TestResume: wherever a trainer is killed, it consumes the same items in the same order in the
// end and has the same weights as one that was not.
func TestResume(t *testing.T) {
	points := []string{"before-step", "rewarded", "updated", "mid-save", "untracked", "saved", "mid-event", "told"}
	for kind := range kinds {
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
		opts.Beat = func(p Progress) {
			if p.Step == 2 {
				close(detach)
				opts.Beat = nil
			}
		}
		beat := opts.Beat
		opts.Beat = func(p Progress) {
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
				_ = Supervise(t.Context(), r.Job, opts)
			}()
		} else if err := Supervise(t.Context(), r.Job, opts); !errors.Is(err, ErrDetached) {
			t.Fatal(err)
		}
		if err := Supervise(t.Context(), r.Job, r.opts); err != nil {
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
	var f *Failure
	if err := Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &f) || f.Class != Stalled {
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
	r.opts.Beat = func(p Progress) {
		if saved = p.Saved; saved == 2 {
			cancel()
		}
	}
	begun := time.Now()
	if err := Supervise(ctx, r.Job, r.opts); !errors.Is(err, context.Canceled) || time.Since(begun) > 10*time.Second {
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
		var f *Failure
		if err := Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &f) || f.Class != Memory || !f.Permanent() || strings.Contains(f.Said, "hush") || !strings.Contains(f.Said, "token ***") {
			t.Fatalf("out of memory: %v", err)
		}
	}
	var stuck *StuckError
	if err := Supervise(t.Context(), r.Job, r.opts); !errors.As(err, &stuck) || stuck.Attempts != 3 {
		t.Errorf("the fourth attempt: %v", err)
	}
	other := r.Job
	other.Spec.Seed++
	var err error
	if other.Segment.Run, err = other.Spec.Identity(); err != nil {
		t.Fatal(err)
	}
	var mismatch *MismatchError
	if err := Supervise(t.Context(), other, r.opts); !errors.As(err, &mismatch) {
		t.Errorf("a spec with another seed: %v", err)
	}
	for text, want := range map[string]Class{
		"RuntimeError: NCCL error in: ...\nncclSystemError":            Collective,
		"torch.cuda.OutOfMemoryError: CUDA out of memory. NCCL error":  Memory,
		"OSError: [Errno 98] Address already in use":                   Port,
		"OSError: [Errno 28] No space left on device":                  Disk,
		"PIL.UnidentifiedImageError: cannot identify image file 'x'":   Data,
		"Traceback (most recent call last):\nZeroDivisionError: what":  Crashed,
		"[rank1]: Watchdog caught collective operation timeout: Work.": Collective,
	} {
		if f := classify(1, text); f.Class != want {
			t.Errorf("%q is %s, want %s", text, f.Class, want)
		}
	}
}
