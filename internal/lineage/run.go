package lineage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/experiments"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/scoring"
)

// Run is a reproduction whose documents are read when they are needed, each once.
type Run struct {
	Receipt *contract.Receipt
	x       *Explorer

	plan        *experiments.Plan
	labels      *contract.Summary
	summary     *contract.EvaluationSummary
	evaluations []cxreasonbench.Evaluation
	cells       []cxreasonbench.CellRef
	docs        map[artifacts.Digest]*contract.EvaluationDoc
	bench       *contract.Benchmark
	caseOf      map[artifacts.Digest]int
	pages       map[pagesKey][]*page
	windows     []manifest.Chunk
	assessed    map[int]artifacts.Ref
	findings    map[artifacts.Digest]*contract.Findings
	inputs      map[artifacts.Digest]*contract.WindowIn
	caseDocs    map[artifacts.Digest]*contract.CaseDoc
	pageOf      map[artifacts.Digest]*page
	taskBy      map[artifacts.Digest]string
	cards       *models
	packed      *cxreasonbench.Pack
	texts       map[artifacts.Digest]string
	shown       map[string]map[artifacts.Digest]bool // by case and question
}

// NewRun returns the view of a reproduction that has ended.
func NewRun(r *contract.Receipt) *Run {
	return &Run{
		Receipt: r, pages: map[pagesKey][]*page{}, docs: map[artifacts.Digest]*contract.EvaluationDoc{}, findings: map[artifacts.Digest]*contract.Findings{},
		inputs: map[artifacts.Digest]*contract.WindowIn{}, caseDocs: map[artifacts.Digest]*contract.CaseDoc{}, shown: map[string]map[artifacts.Digest]bool{},
	}
}

// node is the reproduction itself.
func (r *Run) node() Node {
	n := Node{Kind: KindReproduction, Title: r.Receipt.Name + " " + r.Receipt.Reproduction, Reproduction: r.Receipt.Reproduction, ID: string(KindReproduction) + ":" + r.Receipt.Reproduction}
	n.at.run = r
	return n
}

// once reads a document into a place that keeps it.
func once[T any](ctx context.Context, r *Run, into **T, ref artifacts.Ref) (*T, error) {
	if *into != nil || ref.IsZero() {
		return *into, nil
	}
	v, err := read[T](ctx, r.x.docs, ref)
	if err != nil {
		return nil, fmt.Errorf("reproduction %s: %w", r.Receipt.Reproduction, err)
	}
	*into = &v
	return *into, nil
}

// kept reads a document into a map that keeps it.
func kept[T any](ctx context.Context, r *Run, into map[artifacts.Digest]*T, ref artifacts.Ref) (*T, error) {
	if v := into[ref.Digest]; v != nil {
		return v, nil
	}
	v, err := read[T](ctx, r.x.docs, ref)
	if err != nil {
		return nil, err
	}
	if len(into) > 512 {
		clear(into)
	}
	into[ref.Digest] = &v
	return &v, nil
}

// Plan is what the reproduction was started with.
func (r *Run) Plan(ctx context.Context) (*experiments.Plan, error) {
	return once(ctx, r, &r.plan, r.Receipt.Plan)
}

// Labels are the tables of labels; nil without.
func (r *Run) Labels(ctx context.Context) (*contract.Summary, error) {
	return once(ctx, r, &r.labels, r.Receipt.Summary)
}

// Benchmark is what was asked; nil where nothing was.
func (r *Run) Benchmark(ctx context.Context) (*contract.Benchmark, error) {
	return once(ctx, r, &r.bench, r.Receipt.Benchmark)
}

// Summary holds the evaluations' figures; nil where nothing was asked.
func (r *Run) Summary(ctx context.Context) (*contract.EvaluationSummary, error) {
	return once(ctx, r, &r.summary, r.Receipt.Tables)
}

// Evaluations are the figures as tables take them.
func (r *Run) Evaluations(ctx context.Context) ([]cxreasonbench.Evaluation, error) {
	s, err := r.Summary(ctx)
	if s == nil || err != nil || r.evaluations != nil {
		return r.evaluations, err
	}
	for i := range s.Evaluations {
		r.evaluations = append(r.evaluations, scoring.Scored(s.Rules, &s.Evaluations[i]))
	}
	r.cells = cxreasonbench.Cells(r.evaluations)
	return r.evaluations, nil
}

// draws reports whether the run drew its cases from findings. The draw looks at every row.
func (r *Run) draws() bool { return !r.Receipt.Manifest.IsZero() && !r.Receipt.Benchmark.IsZero() }

// evaluation is the document of one evaluation.
func (r *Run) evaluation(ctx context.Context, i int) (*contract.EvaluationDoc, error) {
	return kept(ctx, r, r.docs, r.Receipt.Evaluations[i])
}

// caseNumber is the number of a case by its document; ok is false for one of another benchmark.
func (r *Run) caseNumber(ctx context.Context, doc artifacts.Digest) (n int, ok bool, err error) {
	b, err := r.Benchmark(ctx)
	if b == nil || err != nil {
		return 0, false, err
	}
	if r.caseOf == nil {
		r.caseOf = map[artifacts.Digest]int{}
		for i, c := range b.Cases {
			r.caseOf[c.Doc.Digest] = i
		}
	}
	n, ok = r.caseOf[doc]
	return n, ok, nil
}

// caseDoc is everything that is asked about a case.
func (r *Run) caseDoc(ctx context.Context, n int) (*contract.CaseDoc, error) {
	b, err := r.Benchmark(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil || n < 0 || n >= len(b.Cases) {
		return nil, fmt.Errorf("there is no case %d", n)
	}
	return kept(ctx, r, r.caseDocs, b.Cases[n].Doc)
}

// finding is one image's row of one task.
type finding struct {
	task   string
	key    artifacts.Key
	doc    artifacts.Ref
	inputs artifacts.Ref
	place  int
	image  contract.ImageIn
}

// chunks are the windows of the data set.
func (r *Run) chunks(ctx context.Context) ([]manifest.Chunk, error) {
	if r.windows != nil || r.Receipt.Manifest.IsZero() {
		return r.windows, nil
	}
	data, err := read[contract.Dataset](ctx, r.x.docs, r.Receipt.Manifest)
	if err != nil {
		return nil, err
	}
	if data.Windows.IsZero() {
		return nil, nil // a question set, or a benchmark that was read: no image was measured in windows
	}
	list, err := manifest.Open(ctx, r.x.docs, data.Windows)
	if err != nil {
		return nil, err
	}
	r.windows = list.Chunks()
	return r.windows, nil
}

// window is where the findings of a window are; ok is false for a run that made none.
func (r *Run) window(ctx context.Context, i int) (out contract.Assessed, ok bool, err error) {
	if r.assessed == nil {
		r.assessed = map[int]artifacts.Ref{}
		for _, shard := range r.Receipt.Assessed {
			list, err := read[contract.Packed](ctx, r.x.docs, shard)
			if err != nil {
				return out, false, err
			}
			for _, item := range list.Items {
				r.assessed[item.Index] = item.Ref
			}
		}
	}
	ref, ok := r.assessed[i]
	if !ok {
		return out, false, nil
	}
	out, err = read[contract.Assessed](ctx, r.x.docs, ref)
	return out, err == nil, err
}

// rowsOf returns an image's rows, one for each task: the window is the one whose bits its digest
// begins with, and in it the row is the image's.
func (r *Run) rowsOf(ctx context.Context, image artifacts.Digest) ([]*finding, error) {
	chunks, err := r.chunks(ctx)
	if err != nil {
		return nil, err
	}
	bits := &strings.Builder{}
	for _, b := range image {
		fmt.Fprintf(bits, "%08b", b)
	}
	for i, c := range chunks {
		// A label too long to be printed says less than it could: such a window is looked into.
		if c.Label != "all" && len(c.Label) <= 64 && strings.Trim(c.Label, "01") == "" && !strings.HasPrefix(bits.String(), c.Label) {
			continue
		}
		rows, err := r.rowsIn(ctx, i, image)
		if len(rows) > 0 || err != nil {
			return rows, err
		}
	}
	return nil, nil
}

func (r *Run) rowsIn(ctx context.Context, window int, image artifacts.Digest) ([]*finding, error) {
	assessed, ok, err := r.window(ctx, window)
	if !ok || err != nil {
		return nil, err
	}
	in, err := kept(ctx, r, r.inputs, assessed.Inputs)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(in.Images, func(i contract.ImageIn) bool { return i.Image == image })
	if at < 0 {
		return nil, nil
	}
	var rows []*finding
	for _, t := range assessed.Tasks {
		rows = append(rows, &finding{task: t.Task, key: t.Key, doc: t.Result, inputs: assessed.Inputs, place: at, image: in.Images[at]})
	}
	return rows, nil
}

// node is the row as a node. Its title says what the row found.
func (f *finding) node(r *Run) Node {
	n := Node{Kind: KindFinding, Digest: f.doc.Digest, Key: f.key, Title: words(f.task) + " of image " + f.image.Image.Short()}
	n.at.run, n.at.finding = r, f
	return n.row(f.image.Image.Hex())
}

// outcome is what the tables read of a row.
type outcome struct {
	Status string   `json:"status"`
	Label  *string  `json:"label"`
	Failed []string `json:"failed"`
}

func (r *Run) outcome(ctx context.Context, doc artifacts.Ref, place int) (o outcome, err error) {
	rows, err := kept(ctx, r, r.findings, doc)
	if err != nil {
		return o, err
	}
	if place >= len(rows.Rows) {
		return o, fmt.Errorf("findings %s have %d rows", doc.Digest.Short(), len(rows.Rows))
	}
	return o, json.Unmarshal(rows.Rows[place].Finding, &o)
}

// removes reports whether the global filter removes an image with these failed rules: a turned
// film only makes its tasks not evaluable.
func (o outcome) removes() bool {
	return slices.ContainsFunc(o.Failed, func(rule string) bool { return rule != chexstruct.RuleOrientation.String() })
}

// gone reports whether an error says that a document is no longer there.
func gone(err error) bool { return errors.Is(err, errGone) || errors.Is(err, artifacts.ErrNotFound) }

func words(name string) string { return strings.ReplaceAll(name, "_", " ") }
