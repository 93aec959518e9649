package tiny

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// Options of one run.
type Options struct {
	Set, Out, Python, Trainer           string
	Seed                                uint64
	Examples, SFTSteps, Rounds, HeldOut int
	SFTRate, Rate, KL                   float64
	Scale, Permute                      bool
	// Teacher writes the examples.
	Teacher quiz.Teacher
	// Taught is a checkpoint that SFT gave before; empty trains one.
	Taught string
}

// Items and draws of a round, examples of a step of SFT.
const (
	items, draws, examplesAStep = 16, 4, 16
)

// line is an example or a sample in the files of the contract.
type line struct {
	Schema    int            `json:"schema,omitempty"`
	ID        string         `json:"id,omitempty"`
	Step      int            `json:"step,omitempty"`
	Item      string         `json:"item_id,omitempty"`
	Draw      int            `json:"draw"`
	Model     string         `json:"model,omitempty"`
	Images    []string       `json:"images"`
	Messages  []xragent.Said `json:"messages"`
	Reward    float64        `json:"reward"`
	Advantage float64        `json:"advantage"`
}

// runner is one run.
type runner struct {
	o           Options
	train, held *Set
	server      *server
}

// Run trains and evaluates, and writes result.json to the run's folder.
func Run(ctx context.Context, o Options) error {
	r := &runner{o: o}
	var err error
	if r.train, err = Load(o.Set, quiz.Train); err != nil {
		return err
	}
	if r.held, err = Load(o.Set, quiz.HeldOut); err != nil {
		return err
	}
	if err := os.RemoveAll(o.Out); err != nil {
		return err
	}
	start := time.Now()
	clock := func(what string) { fmt.Printf("%6.1f s  %s\n", time.Since(start).Seconds(), what) }
	base, err := r.python(ctx, "init", "--seed", fmt.Sprint(o.Seed), "--out", r.path("base/checkpoint-0"))
	if err != nil {
		return err
	}
	taught, err := r.taught(ctx, base)
	if err != nil {
		return err
	}
	clock("SFT done")
	if r.server, err = r.serve(ctx); err != nil {
		return err
	}
	defer r.server.stop()
	res := Result{Options: o}
	if res.Base, err = r.evaluate(ctx, base); err != nil {
		return err
	}
	if res.SFT, err = r.evaluate(ctx, taught); err != nil {
		return err
	}
	clock(fmt.Sprintf("base %s\n          SFT  %s", printed(res.Base), printed(res.SFT)))
	last, err := r.grpo(ctx, taught, &res)
	if err != nil {
		return err
	}
	clock("GRPO done")
	if res.GRPO, err = r.evaluate(ctx, last); err != nil {
		return err
	}
	res.Weights = last
	res.finish()
	clock("GRPO " + printed(res.GRPO))
	fmt.Print(res)
	return res.write(o.Out)
}

func (r *runner) path(name string) string { return filepath.Join(r.o.Out, name) }

// python runs a verb of the trainer and returns what it prints, the weights digest.
func (r *runner) python(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, r.o.Python, append([]string{r.o.Trainer}, args...)...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", args[0], err, talk.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// plan writes plan.json and schedule.jsonl of a stage.
func (r *runner) plan(stage, base string, schedule [][]string, hyper map[string]any, every int) error {
	group, reference := draws, base
	if stage == "sft" {
		group, reference = 1, ""
	}
	run := artifacts.Sum(fmt.Append(nil, stage, base, schedule, hyper)).String()
	body, err := json.MarshalIndent(map[string]any{"schema": 1, "run": run, "trainer": "tiny", "mode": "platform_driven", "stage": stage, "from_step": 0,
		"to_step": len(schedule), "group_size": group, "seed": r.o.Seed, "base": base, "reference": reference, "save_every": every, "hyperparameters": hyper}, "", " ")
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for k, list := range schedule {
		b, err := json.Marshal(map[string]any{"step": k + 1, "items": list})
		if err != nil {
			return err
		}
		lines.Write(append(b, '\n'))
	}
	dir := r.path(stage)
	for _, d := range []string{"pictures", "batches", "checkpoints"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), body, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "schedule.jsonl"), lines.Bytes(), 0o644)
}

// deal returns steps of n out of the first total items of the training set, pass after pass.
func (r *runner) deal(stream uint64, total, steps, n int) [][]int {
	rng := rand.New(rand.NewPCG(r.o.Seed, stream))
	var order []int
	out := make([][]int, steps)
	for k := range out {
		for len(order) < n {
			order = append(order, rng.Perm(total)...)
		}
		out[k], order = order[:n], order[n:]
	}
	return out
}

func names(steps [][]int, name func(int) string) [][]string {
	out := make([][]string, len(steps))
	for k, step := range steps {
		for _, i := range step {
			out[k] = append(out[k], name(i))
		}
	}
	return out
}

// written turns a rollout into a line, and keeps its pictures below the stage's folder.
func (r *runner) written(stage string, t quiztraining.Laid, p quiz.Played) (line, error) {
	c, err := Agent.Conversation(p.Rollout)
	if err != nil {
		return line{}, err
	}
	l := line{Messages: c.Messages, Images: []string{}}
	for _, ref := range c.Images {
		data := t.PNG
		if crop, ok := p.Crops[ref.Digest]; ok {
			data = crop
		}
		name := fmt.Sprintf("pictures/%x.png", ref.Digest)
		if path := filepath.Join(r.path(stage), name); !exists(path) {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				return line{}, err
			}
		}
		l.Images = append(l.Images, name)
	}
	return l, nil
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// taught trains on the teacher, or takes what an earlier run gave.
func (r *runner) taught(ctx context.Context, base string) (string, error) {
	if r.o.Taught == "" {
		r.o.Taught = r.path(fmt.Sprintf("sft/checkpoints/checkpoint-%d", r.o.SFTSteps))
		return r.sft(ctx, base)
	}
	data, err := os.ReadFile(filepath.Join(r.o.Taught, "model.safetensors"))
	return artifacts.Sum(data).String(), err
}

// sft plays the teacher on the training items and trains on what it wrote.
func (r *runner) sft(ctx context.Context, base string) (string, error) {
	n := r.o.Examples
	name := func(e int) string {
		return fmt.Sprintf("%s#%d", r.train.Laid(e%r.train.Len()).Item.ID, e/r.train.Len())
	}
	steps := r.deal(1, n, r.o.SFTSteps, examplesAStep)
	if err := r.plan("sft", base, names(steps, name), map[string]any{"learning_rate": r.o.SFTRate}, 100); err != nil {
		return "", err
	}
	right := 0
	var out bytes.Buffer
	for e := range n {
		i, draw := e%r.train.Len(), e/r.train.Len()
		t, s := r.train.Laid(i), r.train.Studies[i/4]
		p, err := t.Play(func(p quiz.Played, step xragent.Step) (xragent.Turn, error) {
			return r.o.Teacher.Turn(s, quiz.Families()[i%4], draw, p.Rollout, step)
		})
		if err != nil {
			return "", err
		}
		if xragent.Judge(Agent.Trajectory(p.Rollout), xragent.DefaultPhrases()).Correct {
			right++
		}
		l, err := r.written("sft", t, p)
		if err != nil {
			return "", err
		}
		l.ID = name(e)
		b, err := json.Marshal(l)
		if err != nil {
			return "", err
		}
		out.Write(append(b, '\n'))
	}
	fmt.Printf("teacher: %d of %d right\n", right, n)
	if err := os.WriteFile(filepath.Join(r.path("sft"), "examples.jsonl"), out.Bytes(), 0o644); err != nil {
		return "", err
	}
	return r.python(ctx, "sft", "--run", r.path("sft"), "--from", r.path("base/checkpoint-0"))
}

// grpo plays, scores and updates round by round.
func (r *runner) grpo(ctx context.Context, base string, res *Result) (string, error) {
	steps := r.deal(2, r.train.Len(), r.o.Rounds, items)
	if err := r.plan("grpo", base, names(steps, func(i int) string { return r.train.Laid(i).Item.ID }), map[string]any{"learning_rate": r.o.Rate, "kl": r.o.KL}, 1); err != nil {
		return "", err
	}
	from := r.o.Taught
	shuffle := rand.New(rand.NewPCG(r.o.Seed, 3))
	model := base
	for k, step := range steps {
		lines, round, err := r.round(ctx, model, k, step, shuffle)
		if err != nil {
			return "", err
		}
		res.Rounds = append(res.Rounds, round)
		var b bytes.Buffer
		for _, l := range lines {
			body, err := json.Marshal(l)
			if err != nil {
				return "", err
			}
			b.Write(append(body, '\n'))
		}
		batch := filepath.Join(r.path("grpo"), fmt.Sprintf("batches/step-%06d.jsonl", k+1))
		if err := os.WriteFile(batch, b.Bytes(), 0o644); err != nil {
			return "", err
		}
		start := time.Now()
		if model, err = r.python(ctx, "update", "--run", r.path("grpo"), "--from", from, "--batch", batch, "--reference", r.o.Taught); err != nil {
			return "", err
		}
		from = filepath.Join(r.path("grpo"), fmt.Sprintf("checkpoints/checkpoint-%d", k+1))
		if k%10 == 9 || k == 0 {
			fmt.Printf("round %3d  reward %.3f  accuracy %.3f  calls %v  malformed %d  play %.2f s, update %.2f s\n", k+1, round.Reward, round.Accuracy, round.Calls, round.Malformed, round.Seconds, time.Since(start).Seconds())
		}
	}
	return model, nil
}

// server is the served trainer.
type server struct {
	cmd   *exec.Cmd
	stdin io.Closer
	url   string
}

func (r *runner) serve(ctx context.Context) (*server, error) {
	cmd := exec.CommandContext(ctx, r.o.Python, r.o.Trainer, "serve", "--stdin", "--thumbs", r.path("grpo/thumbs"),
		"--checkpoints", r.path("base"), "--checkpoints", filepath.Dir(r.o.Taught), "--checkpoints", r.path("grpo/checkpoints"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var hello struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&hello); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	return &server{cmd, in, hello.URL}, nil
}

func (s *server) stop() {
	s.stdin.Close()
	_ = s.cmd.Wait()
}
