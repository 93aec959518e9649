package why

import (
	"context"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
)

const specText = `name: asked
paper: CXReasonBench
preset: corrected
dataset: {name: made, layout: cxreasonbench, data_use: synthetic}
benchmark: {source: release, radiographs: made, counts: any}
evaluation:
  models: [one.yaml]
  judge: judge.yaml
  scoring: judge
  sampling: [greedy, draws3]
  paths: [path1, path2]
  seed: 42
  bootstrap: 20
`

func setting(t testing.TB, benchmark string, cards func(model, judge *experiments.ModelCard), sets ...string) Setting {
	t.Helper()
	spec, err := experiments.Parse("asked.yaml", []byte(specText), sets...)
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	card := func(name string) experiments.ModelCard {
		return experiments.ModelCard{Name: name, Title: name, Adapter: "openai", Pictures: "original", Identity: lvlm.Identity{Provider: "p", Snapshot: name},
			Greedy: lvlm.Decoding{Temperature: &zero}, Draws: &lvlm.Decoding{Temperature: &zero}}
	}
	model, judge := card("one"), card("judge")
	if cards != nil {
		cards(&model, &judge)
	}
	pins := experiments.Pins{Models: []experiments.ModelCard{model}, Prompts: artifacts.Ref{Digest: artifacts.Sum([]byte("prompts")), Size: 1, MediaType: "x"}}
	if spec.Evaluation.Judge != "" {
		pins.Judge = &judge
	}
	p, err := experiments.Pin(spec, pins)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Narrow(p, artifacts.Ref{Digest: artifacts.Sum([]byte(benchmark)), Size: 1, MediaType: "x"}, map[Case]bool{{cxreasonbench.Tasks()[0], "a"}: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFactors: every way in which two settings can differ is a factor of the right kind, setting it
// makes the setting equal to the other side in that respect, and setting all makes them equal.
func TestFactors(t *testing.T) {
	warm := 0.5
	for _, c := range []struct {
		name   string
		theirs Setting
		needs  Needs
	}{
		{FactorScoring, setting(t, "b", nil, "evaluation.scoring=parser", `evaluation.judge=""`), NeedsNothing},
		{FactorJudge, setting(t, "b", func(_, j *experiments.ModelCard) { j.Identity.Snapshot = "other" }), NeedsJudge},
		{"judge.verdict", setting(t, "b", nil, "switches.judge.verdict=substring"), NeedsNothing},
		{"score.mean", setting(t, "b", nil, "switches.score.mean=cases"), NeedsNothing},
		{"judge.layout", setting(t, "b", nil, "switches.judge.layout=lines"), NeedsJudge},
		{"dialogue.review_rounds", setting(t, "b", nil, "switches.dialogue.review_rounds=ask_all"), NeedsModel},
		{FactorModel, setting(t, "b", func(m, _ *experiments.ModelCard) { m.Identity.Snapshot = "other" }), NeedsModel},
		{FactorDecoding, setting(t, "b", func(m, _ *experiments.ModelCard) { m.Greedy.Temperature = &warm }), NeedsModel},
		{FactorPictures, setting(t, "b", func(m, _ *experiments.ModelCard) { m.Pictures = "long1024" }), NeedsModel},
		{FactorSeed, setting(t, "b", nil, "evaluation.seed=7"), NeedsModel},
		{FactorBenchmark, setting(t, "other", nil), NeedsBenchmark},
	} {
		ours := setting(t, "b", nil)
		list, err := Factors(ours, c.theirs)
		if err != nil || len(list) != 1 || list[0].Name != c.name || list[0].Needs != c.needs || list[0].Ours == list[0].Theirs {
			t.Errorf("%s: %+v, %v", c.name, list, err)
			continue
		}
		changed, err := ours.Apply(list...)
		if err != nil {
			t.Fatal(err)
		}
		if left, err := Factors(changed, c.theirs); err != nil || len(left) != 0 {
			t.Errorf("%s: after it was set %+v differ, %v", c.name, left, err)
		}
		if again, err := Factors(ours, c.theirs); err != nil || len(again) != 1 {
			t.Errorf("%s: setting it changed ours: %+v, %v", c.name, again, err)
		}
	}
	// A preset is the sum of its switches, and another benchmark brings its own preset with it.
	released := setting(t, "other", nil, "preset=as_released")
	list, err := Factors(setting(t, "b", nil), released)
	if err != nil {
		t.Fatal(err)
	}
	ours := setting(t, "b", nil)
	for _, order := range [][]Factor{list, reversed(list)} {
		changed, err := ours.Apply(order...)
		if err != nil {
			t.Fatal(err)
		}
		if left, err := Factors(changed, released); err != nil || len(left) != 0 {
			t.Errorf("after everything was set %+v differ, %v", left, err)
		}
	}
}

func reversed(list []Factor) []Factor {
	var out []Factor
	for _, f := range list {
		out = append([]Factor{f}, out...)
	}
	return out
}

// made are factors that only count: each sets a bit of the evaluation's seed.
func made(n int, needs Needs) (list []Factor) {
	for i := range n {
		list = append(list, Factor{Name: string(rune('a' + i)), Needs: needs, apply: func(s *Setting) error {
			s.Plan.Spec.Evaluation.Seed |= 1 << i
			return nil
		}})
	}
	return list
}

func base(t testing.TB) Setting { return setting(t, "b", nil, "evaluation.seed=0") }

// TestAttribute: over random games of up to nine factors, shares and rest sum to the gap exactly, as
// printed too; more factors than six share the last place, and each factor has a place.
func TestAttribute(t *testing.T) {
	ours := base(t)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 9).Draw(t, "factors")
		worth := make([]int64, 1<<n)
		for i := range worth {
			worth[i] = rapid.Int64Range(0, 10000).Draw(t, "worth")
		}
		theirs := Value{Known: true, Hundredths: rapid.Int64Range(0, 10000).Draw(t, "theirs")}
		a, err := Attribute(context.Background(), ours, theirs, made(n, NeedsNothing), func(_ context.Context, s Setting) (Value, error) {
			return Value{Known: true, Hundredths: worth[s.Plan.Spec.Evaluation.Seed]}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sum, printed, places := int64(0), int64(0), 0
		for _, s := range a.Shares {
			sum += s.Numerator
			printed += s.TenThousandths
			places += len(s.Factors)
		}
		unit := int64(1)
		if len(a.Shares) > 0 {
			unit = a.Shares[0].Denominator
		}
		if sum != unit*(a.Gap-a.Rest) || printed != 100*(a.Gap-a.Rest) || a.Scored.Hundredths != worth[len(worth)-1] || a.Rest != theirs.Hundredths-a.Scored.Hundredths {
			t.Fatalf("shares sum to %d/%d, printed %d; gap %d, rest %d", sum, unit, printed, a.Gap, a.Rest)
		}
		if places != n || len(a.Shares) > MostFactors || a.Combinations != 1<<len(a.Shares) {
			t.Fatalf("%d factors in %d places, %d combinations", places, len(a.Shares), a.Combinations)
		}
	})
}

// TestAttributeWithout: where a combination has no value, or a dialogue is open, nothing is made up.
func TestAttributeWithout(t *testing.T) {
	theirs := Value{Known: true, Hundredths: 500}
	run := func(list []Factor, eval func(seed uint64) Value) *Attribution {
		t.Helper()
		a, err := Attribute(context.Background(), base(t), theirs, list, func(_ context.Context, s Setting) (Value, error) { return eval(s.Plan.Spec.Evaluation.Seed), nil })
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := run(made(2, NeedsNothing), func(seed uint64) Value {
		if seed == 3 {
			return Value{Why: "no case came there"}
		}
		return Value{Known: true, Hundredths: int64(seed)}
	})
	if !strings.Contains(a.NotShared, "a + b (no case came there)") || a.Shares[0].Denominator != 0 || !a.Shares[0].AloneKnown || a.Rest != 0 {
		t.Errorf("%+v", a)
	}
	// Verdicts that nobody asked for: the judge is priced, not among the players.
	judge := func(seed uint64) Value {
		v := Value{Known: true, Hundredths: int64(bits.OnesCount64(seed))}
		if seed&1 == 1 {
			v.Open.Judge = 4
		}
		return v
	}
	a = run(made(1, NeedsJudge), judge)
	if len(a.Shares) != 0 || len(a.Needing) != 1 || a.Needing[0].Recorded || a.Needing[0].Open.Judge != 4 || a.Rest != 500 || a.Left != 500 {
		t.Errorf("%+v", a)
	}
	// Recorded ones are free.
	a = run(made(1, NeedsModel), func(seed uint64) Value { return Value{Known: true, Hundredths: 480 * int64(seed)} })
	if len(a.Needing) != 1 || !a.Needing[0].Recorded || a.Needing[0].Effect != 480 || a.Rest != 500 || a.Left != 20 {
		t.Errorf("%+v", a)
	}
}

// TestDecimal writes units of the last decimal.
func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		units  int64
		digits int
		want   string
	}{{0, 2, "0.00"}, {-5, 2, "-0.05"}, {123456, 4, "+12.3456"}, {100, 2, "+1.00"}} {
		if got := Signed(c.units, c.digits); got != c.want {
			t.Errorf("%d of %d digits: %s, want %s", c.units, c.digits, got, c.want)
		}
	}
}

// TestTry: only what stands between answers and figure can be tried.
func TestTry(t *testing.T) {
	s := base(t)
	for _, c := range []struct{ name, value, want string }{
		{"score.mean", "cases", ""}, {FactorScoring, "parser", ""}, {FactorScoring, "judge", "would have to be named"},
		{"build.deal", "quota", "needs calls"}, {"judge.layout", "lines", "needs calls"}, {"score.men", "cases", "no switch is called"}, {"score.mean", "x", "its values are"},
	} {
		tried, err := s.Try(c.name, c.value)
		if c.want == "" {
			list, ferr := Factors(s, tried)
			if err != nil || ferr != nil || len(list) != 1 || list[0].Name != c.name {
				t.Errorf("%s=%s: %+v, %v, %v", c.name, c.value, list, err, ferr)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}
