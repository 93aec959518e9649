package claims

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/stats"
)

// agentFile holds what the second paper states.
type agentFile struct {
	Source      string            `json:"source"`
	Items       []agentFigure     `json:"items"`
	Constraints []agentConstraint `json:"constraints"`
}

// agentFigure is one figure. Kind is reported, or derived where it was computed from others.
type agentFigure struct {
	ID          string                     `json:"id"`
	Metric      string                     `json:"metric"`
	Value       json.Number                `json:"value"`
	Unit        string                     `json:"unit"`
	Kind        string                     `json:"kind"`
	Condition   map[string]json.RawMessage `json:"condition"`
	Where       string                     `json:"where"`
	DerivedFrom string                     `json:"derived_from"`
	Tolerance   float64                    `json:"tolerance"`
	Numerator   *int                       `json:"numerator"`
	Denominator *int                       `json:"denominator"`
}

// agentConstraint is an order, a sum or a property that the paper states.
type agentConstraint struct {
	ID        string   `json:"id"`
	Text      string   `json:"text"`
	Where     string   `json:"where"`
	Type      string   `json:"type"`
	Relations []string `json:"relations"`
	Reading   string   `json:"reading"`
}

// agentFigures are the figures of the X-Ragent paper.
var agentFigures = sync.OnceValues(func() (*agentFile, error) {
	var f agentFile
	return &f, read("xragent/claims/figures.json", &f)
})

// AgentResult is one result of ours: K of N questions, or a value in the figure's unit, or the
// reason why there is none.
type AgentResult struct {
	K     int      `json:"k"`
	N     int      `json:"n"`
	Value *float64 `json:"value,omitempty"`
	// Interval is what a printed figure is held against, in its unit; without one that of k of n.
	Interval *[2]float64 `json:"-"`
	// Flips are the decoding noise that the interval is wider by; nil where nothing was repeated.
	Flips *Flips `json:"-"`
	// Open counts questions behind it that have no outcome yet.
	Open int `json:"-"`
	// Why there is no value; empty where there is one.
	Why string `json:"-"`
}

// AgentResults are results by the id of the figure that they are to be held against.
type AgentResults map[string]AgentResult

// ParseAgentResults reads {"figures": {"ID": {"k", "n"} or {"value"}}}.
//
// Errors: another document, an id that neither a figure nor an order has, counts that are no
// proportion, an entry with neither.
func ParseAgentResults(data []byte) (AgentResults, error) {
	var in struct {
		Figures AgentResults `json:"figures"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("claims: results: %w", err)
	}
	if len(in.Figures) == 0 {
		return nil, fmt.Errorf("claims: results: figures is empty")
	}
	file, err := agentFigures()
	if err != nil {
		return nil, err
	}
	names := file.names()
	for _, id := range slices.Sorted(maps.Keys(in.Figures)) {
		if !names[id] {
			return nil, fmt.Errorf("claims: results: figures.%s: no figure of the paper and no order has this id", id)
		}
		r := in.Figures[id]
		if err := (stats.Proportion{K: r.K, N: r.N}).Validate(); err != nil || r.N == 0 && r.Value == nil {
			return nil, fmt.Errorf("claims: results: figures.%s: give k of n, or a value", id)
		}
	}
	return in.Figures, nil
}

// names are the ids that results can be given for: of figures, and of what the orders compare.
func (f *agentFile) names() map[string]bool {
	names := map[string]bool{}
	for _, x := range f.Items {
		names[x.ID] = true
	}
	for _, x := range f.Constraints {
		for _, text := range x.Relations {
			holdOne(text, func(id string) (float64, bool) { names[id] = true; return 0, true })
		}
	}
	return names
}

// value is the result in the unit of a figure.
func (r AgentResult) value(unit string) float64 {
	switch {
	case r.Value != nil:
		return *r.Value
	case unit == "percent" || unit == "points":
		return 100 * float64(r.K) / float64(r.N)
	case unit == "ratio":
		return float64(r.K) / float64(r.N)
	}
	return float64(r.K)
}

// decimals is how many the figure was printed with.
func (f agentFigure) decimals() int {
	_, rest, _ := strings.Cut(f.Value.String(), ".")
	return len(rest)
}

func (f agentFigure) claim() Claim {
	var where []string
	for _, k := range slices.Sorted(maps.Keys(f.Condition)) {
		where = append(where, k+"="+strings.Trim(string(f.Condition[k]), `"`))
	}
	c := Claim{
		ID: "xragent/" + f.ID, Paper: XRagent, Source: f.Where, Printed: f.Value.String(), Formula: f.Metric, Population: strings.Join(where, " "),
		Rounding: fmt.Sprintf("%d decimals", f.decimals()), Tolerance: f.Tolerance,
	}
	if c.Derived = f.Kind == "derived"; c.Derived {
		c.Rounding = "computed from printed figures: " + f.DerivedFrom
	}
	return c
}

// noAgent is why nothing can be said of the figures of the second paper.
const noAgent = "no results of X-Ragent were given"

// agent checks figures and constraints of the second paper.
func (c *Checked) agent(results AgentResults, blocked string) error {
	file, err := agentFigures()
	if err != nil {
		return err
	}
	printed := map[string]float64{}
	for _, f := range file.Items {
		if printed[f.ID], err = f.Value.Float64(); err != nil {
			return fmt.Errorf("claims: %s: %w", f.ID, err)
		}
		if results == nil {
			c.other(f.claim(), noAgent)
			continue
		}
		r := Result{Claim: f.claim(), Evaluation: -1, Verdict: report.NotComputable, Why: "no result was given for it"}
		if ours, ok := results[f.ID]; ok {
			r = f.against(ours, printed[f.ID])
		}
		if blocked != "" {
			r.Verdict, r.Why = report.NotComputable, "blocked: "+blocked
		}
		c.Results = append(c.Results, r)
	}
	for _, x := range file.Constraints {
		c.Relations = append(c.Relations, x.check(printed, results))
	}
	return nil
}

// against compares a result with a printed figure.
func (f agentFigure) against(ours AgentResult, printed float64) Result {
	if ours.Why != "" {
		return Result{Claim: f.claim(), Evaluation: -1, Verdict: report.NotComputable, Why: ours.Why}
	}
	v := ours.value(f.Unit)
	r := Result{Claim: f.claim(), Evaluation: -1, Known: true, Flips: ours.Flips, Ours: fmt.Sprintf("%.*f", f.decimals(), v), Counted: stats.Proportion{K: ours.K, N: ours.N}}
	lo, hi, ranged := ours.interval(f.Unit)
	if r.Interval.Plain.Known = ranged; ranged {
		r.Interval.Plain.Low, r.Interval.Plain.High = lo, hi
	}
	half := 0.5 * math.Pow10(-f.decimals())
	switch {
	case ours.Open > 0:
		r.Verdict, r.Why = report.Undetermined, cxreasonbench.UndeterminedWords(ours.Open)
	case r.Ours == f.Value.String(), f.Tolerance > 0 && math.Abs(v-printed) <= f.Tolerance+1e-9:
		r.Verdict = report.Reproduced
	case ranged && (printed < lo-half || printed > hi+half):
		r.Verdict, r.Why = report.Off, outside
	case ranged:
		r.Verdict = report.WithinNoise
	case f.Unit == "questions" || f.Unit == "examples" || f.Unit == "images":
		r.Verdict, r.Why = report.Off, "another count"
	default:
		r.Verdict, r.Why = report.NotComputable, "another value, and there is no interval to compare it with: that needs a percentage as k of n"
	}
	return r
}

// interval is what a printed figure is held against, in its unit; ok is false where there is none.
func (r AgentResult) interval(unit string) (low, high float64, ok bool) {
	if r.Interval != nil {
		return r.Interval[0], r.Interval[1], true
	}
	if r.N == 0 || unit != "percent" {
		return 0, 0, false
	}
	low, high = report.Interval(r.K, r.N)
	return 100 * low, 100 * high, true
}

// size is the number of questions that a figure is over; 0 where it is not known, or where the
// figure is of a part of a benchmark.
func (f agentFigure) size(file *agentFile) int {
	if f.Denominator != nil {
		return *f.Denominator
	}
	of := map[string]string{
		"chestagentbench": "bench.cab.total", "slake_closed": "bench.slake.total", "chexbench_openi": "bench.chexbench.openi",
		"chexbench_rad_restruct": "bench.chexbench.rad_restruct", "chexbench_slake": "bench.chexbench.slake",
	}[strings.Trim(string(f.Condition["benchmark"]), `"`)]
	for _, x := range file.Items {
		if x.ID == of && f.Condition["stratum"] == nil && f.Condition["capability"] == nil {
			n, _ := x.Value.Int64()
			return int(n)
		}
	}
	return 0
}

// behindAgent returns every k of n that a figure is printed for; of a figure in points k is a
// difference of two numbers of questions.
func behindAgent(id string) (Behind, error) {
	file, err := agentFigures()
	if err != nil {
		return Behind{}, err
	}
	for _, f := range file.Items {
		if "xragent/"+f.ID != id {
			continue
		}
		n := f.size(file)
		if f.Kind == "derived" || n == 0 || f.Unit != "percent" && f.Unit != "points" || strings.Contains(f.Metric, "macro") {
			return Behind{Why: "no share of a known number of questions"}, nil
		}
		return f.shares(n), nil
	}
	return Behind{Why: "no figure of this name"}, nil
}

func (f agentFigure) shares(n int) Behind {
	var b Behind
	for k := -n; k <= n; k++ {
		if fmt.Sprintf("%.*f", f.decimals(), 100*float64(k)/float64(n)) == f.Value.String() {
			b.Solutions = append(b.Solutions, stats.Proportion{K: k, N: n})
		}
	}
	b.Alone, b.Unique = len(b.Solutions), len(b.Solutions) == 1
	if len(b.Solutions) == 0 {
		b.Why = fmt.Sprintf("no whole number of %d questions is printed so", n)
	}
	return b
}
