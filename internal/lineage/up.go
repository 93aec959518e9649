package lineage

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// cellsOfEvaluation are all its figures.
func (x *Explorer) cellsOfEvaluation(ctx context.Context, n *Node) ([]next, error) {
	return x.cellsOf(ctx, n, func(*cxreasonbench.CellRef) bool { return true })
}

// cellsOf are the figures of an evaluation that a filter takes.
func (x *Explorer) cellsOf(ctx context.Context, n *Node, take func(*cxreasonbench.CellRef) bool) ([]next, error) {
	r := n.at.run
	if r == nil {
		return x.using(ctx, n)
	}
	if _, err := r.Evaluations(ctx); err != nil {
		return nil, err
	}
	var out []next
	for i := range r.cells {
		// The refined figure and the textbook reading stand in the same cell.
		if c := &r.cells[i]; c.Evaluation == n.at.evaluation && c.Ref.Kind == report.Printed && take(c) {
			out = append(out, next{r.cellNode(*c), "counted in"})
		}
	}
	return out, nil
}

// cellsOfTable are all figures of the tables that one document holds.
func (x *Explorer) cellsOfTable(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		if r.Receipt.Tables.Digest == n.Digest {
			for i := range r.Receipt.Evaluations {
				e := r.evaluationNode(i)
				cells, err := x.cellsOfEvaluation(ctx, &e)
				if err != nil {
					return nil, err
				}
				out = append(out, cells...)
			}
		}
		if r.Receipt.Summary.Digest == n.Digest {
			cells, err := r.labelCells(ctx, "table", func(*contract.Label) bool { return true })
			if err != nil {
				return nil, err
			}
			out = append(out, cells...)
		}
	}
	return out, nil
}

// labelCells are the figures of the table of labels that a filter takes; none where there is no
// such table.
func (r *Run) labelCells(ctx context.Context, name string, take func(*contract.Label) bool) ([]next, error) {
	labels, err := r.Labels(ctx)
	if labels == nil || err != nil {
		return nil, err
	}
	var out []next
	for _, l := range labels.Labels() {
		if take(&l) {
			out = append(out, next{r.labelNode(l), name})
		}
	}
	return out, nil
}

// put are the evaluations of a benchmark.
func (x *Explorer) put(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		if r.Receipt.Benchmark.Digest != n.Digest {
			continue
		}
		if _, err := r.Summary(ctx); err != nil {
			return nil, err
		}
		for i := range r.Receipt.Evaluations {
			out = append(out, next{r.evaluationNode(i), "benchmark"})
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return x.using(ctx, n)
}

// modelled is what a model answered or segmented. Its figures are those of its evaluations, and
// where it made the masks every figure of the run: what each of its calls and masks went into is
// not followed one by one.
func (x *Explorer) modelled(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.using(ctx, n)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if k := out[i].node.Kind; k == KindCall || k == KindMasks {
			out[i].node.at.stop = true
		}
	}
	for _, r := range x.runs {
		m, err := r.models(ctx)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.segmentation == n.Digest {
			if _, err := r.taskOf(ctx, n.Digest); err != nil {
				return nil, err
			}
			for _, d := range sortedKeys(r.taskBy) {
				f, err := x.artifact(ctx, d)
				if err != nil {
					return nil, err
				}
				out = append(out, next{f.ofTask(r.taskBy[d]), "masks"})
			}
		}
		s, err := r.Summary(ctx)
		if err != nil && !gone(err) {
			return nil, err
		}
		if s == nil {
			continue
		}
		for i, e := range s.Evaluations {
			if m.judge == n.Digest || m.asked[e.Model.Name] == n.Digest {
				out = append(out, next{r.evaluationNode(i), catalog.LinkModel})
			}
		}
	}
	return out, nil
}

func sortedKeys[V any](m map[artifacts.Digest]V) []artifacts.Digest {
	list := make([]artifacts.Digest, 0, len(m))
	for d := range m {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b artifacts.Digest) int { return slices.Compare(a[:], b[:]) })
	return list
}
