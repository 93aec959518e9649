package lineage

import (
	"context"
	"slices"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// counted are the dialogues that a figure counts, and the step that counted them.
func (x *Explorer) counted(ctx context.Context, n *Node) ([]next, error) {
	if n.at.label != nil {
		return x.labelled(ctx, n)
	}
	r, cell := n.at.run, n.at.cell
	table, err := x.artifact(ctx, r.Receipt.Tables.Digest)
	if err != nil {
		return nil, err
	}
	out := under("table "+strconv.Itoa(cell.Ref.Table), table)
	for _, task := range cell.Tasks() {
		pages, err := r.pagesOf(ctx, pagesKey{cell.Evaluation, task, cell.Path})
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			for i := range p.doc.Dialogues {
				d := &p.doc.Dialogues[i]
				if d.Undetermined == nil && (cell.Path != cxreasonbench.RePath1 || d.Review >= 0) {
					out = append(out, next{p.node(i), "counts"})
				}
			}
		}
	}
	return out, nil
}

// labelled are the rows of findings that a figure of the table of labels counts.
func (x *Explorer) labelled(ctx context.Context, n *Node) ([]next, error) {
	r, label := n.at.run, n.at.label
	table, err := x.artifact(ctx, r.Receipt.Summary.Digest)
	if err != nil {
		return nil, err
	}
	out := under("table", table)
	chunks, err := r.chunks(ctx)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		assessed, ok, err := r.window(ctx, i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		rows, err := r.labelledIn(ctx, assessed, label)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (r *Run) labelledIn(ctx context.Context, assessed contract.Assessed, label *contract.Label) ([]next, error) {
	task := func(name string) *contract.AssessedTask {
		if i := slices.IndexFunc(assessed.Tasks, func(t contract.AssessedTask) bool { return t.Task == name }); i >= 0 {
			return &assessed.Tasks[i]
		}
		return nil
	}
	t, global := task(label.Task), task(chexstruct.Global.String())
	if t == nil || global == nil {
		return nil, nil
	}
	in, err := kept(ctx, r, r.inputs, assessed.Inputs)
	if err != nil {
		return nil, err
	}
	var out []next
	for i := range in.Images {
		filter, err := r.outcome(ctx, global.Result, i)
		if err != nil {
			return nil, err
		}
		o, err := r.outcome(ctx, t.Result, i)
		if err != nil {
			return nil, err
		}
		if !filter.removes() && o.counts(label) {
			f := &finding{task: t.Task, key: t.Key, doc: t.Result, inputs: assessed.Inputs, place: i, image: in.Images[i]}
			out = append(out, next{f.node(r), "counts"})
		}
	}
	return out, nil
}

// counts reports whether a row counts for a figure of the table of labels.
func (o outcome) counts(l *contract.Label) bool {
	return o.Status == chexstruct.StatusOK.String() && (l.Label == "" || o.Label != nil && *o.Label == l.Label)
}

// ran is what a reproduction consists of: what its receipt names.
func (x *Explorer) ran(ctx context.Context, n *Node) ([]next, error) {
	r := n.at.run
	if r == nil {
		return x.hop(ctx, n, Down)
	}
	var out []next
	add := func(ref artifacts.Ref, name string) error {
		if ref.IsZero() {
			return nil
		}
		to, err := x.artifact(ctx, ref.Digest)
		if err != nil {
			return err
		}
		nodes, err := x.placed(ctx, to)
		out = append(out, under(name, nodes...)...)
		return err
	}
	for _, of := range []struct {
		ref  artifacts.Ref
		name string
	}{{r.Receipt.Plan, "plan"}, {r.Receipt.Manifest, "data set"}, {r.Receipt.Summary, "labels"}, {r.Receipt.Tables, "tables"}, {r.Receipt.Benchmark, "benchmark"}} {
		if err := add(of.ref, of.name); err != nil {
			return nil, err
		}
	}
	if _, err := r.Summary(ctx); err != nil && !gone(err) {
		return nil, err
	}
	for i := range r.Receipt.Evaluations {
		out = append(out, next{r.evaluationNode(i), "evaluation"})
	}
	for _, shard := range r.Receipt.Assessed {
		if err := add(shard, "findings"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evaluated are the dialogues of an evaluation.
func (x *Explorer) evaluated(ctx context.Context, n *Node) ([]next, error) {
	r := n.at.run
	if r == nil {
		return x.hop(ctx, n, Down)
	}
	doc, err := r.evaluation(ctx, n.at.evaluation)
	if err != nil {
		return nil, err
	}
	out := []next{{r.benchmarkNode(), "benchmark"}}
	for _, t := range doc.Tasks {
		pages, err := r.pagesOfTask(ctx, n.at.evaluation, t.Task)
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			for i := range p.doc.Dialogues {
				out = append(out, next{p.node(i), "dialogue"})
			}
		}
	}
	return out, nil
}
