package plan

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/manifest"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
	"cxrepro/internal/evaltest"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
)

// fullScale is the part of the paper's size that TestScale plans, 1 for all of it: 243,334 images,
// 1,200 cases, ten models in two ways of sampling with 377,000 calls.
const fullScale = "CXREPRO_PLAN_SCALE"

// busy is the processor time of this process. A machine that is shared says little by the clock.
func busy() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// counting counts what is read of a store.
type counting struct {
	artifacts.Bucket
	reads atomic.Int64
}

func (c *counting) Read(ctx context.Context, name string) ([]byte, artifacts.Info, error) {
	c.reads.Add(1)
	return c.Bucket.Read(ctx, name)
}

func (c *counting) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	c.reads.Add(1)
	return c.Bucket.Open(ctx, name)
}

func (c *counting) Stat(ctx context.Context, name string) (artifacts.Info, error) {
	c.reads.Add(1)
	return c.Bucket.Stat(ctx, name)
}

// scale is a synthetic reproduction: its documents in a store, its keys in a catalog.
type scale struct {
	testing.TB
	bucket  *counting
	store   *artifacts.Repository
	cat     *catalog.Catalog
	rows    []catalog.Filled
	keys    int
	spec    *experiments.Spec
	pins    experiments.Pins
	receipt *contract.Receipt
}

const scaleSpec = `name: paper
paper: CXReasonBench
preset: corrected
thresholds: {global.mask_count.mask_num_min: 25}
tasks: [inclusion, inspiration, rotation, projection, cardiomegaly, mediastinal_widening, carina_angle, trachea_deviation,
  aortic_knob_enlargement, ascending_aorta_enlargement, descending_aorta_tortuous, descending_aorta_enlargement, xragent]
dataset: {name: made, layout: mimic-cxr-jpg, views: [PA, AP], split: all, boxes: none, lungs: none, data_use: synthetic,
  limits: {max_bytes: 67108864, max_pixels: 36000000}}
masks: {source: onnx, card: model.yaml, provider: cpu}
benchmark: {source: build, cases: CASES, sample: random, pictures: native, seed: 1}
evaluation: {models: [MODELS], judge: judge.yaml, scoring: judge, sampling: [greedy, draws3], paths: [path1, path2], seed: 1, bootstrap: 20}
`

func digestAt(kind byte, i int) artifacts.Digest {
	var b [9]byte
	b[0] = kind
	binary.LittleEndian.PutUint64(b[1:], uint64(i))
	return artifacts.Sum(b[:])
}

// newScale makes a finished reproduction of so many images, cases a task, models and calls.
func newScale(tb testing.TB, images, cases, models, calls int) *scale {
	tb.Helper()
	s := &scale{TB: tb, bucket: &counting{Bucket: memstore.New("scale")}}
	var err error
	s.store, err = artifacts.New(s.bucket, artifacts.Options{Host: localhost.New()})
	s.must(err)
	s.cat, err = catalog.Open(tb.Context(), tb.TempDir(), "mem://scale")
	s.must(err)
	tb.Cleanup(func() { s.must(s.cat.Close()) })
	s.cards(models)
	names := make([]string, models)
	for i := range names {
		names[i] = fmt.Sprintf("m%d.yaml", i)
	}
	text := strings.NewReplacer("CASES", fmt.Sprint(12*cases), "MODELS", strings.Join(names, ", ")).Replace(scaleSpec)
	s.spec, err = experiments.Parse("spec.yaml", []byte(text))
	s.must(err)
	pl := s.plan(s.spec, s.pins)
	s.receipt = &contract.Receipt{Format: contract.ReceiptFormat, Reproduction: "0123456789abcdef", Name: "paper", Plan: pl.Ref, Summary: s.put(1)}
	s.findings(pl, images)
	s.evaluation(pl, cases, calls)
	s.must(s.cat.Fill(tb.Context(), s.rows))
	s.rows = nil
	s.bucket.reads.Store(0)
	return s
}

func (s *scale) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scale) put(v any) artifacts.Ref {
	data, err := artifacts.Canonical(v)
	s.must(err)
	ref, err := s.store.Put(s.Context(), data, "application/json")
	s.must(err)
	return ref
}

func (s *scale) cards(n int) {
	card := func(name string) experiments.ModelCard {
		c, err := experiments.ParseModelCard(name, []byte(fmt.Sprintf(`name: %s
title: %s
adapter: openai
identity: {provider: made, snapshot: %s}
pictures: original
greedy: {temperature: 0, max_tokens: 512}
draws: {temperature: 0.7, top_p: 0.95, max_tokens: 512, seed: 1}
retries: 1
simulated: true
`, name, name, name)))
		s.must(err)
		return *c
	}
	for i := range n {
		s.pins.Models = append(s.pins.Models, card(fmt.Sprintf("m%d", i)))
	}
	judge := card("judge")
	s.pins.Judge = &judge
	s.pins.Model = &experiments.Model{Name: "made", Weights: artifacts.Ref{Digest: digestAt('w', 0), Size: 1, MediaType: "x"}, Settings: digestAt('w', 1), Preprocessing: "made/1"}
	var err error
	s.pins.Prompts, err = s.store.Put(s.Context(), cxreasonbench.Prompts().Bytes(), cxreasonbench.PackMediaType)
	s.must(err)
}

func (s *scale) plan(spec *experiments.Spec, pins experiments.Pins) *derive.Plan {
	p, err := experiments.Pin(spec, pins)
	s.must(err)
	data, err := p.Encode()
	s.must(err)
	ref, err := s.store.Put(s.Context(), data, experiments.PlanMediaType)
	s.must(err)
	pl, err := derive.NewPlan(p, ref)
	s.must(err)
	return pl
}

// record gives a key a record.
func (s *scale) record(doc artifacts.KeyDoc, result artifacts.Ref) artifacts.Key {
	key, err := doc.Key()
	s.must(err)
	s.rows = append(s.rows, catalog.Filled{Key: key, Result: result, Reproduction: s.receipt.Reproduction, Started: time.Unix(1, 0), Finished: time.Unix(2, 0)})
	s.keys++
	return key
}

func (s *scale) ref(kind byte, i int) artifacts.Ref {
	return artifacts.Ref{Digest: digestAt(kind, i), Size: 100, MediaType: "application/octet-stream"}
}

// findings makes manifest, facts, masks and assessment.
func (s *scale) findings(pl *derive.Plan, images int) {
	ctx := s.Context()
	w := manifest.NewWriter(s.store, "dataset", manifest.Limits{Items: math.MaxInt32, Bytes: math.MaxInt32})
	data := contract.Dataset{Format: contract.DatasetFormat, Images: images, In: images, Filtered: []contract.Count{}, Quarantined: []contract.Count{}, DataUse: "synthetic"}
	var list []contract.Assessed
	var packed contract.Packed
	var sizes []int
	for first := 0; first < images; first += contract.WindowImages {
		var entries []contract.Entry
		var masks []artifacts.Ref
		for i := first; i < min(first+contract.WindowImages, images); i++ {
			e := contract.Entry{Image: digestAt('i', i), Size: 1, Case: i, ID: fmt.Sprintf("image%06d", i), Path: fmt.Sprintf("files/%06d.jpg", i), View: "PA", Width: 2544, Height: 3056, Facts: s.ref('f', i)}
			s.record(contract.PixelFactsKey(e.Image, pl.Decoding), e.Facts)
			s.record(pl.MasksKey(e), s.ref('m', i))
			entries, masks = append(entries, e), append(masks, s.ref('m', i))
			s.must(w.Add(ctx, e))
		}
		s.must(w.Cut(ctx, fmt.Sprintf("%012b", first/contract.WindowImages)))
		inputs, err := refOf(derive.WindowIn(entries, masks), contract.WindowInMediaType)
		s.must(err)
		a := contract.Assessed{Window: len(list), Inputs: inputs}
		for k, task := range pl.Tasks {
			result := artifacts.Ref{Digest: digestAt('a', len(list)*100+k), Size: 100, MediaType: contract.FindingsMediaType}
			a.Tasks = append(a.Tasks, contract.AssessedTask{Task: task.String(), Key: s.record(pl.AssessKey(inputs.Digest, task), result), Result: result})
		}
		packed.Items = append(packed.Items, contract.PackItem{Index: len(list), Ref: s.put(a)})
		list, sizes = append(list, a), append(sizes, len(entries))
	}
	var err error
	data.Windows, err = w.Close(ctx)
	s.must(err)
	s.receipt.Manifest, s.receipt.Assessed = s.put(data), []artifacts.Ref{s.put(packed)}
	results, err := refOf(derive.Results(data, sizes, list), contract.ResultsMediaType)
	s.must(err)
	doc, err := pl.SummariseKey(results.Digest)
	s.must(err)
	s.record(doc, s.ref('s', 0))
	s.draw(pl, list)
}

// draw makes the drawn cases, over questions of package evaltest.
func (s *scale) draw(pl *derive.Plan, list []contract.Assessed) {
	recipe, quotas, err := experiments.BenchmarkRecipe(&pl.Spec)
	s.must(err)
	_, made, err := evaltest.Benchmark(s.Context(), s.store, recipe.Rules, cxreasonbench.Tasks(), quotas[0], false)
	s.must(err)
	drawn := &contract.BenchmarkPlan{Format: contract.BenchmarkPlanFormat, Rules: recipe.Rules.String()}
	built := []contract.BuiltCases{}
	for i, c := range made.Cases {
		formats, err := cxreasonbench.DealFormats(recipe.Rules, 1, c.Task, []string{c.ID})
		s.must(err)
		one := contract.DrawnCase{Source: cxreasonbench.Source{Task: c.Task, Case: c.ID, View: cxr.ViewPA}, Formats: formats[0], Entry: contract.Entry{Image: digestAt('i', i), Facts: s.ref('f', i)}, Masks: s.ref('m', i)}
		drawn.Cases = append(drawn.Cases, one)
		s.record(pl.BuildCaseKey(&one, recipe, cxreasonbench.Prompts()), c.Doc)
		if i%contract.CaseChunk == 0 {
			built = append(built, contract.BuiltCases{Chunk: len(built), Cases: []contract.BenchmarkCase{}})
		}
		doc, err := get[*contract.CaseDoc](s.Context(), newDocuments(s.store), c.Doc)
		s.must(err)
		derive.Count(&built[len(built)-1], c.Task, doc, c.Doc)
	}
	for _, t := range cxreasonbench.Tasks() {
		drawn.Tasks = append(drawn.Tasks, cxreasonbench.TaskManifest{Task: t, Cases: quotas[0]})
	}
	doc, err := derive.DrawCasesKey(s.receipt.Manifest.Digest, list, recipe, quotas)
	s.must(err)
	result := s.put(drawn)
	key := s.record(doc, result)
	// The draw of the run compared with is looked up in the store.
	_, err = s.store.Commit(s.Context(), artifacts.Record{Key: key, Result: result, Statement: s.put("made")})
	s.must(err)
	bench, err := pl.Assemble(recipe, cxreasonbench.Prompts(), drawn, built)
	s.must(err)
	s.receipt.Benchmark = s.put(bench)
}

// evaluation makes the accounts of so many calls.
func (s *scale) evaluation(pl *derive.Plan, cases, calls int) {
	refs, err := contract.EvaluationsOf(pl.Plan)
	s.must(err)
	each := calls / (len(refs) * 12)
	n := 0
	var digests []artifacts.Digest
	for i, ref := range refs {
		doc := contract.EvaluationDoc{Format: contract.EvaluationFormat, Benchmark: s.receipt.Benchmark, Index: i, Evaluation: ref}
		var account contract.Packed
		for _, t := range cxreasonbench.Tasks() {
			doc.Tasks = append(doc.Tasks, contract.EvaluationTask{Task: t, Cases: cases})
			page := contract.CallsDoc{Format: contract.CallsFormat, Task: t, Path: cxreasonbench.Path1}
			for range each {
				kind := ledger.KindModel
				if n%2 == 1 {
					kind = ledger.KindJudge
				}
				key := digestAt('c', n)
				page.Calls = append(page.Calls, contract.CallRecord{Key: key, Times: 1, Count: contract.CallCount{Kind: kind, Needed: 1, Run: 1}})
				s.rows = append(s.rows, catalog.Filled{Key: artifacts.Key{Step: contract.StepCall, Digest: key}, Reproduction: s.receipt.Reproduction,
					Result: artifacts.Ref{Digest: digestAt('r', n), Size: 100, MediaType: lvlm.AnswerMediaType}, Started: time.Unix(1, 0), Finished: time.Unix(2, 0)})
				n++
			}
			account.Items = append(account.Items, contract.PackItem{Index: len(account.Items), Ref: s.put(page)})
		}
		ref := s.put(doc)
		s.receipt.Evaluations, s.receipt.Accounts = append(s.receipt.Evaluations, ref), append(s.receipt.Accounts, s.put(account))
		digests = append(digests, ref.Digest)
	}
	s.keys += n
	doc, err := pl.TabulateKey(s.receipt.Benchmark.Digest, digests)
	s.must(err)
	s.record(doc, s.ref('t', 0))
}

// forecast plans a spec against the reproduction. It returns the processor time and the reads
// of the store that took.
func (s *scale) forecast(pl *derive.Plan) (*Forecast, time.Duration, int64) {
	s.Helper()
	s.bucket.reads.Store(0)
	at := busy()
	f, err := Make(s.Context(), Options{Store: s.store, Catalog: s.cat, Plan: pl.Plan, Ref: pl.Ref, Against: s.receipt, Now: time.Now()})
	s.must(err)
	return f, busy() - at, s.bucket.reads.Load()
}

// TestScale plans a large experiment: when nothing changed, with a new model, and with another
// segmentation model. No key costs a request to the store.
func TestScale(t *testing.T) {
	images, cases, models, calls := 2_000, 2, 2, 2_000
	if part, err := strconv.ParseFloat(os.Getenv(fullScale), 64); err == nil {
		images, cases, models, calls = int(part*243_334), max(1, int(part*100)), 10, int(part*377_000)
	}
	at := busy()
	s := newScale(t, images, cases, models, calls)
	t.Logf("%d keys made in %v of processor time", s.keys, (busy() - at).Round(time.Second))
	windows := (images + contract.WindowImages - 1) / contract.WindowImages
	report := func(what string, pl *derive.Plan, want func(f *Forecast) bool) {
		t.Helper()
		f, took, reads := s.forecast(pl)
		t.Logf("%-18s %8.1f s of processor time, %d reads of the store: steps %s needed, %s to run; calls %s needed, %s to run", what, took.Seconds(), reads,
			f.Totals.Steps.Needed, f.Totals.Steps.Run, f.Totals.Calls.Needed, f.Totals.Calls.Run)
		if !want(f) {
			t.Errorf("%s: %+v", what, f.Totals)
		}
		// Windows, cases, and pages; never keys.
		if most := int64(12*windows + 40*12*cases + 100*12*models); reads > most || reads > int64(s.keys)/4 {
			t.Errorf("%s: %d reads of the store for %d keys, at most %d", what, reads, s.keys, most)
		}
		if took > 30*time.Second {
			t.Errorf("%s took %v, more than 30 s", what, took)
		}
	}
	exactly := func(f Figure, v int) bool { return f.Mark == Exact && *f.Value == float64(v) }
	steps := 2*images + windows*14 + 1 + 1 + 12*cases + 1
	n := calls / (2 * models * 12) * (2 * models * 12)
	report("nothing changed", s.plan(s.spec, s.pins), func(f *Forecast) bool {
		return exactly(f.Totals.Steps.Needed, steps) && exactly(f.Totals.Steps.Run, 0) && exactly(f.Totals.Calls.Needed, n) && exactly(f.Totals.Calls.Run, 0)
	})
	spec, pins := *s.spec, s.pins
	evaluation := *spec.Evaluation
	evaluation.Models = append(append([]string{}, evaluation.Models...), "new.yaml")
	spec.Evaluation = &evaluation
	added := pins.Models[0]
	added.Name, added.Identity.Snapshot = "new", "new"
	pins.Models = append(append([]experiments.ModelCard{}, pins.Models...), added)
	report("a new model", s.plan(&spec, pins), func(f *Forecast) bool {
		return exactly(f.Totals.Steps.Needed, steps) && f.Totals.Calls.Run.Mark == Between && *f.Totals.Calls.Run.Low == float64(12*cases*(1+3))
	})
	other := s.pins
	other.Model = &experiments.Model{Name: "made", Weights: artifacts.Ref{Digest: digestAt('w', 9), Size: 1, MediaType: "x"}, Settings: digestAt('w', 1), Preprocessing: "made/1"}
	report("other masks", s.plan(s.spec, other), func(f *Forecast) bool {
		return exactly(f.Steps[1].Run, images) && f.Totals.Calls.Run.Mark == Between
	})
}
