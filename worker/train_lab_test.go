package worker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/temporalconn"
	"cxrepro/internal/trainer"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/trainer/trainertest"
	"cxrepro/internal/xragent"
)

// trainWorkerEnv makes the test binary a worker that trains.
const trainWorkerEnv = "CXREPRO_TRAIN_WORKER"

// trainWorkerOptions are how it is started.
type trainWorkerOptions struct {
	Address, Namespace, Queue, Store, Folder, Recipes, Python, Policy, How, Fault string

	// Concurrency is the endpoint's, 4 by default; Latency is that of the stand-in's answers.
	Concurrency int
	Latency     time.Duration
	// TrainerKill is where the small trainer is killed, once (testdata/tiny_watched.py).
	TrainerKill string
	// Poll is the time between two looks at the trainer.
	Poll time.Duration
}

// trainWorker serves until its standard input closes, or until a fault point kills it.
func trainWorker() {
	text := os.Getenv(trainWorkerEnv)
	if text == "" {
		return
	}
	var o trainWorkerOptions
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	if err := o.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (o trainWorkerOptions) serve() error {
	ctx := context.Background()
	conn, err := temporalconn.Open(ctx, temporalconn.Options{Address: o.Address, Namespace: o.Namespace, Attributes: []string{}})
	if err != nil {
		return err
	}
	store, err := openDir(o.Store)
	if err != nil {
		return err
	}
	endpoints, err := endpoint.Parse("endpoints.yaml", fmt.Appendf(nil, `endpoints:
  - name: policy
    adapter: openai
    url: http://%s/v1/
    models: {policy: policy}
    limits: {concurrency: %d, timeout: 60s}
    attestation: {local: true}
`, o.Policy, cmp.Or(o.Concurrency, 4)))
	if err != nil {
		return err
	}
	fault, err := ParseFault(o.Fault)
	if err != nil {
		return err
	}
	requests := filepath.Join(o.Folder, "requests")
	child := []string{"PATH=" + os.Getenv("PATH"), trainertest.CountEnv + "=" + requests,
		trainertest.LatencyEnv + "=" + o.Latency.String(), "TINY_REQUESTS=" + requests, "TINY_KILL=" + o.TrainerKill, "TINY_KILLED=" + filepath.Join(o.Folder, "killed")}
	log, err := os.OpenFile(filepath.Join(o.Folder, "worker.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	w, err := Start(Options{
		Log: slog.New(slog.NewTextHandler(log, nil)), Client: conn.Client, Store: store, Name: fmt.Sprintf("trainer:%d", os.Getpid()), Queue: o.Queue, NoGPU: true, CPUSlots: 4,
		Cache: filepath.Join(o.Folder, "cache"), Endpoints: endpoints, Lease: 2 * time.Second, Stop: 5 * time.Second, Fault: fault,
		Training: &activities.Training{
			Work: filepath.Join(o.Folder, "work"), Recipes: o.Recipes, Values: trainer.Values{"how": o.How, "every": "1", "python": o.Python}, Environment: child,
			Server: &trainer.Server{Address: o.Policy, Log: filepath.Join(o.Folder, "server.log"), State: filepath.Join(o.Folder, "work", "server.json"), Values: trainer.Values{"python": o.Python}, Environment: append(child, trainertest.Env+"=honest")},
			Watch:  trainer.Options{Poll: o.Poll, Stall: 30 * time.Second},
		},
	})
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return w.Stop()
}

func openDir(folder string) (*artifacts.Repository, error) {
	b, err := dirstore.Open(folder, dirstore.Options{})
	if err != nil {
		return nil, err
	}
	return artifacts.New(b, artifacts.Options{Host: localhost.New()})
}

// trainLab is one training on a server of workflows, with a store and a folder of its own.
type trainLab struct {
	*testing.T
	conn   *temporalconn.Conn
	store  *artifacts.Repository
	o      trainWorkerOptions
	in     contract.TrainInput
	rounds int
	size   trainSize
}

// trainSize is how many questions there are and how many a round asks, group times each; open is
// how many rollouts are in hand.
type trainSize struct{ items, batch, group, open int }

// labItems and labBatch are how many questions there are and how many a round asks, labGroup
// times each; labOpen is how many rollouts are in hand.
const (
	labItems = 6
	labBatch = 2
	labGroup = 2
	labOpen  = 2
)

func newTrainLab(t *testing.T, conn *temporalconn.Conn, name string, rounds int) *trainLab {
	t.Helper()
	return newTrainLabOf(t, conn, name, rounds, trainSize{labItems, labBatch, labGroup, labOpen})
}

func newTrainLabOf(t *testing.T, conn *temporalconn.Conn, name string, rounds int, size trainSize) *trainLab {
	t.Helper()
	l := &trainLab{T: t, conn: conn, rounds: rounds, size: size}
	l.o = trainWorkerOptions{Address: conn.Address, Namespace: conn.Namespace, Queue: name, Store: t.TempDir(), Folder: t.TempDir(), How: "honest", Policy: freeAddress(t), Poll: 10 * time.Millisecond}
	var err error
	if l.store, err = openDir(l.o.Store); err != nil {
		t.Fatal(err)
	}
	l.o.Recipes = filepath.Join(l.o.Folder, "recipes")
	recipe := filepath.Join(l.o.Recipes, "tiny")
	if err := trainertest.Write(recipe, "tiny"); err != nil {
		t.Fatal(err)
	}
	loaded, err := trainer.LoadRecipe(recipe)
	if err != nil {
		t.Fatal(err)
	}
	l.in = l.input(name, l.training(loaded.Digest()))
	return l
}

// twin is the same training, which nobody has begun, under another name: on a store, a folder and
// queues of its own.
func (l *trainLab) twin(name string) *trainLab {
	l.Helper()
	out := *l
	out.o.Queue, out.o.Store, out.o.Folder, out.o.Policy = name, l.TempDir(), l.TempDir(), freeAddress(l.T)
	if err := os.CopyFS(out.o.Store, os.DirFS(l.o.Store)); err != nil {
		l.Fatal(err)
	}
	var err error
	if out.store, err = openDir(out.o.Store); err != nil {
		l.Fatal(err)
	}
	out.in.Common.Spec, out.in.Common.Queue = name, name
	return &out
}

// with is the training as part of a subtest.
func (l *trainLab) with(t *testing.T) *trainLab {
	out := *l
	out.T = t
	return &out
}

// input is what starts a training.
func (l *trainLab) input(name string, t contract.Training) contract.TrainInput {
	tuning := contract.DefaultTuning()
	tuning.Heartbeat, tuning.Retry, tuning.RetryMax, tuning.Events = 2*time.Second, 100*time.Millisecond, time.Second, 300
	tuning.Calls.Open, tuning.Calls.Heartbeat = l.size.open, 2*time.Second
	return contract.TrainInput{
		Common:   contract.Common{Plan: ref("plan"), Spec: name, Paper: "a training", DataUse: "synthetic", Queue: l.o.Queue, Tuning: tuning},
		Training: l.put(t, contract.TrainingMediaType), Runs: len(t.Runs), Reproduction: "r-train",
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	n, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	return n.Addr().String()
}

func (l *trainLab) put(v any, mediaType string) artifacts.Ref {
	l.Helper()
	data, err := artifacts.Canonical(v)
	if err != nil {
		l.Fatal(err)
	}
	ref, err := l.store.Put(l.Context(), data, mediaType)
	if err != nil {
		l.Fatal(err)
	}
	return ref
}

// training is a training of the small trainer's layout on questions that nobody could answer.
func (l *trainLab) training(recipe artifacts.Digest) contract.Training {
	l.Helper()
	items := manifest.NewWriter(l.store, contract.TrainingItemsKind, manifest.Limits{Items: math.MaxInt32})
	q := contract.Questions{Format: contract.QuestionsFormat, Layout: "test", DataUse: "synthetic"}
	for i := range l.size.items {
		m := image.NewGray(image.Rect(0, 0, 16, 16))
		m.SetGray(i%16, (i+i/16)%16, color.Gray{Y: 200}) // another pixel for each of up to 256
		var file bytes.Buffer
		if err := png.Encode(&file, m); err != nil {
			l.Fatal(err)
		}
		picture, err := l.store.Put(l.Context(), file.Bytes(), "image/png")
		if err != nil {
			l.Fatal(err)
		}
		it := xragent.Item{ID: fmt.Sprintf("item-%02d", i), Pictures: []xragent.ItemPicture{{Image: picture}},
			Question: xragent.Question{Type: xragent.Lettered, Text: "Which?", Options: []string{"A. one", "B. two", "C. three", "D. four"}, Key: "B"}}
		q.Items = append(q.Items, it)
		if err := items.Add(l.Context(), contract.TrainingItem{ID: it.ID, Number: i}); err != nil {
			l.Fatal(err)
		}
	}
	list, err := items.Close(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	weights, files := l.base()
	return contract.Training{
		Format: contract.TrainingFormat, Name: "lab", DataUse: "synthetic", Base: "nothing learned", BaseWeights: weights, BaseFiles: files,
		Plan: l.put(l.plan(xragent.ArmNoTools), experiments.PlanMediaType), Questions: l.put(q, contract.QuestionsMediaType), Arm: xragent.ArmNoTools,
		Runs: []contract.TrainingRun{{
			Trainer: "tiny", Recipe: recipe, Mode: string(trainer.PlatformDriven), Stage: string(trainer.GRPO), Steps: l.rounds, Batch: l.size.batch, Group: l.size.group,
			Updates: 2, SaveEvery: 1, Segment: 1, Seed: 7, Reward: artifacts.Sum([]byte("reward")), Items: list, Hyper: map[string]any{},
		}},
	}
}

// base stores the weights that the training begins with.
func (l *trainLab) base() (artifacts.Digest, artifacts.Ref) {
	l.Helper()
	folder := l.TempDir()
	trainertest.WriteTiny(filepath.Join(folder, "checkpoint-0"), [32]byte{1}, "none", 0, 0)
	weights, files, err := quiztraining.Upload(l.Context(), l.store, "tiny", folder)
	if err != nil {
		l.Fatal(err)
	}
	return weights, files
}

// plan is an agent's plan with one policy and one arm.
func (l *trainLab) plan(name string) experiments.Plan {
	l.Helper()
	p, err := quiztraining.Plan(name, artifacts.Sum([]byte("card")), 3)
	if err != nil {
		l.Fatal(err)
	}
	return p
}

// trainKill is a fault of one worker, or, with a name of the fake's, of its trainers.
type trainKill struct{ fault, how string }

// run runs the training to its end. One worker after the other is started with its fault, and
// killed by it; the last has none.
func (l *trainLab) run(kills ...trainKill) contract.TrainResult {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), 15*time.Minute)
	defer cancel()
	run, err := l.conn.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "train/" + l.in.Common.Spec, TaskQueue: contract.QueueCPU(l.o.Queue)}, contract.Train.Name, l.in)
	if err != nil {
		l.Fatal(err)
	}
	done := make(chan error, 1)
	var out contract.TrainResult
	go func() { done <- run.Get(ctx, &out) }()
	for _, k := range append(kills, trainKill{}) {
		ended := l.worker(ctx, k, done)
		if err, ok := <-ended; ok {
			if err != nil {
				log, _ := os.ReadFile(filepath.Join(l.o.Folder, "worker.log")) // for people
				l.Logf("%s", log[max(0, len(log)-4000):])
				l.Fatal(err)
			}
			if k != (trainKill{}) {
				l.Errorf("the training ended before the kill at %+v", k)
			}
			return out
		}
	}
	l.Fatal("the last worker ended before the training")
	return out
}

// worker runs one worker until it is killed, when the channel closes, or until the training is
// over, when it gives its end.
func (l *trainLab) worker(ctx context.Context, k trainKill, done <-chan error) <-chan error {
	l.Helper()
	o := l.o
	o.Fault = k.fault
	if k.how != "" {
		o.How = k.how
	}
	text, err := json.Marshal(o)
	if err != nil {
		l.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), trainWorkerEnv+"="+string(text))
	var said bytes.Buffer
	cmd.Stderr = &said
	stdin, err := cmd.StdinPipe()
	if err != nil {
		l.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	out := make(chan error, 1)
	go func() {
		select {
		case err := <-done:
			stdin.Close()
			<-gone
			out <- err
		case err := <-gone:
			if k.fault == "" || err == nil || !strings.Contains(err.Error(), "killed") {
				out <- fmt.Errorf("worker with %+v ended: %v: %s", k, err, said.String())
			}
			close(out)
		}
	}()
	return out
}

// records are the keys and results of what a training leaves, in the order of the keys; fences
// counts the executions beyond the first of a call.
func (l *trainLab) records() (lineage artifacts.Digest, calls int) {
	l.Helper()
	var lines []string
	for _, step := range []string{contract.StepPlanTraining, contract.StepCall, contract.StepBatch, contract.StepTrainSegment, contract.StepTrainingSet, contract.StepCheckpoint} {
		err := l.store.Keys(l.Context(), step, func(key artifacts.Key, _ artifacts.Info) error {
			rec, err := l.store.Lookup(l.Context(), key)
			if err != nil {
				return err
			}
			if step == contract.StepCall {
				calls++
			}
			lines = append(lines, fmt.Sprintf("%s %s", key, rec.Result.Digest))
			return nil
		})
		if err != nil {
			l.Fatal(err)
		}
	}
	return artifacts.Sum([]byte(strings.Join(lines, "\n"))), calls
}

// requests is how many requests the policy's server answered.
func (l *trainLab) requests() int {
	l.Helper()
	data, err := os.ReadFile(filepath.Join(l.o.Folder, "requests"))
	if err != nil {
		l.Fatal(err)
	}
	return bytes.Count(data, []byte("\n"))
}

// fails runs a training that must fail, and returns the type of its error.
func (l *trainLab) fails() string {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), 2*time.Minute)
	defer cancel()
	run, err := l.conn.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "train/" + l.in.Common.Spec, TaskQueue: contract.QueueCPU(l.o.Queue)}, contract.Train.Name, l.in)
	if err != nil {
		l.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- run.Get(ctx, nil) }()
	err, ok := <-l.worker(ctx, trainKill{}, done)
	var app *temporal.ApplicationError
	if !ok || !errors.As(err, &app) {
		l.Fatalf("the training ended with %v", err)
	}
	return app.Type()
}
