package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
)

// ImportRelease reads a released benchmark into the form of one that was built here: the same
// documents, with every picture in the store. One record a case; what is wrong with the
// release ends the import.
func (a *Activities) ImportRelease(ctx context.Context, in contract.ImportReleaseInput) (contract.BenchmarkResult, error) {
	var none contract.BenchmarkResult
	pl, err := a.plan(ctx, in.Plan)
	if err != nil {
		return none, err
	}
	r, err := a.openRelease(ctx, pl)
	if err != nil {
		return none, err
	}
	p := a.beat(ctx, r.cases())
	defer p.close()
	if err := a.launching(p, in.Plan); err != nil {
		return none, err
	}
	r.p = p
	if err := r.learn(); err != nil {
		return none, err
	}
	lists, err := artifacts.Canonical(r.lists)
	if err != nil {
		return none, err
	}
	ingest := contract.IngestID(pl.Ref.Digest, artifacts.Sum(lists))
	t := &tally{effort: effort{ingest: ingest, id: ingest}}
	if err := r.read(t); err != nil {
		return none, err
	}
	if err := r.counts.Check(r.want); err != nil {
		return none, fail(contract.ErrTypeDataset, "%w; with benchmark.counts any it is taken as it is", err)
	}
	rules, err := experiments.BenchmarkRules(&pl.Spec)
	if err != nil {
		return none, fail(contract.ErrTypeSpec, "%w", err)
	}
	doc := contract.Benchmark{
		Source: experiments.SourceRelease, Rules: rules.String(), System: r.prompts.System(), Cases: r.done, Tally: r.tally,
	}
	for _, task := range cxreasonbench.Tasks() {
		n := len(r.lists[task.String()])
		doc.Tasks = append(doc.Tasks, cxreasonbench.TaskManifest{Task: task, Candidates: n, Cases: n})
	}
	out, err := a.putBenchmark(p, pl, doc)
	out.Ingest, out.Reproduction = ingest, contract.ReproductionID(pl.Ref.Digest, out.Benchmark.Digest)
	out.Totals = t.totals
	out.Totals.Items = out.Cases
	out.Totals.Workers = contract.AddCount(nil, a.opts.Owner.Worker, out.Cases)
	return out, err
}

// release is a released benchmark that is being read.
type release struct {
	a           *Activities
	p           *pulse
	plan        *derive.Plan
	cxrb        *ds.CXRB
	radiographs fs.FS
	lists       map[string][]string
	prompts     *cxreasonbench.Pack
	importer    *cxreasonbench.Importer
	learned     artifacts.Digest
	// want are the counts of the release, zero to take any.
	want ds.CXRBCounts

	mu     sync.Mutex // guards what follows
	counts ds.CXRBCounts
	tally  cxreasonbench.Tally
	done   []contract.BenchmarkCase
}

// openRelease opens the two folders and checks their class and the lengths of the lists.
func (a *Activities) openRelease(ctx context.Context, pl *derive.Plan) (*release, error) {
	b := pl.Spec.Benchmark
	if b == nil || b.Source != experiments.SourceRelease {
		return nil, fail(contract.ErrTypeSpec, "plan %s reads no release", pl.Ref.Digest.Short())
	}
	root, err := a.root(pl, "")
	if err != nil {
		return nil, err
	}
	pictures, ok := a.opts.Data[b.Radiographs]
	if !ok {
		return nil, fail(contract.ErrTypeNoData, "this worker has no folder with the radiographs, %q; start it with --data %s=FOLDER", b.Radiographs, b.Radiographs)
	}
	r := &release{a: a, plan: pl, radiographs: pictures, lists: map[string][]string{}}
	for _, d := range []struct {
		folder fs.FS
		layout ds.Known
		name   string
	}{{root, ds.CXReasonBench, pl.Spec.Dataset.Name}, {pictures, ds.MIMICCXRJPG, b.Radiographs}} {
		if err := checkClass(pl, d.folder, d.layout, d.name); err != nil {
			return nil, err
		}
	}
	if r.cxrb, err = ds.OpenCXRB(root); err != nil {
		return nil, fail(contract.ErrTypeDataset, "%w", err)
	}
	for _, task := range r.cxrb.Tasks() {
		r.lists[task] = r.cxrb.Cases(task)
	}
	if b.Counts != experiments.CountsAny {
		r.want = ds.CXRBRelease
		if err := r.cxrb.CheckLists(); err != nil {
			return nil, fail(contract.ErrTypeDataset, "%w; with benchmark.counts any it is taken as it is", err)
		}
	}
	if r.prompts, err = a.prompts(ctx, pl); err != nil {
		return nil, err
	}
	r.importer = cxreasonbench.NewImporter(r.prompts)
	return r, nil
}

// checkClass refuses a spec that gives a folder a weaker class than its terms.
func checkClass(pl *derive.Plan, folder fs.FS, layout ds.Known, name string) error {
	asked, err := datause.Parse(pl.Spec.Dataset.DataUse)
	if err != nil {
		return fail(contract.ErrTypeSpec, "dataset.data_use: %w", err)
	}
	_, err = ds.DataUse(folder, layout, name, asked)
	var lowered *ds.LoweredError
	switch {
	case errors.As(err, &lowered):
		return fail(contract.ErrTypeRefused, "dataset.data_use, for the folder %s: %w", name, err)
	case err != nil:
		return fail(contract.ErrTypeDataset, "%w", err)
	}
	return nil
}

func (r *release) cases() (n int) {
	for _, ids := range r.lists {
		n += len(ids)
	}
	return n
}

// learn reads the first case of every task for the criteria.
func (r *release) learn() error {
	for _, task := range slices.Sorted(maps.Keys(r.lists)) {
		if len(r.lists[task]) == 0 {
			continue
		}
		files, err := r.files(task, 0, r.lists[task][0])
		if err != nil {
			return err
		}
		for i := range files {
			r.importer.Learn(&files[i])
		}
		r.p.progress()
	}
	var err error
	r.learned, err = r.importer.Learned()
	return err
}

// files reads the question files of a case.
func (r *release) files(task string, place int, id string) ([]cxreasonbench.OfficialFile, error) {
	items, err := r.cxrb.Items(task, id)
	if err != nil {
		return nil, r.wrong(task, place, id, err)
	}
	files := make([]cxreasonbench.OfficialFile, len(items))
	for i := range items {
		files[i] = cxreasonbench.OfficialFile(items[i])
	}
	return files, nil
}

// wrong reports a fault of a case by task and place in its case list, from 1 on. What was being
// read says the stage.
func (r *release) wrong(task string, place int, id string, err error) error {
	return fail(contract.ErrTypeDataset, "%s, case %d of %d in its list: %s", task, place+1, len(r.lists[task]), r.nameless(err, id))
}

// nameless takes the id of a case and the path of a file out of an error: they may name a
// patient.
func (r *release) nameless(err error, id string) string {
	text := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		text = strings.ReplaceAll(text, pe.Path, "a file")
	}
	return strings.ReplaceAll(text, id, "<case>")
}

// read imports every case, a few at a time. After an error no other case is begun; those in
// hand are finished.
func (r *release) read(t *tally) error {
	g, failed := errgroup.WithContext(context.WithoutCancel(r.p.work)) // done when a case fails
	g.SetLimit(max(r.a.opts.Ahead, runtime.GOMAXPROCS(0)))
	var stop error
	for _, task := range cxreasonbench.Tasks() {
		for place, id := range r.lists[task.String()] {
			if stop = r.p.next(); stop != nil || failed.Err() != nil {
				break
			}
			g.Go(func() error {
				defer r.p.step(1)
				return r.one(task, place, id, t)
			})
		}
	}
	return errors.Join(g.Wait(), stop)
}

// one imports a case. place is its place in the case list, which names it in messages.
func (r *release) one(task cxreasonbench.Task, place int, id string, t *tally) error {
	files, err := r.files(task.String(), place, id)
	if err != nil {
		return err
	}
	doc := &contract.CaseDoc{Format: contract.CaseDocFormat, Task: task, ID: id, Pictures: map[string]artifacts.Ref{}}
	for i := range files {
		it, err := r.importer.Item(&files[i])
		if err != nil {
			return r.wrong(task.String(), place, id, err)
		}
		doc.Items = append(doc.Items, it)
	}
	doc.View = cxreasonbench.ViewTold(doc.Items)
	pictures, err := r.pictures(doc, files)
	if err != nil {
		return r.wrong(task.String(), place, id, err)
	}
	questions, err := artifacts.Canonical(files)
	if err != nil {
		return err
	}
	digests := map[string]artifacts.Digest{}
	for name, p := range pictures {
		digests[name] = artifacts.Sum(p.data)
	}
	doc.Image = digests[doc.Items[0].Questions[0].Pictures[0].Path]
	key := contract.ImportCaseKey(task, id, artifacts.Sum(questions), r.learned, digests)
	rec, err := r.a.steps.once(r.p, key, t, r.plan.Class(), func(ctx context.Context) (product, error) {
		store := r.a.opts.Store.ForClass(r.plan.Class())
		var err error
		for name, p := range pictures {
			if doc.Pictures[name], err = store.Put(ctx, p.data, p.mime); err != nil {
				return product{}, err
			}
		}
		text, err := artifacts.Canonical(doc)
		return product{data: text, mediaType: contract.CaseMediaType}, err
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.Cases++
	for i := range files {
		item := ds.CXRBItem(files[i])
		r.counts.Add(&item)
	}
	r.tally.Count(doc.Items...)
	r.done = append(r.done, contract.BenchmarkCase{Task: task, ID: id, Doc: rec.Result})
	return nil
}

// pictures reads every picture that a case shows, by the path in its questions.
func (r *release) pictures(doc *contract.CaseDoc, files []cxreasonbench.OfficialFile) (map[string]releasePicture, error) {
	out := map[string]releasePicture{}
	for i := range files {
		item := ds.CXRBItem(files[i])
		for _, q := range doc.Items[i].Questions {
			for _, p := range q.Pictures {
				if _, have := out[p.Path]; have {
					continue
				}
				file, err := r.open(&item, p)
				if err == nil {
					out[p.Path], err = readPicture(file, r.plan.Limits)
				}
				if err != nil {
					return nil, fmt.Errorf("a picture of %s/%s: %w", item.Path, item.Stage, err)
				}
			}
		}
	}
	return out, nil
}

// open opens a picture. The path of a radiograph is relative to the folder "files" of its data
// set.
func (r *release) open(item *ds.CXRBItem, p cxreasonbench.Picture) (fs.File, error) {
	if p.Kind != cxreasonbench.Radiograph {
		return r.cxrb.OpenPicture(item, p.Path)
	}
	name := strings.TrimPrefix(p.Path, "/")
	if !fs.ValidPath(name) {
		return nil, errors.New("the path of its radiograph leads out of the data set")
	}
	for _, at := range []string{path.Join("files", name), name} {
		f, err := r.radiographs.Open(at)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fmt.Errorf("its radiograph is not in the folder given with --data %s, nor in files below it", r.plan.Spec.Benchmark.Radiographs)
}
