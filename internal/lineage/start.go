package lineage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
	"cxrepro/internal/spelling"
)

// Cell returns a figure of a run's tables.
//
// Errors: *report.UnknownRefError with the nearest references.
func (x *Explorer) Cell(ctx context.Context, r *Run, text string) (Node, error) {
	if labels, err := r.Labels(ctx); err != nil {
		return Node{}, err
	} else if labels != nil {
		var names []string
		for _, l := range labels.Labels() {
			if names = append(names, l.Ref.String()); l.Ref.String() == text {
				return r.labelNode(l), nil
			}
		}
		if ref, err := report.ParseRef(text); err == nil && len(names) > 0 && strings.HasPrefix(names[0], "t"+strconv.Itoa(ref.Table)+"/") {
			return Node{}, &report.UnknownRefError{Ref: text, Near: spelling.Nearest(text, names, 3)}
		}
	}
	evaluations, err := r.Evaluations(ctx)
	if err != nil {
		return Node{}, err
	}
	ref, err := cxreasonbench.FindCell(text, evaluations)
	if err != nil {
		return Node{}, err
	}
	return r.cellNode(ref), nil
}

// cellNode is a figure as a node, with its value.
func (r *Run) cellNode(ref cxreasonbench.CellRef) Node {
	n := Node{Kind: KindCell, Title: ref.Ref.String(), Reproduction: r.Receipt.Reproduction}
	if f := ref.Figure(r.evaluations); f.Known {
		n.Title += fmt.Sprintf(" = %.2f (k %d, n %d)", f.Value, f.K, f.N)
	} else {
		n.Title += " = N/A"
	}
	n.ID = r.cellID(ref.Ref)
	n.at = place{run: r, cell: &ref, evaluation: ref.Evaluation}
	return n
}

// labelNode is a figure of the table of labels, with its k and n.
func (r *Run) labelNode(l contract.Label) Node {
	n := Node{Kind: KindCell, Title: fmt.Sprintf("%s = %d of %d", l.Ref, l.K, l.N), Reproduction: r.Receipt.Reproduction}
	n.ID = r.cellID(l.Ref)
	n.at = place{run: r, label: &l}
	return n
}

func (r *Run) cellID(ref report.Ref) string {
	return string(KindCell) + ":" + r.Receipt.Reproduction + "/" + ref.String()
}

// Case returns a case of a run's benchmark by its number.
func (x *Explorer) Case(ctx context.Context, r *Run, n int) (Node, error) {
	b, err := r.Benchmark(ctx)
	if err != nil {
		return Node{}, err
	}
	if b == nil || n < 0 || n >= len(b.Cases) {
		have := 0
		if b != nil {
			have = len(b.Cases)
		}
		return Node{}, fmt.Errorf("reproduction %s has no case %d: its benchmark has %s", r.Receipt.Reproduction, n, KindCase.Count(have))
	}
	return x.caseNode(ctx, r, n)
}

func (x *Explorer) caseNode(ctx context.Context, r *Run, n int) (Node, error) {
	b, err := r.Benchmark(ctx)
	if err != nil {
		return Node{}, err
	}
	node, err := x.artifact(ctx, b.Cases[n].Doc.Digest)
	if err != nil {
		return node, err
	}
	return r.named(node, n, b.Cases[n].Task), nil
}

// WithoutDraw reports whether a walk down from a node leaves the draw of its cases out: which
// images became cases follows from every row of findings, and down only those of the cases
// themselves are read. Up from findings the draw is followed.
func (n Node) WithoutDraw() bool {
	drawn := n.Kind == KindCase || n.Kind == KindCell && n.at.label == nil
	return drawn && n.at.run != nil && n.at.run.draws()
}

// named says which case a document is.
func (r *Run) named(n Node, number int, task cxreasonbench.Task) Node {
	n.Kind, n.Title = KindCase, fmt.Sprintf("case %d, %s", number, words(task.String()))
	n.at.run, n.at.number = r, number
	return n.identify()
}

// Reproduction returns a run itself.
func (x *Explorer) Reproduction(r *Run) Node { return r.node() }

// Artifact returns the nodes of a digest: of an answer every call that gave it.
func (x *Explorer) Artifact(ctx context.Context, d artifacts.Digest) ([]Node, error) {
	n, err := x.artifact(ctx, d)
	if err != nil {
		return nil, err
	}
	a := x.described[d]
	if n.Kind != KindCall {
		return x.placed(ctx, n)
	}
	// One answer may be that of many calls.
	var keys []artifacts.Digest
	for _, s := range a.Steps {
		keys = append(keys, s.Key.Digest)
	}
	return x.Calls(ctx, keys)
}

// Calls returns the nodes of calls by their keys.
func (x *Explorer) Calls(ctx context.Context, keys []artifacts.Digest) ([]Node, error) {
	calls, err := x.index.CallsOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	nodes := make([]Node, len(calls))
	for i, c := range calls {
		nodes[i] = callNode(c)
	}
	return nodes, nil
}

// placed names an artifact by its place in a run: a case by its number, an evaluation by its
// model; a case of several runs is one in each.
func (x *Explorer) placed(ctx context.Context, n Node) ([]Node, error) {
	if n.Kind == KindModel || n.Kind == KindPrompt {
		n, err := x.titled(ctx, n)
		return []Node{n}, err
	}
	for _, r := range x.runs {
		switch n.Kind {
		case KindCase:
			number, ok, err := r.caseNumber(ctx, n.Digest)
			if err != nil && !gone(err) {
				return nil, err
			}
			if ok {
				// One document stands for the case in every run that asks about it.
				return []Node{r.named(n, number, r.bench.Cases[number].Task)}, nil
			}
		case KindEvaluation:
			if i := slices.IndexFunc(r.Receipt.Evaluations, func(ref artifacts.Ref) bool { return ref.Digest == n.Digest }); i >= 0 {
				return []Node{r.evaluationNode(i)}, nil
			}
		case KindFindings:
			task, err := r.taskOf(ctx, n.Digest)
			if err != nil && !gone(err) {
				return nil, err
			}
			if task != "" {
				return []Node{n.ofTask(task)}, nil
			}
		case KindBenchmark:
			if r.Receipt.Benchmark.Digest == n.Digest {
				return []Node{r.benchmarkNode()}, nil
			}
		}
	}
	return []Node{n}, nil
}

// ofTask says which task's findings of a window a document is.
func (n Node) ofTask(task string) Node {
	n.Title = "findings of a window, " + words(task)
	return n
}

// evaluationNode is one model in one way of sampling.
func (r *Run) evaluationNode(i int) Node {
	n := Node{Kind: KindEvaluation, Digest: r.Receipt.Evaluations[i].Digest, Title: "evaluation " + strconv.Itoa(i), Reproduction: r.Receipt.Reproduction}
	if r.summary != nil && i < len(r.summary.Evaluations) {
		n.Title = r.summary.Evaluations[i].Name
	}
	n.at = place{run: r, evaluation: i}
	return n.identify()
}

func (r *Run) benchmarkNode() Node {
	n := Node{Kind: KindBenchmark, Digest: r.Receipt.Benchmark.Digest, Title: "benchmark", Reproduction: r.Receipt.Reproduction}
	if r.bench != nil {
		n.Title = fmt.Sprintf("benchmark, %s", KindCase.Count(len(r.bench.Cases)))
	}
	n.at.run = r
	return n.identify()
}
