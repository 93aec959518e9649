package responder

import (
	"os"
	"path"
	"strings"
	"testing"

	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
)

// playPaper holds every dialogue of some models of the paper with a benchmark, in both ways of
// sampling, and returns the tables. Every reply is written and read on the way.
func playPaper(t testing.TB, m *made, behaviour Behaviour, seed uint64, bootstrap int, models ...string) *contract.EvaluationSummary {
	t.Helper()
	var list []Model
	for _, name := range models {
		list = append(list, Model{Name: name, Behaviour: behaviour, Paper: name, Dissent: 0.3})
	}
	s, err := New(Options{Benchmark: m.bench, Profile: &Profile{Format: ProfileFormat, Seed: seed, Models: list}})
	if err != nil {
		t.Fatal(err)
	}
	summary := &contract.EvaluationSummary{Format: contract.EvaluationSummaryFormat, Rules: m.rules, Bootstrap: bootstrap, Seed: seed}
	for _, name := range models {
		for _, sampling := range cxreasonbench.Samplings() {
			played, err := s.Play(name, m.rules, sampling.Draws(), seed)
			if err != nil {
				t.Fatal(err)
			}
			e := scoring.New(contract.EvaluationRef{Name: name + "/" + sampling.String(), Model: name, Draws: sampling.Draws(), Path2: true, Rules: m.rules})
			for _, p := range []cxreasonbench.Path{cxreasonbench.Path1, cxreasonbench.Path2} {
				for task, cases := range played[p] {
					e.Put(p, task, cases)
				}
			}
			summary.Evaluations = append(summary.Evaluations, e.Summary(contract.SummaryModel{Name: name, Title: name, Simulated: true}, sampling.String(), scoring.Bootstrap{Draws: bootstrap, Seed: seed}))
		}
	}
	return summary
}

func check(t testing.TB, s *contract.EvaluationSummary) *claims.Checked {
	t.Helper()
	c, err := claims.Check(claims.Input{Summary: s})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExactCounts holds that the paper's ten models, of which exactly as many cases succeed as the
// published tables are made of, come to every published figure of Tables 3, 4 and 8 to 28 but
// those in which the tables contradict themselves; and that one case more shows.
func TestExactCounts(t *testing.T) {
	if n := len(PaperModels()); n != 10 {
		t.Errorf("%d models, the paper has 10", n)
	}
	m := makeBenchmark(t, cxreasonbench.Corrected, claims.PaperCases)
	s := playPaper(t, m, Exact, 20250518, 0, PaperModels()...)
	c := check(t, s)
	contradictory := 0
	page, err := os.ReadFile("../../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Results {
		switch {
		case r.Verdict == report.Reproduced:
		case r.Verdict == report.NotComputable && strings.HasPrefix(r.Why, "contradictory: "):
			contradictory++
			if row := path.Dir(r.Claim.ID); !strings.Contains(string(page), "`"+row+"`") {
				t.Errorf("docs/claims.md does not name %s: %s", row, r.Why)
			}
		default:
			t.Errorf("%s: ours %s, published %s: %s, %s", r.Claim.ID, r.Ours, r.Claim.Printed, r.Verdict, r.Why)
		}
	}
	if len(c.Results) != 6450 || contradictory != 57 {
		t.Errorf("%d claims, %d of them contradictory", len(c.Results), contradictory)
	}
	for _, n := range cxreasonbench.TableNumbers() {
		if c.Tally(n)[report.Reproduced] == 0 {
			t.Errorf("table %d: nothing is reproduced", n)
		}
	}
	before := c.Tally()[report.Reproduced]
	s.Evaluations[0].Paths[0].Tasks[0].Counts.Right[0]--
	if after := check(t, s).Tally()[report.Reproduced]; after >= before {
		t.Errorf("a case less right leaves %d reproduced, %d before", after, before)
	}
}

// decided is the share of the claims with a verdict that are reproduced or within noise.
func decided(c *claims.Checked) (share float64, of int) {
	n := c.Tally()
	good := n[report.Reproduced] + n[report.WithinNoise]
	of = good + n[report.Off]
	return float64(good) / float64(max(of, 1)), of
}

// TestPaperRates holds that models whose cases succeed with the published shares reproduce at
// least 93 % of what can be told, or come within noise of it. CXREPRO_CLAIMS_RATES plays all ten
// models with three seeds.
func TestPaperRates(t *testing.T) {
	models, seeds, bootstrap := []string{"Gemini-2.5-Flash", "Pixtral-Large"}, 1, 400
	if os.Getenv("CXREPRO_CLAIMS_RATES") != "" {
		models, seeds, bootstrap = PaperModels(), 3, 1000
	}
	m := makeBenchmark(t, cxreasonbench.Corrected, claims.PaperCases)
	for seed := 1; seed <= seeds; seed++ {
		c := check(t, playPaper(t, m, Rates, uint64(seed), bootstrap, models...))
		share, of := decided(c)
		t.Logf("seed %d: %.1f %% of %d; %s", seed, 100*share, of, c.TallyWords())
		if share < 0.93 || of < 300*len(models) {
			t.Errorf("seed %d: %.1f %% of %d are reproduced or within noise", seed, 100*share, of)
		}
	}
}
