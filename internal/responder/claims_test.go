package responder

import (
	"os"
	"testing"

	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/report/scoring"
)

// played holds every dialogue of some models of the paper with the benchmark, in both ways of
// sampling, and checks the published figures against what came of them.
func playPaper(t testing.TB, m *made, behaviour Behaviour, seed uint64, bootstrap int, models ...string) *claims.Checked {
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
	summary.Evaluations = make([]contract.SummaryEvaluation, 0, 2*len(models))
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
	c, err := claims.Check(claims.Input{Summary: summary})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExactCounts holds that ten models of which exactly as many cases succeed as the published
// tables say come to every published figure of Tables 3, 4 and 8 to 28 that the tables do not
// contradict themselves in.
func TestExactCounts(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, claims.PaperCases)
	c := playPaper(t, m, Exact, 1, 0, PaperModels()...)
	n := c.Tally()
	t.Log(c.TallyWords())
	for _, r := range c.Results {
		if r.Verdict != report.Reproduced {
			t.Logf("%s %s: ours %s, published %s: %s %s", r.Claim.ID, r.Claim.Population[:20], r.Ours, r.Claim.Printed, r.Verdict, r.Why)
		}
	}
	if n[report.Off]+n[report.WithinNoise] > 0 {
		t.Errorf("%s", c.TallyWords())
	}
}

// TestPaperRates: see docs/claims.md.
func TestPaperRates(t *testing.T) {
	if os.Getenv("CXREPRO_CLAIMS_RATES") == "" {
		t.Skip("set CXREPRO_CLAIMS_RATES to play the paper's rates")
	}
	m := makeBenchmark(t, cxreasonbench.Corrected, claims.PaperCases)
	for seed := uint64(1); seed <= 3; seed++ {
		c := playPaper(t, m, Rates, seed, 1000, PaperModels()...)
		t.Log(seed, c.TallyWords())
		why := map[string]int{}
		for _, r := range c.Results {
			if r.Verdict == report.Off {
				why[r.Claim.Group()]++
			}
			if r.Verdict == report.NotComputable {
				why[r.Why]++
			}
		}
		t.Log(why)
	}
}
