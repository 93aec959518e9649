package activities

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/experiments"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/phantom"
)

// phantomSpec measures phantoms by their true masks and builds a benchmark from them.
const phantomSpec = `
name: phantoms
paper: test
preset: corrected
thresholds: {global.mask_count.mask_num_min: 25}
tasks: [inclusion, inspiration, rotation, projection, cardiomegaly, mediastinal_widening, carina_angle, trachea_deviation,
  aortic_knob_enlargement, ascending_aorta_enlargement, descending_aorta_tortuous, descending_aorta_enlargement]
dataset:
  name: phantom
  layout: mimic-cxr-jpg
  views: [PA, AP]
  split: all
  boxes: chest-imagenome
  lungs: chexmask
  lungs_min_dice: 0
  data_use: synthetic
  limits: {max_bytes: 67108864, max_pixels: 36000000}
masks: {source: import, import: {kind: case, folder: truth}}
benchmark: {source: build, cases: 24, sample: balanced, pictures: official, seed: 3}
`

// bench is a store with measured phantoms, and the activities one after the other.
type bench struct {
	t        testing.TB
	a        *Activities
	env      *testsuite.TestActivityEnvironment
	plan     artifacts.Ref
	manifest contract.ManifestResult
	outputs  []artifacts.Ref
}

// phantomFiles are the folders of a phantom data set by the name of their data root.
var phantomFiles = sync.OnceValues(func() (map[string]fs.FS, error) {
	o := phantom.DatasetOptions{Seed: 5, Sizing: phantom.Sizing{Width: 400, Height: 480}, Cases: true}
	var tables phantom.Tables
	var files []phantom.File
	for i := range 10 {
		s, err := phantom.NewStudy(i, o)
		if err != nil {
			return nil, err
		}
		files = append(files, s.Files...)
		tables.Add(s)
	}
	more, _, err := tables.Files(o)
	if err != nil {
		return nil, err
	}
	roots := map[string]fs.FS{}
	for name, folder := range map[string]string{
		"phantom": phantom.FolderImages, dataBoxes: phantom.FolderImaGenome, dataLungs: phantom.FolderCheXmask, dataMasks: "",
	} {
		disk := fstest.MapFS{}
		for _, f := range append(files, more...) {
			if rest, ok := strings.CutPrefix(f.Name, folder+"/"); ok || folder == "" {
				if folder == "" {
					rest = f.Name
				}
				disk[rest] = &fstest.MapFile{Data: f.Data}
			}
		}
		roots[name] = disk
	}
	return roots, nil
})

func act[In, Out any](b *bench, fn func(context.Context, In) (Out, error), in In) Out {
	b.t.Helper()
	out, err := try(b, fn, in)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func try[In, Out any](b *bench, fn func(context.Context, In) (Out, error), in In) (out Out, err error) {
	b.t.Helper()
	b.env.RegisterActivity(fn)
	v, err := b.env.ExecuteActivity(fn, in)
	if err != nil {
		return out, err
	}
	return out, v.Get(&out)
}

// newBench plans a spec on a store.
func newBench(t testing.TB, store *artifacts.Repository, data map[string]fs.FS, spec string, sets ...string) *bench {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	b := &bench{t: t, env: suite.NewTestActivityEnvironment()}
	b.env.SetTestTimeout(10 * time.Minute)
	s, err := experiments.Parse("spec.yaml", []byte(spec), sets...)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	pack, err := store.Put(ctx, cxreasonbench.Prompts().Bytes(), cxreasonbench.PackMediaType)
	if err != nil {
		t.Fatal(err)
	}
	p, err := experiments.Pin(s, experiments.Pins{Prompts: pack})
	if err != nil {
		t.Fatal(err)
	}
	if b.plan, err = putJSON(ctx, store, p, experiments.PlanMediaType); err != nil {
		t.Fatal(err)
	}
	b.a, err = New(Options{Store: store, Owner: artifacts.Owner{Worker: "tester"}, Now: time.Now, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// measured is a bench whose phantoms have their findings.
func measured(t testing.TB, store *artifacts.Repository, sets ...string) *bench {
	t.Helper()
	data, err := phantomFiles()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, store, data, phantomSpec, sets...)
	scan := act(b, b.a.ScanTables, contract.ScanInput{Plan: b.plan})
	chunk := act(b, b.a.IngestChunk, contract.IngestChunkInput{Plan: b.plan, Rows: scan.Rows, Lungs: scan.Lungs, Ingest: scan.Ingest, Count: scan.Count})
	b.manifest = act(b, b.a.BuildManifest, contract.ManifestInput{Plan: b.plan, Scan: scan, Chunks: b.packed(chunk.Output)})
	in := contract.WindowInput{Plan: b.plan, Manifest: b.manifest.Manifest, Reproduction: b.manifest.Reproduction, Ingest: scan.Ingest}
	act(b, b.a.SegmentChunk, in)
	b.outputs = []artifacts.Ref{b.packed(act(b, b.a.AssessWindow, in).Output)}
	return b
}

func (b *bench) packed(refs ...artifacts.Ref) artifacts.Ref {
	b.t.Helper()
	var p contract.Packed
	for i, r := range refs {
		p.Items = append(p.Items, contract.PackItem{Index: i, Ref: r})
	}
	ref, err := putJSON(context.Background(), b.a.opts.Store, p, contract.PackMediaType)
	if err != nil {
		b.t.Fatal(err)
	}
	return ref
}

// build draws and builds the benchmark. totals are those of the chunks.
func (b *bench) build() (out contract.BenchmarkResult, totals contract.ChunkTotals) {
	b.t.Helper()
	plan := act(b, b.a.PlanBenchmark, contract.PlanBenchmarkInput{Plan: b.plan, Manifest: b.manifest.Manifest, Outputs: b.outputs, Reproduction: b.manifest.Reproduction})
	var built []artifacts.Ref
	for i := range plan.Chunks {
		r := act(b, b.a.BuildCases, contract.BuildCasesInput{Plan: b.plan, Drawn: plan.Drawn, Chunk: i, Reproduction: b.manifest.Reproduction})
		built = append(built, r.Output)
		totals.Add(r.Totals)
	}
	out = act(b, b.a.AssembleBenchmark, contract.AssembleBenchmarkInput{Plan: b.plan, Drawn: plan.Drawn, Outputs: []artifacts.Ref{b.packed(built...)}})
	return out, totals
}

func get[T any](b *bench, ref artifacts.Ref) T {
	b.t.Helper()
	v, err := getJSON[T](context.Background(), b.a.opts.Store, ref)
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

// TestBuildBenchmark builds a benchmark of every task from phantoms and looks at all of it.
func TestBuildBenchmark(t *testing.T) {
	store := memstore.Open()
	b := measured(t, store)
	out, totals := b.build()
	doc := get[contract.Benchmark](b, out.Benchmark)
	if doc.Format != contract.BenchmarkFormat || doc.DataUse != "synthetic" || doc.Rules != "corrected" || doc.Prompts != cxreasonbench.Prompts().Digest() || doc.System == "" {
		t.Errorf("manifest %+v", doc)
	}
	if len(out.Tasks) != 12 || out.Cases != len(doc.Cases) || out.Pairs != doc.Tally.Pairs() || doc.Tally.Path2 != 3*len(doc.Cases) {
		t.Errorf("%d cases, %d pairs, tasks %+v; the manifest has %d cases and %+v", out.Cases, out.Pairs, out.Tasks, len(doc.Cases), doc.Tally)
	}
	if short := contract.Total(out.Short); short+out.Cases != 24 || out.Cases < 20 {
		t.Errorf("%d cases and %d too few, want 24 together, most of them cases", out.Cases, short)
	}
	var tally cxreasonbench.Tally
	for i, c := range doc.Cases {
		if i > 0 && (derive.TaskPlace(doc.Cases[i-1].Task) > derive.TaskPlace(c.Task) || doc.Cases[i-1].Task == c.Task && doc.Cases[i-1].ID >= c.ID) {
			t.Errorf("case %d stands in the wrong place", i)
		}
		tally.Count(b.checkCase(c)...)
	}
	if tally != doc.Tally {
		t.Errorf("the cases hold %+v, the manifest says %+v", tally, doc.Tally)
	}
	if got := stepText(totals); got != fmt.Sprintf("build-case %d run 0 reused", len(doc.Cases)) {
		t.Errorf("steps: %s", got)
	}

	again, totals := measured(t, store).build()
	if again.Benchmark != out.Benchmark || stepText(totals) != fmt.Sprintf("build-case %d run 0 reused", len(doc.Cases)) {
		t.Errorf("the same experiment gave %s, then %s (%s)", out.Benchmark, again.Benchmark, stepText(totals))
	}
}

// checkCase checks a case's document and that every picture it names can be read.
func (b *bench) checkCase(c contract.BenchmarkCase) []cxreasonbench.Item {
	b.t.Helper()
	doc := get[contract.CaseDoc](b, c.Doc)
	if doc.Format != contract.CaseDocFormat || doc.Task != c.Task || doc.ID != c.ID || doc.Image.IsZero() {
		b.t.Errorf("document of a %s case: %+v", c.Task, doc)
	}
	named := map[string]bool{}
	for _, it := range doc.Items {
		for _, q := range it.Questions {
			if len(q.Pictures) != q.Key.Images() {
				b.t.Errorf("%s %s: %d pictures, want %d", c.Task, q.Key, len(q.Pictures), q.Key.Images())
			}
			for _, p := range q.Pictures {
				named[p.Path] = true
				data, err := b.a.opts.Store.Get(context.Background(), doc.Pictures[p.Path])
				if err != nil {
					b.t.Fatalf("%s %s: %v", c.Task, q.Key, err)
				}
				img, err := cxr.Decode(data, cxr.Limits{})
				if err != nil {
					b.t.Fatalf("%s %s: %v", c.Task, q.Key, err)
				}
				if p.Kind == cxreasonbench.Radiograph && artifacts.Sum(data) != doc.Image {
					b.t.Errorf("%s: the first picture is not the radiograph", c.Task)
				}
				if p.Kind == cxreasonbench.StructurePicture && (img.Width > 516 || img.Height > 390) {
					b.t.Errorf("%s %s: a picture of %d x %d", c.Task, q.Key, img.Width, img.Height)
				}
			}
		}
	}
	if len(named) != len(doc.Pictures) {
		b.t.Errorf("%s: %d pictures, %d are shown", c.Task, len(doc.Pictures), len(named))
	}
	return doc.Items
}

func stepText(t contract.ChunkTotals) string {
	var list []string
	for _, s := range t.Steps {
		list = append(list, fmt.Sprintf("%s %d run %d reused", s.Step, s.Run, s.Reused))
	}
	return strings.Join(list, ", ")
}

// TestBuildCaseKeys holds which changes of an experiment build cases anew: what a question or
// a picture is made from, and nothing else.
func TestBuildCaseKeys(t *testing.T) {
	store := memstore.Open()
	base, _ := measured(t, store, "benchmark.cases=12").build()
	for _, c := range []struct {
		name      string
		sets      []string
		run, same bool // cases are built, the manifest stays
	}{
		{"a dialogue switch", []string{"switches={dialogue.review_rounds: ask_all, judge.verdict: substring}"}, false, false},
		{"another paper", []string{"paper=other"}, false, true},
		{"a generator switch", []string{"switches={build.rib_options: number}"}, true, false},
		{"the seed", []string{"benchmark.seed=4"}, true, false},
		{"a row that no task reads", []string{"thresholds.global.mask_count.mask_num_min=24"}, false, true},
	} {
		out, totals := measured(t, store, append([]string{"benchmark.cases=12"}, c.sets...)...).build()
		ran := 0
		for _, s := range totals.Steps {
			ran += s.Run
		}
		// Every change makes another reproduction, so that run counts what is new.
		if (ran > 0) != c.run || (out.Benchmark == base.Benchmark) != c.same {
			t.Errorf("%s: %s, same manifest %t", c.name, stepText(totals), out.Benchmark == base.Benchmark)
		}
	}
}

// labelLimits move the limits of labels far enough that some phantoms get another label.
var labelLimits = []string{
	"thresholds={inspiration.label.good_min: 8, rotation.label.not_rotated_min: 0.7, projection.label.overlap_split: 0.2,",
	"cardiomegaly.label.PA_min: 0.4, cardiomegaly.label.AP_min: 0.4, mediastinal_widening.label.PA_min: 0.2,",
	"carina_angle.label.normal_range: [30, 60], aortic_knob_enlargement.label.enlarged_min: 1.5,",
	"ascending_aorta_enlargement.label.enlarged_min: 0.05, descending_aorta_enlargement.label.enlarged_min: 1.5,",
	"descending_aorta_tortuous.label.tortuous_min: 0.0005, global.mask_count.mask_num_min: 25}",
}

// drawnDocs are the documents of the cases that were built, by everything they were drawn with
// but their labels.
func (b *bench) drawnDocs(out contract.BenchmarkResult) map[string]artifacts.Digest {
	b.t.Helper()
	plan := act(b, b.a.PlanBenchmark, contract.PlanBenchmarkInput{Plan: b.plan, Manifest: b.manifest.Manifest, Outputs: b.outputs, Reproduction: b.manifest.Reproduction})
	docs := map[string]artifacts.Digest{}
	for _, c := range get[contract.BenchmarkPlan](b, plan.Drawn).Cases {
		for _, built := range get[contract.Benchmark](b, out.Benchmark).Cases {
			if built.Task == c.Source.Task && built.ID == c.Source.Case {
				c.Source.Label = ""
				text, err := artifacts.Canonical(c)
				if err != nil {
					b.t.Fatal(err)
				}
				docs[string(text)] = built.Doc.Digest
			}
		}
	}
	return docs
}

// TestLabelLimitsBuildNothing holds that the limits of labels build no case anew that was drawn
// before, and that leaving them out of the keys is right: built afresh under them, a case has
// the same bytes.
func TestLabelLimitsBuildNothing(t *testing.T) {
	store := memstore.Open()
	first := measured(t, store)
	out, _ := first.build()
	was := first.drawnDocs(out)

	second := measured(t, store, "thresholds.cardiomegaly.label.PA_min=0.4")
	out, totals := second.build()
	fresh := 0
	for drawn := range second.drawnDocs(out) {
		if _, old := was[drawn]; !old {
			fresh++
		}
	}
	if len(totals.Steps) != 1 || totals.Steps[0].Run != fresh || fresh > 2 {
		t.Errorf("one limit: %s, %d cases are new", stepText(totals), fresh)
	}

	third := measured(t, memstore.Open(), strings.Join(labelLimits, " "))
	out, _ = third.build()
	same := 0
	for drawn, doc := range third.drawnDocs(out) {
		if old, ok := was[drawn]; ok {
			same++
			if old != doc {
				t.Errorf("another document under other limits of labels: %s", drawn)
			}
		}
	}
	if same < 6 {
		t.Errorf("only %d cases are drawn under both limits", same)
	}
}

// releaseSpec reads a benchmark that lies in the official layout.
const releaseSpec = `
name: read
paper: test
preset: corrected
dataset: {name: built, layout: cxreasonbench, data_use: synthetic}
benchmark: {source: release, radiographs: phantom, counts: any}
`

// export lays a benchmark out as files.
func (b *bench) export(ref artifacts.Ref) fstest.MapFS {
	b.t.Helper()
	disk := fstest.MapFS{}
	w := &cxreasonbench.LayoutWriter{Write: func(name string, data []byte) error {
		disk[name] = &fstest.MapFile{Data: data}
		return nil
	}}
	ctx := context.Background()
	for _, c := range get[contract.Benchmark](b, ref).Cases {
		doc := get[contract.CaseDoc](b, c.Doc)
		if err := w.Case(c.Task, c.ID, doc.Items); err != nil {
			b.t.Fatal(err)
		}
		for _, it := range doc.Items {
			for _, q := range it.Questions {
				for _, p := range q.Pictures {
					data, err := b.a.opts.Store.Get(ctx, doc.Pictures[p.Path])
					if err != nil {
						b.t.Fatal(err)
					}
					if p.Kind != cxreasonbench.Radiograph {
						disk[cxreasonbench.PictureFile(p)] = &fstest.MapFile{Data: data}
					}
				}
			}
		}
	}
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := w.Close(cxreasonbench.Manifest{Recipe: cxreasonbench.Recipe{Rules: rules, Sample: cxreasonbench.SampleBalanced, Profile: cxreasonbench.ProfileOfficial}}); err != nil {
		b.t.Fatal(err)
	}
	declared, err := ds.Declaration{Name: "built", DataUse: datause.Synthetic}.Encode()
	if err != nil {
		b.t.Fatal(err)
	}
	disk[ds.DeclarationFile] = &fstest.MapFile{Data: declared}
	return disk
}

// TestImportRelease writes a benchmark of phantoms in the official layout and reads it back: the
// same documents, so that every call to a model is the same call.
func TestImportRelease(t *testing.T) {
	store := memstore.Open()
	b := measured(t, store)
	built, _ := b.build()
	want := get[contract.Benchmark](b, built.Benchmark)
	disk := b.export(built.Benchmark)
	data := map[string]fs.FS{"built": disk, "phantom": b.a.opts.Data["phantom"]}

	other := memstore.Open()
	r := newBench(t, other, data, releaseSpec)
	out := act(r, r.a.ImportRelease, contract.ImportReleaseInput{Plan: r.plan})
	got := get[contract.Benchmark](r, out.Benchmark)
	if got.Tally != want.Tally || got.System != want.System || got.Source != experiments.SourceRelease || out.Cases != built.Cases || !slices.Equal(out.Tasks, built.Tasks) {
		t.Errorf("imported %+v, tasks %v", got.Tally, out.Tasks)
	}
	for i, c := range got.Cases {
		was, now := get[contract.CaseDoc](b, want.Cases[i].Doc), get[contract.CaseDoc](r, c.Doc)
		r.checkCase(c)
		if tells := was.Task == chexstruct.Cardiomegaly || was.Task == chexstruct.MediastinalWidening; !tells {
			was.View = "" // the layout tells it in two questions only
		}
		if d := cmp.Diff(was, now); d != "" {
			t.Fatalf("case %d: (- built, + imported)\n%s", i, d)
		}
	}
	if text := stepText(out.Totals); text != fmt.Sprintf("import-case %d run 0 reused", out.Cases) {
		t.Errorf("steps: %s", text)
	}
	if again := act(r, r.a.ImportRelease, contract.ImportReleaseInput{Plan: r.plan}); again.Benchmark != out.Benchmark || again.Reproduction != out.Reproduction || out.Reproduction == "" {
		t.Errorf("read again: %+v, first %+v", again, out)
	}

	spec := releaseSpec
	refused := func(name, want string, change func(fstest.MapFS)) {
		t.Helper()
		changed := maps.Clone(disk)
		change(changed)
		b := newBench(t, other, map[string]fs.FS{"built": changed, "phantom": data["phantom"]}, spec)
		_, err := try(b, b.a.ImportRelease, contract.ImportReleaseInput{Plan: b.plan})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\nwant %q", name, err, want)
			return
		}
		for _, c := range got.Cases {
			if strings.Contains(err.Error(), c.ID) {
				t.Errorf("%s: the error names a case: %v", name, err)
			}
		}
	}
	rotation := got.Cases[0].ID
	refused("class", "is weaker than credentialed", func(d fstest.MapFS) { delete(d, ds.DeclarationFile) })
	refused("a picture", "unpack segmask_bodypart.zip", func(d fstest.MapFS) {
		for name := range d {
			if strings.HasPrefix(name, cxreasonbench.StructureFolder) {
				delete(d, name)
			}
		}
	})
	qa := func(path string, data string) func(fstest.MapFS) {
		return func(d fstest.MapFS) {
			d["qa/rotation/"+path+"/basic/"+rotation+".json"] = &fstest.MapFile{Data: []byte(data)}
		}
	}
	first := fmt.Sprintf("rotation, case 1 of %d in its list: ", len(got.Cases)/12)
	refused("a file cut off", first+"dataset: CXReasonBench: qa/rotation/path1/stage4/basic/<case>: unexpected end of JSON", qa("path1/stage4", `{"question": "q`))
	refused("a deep file", first+"dataset: CXReasonBench: qa/rotation/path2/stage2/basic/<case>: invalid character '[' exceeded max depth", qa("path2/stage2", strings.Repeat("[", 20000)))
	refused("a folder for a file", first+"dataset: CXReasonBench: qa/rotation/path2/stage2/basic/<case>: read", func(d fstest.MapFS) {
		name := "qa/rotation/path2/stage2/basic/" + rotation + ".json"
		delete(d, name)
		d[name+"/x"] = &fstest.MapFile{}
	})
	shown := func(data []byte) func(fstest.MapFS) {
		return func(d fstest.MapFS) {
			name := cxreasonbench.PictureFile(cxreasonbench.Picture{Kind: cxreasonbench.AnnotatedPicture, Path: "/rotation/" + rotation + ".png"})
			if d[name] == nil {
				t.Fatalf("there is no %s", name)
			}
			d[name] = &fstest.MapFile{Data: data}
		}
	}
	huge := pngHeader(20000, 20000)
	refused("a huge picture", first+"a picture of path2/stage2: its header promises 20000 x 20000 = 400000000 pixels, the limit is 36000000", shown(huge))
	refused("a picture beyond the memory", "needs about", shown(pngHeader(30000000, 1)))
	refused("a long file", "more than 67108864 bytes", shown(append(bytes.Clone(huge), make([]byte, 64<<20)...)))
	refused("no picture", first+"a picture of path2/stage2: decode picture: not_an_image", shown([]byte("<html></html>")))
	refused("a file", "in no format folder", func(d fstest.MapFS) { delete(d, "qa/rotation/path1/init/basic/"+rotation+".json") })
	refused("a question", "the answer names no letter", func(d fstest.MapFS) {
		d["qa/rotation/path1/stage4/basic/"+rotation+".json"] = &fstest.MapFile{Data: []byte(`{"question": "q", "answer": "yes"}`)}
	})
	refused("a radiograph", "its radiograph is not in the folder given with --data phantom", func(d fstest.MapFS) {
		d["qa/rotation/path1/init/basic/"+rotation+".json"] = &fstest.MapFile{Data: []byte(`{"question": "(a) Yes (b) No", "answer": "(a) Yes", "img_path": ["p10/none.jpg"]}`)}
	})
	spec = strings.Replace(releaseSpec, ", counts: any", "", 1)
	refused("counts", "the release has 100", func(fstest.MapFS) {})
}

// pngHeader is the beginning of a picture of 16 bits and four channels, up to where its pixels
// would begin.
func pngHeader(width, height uint32) []byte {
	body := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)...)
	body = append(body, 16, 6, 0, 0, 0)
	data := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\r"+string(body)), crc32.ChecksumIEEE(body))
	return append(data, "\x00\x00\x00\x00IDAT\x35\xaf\x06\x1e"...)
}

// TestDroppedCase holds that a case of which a picture cannot be shown is left out and counted,
// and that the others stay.
func TestDroppedCase(t *testing.T) {
	ctx, store := context.Background(), memstore.Open()
	b := measured(t, store, "benchmark.cases=12")
	plan := act(b, b.a.PlanBenchmark, contract.PlanBenchmarkInput{Plan: b.plan, Manifest: b.manifest.Manifest, Outputs: b.outputs})
	drawn := get[contract.BenchmarkPlan](b, plan.Drawn)
	data, err := store.Get(ctx, drawn.Cases[0].Masks)
	if err != nil {
		t.Fatal(err)
	}
	full, err := anatomy.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	bare, err := anatomy.NewMasks(full.GridW, full.GridH, full.NativeW, full.NativeH, full.Declared)
	if err != nil {
		t.Fatal(err)
	}
	if drawn.Cases[0].Masks, err = store.Put(ctx, bare.Encode(), anatomy.MediaType); err != nil {
		t.Fatal(err)
	}
	changed, err := putJSON(ctx, store, drawn, contract.BenchmarkPlanMediaType)
	if err != nil {
		t.Fatal(err)
	}
	r := act(b, b.a.BuildCases, contract.BuildCasesInput{Plan: b.plan, Drawn: changed})
	built := get[contract.BuiltCases](b, r.Output)
	first := drawn.Cases[0].Source.Task.String()
	if !slices.Equal(built.Dropped, []contract.Count{{Name: first, N: 1}}) || len(built.Cases) != len(drawn.Cases)-1 {
		t.Errorf("%d of %d cases, dropped %v", len(built.Cases), len(drawn.Cases), built.Dropped)
	}
	out := act(b, b.a.AssembleBenchmark, contract.AssembleBenchmarkInput{Plan: b.plan, Drawn: changed, Outputs: []artifacts.Ref{b.packed(r.Output)}})
	if out.Cases != len(built.Cases) || !slices.Contains(out.Short, contract.Count{Name: first, N: 1}) {
		t.Errorf("%d cases, short %v", out.Cases, out.Short)
	}
	if told := get[contract.Benchmark](b, out.Benchmark).Tasks[0]; told.Left[cxreasonbench.MissingOverlay] != 1 || told.Cases != 0 {
		t.Errorf("the manifest says %+v", told)
	}
}
