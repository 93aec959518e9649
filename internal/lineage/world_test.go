package lineage

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/storetest"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/provenance"
	"cxrepro/internal/report/reporttest"
	"cxrepro/internal/report/scoring"
)

// world is a store with one reproduction in it, from images to tables, as a run leaves it: two
// windows of images, findings of every section, a benchmark, and two models that were asked and
// judged. Answers are words, so most of them belong to many calls.
type world struct {
	testing.TB
	host  *storetest.Host
	store *artifacts.Repository
	bench *reporttest.Benchmark

	images  []artifacts.Digest
	masks   map[artifacts.Digest]artifacts.Ref
	facts   map[artifacts.Digest]artifacts.Ref
	imageOf []artifacts.Digest // by case
	receipt *contract.Receipt
	// calls are the keys of every own turn and draw, asked and judged, by place.
	calls map[spot]artifacts.Digest
	pages map[spot]*contract.DialogueDoc // spot without turn and draw
}

// spot is a place of a dialogue.
type spot struct {
	evaluation, number, turn, draw int
	path                           cxreasonbench.Path
	judge                          bool
}

const (
	casesOfTask = 3
	pinName     = "a-run"
)

var testWeights = artifacts.Sum([]byte("weights of the network"))

var (
	oneWorld *world
	making   sync.Once
)

// sharedWorld is one that no test changes.
func sharedWorld(t testing.TB) *world {
	t.Helper()
	making.Do(func() { oneWorld = newWorld(t) })
	if oneWorld == nil {
		t.Fatal("the world could not be made; see the first test")
	}
	w := *oneWorld
	w.TB = t
	return &w
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{TB: t, host: storetest.NewHost(), masks: map[artifacts.Digest]artifacts.Ref{}, facts: map[artifacts.Digest]artifacts.Ref{}, calls: map[spot]artifacts.Digest{}, pages: map[spot]*contract.DialogueDoc{}}
	var err error
	if w.store, err = artifacts.New(memstore.New("lineage"), artifacts.Options{Host: w.host}); err != nil {
		t.Fatal(err)
	}
	w.receipt = &contract.Receipt{Format: contract.ReceiptFormat, Reproduction: "0123456789abcdef", Name: "a-run"}
	w.look()
	w.assess()
	w.build()
	w.ask()
	w.tabulate()
	root := w.put(w.receipt, contract.ReceiptMediaType)
	w.must(w.store.SetPin(w.Context(), artifacts.Pin{Name: pinName, Roots: []artifacts.Ref{root}}))
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) put(v any, media string) artifacts.Ref {
	w.Helper()
	data, err := artifacts.Canonical(v)
	w.must(err)
	ref, err := w.store.Put(w.Context(), data, media)
	w.must(err)
	return ref
}

// step commits a result with its statement.
func (w *world) step(doc artifacts.KeyDoc, result artifacts.Ref, materials []provenance.Descriptor, parameters map[string]any) artifacts.Digest {
	w.Helper()
	key, err := doc.Key()
	w.must(err)
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	st, err := provenance.New(provenance.Facts{
		Key: doc, Subject: []provenance.Descriptor{provenance.Describe(doc.Step, result)}, Materials: materials, Parameters: parameters, Code: provenance.Code{Commit: "abc"},
		Invocation: provenance.Invocation{Reproduction: w.receipt.Reproduction, Worker: "w1", Fence: 1, Started: at, Finished: at.Add(time.Second)},
	})
	w.must(err)
	text, err := st.Encode()
	w.must(err)
	ref, err := w.store.PutStatement(w.Context(), text)
	w.must(err)
	_, err = w.store.Commit(w.Context(), artifacts.Record{Key: key, Result: result, Statement: ref})
	w.must(err)
	return key.Digest
}

// look makes images with facts and masks.
func (w *world) look() {
	for i := range 6 {
		image := artifacts.Sum(fmt.Appendf(nil, "image %d", i))
		w.images = append(w.images, image)
		w.facts[image] = w.put(map[string]any{"facts": i}, "application/json")
		w.step(contract.PixelFactsKey(image, contract.Decoding{Version: 1}), w.facts[image], nil, nil)
		w.masks[image] = w.put(map[string]any{"masks": i}, "application/vnd.cxrepro.masks+json")
		w.step(contract.SegmentKey(image, contract.Inference{Model: testWeights, Settings: artifacts.Sum([]byte("settings")), Provider: "cpu"}), w.masks[image], nil, nil)
	}
	slices.SortFunc(w.images, func(a, b artifacts.Digest) int { return slices.Compare(a[:], b[:]) })
}

// row is what an image's row says: every other image is enlarged, one is removed by the filter.
func (w *world) row(task string, i int) map[string]any {
	switch {
	case task == chexstruct.Global.String() && i == 4:
		return map[string]any{"failed": []string{"global.gradient"}}
	case task == chexstruct.Global.String():
		return map[string]any{"failed": []string{}}
	}
	return map[string]any{"status": chexstruct.StatusOK.String(), "label": w.labels(task)[i%2], "failed": []string{}}
}

func (w *world) labels(task string) []string { return []string{"normal", "abnormal of " + task} }

// assess makes windows by the first bit of digests, a record of every section for each.
func (w *world) assess() {
	ctx := w.Context()
	list := manifest.NewWriter(w.store, "dataset", manifest.Limits{})
	packed := contract.Packed{}
	window := 0
	for bit, label := range []string{"0", "1"} {
		in := contract.WindowIn{Format: contract.WindowInFormat}
		var at []int
		for i, image := range w.images {
			if int(image[0]>>7) == bit {
				w.must(list.Add(ctx, contract.Entry{Image: image, Case: 100 + i, ID: "p10000001-" + image.Short(), Path: "files/p10000001.jpg", Facts: w.facts[image]}))
				in.Images = append(in.Images, contract.ImageIn{Image: image, Facts: w.facts[image].Digest, Masks: w.masks[image], View: "PA"})
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			w.Fatal("the images fall into one window")
		}
		w.must(list.Cut(ctx, label))
		inputs := w.put(in, contract.WindowInMediaType)
		assessed := contract.Assessed{Window: window, Inputs: inputs}
		for _, s := range chexstruct.Sections() {
			rows := contract.Findings{Task: s.String()}
			for _, i := range at {
				text, err := json.Marshal(w.row(s.String(), i))
				w.must(err)
				rows.Rows = append(rows.Rows, contract.FindingRow{Image: w.images[i], Finding: text})
			}
			doc := contract.AssessKey(inputs.Digest, s.String(), map[string]any{s.String() + ".limit": 0.5})
			key, err := doc.Key()
			w.must(err)
			result := w.put(rows, contract.FindingsMediaType)
			w.step(doc, result, nil, nil)
			assessed.Tasks = append(assessed.Tasks, contract.AssessedTask{Task: s.String(), Key: key, Result: result})
		}
		packed.Items = append(packed.Items, contract.PackItem{Index: window, Ref: w.put(assessed, contract.AssessedMediaType)})
		window++
	}
	windows, err := list.Close(ctx)
	w.must(err)
	w.receipt.Manifest = w.put(contract.Dataset{Format: contract.DatasetFormat, Windows: windows, Images: len(w.images)}, contract.DatasetMediaType)
	w.receipt.Assessed = []artifacts.Ref{w.put(packed, contract.PackMediaType)}
}

// build makes the cases, each from an image of its own choice.
func (w *world) build() {
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	w.must(err)
	w.bench, err = reporttest.NewBenchmark(w.Context(), w.store, rules, casesOfTask, "synthetic")
	w.must(err)
	for n := range w.bench.Doc.Cases {
		w.redraw(n)
	}
	w.bench.Ref = w.put(w.bench.Doc, contract.BenchmarkMediaType)
	for n, c := range w.bench.Doc.Cases {
		image := w.imageFor(n)
		w.imageOf = append(w.imageOf, image)
		doc := artifacts.KeyDoc{Step: contract.StepBuildCase, Version: 1, Params: map[string]any{"n": n, "rows": map[string]any{c.Task.String() + ".limit": 0.5}}, Inputs: []artifacts.Material{
			{Name: "facts", Digest: w.facts[image].Digest}, {Name: "image", Digest: image}, {Name: "masks", Digest: w.masks[image].Digest}, {Name: "prompts", Digest: cxreasonbench.Prompts().Questions()},
		}}
		w.step(doc, c.Doc, nil, nil)
	}
	w.receipt.Benchmark = w.bench.Ref
}

// imageFor is the image that a case is built from.
func (w *world) imageFor(n int) artifacts.Digest {
	return w.images[(n*5+n/casesOfTask)%len(w.images)]
}

// redraw draws the pictures of a case anew: some are of its image alone, so that cases of one
// image share them.
func (w *world) redraw(n int) {
	doc := &w.bench.Cases[n]
	for i, path := range slices.Sorted(maps.Keys(doc.Pictures)) {
		text := fmt.Sprintf("case %d picture %d", n, i)
		if i%2 == 0 {
			text = fmt.Sprintf("image %s picture %d", w.imageFor(n), i)
		}
		ref, err := w.store.Put(w.Context(), []byte(text), "image/png")
		w.must(err)
		doc.Pictures[path] = ref
	}
	w.bench.Doc.Cases[n].Doc = w.put(doc, contract.CaseMediaType)
}

// sentAs is a picture as it is sent: of even cases as it is, of odd ones made smaller.
func (w *world) sentAs(n int, drawn artifacts.Ref) artifacts.Digest {
	if n%2 == 0 {
		return drawn.Digest
	}
	small, err := w.store.Put(w.Context(), []byte("small "+drawn.Digest.Hex()), "image/png")
	w.must(err)
	w.step(contract.PreparePictureKey(drawn, "long1024/1"), small, nil, nil)
	return small.Digest
}

var testModels = []string{"model-a", "model-b"}

func identityOf(model string) lvlm.Identity { return lvlm.Identity{Provider: "lab", Snapshot: model} }

// ask lets two models answer, and records every call as a run does.
func (w *world) ask() {
	ctx := w.Context()
	for i, model := range testModels {
		ref := contract.EvaluationRef{Name: model + "/greedy", Model: model, Judge: "judge", Draws: 1, Path2: true, Rules: w.rules()}
		script := reporttest.Mixed(model)
		doc, err := reporttest.Evaluate(ctx, w.store, w.bench, i, ref, 5, func(p reporttest.Place) reporttest.Reply {
			r := script(p)
			r.Judge = 0 // what the judge says depends on what it is asked and on nothing else
			return r
		})
		w.must(err)
		w.receipt.Evaluations = append(w.receipt.Evaluations, doc)
		account := contract.Packed{}
		w.eachPage(doc, func(page *contract.DialoguesDoc) {
			calls := contract.CallsDoc{Format: contract.CallsFormat, Task: page.Task, Path: page.Path}
			for k := range page.Dialogues {
				for _, key := range w.record(i, model, page.Path, &page.Dialogues[k]) {
					calls.Calls = append(calls.Calls, contract.CallRecord{Key: key, Times: 1})
				}
			}
			account.Items = append(account.Items, contract.PackItem{Index: len(account.Items), Ref: w.put(calls, contract.CallsMediaType)})
		})
		w.receipt.Accounts = append(w.receipt.Accounts, w.put(account, contract.PackMediaType))
	}
}

func (w *world) rules() cxreasonbench.Rules {
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	w.must(err)
	return rules
}

func (w *world) eachPage(ref artifacts.Ref, fn func(*contract.DialoguesDoc)) {
	doc, err := read[contract.EvaluationDoc](w.Context(), w.store, ref)
	w.must(err)
	for _, t := range doc.Tasks {
		for _, list := range []artifacts.Ref{t.Path1, t.Path2} {
			if list.IsZero() {
				continue
			}
			packed, err := read[contract.Packed](w.Context(), w.store, list)
			w.must(err)
			for _, item := range packed.Items {
				page, err := read[contract.DialoguesDoc](w.Context(), w.store, item.Ref)
				w.must(err)
				fn(&page)
			}
		}
	}
}

// record commits the calls of a dialogue's own turns.
func (w *world) record(e int, model string, path cxreasonbench.Path, d *contract.DialogueDoc) (keys []artifacts.Digest) {
	w.pages[spot{evaluation: e, number: d.Case, path: path}] = d
	for turn, t := range own(d) {
		for draw, x := range t.Draws {
			at := spot{e, d.Case, turn, draw, path, false}
			key := w.call(model, d.State.Turns[:d.State.Replayed+turn], t, draw, x.Reply)
			w.calls[at] = key
			keys = append(keys, key)
			if v := d.Turns[turn].Draws[draw].Verdict; !v.IsZero() {
				at.judge = true
				w.calls[at] = w.judge(d.State.Task, t, x.Reply, v)
				keys = append(keys, w.calls[at])
			}
		}
	}
	return keys
}

// judge commits what the judge was asked about a reply. It is a function of what it is asked, so
// two of a kind are one call.
func (w *world) judge(task cxreasonbench.Task, t cxreasonbench.Turn, reply, verdict artifacts.Ref) artifacts.Digest {
	n, err := scoring.CaseNumber(t.Case)
	w.must(err)
	q, _ := cxreasonbench.FindQuestion(w.bench.Cases[n].Items, t.Key)
	answer, err := read[lvlm.Answer](w.Context(), w.store, reply)
	w.must(err)
	j, shown := cxreasonbench.JudgementOf(w.rules(), task, t.Key), ""
	if j.Question {
		shown = q.Text
	}
	asked := dialogue.Transcript{}.System(cxreasonbench.Prompts().Judge(j.Prompt)).Ask(cxreasonbench.JudgeMessage(w.rules(), shown, q.Answer, answer.Text))
	return w.callStep(w.callDoc("judge", 0, asked.Messages, nil), verdict, "judge", []provenance.Descriptor{provenance.Describe("reply", reply)})
}

// call commits one call to a model: everything that was said before, and the question.
func (w *world) call(model string, said []cxreasonbench.Turn, t cxreasonbench.Turn, draw int, reply artifacts.Ref) artifacts.Digest {
	messages := dialogue.Transcript{}.System(w.bench.Doc.System).Messages
	var materials []provenance.Descriptor
	pictures := map[int][]artifacts.Digest{}
	show := func(t cxreasonbench.Turn) {
		n, err := scoring.CaseNumber(t.Case)
		w.must(err)
		q, ok := cxreasonbench.FindQuestion(w.bench.Cases[n].Items, t.Key)
		if !ok {
			w.Fatalf("case %d has no question %s", n, t.Key)
		}
		for _, p := range q.Pictures {
			picture := w.sentAs(n, w.bench.Cases[n].Pictures[p.Path])
			pictures[len(messages)] = append(pictures[len(messages)], picture)
			materials = append(materials, provenance.DescribeDigest("picture of "+t.Key.String(), picture))
		}
		messages = append(messages, dialogue.Transcript{}.Ask(q.Text).Messages[0])
	}
	for _, s := range said {
		show(s)
		messages = append(messages, dialogue.Message{Role: dialogue.Assistant, Parts: []dialogue.Part{{Text: s.Draws[s.Kept].Reply.Digest.Hex()}}})
		materials = append(materials, provenance.Describe("answer to "+s.Key.String(), s.Draws[s.Kept].Reply))
	}
	show(t)
	return w.callStep(w.callDoc(model, draw, messages, pictures), reply, model, materials)
}

func (w *world) callDoc(model string, draw int, messages []dialogue.Message, pictures map[int][]artifacts.Digest) artifacts.KeyDoc {
	doc := artifacts.KeyDoc{Step: contract.StepCall, Version: 1, Params: map[string]any{"model": identityOf(model), "draw": draw, "decoding": map[string]any{"temperature": 0}}}
	for i, m := range messages {
		name := fmt.Sprintf("%02d.%s", i, m.Role)
		doc.Inputs = append(doc.Inputs, artifacts.Material{Name: name, Digest: contract.MessageDigest(m)})
		for k, p := range pictures[i] {
			doc.Inputs = append(doc.Inputs, artifacts.Material{Name: fmt.Sprintf("%s.picture.%d", name, k), Digest: p})
		}
	}
	return doc
}

func (w *world) callStep(doc artifacts.KeyDoc, reply artifacts.Ref, card string, materials []provenance.Descriptor) artifacts.Digest {
	kind := kindModel
	if card == "judge" {
		kind = "judge"
	}
	if materials == nil {
		materials = []provenance.Descriptor{}
	}
	return w.step(doc, reply, materials, map[string]any{"call": map[string]any{"kind": kind, "card": card, "outcome": "answered"}})
}

// tabulate makes the tables and the plan.
func (w *world) tabulate() {
	s := contract.EvaluationSummary{Format: contract.EvaluationSummaryFormat, Name: "a-run", Rules: w.rules(), Judge: &contract.SummaryModel{Name: "judge"}}
	for i, model := range testModels {
		e := scoring.New(contract.EvaluationRef{Name: model + "/greedy", Judge: "judge", Draws: 1, Path2: true, Rules: w.rules()})
		w.eachPage(w.receipt.Evaluations[i], func(p *contract.DialoguesDoc) { w.must(e.Add(p)) })
		s.Evaluations = append(s.Evaluations, e.Summary(contract.SummaryModel{Name: model, Title: model}, "greedy", scoring.Bootstrap{}))
	}
	w.receipt.Tables = w.put(s, contract.EvaluationSummaryMediaType)
	w.step(contract.TabulateKey(w.bench.Ref.Digest, nil, nil), w.receipt.Tables, nil, nil)
	labels := contract.Summary{Format: contract.SummaryFormat}
	for _, t := range chexstruct.Tasks() {
		row := contract.SummaryTask{Task: t.String()}
		for _, l := range w.labels(t.String()) {
			row.Labels = append(row.Labels, contract.LabelCount{Label: l})
		}
		labels.Tasks = append(labels.Tasks, row)
	}
	w.receipt.Summary = w.put(labels, contract.SummaryMediaType)
	prompts, err := w.store.Put(w.Context(), cxreasonbench.Prompts().Bytes(), cxreasonbench.PackMediaType)
	w.must(err)
	plan := experiments.Plan{Model: &experiments.Model{Name: "network", Weights: artifacts.Ref{Digest: testWeights}}, Judge: &experiments.ModelCard{Name: "judge", Identity: identityOf("judge")}, Prompts: prompts}
	for _, m := range testModels {
		plan.Models = append(plan.Models, experiments.ModelCard{Name: m, Identity: identityOf(m)})
	}
	w.receipt.Plan = w.put(plan, experiments.PlanMediaType)
}

// explore opens a fresh catalog of the store.
func (w *world) explore() (*Explorer, *Run, *catalog.Catalog) {
	w.Helper()
	c, err := catalog.Open(w.Context(), w.TempDir(), w.store.URL())
	w.must(err)
	w.Cleanup(func() { w.must(c.Close()) })
	_, err = c.Update(w.Context(), w.store, catalog.Options{Leaves: []string{lvlm.AnswerMediaType}})
	w.must(err)
	r := NewRun(w.receipt)
	return New(c, w.store, []*Run{r}), r, c
}

func (w *world) Context() context.Context { return w.TB.Context() }
