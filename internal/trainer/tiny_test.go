package trainer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/resolve/resolvetest"
	"cxrepro/internal/sourcetree"
)

// tiny is the small trainer with a Python that can run it.
type tiny struct {
	t              *testing.T
	python, folder string
}

func newTiny(t *testing.T) tiny {
	t.Helper()
	p := resolvetest.Python(t)
	root, err := sourcetree.Root("infra/trainers/tiny")
	if err != nil {
		t.Fatal(err)
	}
	return tiny{t, p.Path, filepath.Join(root, "infra/trainers/tiny")}
}

// run runs a verb and returns what it prints on standard output and its exit code.
func (y tiny) run(args ...string) (string, int) {
	y.t.Helper()
	cmd := exec.Command(y.python, append([]string{y.folder}, args...)...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		y.t.Logf("%s: %s", args[0], talk.String())
	}
	return strings.TrimSpace(string(out)), cmd.ProcessState.ExitCode()
}

func (y tiny) must(args ...string) string {
	y.t.Helper()
	out, code := y.run(args...)
	if code != 0 {
		y.t.Fatalf("%v: exit %d", args, code)
	}
	return out
}

// TestTinyGradients runs the trainer's own tests: gradients against finite differences, texts
// cut into tokens in one way, pictures against a slow decoder.
func TestTinyGradients(t *testing.T) {
	y := newTiny(t)
	if out, err := exec.Command(y.python, filepath.Join(y.folder, "test_tiny.py")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// spoken is a conversation without pictures.
func spoken(answer string) []map[string]any {
	return []map[string]any{
		{"role": "system", "content": "not read"},
		{"role": "user", "content": "Which sign marks velmara?\n\nA) ring\nB) wedge\nC) band", "loss": false},
		{"role": "assistant", "content": "<think> sign unclear</think><no_tool/>", "loss": true, "finish": "stop"},
		{"role": "user", "content": `<measurement>{"status":"withheld"}</measurement>`, "loss": false},
		{"role": "assistant", "content": "<think> sign unclear</think><answer>" + answer + "</answer>", "loss": true, "finish": "stop"},
	}
}

const sftSteps = 12

// sftRun writes a run of SFT over three examples.
func (y tiny) sftRun(dir, base string) {
	y.t.Helper()
	y.write(dir, "plan.json", map[string]any{"schema": 1, "run": "sha256:sft", "trainer": "tiny", "mode": "platform_driven", "stage": "sft",
		"from_step": 0, "to_step": sftSteps, "group_size": 1, "seed": 1, "base": base, "reference": "", "save_every": 1, "hyperparameters": map[string]any{}})
	var schedule, examples []any
	for step := range sftSteps {
		schedule = append(schedule, map[string]any{"step": step + 1, "items": []string{fmt.Sprint("item-", step%3), fmt.Sprint("item-", (step+1)%3)}})
	}
	for k, answer := range []string{" A) ring", " B) wedge", " C) band"} {
		examples = append(examples, map[string]any{"id": fmt.Sprint("item-", k), "images": []string{}, "messages": spoken(answer)})
	}
	y.write(dir, "schedule.jsonl", schedule...)
	y.write(dir, "examples.jsonl", examples...)
}

// write writes values as lines.
func (y tiny) write(dir, name string, values ...any) {
	y.t.Helper()
	var b bytes.Buffer
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			y.t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

// TestTinyIsBitExact trains twice, once killed in the middle and resumed: the same weights to
// the last bit, and other ones than at the start.
func TestTinyIsBitExact(t *testing.T) {
	y := newTiny(t)
	dir := t.TempDir()
	start := filepath.Join(dir, "base/checkpoint-0")
	base := y.must("init", "--seed", "1", "--out", start)
	whole, killed := filepath.Join(dir, "whole"), filepath.Join(dir, "killed")
	y.sftRun(whole, base)
	want := y.must("sft", "--run", whole, "--from", start)

	y.sftRun(killed, base)
	cmd := exec.Command(y.python, y.folder, "sft", "--run", killed, "--from", start)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	checkpoints := filepath.Join(killed, "checkpoints")
	newest := func() (string, int) {
		for k := sftSteps; k > 0; k-- {
			path := filepath.Join(checkpoints, fmt.Sprintf("checkpoint-%d", k))
			if _, err := os.Stat(filepath.Join(path, "MANIFEST.json")); err == nil {
				return path, k
			}
		}
		return start, 0
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if _, k := newest(); k >= 3 {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	from, k := newest()
	t.Logf("killed with checkpoint %d of %d", k, sftSteps)
	got := y.must("sft", "--run", killed, "--from", from, "--attempt", "2")
	if got != want || got == base {
		t.Errorf("weights after a kill are %s, undisturbed %s, the base %s", got, want, base)
	}
	data, err := os.ReadFile(filepath.Join(checkpoints, fmt.Sprintf("checkpoint-%d", sftSteps), "model.safetensors"))
	if err != nil || artifacts.Sum(data).String() != want {
		t.Errorf("the weights digest is not that of the file: %v", err)
	}
}

// TestTinyRefuses holds the exit codes of inputs that contradict each other.
func TestTinyRefuses(t *testing.T) {
	y := newTiny(t)
	dir := t.TempDir()
	start := filepath.Join(dir, "base/checkpoint-0")
	base := y.must("init", "--seed", "1", "--out", start)
	plan := map[string]any{"schema": 1, "run": "sha256:grpo", "trainer": "tiny", "mode": "platform_driven", "stage": "grpo",
		"from_step": 0, "to_step": 1, "group_size": 2, "seed": 1, "base": base, "reference": "", "save_every": 1, "hyperparameters": map[string]any{}}
	y.write(dir, "grpo/plan.json", plan)
	y.write(dir, "grpo/schedule.jsonl", map[string]any{"step": 1, "items": []string{"item"}})
	sample := func(draw int, model string, advantage float64) any {
		return map[string]any{"schema": 1, "step": 1, "item_id": "item", "draw": draw, "model": model, "images": []string{},
			"messages": spoken(" A) ring"), "reward": advantage, "advantage": advantage}
	}
	for _, c := range []struct {
		name  string
		lines []any
		code  int
	}{
		{"stale", []any{sample(0, base, 0.5), sample(1, "sha256:other", -0.5)}, 4},
		{"short", []any{sample(0, base, 0.5)}, 4},
		{"out of order", []any{sample(1, base, 0.5), sample(0, base, -0.5)}, 4},
		{"good", []any{sample(0, base, 0.5), sample(1, base, -0.25)}, 0},
	} {
		y.write(dir, "batch.jsonl", c.lines...)
		if _, code := y.run("update", "--run", filepath.Join(dir, "grpo"), "--from", start, "--batch", filepath.Join(dir, "batch.jsonl")); code != c.code {
			t.Errorf("%s: exit %d, want %d", c.name, code, c.code)
		}
	}
	for reference, code := range map[string]int{base: 0, "sha256:other": 4} {
		plan["run"], plan["reference"] = "sha256:near "+reference, reference
		y.write(dir, "near/plan.json", plan)
		y.write(dir, "near/schedule.jsonl", map[string]any{"step": 1, "items": []string{"item"}})
		if _, got := y.run("update", "--run", filepath.Join(dir, "near"), "--from", start, "--batch", filepath.Join(dir, "batch.jsonl"), "--reference", start); got != code {
			t.Errorf("reference %s: exit %d, want %d", reference, got, code)
		}
	}
	if err := os.WriteFile(filepath.Join(start, "model.safetensors"), []byte("torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, code := y.run("update", "--run", filepath.Join(dir, "grpo"), "--from", start, "--batch", filepath.Join(dir, "batch.jsonl")); code != 2 {
		t.Errorf("torn base: exit %d, want 2", code)
	}
}

// TestTinyServes asks a served checkpoint: a reply depends on request and seed alone, names its
// weights, and other weights are refused.
func TestTinyServes(t *testing.T) {
	y := newTiny(t)
	dir := t.TempDir()
	base := y.must("init", "--seed", "1", "--out", filepath.Join(dir, "checkpoint-0"))
	cmd := exec.Command(y.python, y.folder, "serve", "--stdin", "--checkpoints", dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var hello struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(out).Decode(&hello); err != nil {
		t.Fatal(err)
	}
	ask := func(model string, seed int) (int, string) {
		body, err := json.Marshal(map[string]any{"model": model, "seed": seed, "temperature": 1, "max_tokens": 20, "messages": []map[string]any{
			{"role": "user", "content": "Which sign marks velmara?\n\nA) ring"}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Post(hello.URL+"chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(text)
	}
	_, one := ask(base, 1)
	_, same := ask(base, 1)
	_, other := ask(base, 2)
	if one != same || one == other || !strings.Contains(one, `"model":"`+base+`"`) {
		t.Errorf("replies %s, %s, %s", one, same, other)
	}
	if code, text := ask("sha256:other", 1); code != http.StatusNotFound || !strings.Contains(text, "model_not_found") {
		t.Errorf("another model: %d %s", code, text)
	}
	in.Close()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		_ = cmd.Process.Kill()
		t.Error("the server outlives its standard input")
	}
}
