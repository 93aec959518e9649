package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/stats"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// questions makes n items of a benchmark; sources and labels by turns.
func questions(b bench.Benchmark, n int) []xragent.Item {
	var out []xragent.Item
	groups := bench.Groups()
	sources := []string{bench.SourceOpenI, bench.SourceRadReStruct, bench.SourceSLAKE, bench.SourceOpenI}
	for i := range n {
		it := xragent.Item{ID: fmt.Sprintf("%s/%d", b, i), Question: xragent.Question{Type: xragent.Lettered, Text: "?", Options: []string{"x", "y"}, Key: "A"}}
		switch b {
		case bench.ChestAgentBench:
			it.Labels = groups[i%5].Labels
		case bench.CheXbench:
			it.Source = sources[i%4]
		}
		out = append(out, it)
	}
	return out
}

// answered is an outcome that is right or wrong.
func answered(item, config string, repeat int, right bool) xragent.Outcome {
	o := xragent.Outcome{Item: item, Config: config, Repeat: repeat, Answer: "B"}
	if right {
		o.Answer, o.Correct = "A", true
	}
	return o
}

// TestPaperCounts plays the counts that stand behind the paper's text, and finds its figures.
//
// Numbers: [paper]; 1378, 601, 728, 607 and 193 are the whole numbers derived from it.
func TestPaperCounts(t *testing.T) {
	items := questions(bench.ChestAgentBench, 2500)
	var outcomes []xragent.Outcome
	// Of 2500: right in both 1185, base alone 193, ours alone 607, neither 515.
	kinds := spelled([]int{1185, 193, 607, 515})
	calls := map[bool]int{true: 601, false: 728}
	gateBoth := map[bool][4]int{true: {1354, 8, 8, 517}, false: {421, 9, 3, 180}} // both, on alone, off alone, neither
	for i, it := range items {
		base := answered(it.ID, Base, 0, kinds[i] < 2)
		ours := answered(it.ID, Default, 0, kinds[i] == 0 || kinds[i] == 2)
		if calls[base.Correct] > 0 {
			calls[base.Correct]--
			ours.Calls = []string{xragent.ToolCrop, xragent.ToolCrop}
		}
		outcomes = append(outcomes, base, ours)
	}
	// Strata and the run without the gate follow from ours: as many right in each stratum as needed.
	left := map[bool][4]int{true: gateBoth[true], false: gateBoth[false]}
	take := func(right bool) (view bool, off bool) {
		order := []int{0, 1}
		if !right {
			order = []int{3, 2}
		}
		for _, view := range []bool{true, false} {
			for _, k := range order {
				n := left[view]
				if n[k] > 0 {
					n[k]--
					left[view] = n
					return view, k == 0 || k == 2
				}
			}
		}
		t.Fatal("no place is left")
		return false, false
	}
	quality := 162 // 775 withheld in all, 613 by the view check
	for i := range outcomes {
		o := &outcomes[i]
		if o.Config != Default {
			continue
		}
		view, off := take(o.Correct)
		o.Gated, o.ViewOK = true, view
		switch {
		case !view:
			o.Withheld = "view_lateral"
		case quality > 0:
			quality--
			o.Withheld = "fragmented"
		}
		outcomes = append(outcomes, answered(o.Item, "xr.gate.off", 0, off))
	}
	a, err := New(items, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	got := a.Figures()
	for id, want := range map[string]float64{
		"main.cab.all": 71.68, "base.chestagentbench": 55.12, "delta.base.chestagentbench": 16.56, "derived.base.cab.correct": 1378,
		"routing.cab.base_right": 43.6, "routing.cab.base_wrong": 64.9, "routing.cab.gap": 21.3, "routing.cab.ratio": 1.49, "routing.cab.overall": 53.2,
		"derived.routing.cab.rescue": 607, "derived.routing.cab.damage": 193, "routing.cab.rescue_damage": 3.15,
		"gate.on.all": 71.68, "gate.off.all": 71.44, "gate.on.frontal": 72.18, "gate.off.frontal": 72.18, "gate.on.nonfrontal": 70.15, "gate.off.nonfrontal": 69.17,
		"gate.pairs.frontal.g_only": 8, "gate.pairs.frontal.ng_only": 8, "gate.pairs.nonfrontal_or_atypical.g_only": 9, "gate.pairs.nonfrontal_or_atypical.ng_only": 3,
		"gate.view_check_block_rate": 24.5, "gate.withheld_rate": 31, "derived.gate.mask_quality_reject_rate": 8.6,
		"bench.cab.total": 2500,
	} {
		f := got[id]
		if !f.Known || math.Abs(f.Value-want) > 0.055 {
			t.Errorf("%s: %+v, want %v", id, f, want)
		}
	}
	// p = 0.34 and 0.15 stand in the requirements, section 10.
	for stratum, want := range map[string]float64{"": 0.34, Nonfrontal: 0.15} {
		if p, ok := a.GatePairs(Default, "xr.gate.off", bench.ChestAgentBench, stratum).McNemar(); !ok || math.Abs(p-want) > 0.005 {
			t.Errorf("stratum %q: p = %v, want %v", stratum, p, want)
		}
	}
	if n := len(a.Flipped(Default, "xr.gate.off", bench.ChestAgentBench)); n != 28 {
		t.Errorf("%d answers flip between gate on and off, want 17 + 11", n)
	}
	if u := a.Calls(Default, bench.ChestAgentBench); u[0].Calls != 2*1329 || u[0].Questions != (stats.Proportion{K: 1329, N: 2500}) {
		t.Errorf("calls %+v", u)
	}
	for id, f := range got {
		if f.Known && f.HasInterval && !(f.Low <= f.Value && f.Value <= f.High) {
			t.Errorf("%s: %v is not between %v and %v", id, f.Value, f.Low, f.High)
		}
		if !f.Known && f.Why == "" {
			t.Errorf("%s has neither value nor reason", id)
		}
	}
	if f := got["pipeline.c.cab_gain"]; f.Known || f.Why != "xr.pipe.sft_only was not run" {
		t.Errorf("pipeline.c.cab_gain: %+v", f)
	}
}

// TestScoresAreDirect: scores from random outcomes equal counting them by hand: shares of a column,
// the whole as a share and no mean of columns, the macro mean, the mean over repeats; undetermined
// questions in no denominator, unparsed ones wrong.
func TestScoresAreDirect(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, b := range bench.Benchmarks() {
		items := questions(b, 200)
		var outcomes []xragent.Outcome
		for repeat := range 3 {
			for _, it := range items {
				o := answered(it.ID, Default, repeat, rng.IntN(3) > 0)
				switch rng.IntN(12) {
				case 0:
					o = xragent.Outcome{Item: it.ID, Config: Default, Repeat: repeat, Undetermined: true, Why: "endpoint_gone"}
				case 1:
					o.Answer, o.Correct, o.Unparsed = "", false, true
				case 2:
					continue // no outcome at all
				}
				outcomes = append(outcomes, o)
			}
		}
		a, err := New(items, outcomes)
		if err != nil {
			t.Fatal(err)
		}
		sumN := 0
		for _, col := range b.Columns() {
			var values []float64
			unparsed := 0
			for repeat := range 3 {
				share := func(in func(*xragent.Item) bool) float64 {
					var p stats.Proportion
					for _, o := range outcomes {
						k := slices.IndexFunc(items, func(it xragent.Item) bool { return it.ID == o.Item })
						if o.Repeat != repeat || o.Undetermined || !in(&items[k]) {
							continue
						}
						p.N++
						if o.Correct {
							p.K++
						}
						if o.Unparsed {
							unparsed++
						}
					}
					v, _ := p.Value()
					return 100 * v
				}
				if !col.Macro {
					values = append(values, share(col.Counts))
					continue
				}
				sum := 0.0
				for _, s := range []string{bench.SourceOpenI, bench.SourceRadReStruct, bench.SourceSLAKE} {
					sum += share(func(it *xragent.Item) bool { return it.Source == s })
				}
				values = append(values, sum/3)
			}
			s := a.Score(Default, b, col.Name)
			mean, ok := s.Mean()
			if want := (values[0] + values[1] + values[2]) / 3; !ok || math.Abs(mean-want) > 1e-9 {
				t.Errorf("%s %s: %v, want %v", b, col.Name, mean, want)
			}
			if v, _ := s.Spread(); math.Abs(v-(slices.Max(values)-slices.Min(values))) > 1e-9 {
				t.Errorf("%s %s: spread %v of %v", b, col.Name, v, values)
			}
			if s.Unparsed() != unparsed {
				t.Errorf("%s %s: %d unparsed, want %d", b, col.Name, s.Unparsed(), unparsed)
			}
			if col.Name != bench.All && !col.Macro {
				sumN += s.Repeats[0].Right.N
			}
		}
		whole := a.Score(Default, b, b.Columns()[0].Name)
		per := map[bench.Benchmark]int{bench.ChestAgentBench: 3, bench.CheXbench: 1}[b]
		if sumN != per*whole.Repeats[0].Right.N {
			t.Errorf("%s: columns have %d questions, the whole %d", b, sumN, whole.Repeats[0].Right.N)
		}
		if whole.Open() == 0 || whole.Complete() {
			t.Errorf("%s: nothing is open", b)
		}
	}
}

// TestNoiseFloor: three repeats measure it, one does not, and flips count pairs of repeats.
func TestNoiseFloor(t *testing.T) {
	items := questions(bench.SLAKE, 10)
	var outcomes []xragent.Outcome
	for repeat := range 3 {
		for i, it := range items {
			outcomes = append(outcomes, answered(it.ID, Default, repeat, i < 5+repeat))
		}
	}
	for _, it := range items {
		outcomes = append(outcomes, answered(it.ID, Base, 0, false))
	}
	a, err := New(items, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	at := Place{bench.SLAKE, bench.All}
	if v, ok := a.Score(Default, bench.SLAKE, bench.All).Spread(); !ok || math.Abs(v-20) > 1e-9 {
		t.Errorf("spread %v, want 20: 50, 60 and 70 per cent", v)
	}
	// Question 5 differs in 2 of 3 pairs of repeats, question 6 as well.
	if f := a.Flips(Default, bench.SLAKE); f != (stats.Proportion{K: 4, N: 30}) {
		t.Errorf("flips %+v, want 4 of 30", f)
	}
	if _, ok := a.Floor(Default, Base, at); ok {
		t.Error("one repeat measures no floor")
	}
	if v, ok := a.Floor(Default, Default, at); !ok || math.Abs(v-20) > 1e-9 {
		t.Errorf("floor %v", v)
	}
	d := a.Delta(Default, Base, at)
	if r := d.Repeated; r == nil || *r != (Repeated{Pairs: stats.Proportion{K: 4, N: 30}, Questions: 10, Split: 2}) {
		t.Errorf("repeats behind the difference: %+v", r)
	}
	if math.Abs(d.Value-60) > 1e-9 || !d.HasInterval || d.Low > 40 || d.High < 80 {
		t.Errorf("delta %+v", d)
	}
	if got := a.Score(Default, bench.SLAKE, bench.All).Counted(); got != (stats.Proportion{K: 6, N: 10}) {
		t.Errorf("k of n behind the mean %+v: three repeats do not make thirty questions", got)
	}
}

// TestIntervalCovers: the interval of a difference agrees with the normal approximation for paired
// shares, whose variance is (b + c - (b-c)^2/n) / n^2.
func TestIntervalCovers(t *testing.T) {
	items := questions(bench.SLAKE, 400)
	var outcomes []xragent.Outcome
	kinds := spelled([]int{200, 30, 70, 100})
	for i, it := range items {
		outcomes = append(outcomes, answered(it.ID, Base, 0, kinds[i] < 2), answered(it.ID, Default, 0, kinds[i] == 0 || kinds[i] == 2))
	}
	a, err := New(items, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	d := a.Delta(Default, Base, Place{bench.SLAKE, bench.All})
	half := 100 * stats.Z95 * math.Sqrt((100-40*40/400.0)/(400*400))
	if math.Abs(d.Value-10) > 1e-9 || math.Abs(d.Low-(10-half)) > 0.6 || math.Abs(d.High-(10+half)) > 0.6 {
		t.Errorf("%+v, want 10 +- %v", d, half)
	}
}

// TestNothingIsExact: none right of few is an interval up to what so few can miss, never a point, and
// never below 0.
func TestNothingIsExact(t *testing.T) {
	items := questions(bench.SLAKE, 20)
	var outcomes []xragent.Outcome
	for _, it := range items {
		outcomes = append(outcomes, answered(it.ID, Default, 0, false), answered(it.ID, Base, 0, false))
	}
	a, err := New(items, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	at := Place{bench.SLAKE, bench.All}
	// 1 - 0.025^(1/20) is 16.84 per cent.
	if f := a.Value(Default, at); f.Low != 0 || math.Abs(f.High-16.84) > 0.01 {
		t.Errorf("0 of 20: %v to %v", f.Low, f.High)
	}
	if f := a.Delta(Default, Base, at); math.Abs(f.Low+16.84) > 0.01 || math.Abs(f.High-16.84) > 0.01 {
		t.Errorf("no difference in 20: %v to %v", f.Low, f.High)
	}
}

// TestSameExperiment: configurations with one policy and one arm share their outcomes; others do not.
func TestSameExperiment(t *testing.T) {
	items := questions(bench.SLAKE, 2)
	a, err := New(items, []xragent.Outcome{answered(items[0].ID, Default, 0, true), answered(items[1].ID, Default, 0, false)})
	if err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]string{"xr.pipe.sft_rl_tools": Default, "xr.reward.both_gated": Default, "xr.gate.off": "", "xr.pipe.sft_only": "", "xr.baseline.x": ""} {
		if got := a.Source(config); got != want {
			t.Errorf("%s: %q, want %q", config, got, want)
		}
	}
	if s := a.Score("xr.gate.off", bench.SLAKE, bench.All); s.Why != "xr.gate.off was not run" {
		t.Errorf("%+v", s)
	}
	if s := a.Score(Default, bench.CheXbench, bench.Macro); s.Why != "CheXbench was not imported" {
		t.Errorf("%+v", s)
	}
}

// TestRefusals: outcomes that cannot be true are refused by name.
func TestRefusals(t *testing.T) {
	items := questions(bench.SLAKE, 2)
	good := answered(items[0].ID, Default, 0, true)
	for want, list := range map[string][]xragent.Outcome{
		"no item has this id":                       {answered("slake_closed/9", Default, 0, true)},
		"has two outcomes":                          {good, good},
		"nothing of repeat 0":                       {answered(items[0].ID, Default, 1, true)},
		"is of repeat 64, and an evaluation has":    {answered(items[0].ID, Default, xragent.MaxRepeats, true)},
		"undetermined, yet it has an answer":        {{Item: items[0].ID, Config: Default, Undetermined: true, Answer: "A"}},
		"unparsed, yet it has an answer":            {{Item: items[0].ID, Config: Default, Unparsed: true, Correct: true}},
		"correct without an answer":                 {{Item: items[0].ID, Config: Default, Correct: true}},
		"a bundle was withheld that nobody decided": {{Item: items[0].ID, Config: Default, Withheld: "view_ap"}},
		"item and config are needed":                {{Item: items[0].ID}},
	} {
		if _, err := New(items, list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to contain %s", err, want)
		}
	}
	if _, err := New(append(items, items[0]), nil); err == nil {
		t.Error("an item that stands twice was taken")
	}
}

func TestGateOpen(t *testing.T) {
	items := questions(bench.ChestAgentBench, 4)
	var outcomes []xragent.Outcome
	for i := range items[:3] {
		o := answered(items[i].ID, Default, 0, true)
		o.Gated, o.ViewOK = true, true
		outcomes = append(outcomes, o)
	}
	a, err := New(items, outcomes)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"gate.view_check_block_rate", "gate.withheld_rate", "derived.gate.mask_quality_reject_rate"} {
		if f := a.Figures()[id]; !f.Known || f.Counted.N != 3 || f.Open != 1 {
			t.Errorf("%s: %+v, want 3 counted and 1 open", id, f)
		}
	}
}
