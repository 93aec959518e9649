package activities

import (
	"bytes"
	"fmt"
	"io/fs"

	"cxrepro/experiments"
	"cxrepro/internal/contract"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/xragent"
	benchmarks "cxrepro/internal/xragent/bench"
	"cxrepro/internal/xragent/quiz"
)

// questionLayouts are the importers of question sets by layout.
var questionLayouts = map[string]func(a *Activities, pl *derive.Plan) (*xragent.QuestionSet, error){
	experiments.LayoutQuiz:            drawQuiz,
	experiments.LayoutChestAgentBench: importBenchmark(benchmarks.ChestAgentBench),
	experiments.LayoutCheXbench:       importBenchmark(benchmarks.CheXbench),
	experiments.LayoutSLAKE:           importBenchmark(benchmarks.SLAKE),
}

// questionSet reads or draws the plan's question set, in the order of its items.
func (a *Activities) questionSet(pl *derive.Plan) (*xragent.QuestionSet, error) {
	read := questionLayouts[pl.Spec.Dataset.Layout]
	if read == nil {
		return nil, fail(contract.ErrTypeSpec, "plan %s: layout %q is of no question set; candidates of Rad-CoT are built by `cxrepro xragent radcot run`", pl.Ref.Digest.Short(), pl.Spec.Dataset.Layout)
	}
	set, err := read(a, pl)
	if err != nil {
		return nil, err
	}
	if err := set.Order(); err != nil {
		return nil, fail(contract.ErrTypeDataset, "%w", err)
	}
	return set, nil
}

// drawQuiz draws the questions that the spec asks for.
func drawQuiz(_ *Activities, pl *derive.Plan) (*xragent.QuestionSet, error) {
	q := pl.Spec.Dataset.Quiz
	if q == nil {
		return nil, fail(contract.ErrTypeSpec, "plan %s: dataset.quiz is missing", pl.Ref.Digest.Short())
	}
	set := &xragent.QuestionSet{Version: fmt.Sprintf("quiz/%d", quiz.Version)}
	drawn := &drawnQuiz{set: set, pictures: map[string][]byte{}}
	set.Picture = drawn.picture
	if err := quiz.Write(q.Seed, quiz.Split(q.Split), q.Pictures, drawn); err != nil {
		return nil, fail(contract.ErrTypeSpec, "%w", err)
	}
	return set, nil
}

// drawnQuiz keeps what is drawn until it is in the store.
type drawnQuiz struct {
	set      *xragent.QuestionSet
	pictures map[string][]byte
}

// Picture implements quiz.Sink.
func (d *drawnQuiz) Picture(path string, png []byte) error {
	d.pictures[path] = bytes.Clone(png)
	return nil
}

// Item implements quiz.Sink.
func (d *drawnQuiz) Item(i xragent.Item) error {
	d.set.Items = append(d.set.Items, i)
	return nil
}

func (d *drawnQuiz) picture(path string) ([]byte, error) {
	data, ok := d.pictures[path]
	if !ok {
		return nil, fmt.Errorf("no picture %s was drawn: %w", path, fs.ErrNotExist)
	}
	return data, nil
}

// importBenchmark reads a published benchmark from its folder.
func importBenchmark(b benchmarks.Benchmark) func(a *Activities, pl *derive.Plan) (*xragent.QuestionSet, error) {
	return func(a *Activities, pl *derive.Plan) (*xragent.QuestionSet, error) {
		root, err := a.root(pl, "")
		if err != nil {
			return nil, err
		}
		if err := declaredClass(pl, root); err != nil {
			return nil, err
		}
		read, err := benchmarks.Import(b, root, benchmarks.Options{Counts: pl.Spec.Dataset.Counts})
		if err != nil {
			return nil, fail(contract.ErrTypeDataset, "%w", err)
		}
		set := &xragent.QuestionSet{
			Version: fmt.Sprintf("%s/%d", b, benchmarks.ImportVersion), Items: read.Items, Notes: read.Report.Notes,
			Picture: func(path string) ([]byte, error) { return fs.ReadFile(root, path) },
		}
		return set, nil
	}
}

// declaredClass refuses a spec that gives a folder a weaker class than it declares.
func declaredClass(pl *derive.Plan, root fs.FS) error {
	asked, err := datause.Parse(pl.Spec.Dataset.DataUse)
	if err != nil {
		return fail(contract.ErrTypeSpec, "dataset.data_use: %w", err)
	}
	d, declared, err := ds.ReadDeclaration(root)
	switch {
	case err != nil:
		return fail(contract.ErrTypeDataset, "%w", err)
	case declared && asked < d.DataUse:
		return fail(contract.ErrTypeRefused, "dataset.data_use: the folder declares itself %s, the spec says %s", d.DataUse, asked)
	}
	return nil
}
