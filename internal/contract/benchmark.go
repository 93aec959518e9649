package contract

import (
	"fmt"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/cxreasonbench"
)

// CaseChunk is the largest number of cases that one activity builds.
const CaseChunk = 16

// PlanBenchmarkInput draws the cases of a benchmark from the findings. Outputs are those of
// the assess stage, as for Summarise.
type PlanBenchmarkInput struct {
	Plan         artifacts.Ref   `json:"plan"`
	Manifest     artifacts.Ref   `json:"manifest"`
	Outputs      []artifacts.Ref `json:"outputs"`
	Reproduction string          `json:"reproduction"`
	Ingest       string          `json:"ingest"`
}

// PlanBenchmarkResult says what is to be built: Chunks calls of BuildCases.
type PlanBenchmarkResult struct {
	// Drawn is the stored BenchmarkPlan.
	Drawn  artifacts.Ref `json:"drawn"`
	Cases  int           `json:"cases"`
	Chunks int           `json:"chunks"`
	Totals ChunkTotals   `json:"totals"`
}

// BuildCasesInput builds the cases of one chunk of a BenchmarkPlan.
type BuildCasesInput struct {
	Plan         artifacts.Ref `json:"plan"`
	Drawn        artifacts.Ref `json:"drawn"`
	Chunk        int           `json:"chunk"`
	Reproduction string        `json:"reproduction"`
	Ingest       string        `json:"ingest"`
}

// AssembleBenchmarkInput joins the outputs of BuildCases, one for each chunk in order, as
// stored Packed lists.
type AssembleBenchmarkInput struct {
	Plan    artifacts.Ref   `json:"plan"`
	Drawn   artifacts.Ref   `json:"drawn"`
	Outputs []artifacts.Ref `json:"outputs"`
}

// ImportReleaseInput reads the plan's released benchmark. Statements carry the import's own
// id, since the reproduction has none before the benchmark is known.
type ImportReleaseInput struct {
	Plan artifacts.Ref `json:"plan"`
}

// BenchmarkResult names a benchmark that is ready to be asked.
type BenchmarkResult struct {
	// Benchmark is the stored manifest.
	Benchmark artifacts.Ref `json:"benchmark"`
	// Reproduction is the id of an effort that begins with this benchmark: a release is its
	// own data set.
	Reproduction string `json:"reproduction,omitempty"`
	// Ingest is the id that statements of an import carry.
	Ingest string      `json:"ingest,omitempty"`
	Cases  int         `json:"cases"`
	Tasks  []TaskRange `json:"tasks"`
	Pairs  int         `json:"pairs"`
	Totals ChunkTotals `json:"totals"`
	// Short counts by task how many cases there are less than the spec asks for.
	Short []Count `json:"short,omitempty"`
}

// TasksOf lists the tasks of a manifest's cases, which are sorted by task.
func TasksOf(cases []BenchmarkCase) []TaskRange {
	var list []TaskRange
	for i, c := range cases {
		if n := len(list); n == 0 || list[n-1].Task != c.Task {
			list = append(list, TaskRange{Task: c.Task, First: i})
		}
		list[len(list)-1].Count++
	}
	return list
}

// BenchmarkPlan lists the cases that were drawn, by task in the order of the tables and in
// the order of the draw. It names studies and files, so it has the class of the data.
type BenchmarkPlan struct {
	Format string                       `json:"format"`
	Rules  string                       `json:"rules"`
	Tasks  []cxreasonbench.TaskManifest `json:"tasks"`
	Cases  []DrawnCase                  `json:"cases"`
}

// BenchmarkPlanFormat is BenchmarkPlan.Format.
const BenchmarkPlanFormat = "cxrepro-benchmark-plan-1"

// DrawnCase is one case before its questions exist, with everything they are made from.
type DrawnCase struct {
	Source  cxreasonbench.Source      `json:"source"`
	Formats cxreasonbench.CaseFormats `json:"formats"`
	Entry   Entry                     `json:"entry"`
	Masks   artifacts.Ref             `json:"masks"`
}

// BuiltCases is the output of one chunk.
type BuiltCases struct {
	Chunk int                 `json:"chunk"`
	Cases []BenchmarkCase     `json:"cases"`
	Tally cxreasonbench.Tally `json:"tally"`
	// Dropped counts by task the drawn cases of which a picture cannot be shown.
	Dropped []Count `json:"dropped,omitempty"`
}

// BuiltCasesMediaType is the media type of BuiltCases.
const BuiltCasesMediaType = "application/vnd.cxrepro.built-cases+json"

// Activities that make benchmarks.
var (
	PlanBenchmark     = Activity[PlanBenchmarkInput, PlanBenchmarkResult]{Name: "PlanBenchmark"}
	BuildCases        = Activity[BuildCasesInput, ChunkResult]{Name: "BuildCases"}
	AssembleBenchmark = Activity[AssembleBenchmarkInput, BenchmarkResult]{Name: "AssembleBenchmark"}
	ImportRelease     = Activity[ImportReleaseInput, BenchmarkResult]{Name: "ImportRelease"}
)

// EvaluationsOf lists what a plan evaluates, as workflows need it, in the order of
// experiments.Plan.Evaluations.
func EvaluationsOf(p *experiments.Plan) ([]EvaluationRef, error) {
	e := p.Spec.Evaluation
	if e == nil {
		return nil, nil
	}
	rules, err := experiments.BenchmarkRules(&p.Spec)
	if err != nil {
		return nil, fmt.Errorf("plan %s: %w", p.Spec.Name, err)
	}
	judge := ""
	if p.Judge != nil {
		judge = p.Judge.Name
	}
	var list []EvaluationRef
	for _, of := range p.Evaluations() {
		list = append(list, EvaluationRef{
			Name: of.Name(), Model: of.Model.Name, Judge: judge, Draws: of.Draws,
			Path2: slices.Contains(e.Paths, cxreasonbench.Path2.String()), Rules: rules,
		})
	}
	return list, nil
}
