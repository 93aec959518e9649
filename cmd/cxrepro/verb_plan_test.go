package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/phantom"
	forecast "cxrepro/internal/plan"
)

// everyPlan makes TestPlan go through every change instead of a few: `task plan:every`.
const everyPlan = "CXREPRO_EVERY_PLAN"

// planBench is a state directory with phantoms and the demo's experiment, which is put to the
// demo's simulator over a real connection.
type planBench struct {
	t          *testing.T
	dir, state string
	// folder holds the experiments; spec is the one that is run.
	folder, spec string
	images       string
	sets         []string
}

func newPlanBench(t *testing.T, images int) *planBench {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	b := &planBench{t: t, dir: t.TempDir()}
	b.state, b.folder = filepath.Join(b.dir, "state"), filepath.Join(b.dir, "experiments")
	b.spec = filepath.Join(b.folder, "cxreasonbench-demo", "spec.yaml")
	if err := writeExperiments(b.folder); err != nil {
		t.Fatal(err)
	}
	b.images = b.phantoms(images, "33")
	b.sets = []string{"benchmark.cases=12", "evaluation.models=[models/simulated-gpt-4.1.yaml]"}
	return b
}

// phantoms draws images of a seed.
func (b *planBench) phantoms(n int, seed string) string {
	b.t.Helper()
	folder := filepath.Join(b.dir, fmt.Sprintf("phantoms-%s-%d", seed, n))
	if code, _, talk := runLine("phantom", "generate", "--n", strconv.Itoa(n), "--seed", seed, "--size", "512", "--out", folder, "--state", b.state); code != exitOK {
		b.t.Fatalf("phantoms: exit %d\n%s", code, talk)
	}
	return folder
}

// data are the --data values.
func (b *planBench) data() (list []string) {
	for name, folder := range map[string]string{
		"phantom": phantom.FolderImages, "chest-imagenome": phantom.FolderImaGenome, "chexmask": phantom.FolderCheXmask,
	} {
		list = append(list, name+"="+filepath.Join(b.images, folder))
	}
	slices.Sort(list)
	return list
}

// plan plans the experiment and returns the forecast with the file that holds it.
func (b *planBench) plan(args ...string) (*forecast.Forecast, string) {
	b.t.Helper()
	file := filepath.Join(b.dir, "plan.json")
	line := append([]string{"plan", b.spec, "--state", b.state, "--json", "--out", file}, args...)
	for _, d := range b.data() {
		line = append(line, "--data", d)
	}
	for _, s := range b.sets {
		line = append(line, "--set", s)
	}
	before := b.objects()
	code, out, talk := runLine(line...)
	if code != exitOK {
		b.t.Fatalf("plan: exit %d\n%s%s", code, out, talk)
	}
	if after := b.objects(); after != before && !slices.Contains(args, "--exact") {
		b.t.Errorf("planning left %d objects more in the store", after-before)
	}
	var f forecast.Forecast
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		b.t.Fatal(err)
	}
	var text bytes.Buffer
	if err := forecast.WriteText(&text, &f); err != nil {
		b.t.Fatal(err)
	}
	b.t.Logf("\n%s", text.String())
	return &f, file
}

// objects counts what lies in the store.
func (b *planBench) objects() (n int) {
	_ = filepath.WalkDir(filepath.Join(b.state, "store"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return nil
	})
	return n
}

// run runs the experiment in this process, against a simulator of its own.
func (b *planBench) run() *contract.Receipt {
	b.t.Helper()
	var out, errs bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, err: &errs, settings: viper.New()}
	if _, err := newRootCommand(a); err != nil {
		b.t.Fatal(err)
	}
	a.settings.Set("state", b.state)
	a.settings.Set("json", true)
	store, err := a.openStore(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	sim, err := startSimulator(store)
	if err != nil {
		b.t.Fatal(err)
	}
	defer sim.close()
	var f runFlags
	f.worker.add(pflag.NewFlagSet("run", pflag.ContinueOnError))
	f.worker.data, f.plan.sets, f.tuning = b.data(), b.sets, contract.DefaultTuning()
	if f.worker.served, err = sim.endpoints(); err != nil {
		b.t.Fatal(err)
	}
	f.worker.served.Endpoints[0].Models["simulated-third"] = "simulated-gemini-2.5-pro"
	f.watch = func(v view) { sim.look(b.t.Context(), v) }
	o, err := a.runSpec(b.t.Context(), b.spec, f)
	if err != nil {
		b.t.Fatalf("run: %v\n%s", err, errs.String())
	}
	return o.receipt
}

// agrees compares a receipt with the plan in a file: nothing is off, and the named figures are
// equal to exact ones.
func (b *planBench) agrees(r *contract.Receipt, file string, exact ...string) {
	b.t.Helper()
	code, out, talk := runLine("receipt", r.Reproduction, "--plan", file, "--state", b.state, "--json")
	var c forecast.Check
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		b.t.Fatalf("receipt: exit %d, %v\n%s%s", code, err, out, talk)
	}
	verdicts := map[string]string{}
	for _, v := range c.Verdicts {
		verdicts[v.Figure] = v.Verdict
		if v.Verdict == forecast.VerdictOff {
			b.t.Errorf("%s: planned %s, came %v", v.Figure, v.Predicted, v.Actual)
		}
	}
	for _, name := range exact {
		if verdicts[name] != forecast.VerdictEqual {
			b.t.Errorf("%s: %q, want an exact figure that came true", name, verdicts[name])
		}
	}
	if code != exitOK || c.Off > 0 || len(c.Branches) == 0 {
		b.t.Errorf("receipt: exit %d, %d off, %d branches\n%s", code, c.Off, len(c.Branches), talk)
	}
	b.t.Logf("%d equal, %d in their range, %d were unknown, %d beyond what was recorded", c.Equal, c.Within, c.Unknown, c.Beyond)
}

func step(f *forecast.Forecast, name string) forecast.StepRow {
	for _, s := range f.Steps {
		if s.Step == name {
			return s
		}
	}
	return forecast.StepRow{}
}

func calls(f *forecast.Forecast, card string) forecast.CallRow {
	for _, c := range f.Calls {
		if c.Card == card {
			return c
		}
	}
	return forecast.CallRow{}
}

// is reports an exact figure of a value.
func is(f forecast.Figure, v float64) bool { return f.Mark == forecast.Exact && *f.Value == v }

// change edits a file of the experiment.
func (b *planBench) change(file, old, new string) {
	b.t.Helper()
	path := filepath.Join(b.folder, "cxreasonbench-demo", file)
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), old) {
		b.t.Fatalf("%s does not hold %q: %v", file, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(data), old, new)), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// TestPlan changes one threshold and one model digest of the demo's experiment, and with
// CXREPRO_EVERY_PLAN one prompt, the models and the images, each in turn: the plan says what the
// run will do, the run does it, the receipt agrees.
func TestPlan(t *testing.T) {
	b := newPlanBench(t, 6)
	every := os.Getenv(everyPlan) != ""

	// Nothing is recorded: every step runs, and which calls follow is open.
	f, file := b.plan()
	if !is(step(f, contract.StepSegment).Run, 6) || !is(step(f, contract.StepAssess).Run, 14) || step(f, contract.StepBuildCase).Run.Mark != forecast.Between ||
		calls(f, "simulated-gpt-4.1").Run.Mark != forecast.Between || calls(f, "simulated-gpt-4.1").Cost.Mark != forecast.Unknown {
		t.Errorf("plan of the first run: %+v %+v", f.Steps, f.Calls)
	}
	first := b.run()
	b.agrees(first, file, "pixel-facts run", "segment run", "assess run", "summarise run", "draw-cases run", "tabulate run")

	// Nothing changed: nothing is to run.
	f, file = b.plan()
	if !f.Finished || !is(f.Totals.Steps.Run, 0) || !is(f.Totals.Calls.Run, 0) || !is(f.Totals.Steps.Needed, float64(first.Steps.Needed)) || !is(f.Totals.Calls.Needed, float64(first.Calls.Needed)) {
		t.Errorf("plan of a finished reproduction: %+v, receipt %+v %+v", f.Totals, first.Steps, first.Calls)
	}
	b.agreesFinished(first, file)

	t.Run("threshold", b.threshold)
	t.Run("model", func(t *testing.T) {
		c := *b
		c.t = t
		c.change("models/simulated-gpt-4.1.yaml", "simulated-gpt-4.1 of demo", "other-gpt of demo")
		f, file := c.plan()
		row := calls(f, "simulated-gpt-4.1")
		if row.Run.Mark != forecast.Between || row.Run.Expected == nil || len(row.Why) != 1 || row.Why[0].Field != "params.model.snapshot" || !is(step(f, contract.StepBuildCase).Run, 0) {
			t.Errorf("another model: %+v", row)
		}
		c.agrees(c.run(), file, "segment run", "assess run", "build-case reused", "tabulate run")
	})
	if every {
		b.everything()
	}
}

// agreesFinished holds that the receipt of a reproduction that was finished before agrees.
func (b *planBench) agreesFinished(r *contract.Receipt, file string) {
	b.t.Helper()
	if code, out, talk := runLine("receipt", r.Reproduction, "--plan", file, "--state", b.state); code != exitOK {
		b.t.Errorf("receipt of a finished one: exit %d\n%s%s", code, out, talk)
	}
}

// threshold lowers a limit of a label, so that labels flip that the plan counts without a mask.
func (b *planBench) threshold(t *testing.T) {
	c := *b
	c.t = t
	const set = "thresholds.cardiomegaly.label.PA_min=0.45"
	before := c.labels("latest", "cardiomegaly")
	c.sets = append(slices.Clone(b.sets), set)
	f, file := c.plan()
	if !is(step(f, contract.StepAssess).Run, 1) || !is(step(f, contract.StepAssess).Reused, 13) || !is(step(f, contract.StepSegment).Run, 0) {
		t.Errorf("one threshold: %+v", f.Steps)
	}
	if why := step(f, contract.StepAssess).Why; len(why) != 1 || why[0].Field != "params.rows.cardiomegaly.label.PA_min" || why[0].Ours != "0.45" || why[0].Other != "0.5" {
		t.Errorf("reasons %+v", why)
	}
	if len(f.Flips) != 1 || !f.Flips[0].Exact || len(f.Flips[0].Labels) == 0 {
		t.Fatalf("flips %+v", f.Flips)
	}
	r := c.run()
	c.agrees(r, file, "assess run", "assess reused", "summarise run", "draw-cases run", "build-case needed", "build-case run", "build-case reused", "segment reused")
	after := c.labels(r.Reproduction, "cardiomegaly")
	if want := after["enlarged"] - before["enlarged"]; want != f.Flips[0].Labels[0].N || want == 0 {
		t.Errorf("%d labels flipped, planned were %+v", want, f.Flips[0].Labels)
	}
	if code, out, _ := runLine("receipt", r.Reproduction, "--state", c.state); code != exitOK || !strings.Contains(out, r.Reproduction) || !strings.Contains(out, "needed") {
		t.Errorf("receipt: exit %d\n%s", code, out)
	}
	if code, _, talk := runLine("receipt", "latest", "--plan", filepath.Join(c.folder, "cxreasonbench-demo", "spec.yaml"), "--state", c.state); code != exitUsage || !strings.Contains(talk, "is no plan") {
		t.Errorf("a spec taken for a plan: exit %d\n%s", code, talk)
	}
}

// labels counts the labels of a task in the tables of a reproduction.
func (b *planBench) labels(which, task string) map[string]int {
	b.t.Helper()
	a := &app{in: strings.NewReader(""), out: discard{}, err: discard{}, settings: viper.New()}
	if _, err := newRootCommand(a); err != nil {
		b.t.Fatal(err)
	}
	a.settings.Set("state", b.state)
	_, list, err := a.remembers(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := chooseReproduction(list, which, withReceipt)
	if err != nil {
		b.t.Fatal(err)
	}
	store, err := a.readStore(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	s, err := loadFindings(b.t.Context(), store, r.receipt)
	if err != nil {
		b.t.Fatal(err)
	}
	out := map[string]int{}
	for _, row := range s.Tasks {
		if row.Task == task {
			for _, l := range row.Labels {
				out[l.Label] = l.N
			}
		}
	}
	return out
}

// everything changes a prompt, the models, and the images; and makes a plan exact.
func (b *planBench) everything() {
	b.t.Run("prompt", func(t *testing.T) {
		c := *b
		c.t = t
		pack := string(cxreasonbench.Prompts().Bytes())
		const ask = "Which criterion did you use to answer the diagnostic question about this chest X-ray?"
		if !strings.Contains(pack, ask) {
			t.Fatal("the pack asks otherwise")
		}
		pack = strings.Replace(pack, `criterion_ask: "`+ask, `criterion_ask: "Say it once more. `+ask, 1)
		if err := os.WriteFile(filepath.Join(c.folder, "cxreasonbench-demo", "pack.yaml"), []byte(pack), 0o644); err != nil {
			t.Fatal(err)
		}
		c.sets = append(slices.Clone(b.sets), "benchmark.prompts=pack.yaml")
		f, file := c.plan()
		row := step(f, contract.StepBuildCase)
		if !is(step(f, contract.StepDrawCases).Run, 0) || row.Run.Mark != forecast.Exact || !is(row.Reused, 0) || len(row.Why) != 1 || row.Why[0].Field != "inputs.prompts" {
			t.Errorf("another prompt: %+v", row)
		}
		c.agrees(c.run(), file, "build-case run", "draw-cases reused", "assess reused")
	})
	b.t.Run("new model", func(t *testing.T) {
		c := *b
		c.t = t
		data, err := experiments.Files.ReadFile("cxreasonbench-demo/models/simulated-gemini-2.5-pro.yaml")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("name: simulated-gemini-2.5-pro", "name: simulated-third", "simulated-gemini-2.5-pro of demo", "third of demo").Replace(string(data))
		if err := os.WriteFile(filepath.Join(c.folder, "cxreasonbench-demo", "models", "third.yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c.sets = []string{b.sets[0], "evaluation.models=[models/simulated-gpt-4.1.yaml,models/third.yaml]"}
		f, file := c.plan()
		if old := calls(f, "simulated-gpt-4.1"); !is(old.Run, 0) || calls(f, "simulated-third").Run.Mark != forecast.Between {
			t.Errorf("a new model: %+v", f.Calls)
		}
		c.agrees(c.run(), file, "build-case reused", "model simulated-gpt-4.1 greedy reused", "model simulated-gpt-4.1 greedy run")
	})
	b.t.Run("exact", func(t *testing.T) {
		c := *b
		c.t = t
		c.sets = append(slices.Clone(b.sets), "thresholds.trachea.top_trim.fraction=0.2")
		f, _ := c.plan()
		if len(f.Flips) == 0 || f.Flips[0].Exact || f.Flips[0].Images != 6 || step(f, contract.StepBuildCase).Run.Mark != forecast.Between {
			t.Errorf("a threshold that needs masks: %+v", f.Flips)
		}
		f, file := c.plan("--exact")
		if !is(step(f, contract.StepAssess).Run, 0) || step(f, contract.StepBuildCase).Needed.Mark != forecast.Exact || !is(step(f, contract.StepDrawCases).Run, 0) {
			t.Errorf("the exact plan: %+v", f.Steps)
		}
		c.agrees(c.run(), file, "assess reused", "draw-cases reused", "build-case reused")
	})
	b.t.Run("images", func(t *testing.T) {
		c := *b
		c.t = t
		c.images = c.phantoms(8, "33")
		f, file := c.plan()
		if f.Data.Images != 8 || !is(step(f, contract.StepSegment).Run, 2) || !is(step(f, contract.StepAssess).Run, 14) {
			t.Errorf("two more images: %+v", f.Steps)
		}
		c.agrees(c.run(), file, "pixel-facts run", "segment run", "segment reused", "assess run", "draw-cases run")
	})
}
