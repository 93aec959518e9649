package plan

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
)

// Options are what a forecast is made from. Store, Catalog, Plan, Ref and Now are required, and
// one of Data, Release, Questions and Against.
type Options struct {
	// Store is read; what is made on the way is put into it, so it should be one that forgets.
	Store *artifacts.Repository
	// Catalog is up to date.
	Catalog *catalog.Catalog
	Plan    *experiments.Plan
	Ref     artifacts.Ref
	// Data is the data set as it was read anew, Release the benchmark that an experiment over a
	// release begins with. Nil: what Against read.
	Data    *contract.IngestResult
	Release *contract.BenchmarkResult
	// Against is the receipt of the reproduction to compare with.
	Against *contract.Receipt
	// Questions is the question set of an agent as it was read or drawn anew; nil: what Against had.
	// Rollouts walks its rollouts.
	Questions *contract.QuestionsResult
	Rollouts  Rollouts
	// Draw draws the cases of a benchmark out of findings.
	Draw func(ctx context.Context, plan, manifest artifacts.Ref, assessed []contract.Assessed) (*contract.BenchmarkPlan, error)
	// Price is what an endpoint asks for calls of a card, nil where nobody says.
	Price func(card string) ledger.Price
	Now   time.Time
}

// DataError says that what a forecast is about is not known: no folder was given, and no
// reproduction has read the same data set.
type DataError struct{ Reason string }

func (e *DataError) Error() string { return "the data set is not known: " + e.Reason }

// planner is one forecast in the making. It serves one goroutine.
type planner struct {
	o     Options
	docs  *documents
	shelf *catalog.Shelf
	pl    *derive.Plan
	base  *base
	out   Forecast
	// ids are those whose records are this reproduction's own.
	ids []string

	data    *derive.Dataset
	windows []window
	drawn   *contract.BenchmarkPlan
	bench   benchmark
	ev      *derive.Evaluated

	steps map[string]*stepRow
	calls []*callRow
	// keys are those of the steps after the masks, known how many of each step they are.
	keys  map[artifacts.Key]bool
	known map[string]int
	// answers are the recorded calls, planned the calls that are to be made.
	answers map[string]map[artifacts.Digest]catalog.Entry
	planned map[artifacts.Digest]bool
}

// Make makes a forecast.
//
// Errors: *DataError; documents that cannot be read.
func Make(ctx context.Context, o Options) (*Forecast, error) {
	p := &planner{
		o: o, docs: newDocuments(o.Store), shelf: o.Catalog.NewShelf(), steps: map[string]*stepRow{},
		keys: map[artifacts.Key]bool{}, known: map[string]int{},
		planned: map[artifacts.Digest]bool{},
		out:     Forecast{Format: Format, Name: o.Plan.Spec.Name, Paper: o.Plan.Spec.Paper, Plan: o.Ref, Made: o.Now.UTC(), Tasks: []TaskRow{}, Flips: []Flip{}, Notes: []string{}},
	}
	p.docs.prepared = p.preparedPicture
	var err error
	if p.pl, err = derive.NewPlan(o.Plan, o.Ref); err != nil {
		return nil, err
	}
	if p.base, err = openBase(ctx, p.docs, o.Against); err != nil {
		return nil, err
	}
	if b := p.base; b != nil {
		p.out.Against = &Against{Reproduction: b.receipt.Reproduction, Name: b.receipt.Name, Ended: b.receipt.Ended}
	}
	parts := []func(context.Context) error{p.begin, p.findings, p.cases, p.evaluations, p.finish}
	if o.Plan.Spec.Agent != nil {
		parts = []func(context.Context) error{p.agent, p.finish}
	}
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	return &p.out, nil
}

// begin finds out what the experiment begins with: a data set, or a released benchmark.
func (p *planner) begin(ctx context.Context) error {
	if p.release() {
		return p.beginRelease(ctx)
	}
	var ref artifacts.Ref
	switch {
	case p.o.Data != nil:
		ref = p.o.Data.Manifest.Manifest
		p.ids = append(p.ids, p.o.Data.Ingest)
		p.out.Data.Read = true
	case p.base == nil:
		return &DataError{"no folder was given with --data, and there is no reproduction to take it from"}
	default:
		if field := p.base.otherData(p.pl); field != "" {
			return &DataError{fmt.Sprintf("%s of the spec is another one than in reproduction %s, and no folder was given with --data", field, p.base.receipt.Reproduction)}
		}
		ref = p.base.receipt.Manifest
		p.note("the data set is taken to be as reproduction %s read it; --data reads it anew", p.base.receipt.Reproduction)
	}
	var err error
	if p.data, err = derive.OpenDataset(ctx, p.o.Store, ref); err != nil {
		return err
	}
	p.out.Data.Manifest, p.out.Data.Images, p.out.Data.Windows = ref.Digest, p.data.Images, len(p.data.Manifest.Chunks())
	return p.identify(ctx, ref.Digest)
}

// identify gives the effort its id, and looks for its receipt.
func (p *planner) identify(ctx context.Context, manifest artifacts.Digest) error {
	id := contract.ReproductionID(p.o.Ref.Digest, manifest)
	p.ids = append(p.ids, id)
	p.out.Reproduction = id
	_, found, err := p.present(ctx, contract.ReproductionKey(p.o.Ref.Digest, manifest))
	p.out.Finished = found
	return err
}

// release reports whether the experiment begins with a benchmark made elsewhere.
func (p *planner) release() bool {
	b := p.pl.Spec.Benchmark
	return b != nil && b.Source == experiments.SourceRelease
}

func (p *planner) beginRelease(ctx context.Context) error {
	row := p.step(contract.StepImportCase)
	var ref artifacts.Ref
	switch {
	case p.o.Release != nil:
		ref = p.o.Release.Benchmark
		p.ids = append(p.ids, p.o.Release.Ingest)
		p.out.Data.Read = true
		for _, s := range p.o.Release.Totals.Steps {
			row.needed, row.reused, row.run = row.needed.plus(sure(float64(s.Needed))), row.reused.plus(sure(float64(s.Reused))), row.run.plus(sure(float64(s.Run)))
		}
	case p.base == nil || p.base.otherData(p.pl) != "" || p.base.receipt.Benchmark.IsZero():
		return &DataError{"no folder was given with --data, and no reproduction has read the same release"}
	default:
		ref = p.base.receipt.Benchmark
		p.note("the release is taken to be as reproduction %s read it; --data reads it anew", p.base.receipt.Reproduction)
	}
	doc, err := get[contract.Benchmark](ctx, p.docs, ref)
	if err != nil {
		return err
	}
	if p.o.Release == nil {
		row.needed, row.reused = sure(float64(len(doc.Cases))), sure(float64(len(doc.Cases)))
	}
	p.out.Data.Manifest, p.out.Data.Images = ref.Digest, len(doc.Cases)
	b, err := derive.NewBenchmark(doc, ref)
	if err != nil {
		return err
	}
	p.bench = benchmark{doc: b, ref: ref, whole: true}
	return p.identify(ctx, ref.Digest)
}

// present looks for the record of a key.
func (p *planner) present(ctx context.Context, doc artifacts.KeyDoc) (catalog.Entry, bool, error) {
	key, err := doc.Key()
	if err != nil {
		return catalog.Entry{}, false, err
	}
	found, err := p.shelf.Present(ctx, []artifacts.Digest{key.Digest})
	e, ok := found[key.Digest]
	return e, ok, err
}

// mine reports a record of this very reproduction.
func (p *planner) mine(e catalog.Entry) bool {
	return e.Reproduction != "" && slices.Contains(p.ids, e.Reproduction)
}

func (p *planner) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.out.Notes, text) {
		p.out.Notes = append(p.out.Notes, text)
	}
}
