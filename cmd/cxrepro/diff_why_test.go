package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/experiments"
	"cxrepro/internal/compare"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/evaltest/inprocess"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
	"cxrepro/internal/responder"
)

// pairLab is a store with several small reproductions that asked one responder's models over a
// real connection.
type pairLab struct {
	t      *testing.T
	folder string
	store  *artifacts.Repository
	labs   []*evaltest.Lab
}

func newPairLab(t *testing.T) *pairLab {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "store")
	store, err := storeurl.Open(context.Background(), folder, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &pairLab{t: t, folder: folder, store: store}
}

// run evaluates a variant and returns its reproduction id. The judge mistakes a fifth of the
// replies, so that judge and parser part.
func (p *pairLab) run(change func(*evaltest.Options)) string {
	p.t.Helper()
	some := responder.Model{Name: "some", Behaviour: responder.Rates, Tables: map[string]map[string]responder.Table{"all": {"all": {
		Path1:   &responder.Numbers{Cases: 100, Unknown: 30, Initial: 60, Criteria: 65, Rejected: 5, Structures: 58, Measurement: 52, Final: 45, Consistent: 30},
		Path2:   &responder.Numbers{Cases: 35, Structures: 32, Measurement: 30, Final: 28, Consistent: 20},
		RePath1: &responder.Numbers{Cases: 28, Initial: 26, Criteria: 24, Structures: 22, Measurement: 20, Final: 18, Consistent: 14},
	}}}}
	judge := responder.Model{Name: evaltest.JudgeCard, Behaviour: responder.Judge, Errs: 0.15}
	o := evaltest.Options{
		Tasks: []cxreasonbench.Task{cxreasonbench.Tasks()[0], cxreasonbench.Tasks()[10]}, Cases: 8, Models: []responder.Model{some}, Judge: &judge,
	}
	if change != nil {
		change(&o)
	}
	lab := evaltest.New(p.t, p.store, o)
	p.labs = append(p.labs, lab)
	inprocess.Run(p.t, lab)
	return lab.Benchmark.Reproduction
}

// asked counts the requests that any endpoint has got.
func (p *pairLab) asked() (n int64) {
	for _, l := range p.labs {
		n += l.Responder.Counts().Requests
	}
	return n
}

// diff compares two reproductions, as text and as JSON, and demands that nobody is asked.
func (p *pairLab) diff(a, b string, want int) (text string, d compare.Diff) {
	p.t.Helper()
	before := p.asked()
	code, text, talk := cxrepro(p.t, p.folder, "diff", a, b)
	if code != want || talk != "" {
		p.t.Fatalf("diff: exit %d, want %d\n%s\n%s", code, want, talk, text)
	}
	code, out, talk := cxrepro(p.t, p.folder, "diff", a, b, "--json", "--flips", "-1")
	if err := json.Unmarshal([]byte(out), &d); code != want || err != nil {
		p.t.Fatalf("diff --json: exit %d, %v\n%s", code, err, talk)
	}
	if n := p.asked(); n != before {
		p.t.Fatalf("diff made %d calls", n-before)
	}
	return text, d
}

// answered is what a test reads of `why --json`.
type answered struct {
	Ours, Theirs, Scored struct{ Hundredths int64 }
	Gap                  int64 `json:"gap_hundredths"`
	Rest                 int64 `json:"rest_hundredths"`
	Left                 int64 `json:"left_hundredths"`
	Shares               []struct {
		Factors                []struct{ Factor, Ours, Theirs string }
		Alone                  int64 `json:"alone_hundredths"`
		Numerator, Denominator int64
		TenThousandths         int64 `json:"ten_thousandths"`
	}
	Interaction  *struct{ Hundredths int64 }
	Combinations int
	OpenIn       int    `json:"open_in"`
	NotShared    string `json:"not_shared"`
	Needing      []struct {
		Factor   struct{ Factor, Unavailable string }
		Recorded bool
		Effect   int64 `json:"effect_hundredths"`
		Open     struct{ Model, Judge int }
	}
	Prices []struct {
		Factor  string
		Known   bool
		AtLeast int `json:"calls_at_least"`
		AtMost  int `json:"calls_at_most"`
		Cost    int64
	}
	Same  []string
	Calls int
}

// why asks about a cell and demands that shares and rest sum to the gap exactly, and that nobody
// is asked.
func (p *pairLab) why(want int, args ...string) (text string, w answered) {
	p.t.Helper()
	before := p.asked()
	code, text, talk := cxrepro(p.t, p.folder, append([]string{"why"}, args...)...)
	if code != want {
		p.t.Fatalf("why %v: exit %d, want %d\n%s\n%s", args, code, want, talk, text)
	}
	code, out, talk := cxrepro(p.t, p.folder, append([]string{"why", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &w); code != want || err != nil {
		p.t.Fatalf("why --json %v: exit %d, %v\n%s", args, code, err, talk)
	}
	if n := p.asked(); n != before || w.Calls != 0 {
		p.t.Fatalf("why made %d calls and tells %d", n-before, w.Calls)
	}
	if w.NotShared != "" {
		return text, w
	}
	sum, printed := int64(0), int64(0)
	for _, s := range w.Shares {
		sum += s.Numerator * (60 / s.Denominator)
		printed += s.TenThousandths
	}
	if sum != 60*(w.Gap-w.Rest) || printed != 100*(w.Gap-w.Rest) || w.Gap != w.Theirs.Hundredths-w.Ours.Hundredths {
		p.t.Errorf("why %v: shares sum to %d/60 and are printed as %d/10000; the gap is %d, the rest %d\n%s", args, sum, printed, w.Gap, w.Rest, text)
	}
	return text, w
}

// whyCells are figures of both paths: of groups, of a task, and refined ones.
var whyCells = []string{
	"t3/path-1.some-simulated/completion", "t3/path-1.some-simulated/depth", "t4/overall.some-simulated/completion",
	"t13/rotation.some-simulated/stage3:refined", "t11/measurement.some-simulated/consistency", "t23/overall.some-simulated/depth",
}

// TestDiffAndWhySwitches: of two reproductions that differ in one setting of scoring, every figure
// that differs is attributed to it wholly and exactly, and nobody is asked. Judge or parser
// changes dialogues as well: what the other one asked is found among the recorded calls. Several
// settings at once share it.
func TestDiffAndWhySwitches(t *testing.T) {
	p := newPairLab(t)
	base := p.run(nil)
	t.Run("several", func(t *testing.T) {
		several := *p
		several.t = t
		several.interaction(base)
	})
	for _, c := range []struct {
		name   string
		change func(*evaltest.Options)
		// part is the step in which they part, field the word that names the setting there.
		part, field string
		factor      string
	}{
		{"parser", func(o *evaltest.Options) { o.Judge = nil }, compare.StepScore, "evaluation.scoring", "evaluation.scoring"},
		{"formula", func(o *evaltest.Options) { o.Sets = []string{"switches.score.formula=share"} }, "tabulate", "score.formula", "score.formula"},
		{"mean", func(o *evaltest.Options) { o.Sets = []string{"switches.score.mean=cases"} }, "tabulate", "score.mean", "score.mean"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.t = t
			other := p.run(c.change)
			text, d := p.diff(base, other, exitFailed)
			t.Log("\n" + text)
			if d.Equal || len(d.Cells) == 0 || d.Parted == nil || d.Parted.Step != c.part || !strings.Contains(d.Parted.Why, c.field) {
				t.Errorf("%d figures differ; parted %+v; want %s for %s\n%s", len(d.Cells), d.Parted, c.part, c.field, text)
			}
			if !slices.ContainsFunc(d.Spec, func(f provenance.Difference) bool { return strings.HasSuffix(f.Field, c.field) }) {
				t.Errorf("the spec's fields that differ are %+v, want %s", d.Spec, c.field)
			}
			if d.Inputs.SameCases != true || len(d.Code) > 0 {
				t.Errorf("inputs %+v, code %+v", d.Inputs, d.Code)
			}
			moved := 0
			for _, cell := range whyCells {
				text, w := p.why(exitOK, base, "--cell", cell, "--against", other)
				if w.Gap == 0 || w.NotShared != "" {
					continue
				}
				moved++
				if len(w.Shares) != 1 || w.Shares[0].Factors[0].Factor != c.factor || w.Rest != 0 || w.Shares[0].TenThousandths != 100*w.Gap || len(w.Needing) != 0 || w.OpenIn != 0 {
					t.Errorf("%s: %+v\n%s", cell, w, text)
				}
				if moved == 1 {
					t.Log("\n" + text)
				}
			}
			if moved == 0 {
				t.Error("no figure moved")
			}
		})
	}
}

// interaction sets two settings of scoring at once, and a third that moves nothing. Shares sum to
// the gap, the interaction is what the four figures say, and --try needs no second run.
func (p *pairLab) interaction(base string) {
	t := p.t
	other := p.run(func(o *evaltest.Options) {
		o.Sets = []string{"switches.score.formula=share", "switches.score.mean=cases", "switches.score.numbers=exponents"}
	})
	const cell = "t3/path-1.some-simulated/completion"
	text, w := p.why(exitOK, base, "--cell", cell, "--against", other)
	t.Log("\n" + text)
	if len(w.Shares) != 3 || w.Combinations != 8 || w.Rest != 0 || w.Gap == 0 {
		t.Fatalf("%+v", w)
	}
	alone := map[string]int64{}
	for _, s := range w.Shares {
		alone[s.Factors[0].Factor] = s.Alone
		if s.Factors[0].Factor == "score.numbers" && s.Numerator != 0 {
			t.Errorf("a switch that moves nothing has the share %d", s.Numerator)
		}
	}
	if want := w.Gap - alone["score.formula"] - alone["score.mean"]; want == 0 && w.Interaction != nil || want != 0 && (w.Interaction == nil || w.Interaction.Hundredths != want) {
		t.Errorf("interaction %+v, want %d", w.Interaction, want)
	}
	_, tried := p.why(exitOK, base, "--cell", cell, "--against", base, "--try", "score.formula=share", "--try", "score.mean=cases")
	if len(tried.Shares) != 2 || tried.Scored.Hundredths != w.Theirs.Hundredths {
		t.Errorf("tried %+v, want the figure %d", tried, w.Theirs.Hundredths)
	}
	same := slices.Contains(w.Same, "judge.verdict") && slices.Contains(w.Same, "cases") && !slices.Contains(w.Same, "score.mean")
	if !same {
		t.Errorf("the same on both sides: %v", w.Same)
	}
}

// TestDiffModelDigest: two reproductions whose models have other weights part at the first call of
// the model, in the field of the weights; why says what the recorded answers of the other model do, and
// what those of a third would cost.
func TestDiffModelDigest(t *testing.T) {
	p := newPairLab(t)
	weights := func(text string) func(*evaltest.Options) {
		return func(o *evaltest.Options) {
			o.Change = func(c *experiments.ModelCard) {
				if c.Name == "some" {
					c.Identity = lvlm.Identity{Weights: artifacts.Sum([]byte(text))}
				}
			}
		}
	}
	base := p.run(weights("one"))
	other := p.run(weights("other"))
	text, d := p.diff(base, other, exitOK)
	t.Log("\n" + text)
	if d.Parted == nil || d.Parted.Step != "call" || len(d.Parted.Differs) != 1 || d.Parted.Differs[0].Field != "params.model.weights" || !strings.Contains(d.Parted.Item, "model of init") || !strings.Contains(d.Verdict, "they part at call") {
		t.Errorf("parted %+v", d.Parted)
	}
	const cell = "t3/path-1.some-simulated/completion"
	text, w := p.why(exitOK, base, "--cell", cell, "--against", other)
	if len(w.Needing) != 1 || w.Needing[0].Factor.Factor != "model" || !w.Needing[0].Recorded || w.Gap != 0 {
		t.Errorf("%+v\n%s", w, text)
	}
	// A draw of another temperature was never asked.
	third := p.run(func(o *evaltest.Options) {
		weights("third")(o)
		change := o.Change
		warm := 0.5
		o.Change = func(c *experiments.ModelCard) {
			if change(c); c.Name == "some" {
				c.Greedy.Temperature = &warm
			}
		}
	})
	text, w = p.why(exitOK, base, "--cell", cell, "--against", third)
	t.Log("\n" + text)
	if len(w.Needing) != 2 || len(w.Prices) != 2 {
		t.Fatalf("%+v", w)
	}
	for i, n := range w.Needing {
		if n.Recorded || n.Open.Model != 16 || !w.Prices[i].Known || w.Prices[i].AtLeast != 16 || w.Prices[i].AtMost < 100 {
			t.Errorf("%+v priced %+v", n, w.Prices[i])
		}
	}
}

// TestWhyPublished: the other side is the paper's own experiment. What nobody can set is named with
// the reason, and usage errors say what there is.
func TestWhyPublished(t *testing.T) {
	p := newPairLab(t)
	base := p.run(func(o *evaltest.Options) {
		o.Change = func(c *experiments.ModelCard) {
			if c.Name == "some" {
				c.Title = "GPT-4.1"
			}
		}
	})
	text, w := p.why(exitOK, base, "--cell", "t3/path-1.gpt-4.1/completion")
	t.Log("\n" + text)
	if len(w.Shares) == 0 || w.Shares[0].Factors[0].Factor != "judge.verdict" || w.Theirs.Hundredths != 832 {
		t.Errorf("%+v", w)
	}
	found := map[string]bool{}
	for _, n := range w.Needing {
		found[n.Factor.Factor] = true
		if n.Factor.Factor == "benchmark" && n.Factor.Unavailable == "" {
			t.Error("the paper's benchmark is said to be here")
		}
	}
	for _, name := range []string{"judge", "model", "decoding", "pictures", "benchmark", "dialogue.review_rounds"} {
		if !found[name] {
			t.Errorf("%s is not among what needs calls: %v", name, found)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{base}, "--cell is missing"},
		{[]string{base, "--cell", "t3/path-1.gpt-4/completion"}, "nearest are t3/path-1.gpt-4.1/completion"},
		{[]string{base, "--cell", "t3/path-1.gpt-4.1/completion:standard"}, "prints no textbook reading"},
		{[]string{base, "--cell", "t6/cardiomegaly/normal"}, "why knows figures of evaluations only"},
		{[]string{base, "--cell", "t3/path-1.gpt-4.1/completion", "--try", "build.deal=quota"}, "it needs calls"},
		{[]string{base, "--cell", "t3/path-1.gpt-4.1/completion", "--try", "score.mean=x"}, "its values are"},
		{[]string{base, "--cell", "t3/path-1.gpt-4.1/completion", "--against", base, "--published"}, "do not go together"},
		{[]string{"0000000", "--cell", "t3/path-1.gpt-4.1/completion"}, "no reproduction 0000000"},
	} {
		if code, _, talk := cxrepro(t, p.folder, append([]string{"why"}, c.args...)...); code != exitUsage || !strings.Contains(talk, c.want) {
			t.Errorf("%v: exit %d, want %q\n%s", c.args, code, c.want, talk)
		}
	}
	if code, text, _ := cxrepro(t, p.folder, "diff", base, base); code != exitOK || !strings.HasPrefix(text, "equal: both results are") {
		t.Errorf("diff with itself: exit %d\n%s", code, text)
	}
}

// TestWhyAllowCalls: two settings of the judge need verdicts that nobody asked for. why prices them and
// asks nobody; with --allow-calls it runs the variant of one of them through the path of run, asks
// exactly the missing calls, and has its effect.
func TestWhyAllowCalls(t *testing.T) {
	b := newAskedBench(t, guidedModel(), 8, false)
	code, base, talk := b.run()
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	code, other, talk := b.run("--set", "switches.judge.layout=lines", "--set", "switches.judge.initial_prompt=final")
	if code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	ask := func(more ...string) (w answered) {
		t.Helper()
		args := append([]string{"why", base.Reproduction, "--cell", "t3/path-1.guided-simulated/completion", "--against", other.Reproduction, "--json"}, more...)
		out, err := b.command(args...).Output()
		if err == nil {
			err = json.Unmarshal(out, &w)
		}
		if err != nil {
			t.Fatalf("%v: %v\n%s", more, err, out)
		}
		return w
	}
	before := b.lab.Responder.Counts().Requests
	w := ask()
	if len(w.Needing) != 2 || w.Needing[0].Recorded || w.Needing[1].Recorded || w.Prices[0].AtLeast == 0 || w.Prices[0].Cost == 0 {
		t.Fatalf("%+v", w)
	}
	if n := b.lab.Responder.Counts().Requests; n != before {
		t.Fatalf("pricing made %d calls", n-before)
	}
	w = ask(append([]string{"--allow-calls", "--factor", "judge.layout"}, b.data...)...)
	made := b.lab.Responder.Counts().Requests - before
	if len(w.Shares) != 1 || w.Shares[0].Factors[0].Factor != "judge.layout" || len(w.Needing) != 1 || w.Needing[0].Factor.Factor != "judge.initial_prompt" {
		t.Errorf("verdicts that are recorded now are no factor of scoring: %+v", w)
	}
	if made == 0 || int64(w.Calls) != made {
		t.Errorf("%d calls were made, %d are told", made, w.Calls)
	}
	if again := ask(append([]string{"--allow-calls", "--factor", "judge.layout"}, b.data...)...); again.Calls != 0 || b.lab.Responder.Counts().Requests != before+made {
		t.Errorf("asked again: %+v", again)
	}
}
