package lineage

import (
	"context"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/chexstruct"
)

// built is what a case was made from, with its image's findings of its own task and of the
// filter. Tasks that lend it a structure are not followed.
func (x *Explorer) built(ctx context.Context, n *Node) ([]next, error) {
	links, err := x.links(ctx, n.Digest, Down)
	if err != nil {
		return nil, err
	}
	// Its own pictures were made with it.
	links = slices.DeleteFunc(slices.Clone(links), func(l catalog.Link) bool { return l.Key.IsZero() })
	out, err := x.ends(ctx, links, Down)
	if err != nil {
		return nil, err
	}
	image := artifacts.Digest{}
	for _, l := range links {
		if l.Name == "image" {
			image = l.To
		}
	}
	r := n.at.run
	if r == nil || image.IsZero() {
		return out, nil
	}
	rows, err := r.rowsOf(ctx, image)
	if err != nil {
		return nil, err
	}
	task := r.bench.Cases[n.at.number].Task.String()
	for _, f := range rows {
		if f.task == task || f.task == chexstruct.Global.String() {
			out = append(out, next{f.node(r), "finding"})
		}
	}
	return out, nil
}

// measured is what a row of findings was made from: the image's own row of the inputs, and the
// rows and switches that its task reads.
func (x *Explorer) measured(ctx context.Context, n *Node) ([]next, error) {
	f := n.at.finding
	var out []next
	for _, in := range []struct {
		name   string
		digest artifacts.Digest
	}{{"facts", f.image.Facts}, {"image", f.image.Image}, {"lung", f.image.Lung}, {"masks", f.image.Masks.Digest}} {
		if in.digest.IsZero() {
			continue
		}
		to, err := x.artifact(ctx, in.digest)
		if err != nil {
			return nil, err
		}
		if in.name == "image" && to.Kind != KindImage {
			to.Kind, to.Title = KindImage, "image"
			to = to.identify()
		}
		out = append(out, next{to, in.name})
	}
	links, err := x.links(ctx, f.doc.Digest, Down)
	if err != nil {
		return nil, err
	}
	code, err := x.artifact(ctx, f.doc.Digest)
	if err != nil {
		return nil, err
	}
	if code.at.code != "" {
		out = append(out, next{codeNode(code.at.code), "program"})
	}
	for _, l := range links {
		if l.Name != catalog.LinkParameter {
			continue
		}
		p, err := x.artifact(ctx, l.To)
		if err != nil {
			return nil, err
		}
		out = append(out, next{p, l.Name})
	}
	return out, nil
}

// drawn is what a picture was made from: another picture, or the case that it was drawn for.
func (x *Explorer) drawn(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.hop(ctx, n, Down)
	if len(out) > 0 || err != nil {
		for i := range out {
			if f := &out[i].node; f.Kind == KindPicture {
				f.at.run, f.at.number = n.at.run, n.at.number
			}
		}
		return out, err
	}
	if n.at.run != nil {
		c, err := x.caseNode(ctx, n.at.run, n.at.number)
		if err != nil {
			return nil, err
		}
		return under("drawn for", c), nil
	}
	links, err := x.links(ctx, n.Digest, Up)
	if err != nil {
		return nil, err
	}
	links = slices.DeleteFunc(slices.Clone(links), func(l catalog.Link) bool { return !l.Key.IsZero() })
	found, err := x.ends(ctx, links, Up)
	for _, f := range found {
		if f.node.Kind == KindCase {
			out = append(out, next{f.node, "drawn for"})
		}
	}
	return out, err
}
