package lineage

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
)

// found is what a row of findings goes into: the figures of the table of labels that count it,
// and the cases of its image and task.
func (x *Explorer) found(ctx context.Context, n *Node) ([]next, error) {
	r, f := n.at.run, n.at.finding
	o, err := r.outcome(ctx, f.doc, f.place)
	if err != nil {
		return nil, err
	}
	keep, err := x.keeps(ctx, r, f)
	if err != nil {
		return nil, err
	}
	out, err := r.labelCells(ctx, "counted in", func(l *contract.Label) bool { return keep && l.Task == f.task && o.counts(l) })
	if err != nil {
		return nil, err
	}
	cases, err := x.casesOf(ctx, r, f.image.Image)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		if task := r.bench.Cases[c.at.number].Task.String(); task == f.task || f.task == chexstruct.Global.String() {
			out = append(out, next{c, "finding"})
		}
	}
	return out, nil
}

// keeps reports whether the global filter keeps a row's image.
func (x *Explorer) keeps(ctx context.Context, r *Run, f *finding) (bool, error) {
	rows, err := r.rowsOf(ctx, f.image.Image)
	if err != nil {
		return false, err
	}
	for _, g := range rows {
		if g.task == chexstruct.Global.String() {
			o, err := r.outcome(ctx, g.doc, g.place)
			return err == nil && !o.removes(), err
		}
	}
	return false, nil
}

// casesOf are the cases of a run that were built from an image.
func (x *Explorer) casesOf(ctx context.Context, r *Run, image artifacts.Digest) ([]Node, error) {
	links, err := x.links(ctx, image, Up)
	if err != nil {
		return nil, err
	}
	var out []Node
	for _, l := range links {
		n, ok, err := r.caseNumber(ctx, l.From)
		if err != nil {
			return nil, err
		}
		if !ok || l.Key.IsZero() {
			continue
		}
		c, err := x.caseNode(ctx, r, n)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// summed is what a task's findings of a whole window go into: the figures of the table of
// labels, and the draw of the cases, which looks at every row.
func (x *Explorer) summed(ctx context.Context, n *Node) ([]next, error) {
	var out []next
	for _, r := range x.runs {
		task, err := r.taskOf(ctx, n.Digest)
		if err != nil && !gone(err) {
			return nil, err
		}
		if task == "" {
			continue
		}
		cells, err := r.labelCells(ctx, "counted in", func(l *contract.Label) bool { return l.Task == task || task == chexstruct.Global.String() })
		if err != nil {
			return nil, err
		}
		out = append(out, cells...)
		if r.draws() {
			if _, err := r.Benchmark(ctx); err != nil {
				return nil, err
			}
			out = append(out, next{r.benchmarkNode(), "drawn from"})
		}
	}
	return out, nil
}

// taskOf is the task of a window's findings; empty for findings of another run.
func (r *Run) taskOf(ctx context.Context, doc artifacts.Digest) (string, error) {
	if r.taskBy == nil {
		chunks, err := r.chunks(ctx)
		if err != nil {
			return "", err
		}
		by := map[artifacts.Digest]string{}
		for i := range chunks {
			assessed, ok, err := r.window(ctx, i)
			if err != nil {
				return "", err
			}
			if ok {
				for _, t := range assessed.Tasks {
					by[t.Result.Digest] = t.Task
				}
			}
		}
		r.taskBy = by
	}
	return r.taskBy[doc], nil
}

// pictures is what a picture goes into: what uses it, and the training examples that descend from it.
func (x *Explorer) pictures(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.using(ctx, n)
	if err != nil {
		return nil, err
	}
	taught, err := x.taught(ctx, n)
	return append(out, taught...), err
}

// pictured is what an image, its facts or its masks go into: other artifacts of the image, its
// own rows of findings, its cases. Lists of images are left out.
func (x *Explorer) pictured(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.pictures(ctx, n)
	if err != nil {
		return nil, err
	}
	// A film that was sent as it is leads to its calls by way of its cases.
	if n.Kind == KindImage && slices.ContainsFunc(out, func(f next) bool { return f.node.Kind == KindCase }) {
		out = slices.DeleteFunc(out, func(f next) bool { return f.node.Kind == KindCall })
	}
	images := []artifacts.Digest{n.Digest}
	if n.Kind != KindImage {
		if images, err = x.imagesOf(ctx, n); err != nil {
			return nil, err
		}
	}
	for _, r := range x.runs {
		for _, image := range images {
			rows, err := r.rowsOf(ctx, image)
			if err != nil && !gone(err) {
				return nil, err
			}
			for _, f := range rows {
				if n.Kind != KindMasks || f.image.Masks.Digest == n.Digest {
					out = append(out, next{f.node(r), string(n.Kind)})
				}
			}
		}
	}
	return out, nil
}

// imagesOf are the images that masks or facts belong to: the material of their step, or for
// masks that were made elsewhere the row of a window's inputs.
func (x *Explorer) imagesOf(ctx context.Context, n *Node) ([]artifacts.Digest, error) {
	links, err := x.links(ctx, n.Digest, Down)
	if err != nil {
		return nil, err
	}
	var out []artifacts.Digest
	for _, l := range links {
		if l.Name == "image" {
			out = append(out, l.To)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if links, err = x.links(ctx, n.Digest, Up); err != nil {
		return nil, err
	}
	for _, l := range links {
		if !l.Key.IsZero() {
			continue
		}
		if err := x.describe(ctx, []artifacts.Digest{l.From}); err != nil {
			return nil, err
		}
		a := x.described[l.From]
		if a.Ref.MediaType != contract.WindowInMediaType {
			continue
		}
		in, err := read[contract.WindowIn](ctx, x.docs, a.Ref)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, i := range in.Images {
			if i.Masks.Digest == n.Digest {
				out = append(out, i.Image)
			}
		}
	}
	return out, nil
}
