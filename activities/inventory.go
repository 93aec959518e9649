package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
)

// Held is one object that a reproduction consists of.
type Held struct {
	// Object is its name in the store.
	Object string
	// Size is its length in bytes; 0 for an entry, which nothing refers to.
	Size int64
	// Class is the data-use class of its bytes, empty for what may lie anywhere, or
	// ClassWeights.
	Class string
	// Role says in words what it is, and of which case.
	Role string
}

// ClassWeights marks the weights of a model: whether they may be passed on is for their licence
// to say.
const ClassWeights = "weights"

// Gap is a document that could not be read, so that what it leads to is not in an inventory.
type Gap struct {
	Object, Role string
	Err          error
}

// Inventory lists everything that a reproduction consists of, sorted by object: its receipt,
// every document between receipt and answers, and every index entry that its plan leads to,
// with statements and results. Reports are left out; they are made again from the rest.
//
// What cannot be read is a Gap, not an error: the list is then of what is known without it.
//
// Errors: a receipt or a plan that cannot be read; a store that does not answer.
func (a *Activities) Inventory(ctx context.Context, receipt artifacts.Ref) ([]Held, []Gap, error) {
	u, err := a.OpenAudit(ctx, receipt)
	if err != nil {
		return nil, nil, err
	}
	v := &inventory{Audit: u, held: map[string]*Held{}}
	if err := v.walk(ctx); err != nil {
		return nil, nil, err
	}
	list := make([]Held, 0, len(v.held))
	for _, h := range v.held {
		list = append(list, *h)
	}
	slices.SortFunc(list, func(x, y Held) int { return strings.Compare(x.Object, y.Object) })
	return list, v.gaps, nil
}

// inventory is one walk over a reproduction.
type inventory struct {
	*Audit
	held map[string]*Held
	gaps []Gap
	// see, where it is set, hears of every entry.
	see func(artifacts.Record) error
}

// add notes an object. Of two classes the one that is bound stays.
func (v *inventory) add(object string, size int64, class, role string) {
	h := v.held[object]
	if h == nil {
		v.held[object] = &Held{Object: object, Size: size, Class: class, Role: role}
		return
	}
	if h.Class == "" {
		h.Class = class
	}
}

// open notes a blob that may lie anywhere: it holds digests, counts and our own numbers.
func (v *inventory) open(ref artifacts.Ref, role string) { v.blob(ref, "", role) }

// bound notes a blob of the data's class.
func (v *inventory) bound(ref artifacts.Ref, role string) { v.blob(ref, v.pl.Class(), role) }

func (v *inventory) blob(ref artifacts.Ref, class, role string) {
	if !ref.IsZero() {
		v.add(artifacts.BlobObject(ref.Digest), ref.Size, class, role)
	}
}

// gap notes what could not be read. It returns an error that is not the object's own.
func (v *inventory) gap(object, role string, err error) error {
	if err == nil {
		return nil
	}
	if !absent(err) {
		return err
	}
	v.gaps = append(v.gaps, Gap{Object: object, Role: role, Err: err})
	return nil
}

// absent reports whether err says of one object that it is not there, damaged or no document. A
// store that could not be read says nothing about the object.
func absent(err error) bool {
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return true
	}
	return artifacts.ClassOf(err) == artifacts.Unknown && !unread(err)
}

// unread reports whether err comes from reading and not from what was read.
func unread(err error) bool {
	var bucket *artifacts.BucketError
	var path *fs.PathError
	var system syscall.Errno
	var network net.Error
	return errors.As(err, &bucket) || errors.As(err, &path) || errors.As(err, &system) || errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF)
}

// entry notes a key's index entry with its statement. statement is the class of the latter.
func (v *inventory) entry(ctx context.Context, doc artifacts.KeyDoc, statement, role string) (artifacts.Record, error) {
	key, err := doc.Key()
	if err != nil {
		return artifacts.Record{}, err
	}
	return v.record(ctx, key, statement, role)
}

func (v *inventory) record(ctx context.Context, key artifacts.Key, statement, role string) (artifacts.Record, error) {
	object := artifacts.EntryObject(key)
	rec, err := v.a.opts.Store.Entry(ctx, key)
	if err != nil {
		return rec, v.gap(object, role, err)
	}
	v.add(object, 0, "", role)
	if v.see != nil {
		if err := v.see(rec); err != nil {
			return rec, v.gap(artifacts.StatementObject(rec.Statement.Digest), "statement of "+role, err)
		}
	}
	if len(rec.Inline) == 0 {
		v.add(artifacts.StatementObject(rec.Statement.Digest), rec.Statement.Size, statement, "statement of "+role)
	}
	return rec, nil
}

// read decodes a document that was noted before; ok is false where it is a gap.
func readHeld[T any](ctx context.Context, v *inventory, ref artifacts.Ref, role string) (doc T, ok bool, err error) {
	doc, err = getJSON[T](ctx, v.a.opts.Store, ref)
	if err != nil {
		return doc, false, v.gap(artifacts.BlobObject(ref.Digest), role, err)
	}
	return doc, true, nil
}

func (v *inventory) walk(ctx context.Context) error {
	r := v.r
	v.open(v.ref, "the receipt")
	if !r.Incomplete() {
		if _, err := v.entry(ctx, contract.ReproductionKey(r.Plan.Digest, r.Manifest.Digest), "", "record of the finished reproduction"); err != nil {
			return err
		}
	}
	v.open(r.Plan, "the plan")
	v.open(v.pl.Prompts, "the prompt pack")
	if m := v.pl.Model; m != nil {
		v.open(m.Card, "card of the segmentation model "+m.Name)
		v.blob(m.Weights, ClassWeights, "weights of the segmentation model "+m.Name)
	}
	v.open(r.Results, "the list of results")
	if !r.Summary.IsZero() {
		if err := v.findings(ctx); err != nil {
			return err
		}
	}
	if !r.Benchmark.IsZero() {
		if err := v.benchmark(ctx); err != nil {
			return err
		}
	}
	if !r.Questions.IsZero() {
		return v.agent(ctx)
	}
	for i, ref := range r.Evaluations {
		if err := v.evaluation(ctx, i, ref); err != nil {
			return err
		}
	}
	return v.tables(ctx)
}

// tables notes those of the evaluation.
func (v *inventory) tables(ctx context.Context) error {
	r := v.r
	if r.Tables.IsZero() {
		return nil
	}
	v.open(r.Tables, "the tables of the evaluation")
	evaluations := make([]artifacts.Digest, len(r.Evaluations))
	for i, ref := range r.Evaluations {
		evaluations[i] = ref.Digest
	}
	doc, err := v.pl.TabulateKey(r.Benchmark.Digest, evaluations)
	if err != nil {
		return err
	}
	_, err = v.entry(ctx, doc, "", "record of the tables of the evaluation")
	return err
}

// findings notes the data set and everything from pixels to the tables of the findings.
func (v *inventory) findings(ctx context.Context) error {
	r := v.r
	v.open(r.Summary, "the tables of the findings")
	v.bound(r.Manifest, "the manifest of the data set")
	data, err := v.a.dataset(ctx, r.Manifest)
	if err != nil {
		return v.gap(artifacts.BlobObject(r.Manifest.Digest), "the manifest of the data set", err)
	}
	v.bound(data.Windows, "the list of windows of the data set")
	v.bound(data.Rejected, "the quarantined rows of the data set")
	for i, c := range data.Manifest.Chunks() {
		role := fmt.Sprintf("window %d of the data set", i)
		v.bound(c.Ref, role)
		entries, err := data.Window(ctx, i)
		if err != nil {
			if err := v.gap(artifacts.BlobObject(c.Ref.Digest), role, err); err != nil {
				return err
			}
			continue
		}
		for _, e := range entries {
			if err := v.image(ctx, e); err != nil {
				return err
			}
		}
		v.p.progress()
	}
	assessed, err := v.windows(ctx)
	if err != nil || assessed == nil {
		return err
	}
	rows, full, err := resultLists(data, assessed, r.Summary.Digest)
	if err != nil {
		return err
	}
	v.add(artifacts.BlobObject(full.Digest), full.Size, "", "the list of results of the findings")
	doc, err := v.pl.SummariseKey(rows.Digest)
	if err != nil {
		return err
	}
	if _, err := v.entry(ctx, doc, "", "record of the tables of the findings"); err != nil {
		return err
	}
	if b := v.pl.Spec.Benchmark; b == nil || b.Source != experiments.SourceBuild {
		return nil
	}
	return v.drawn(ctx, assessed)
}

// image notes facts, second lung and masks of one image.
func (v *inventory) image(ctx context.Context, e contract.Entry) error {
	v.bound(e.Facts, fmt.Sprintf("pixel facts of image %d", e.Case))
	v.bound(e.Lung, fmt.Sprintf("second lung contour of image %d", e.Case))
	if _, err := v.entry(ctx, contract.PixelFactsKey(e.Image, v.pl.Decoding), "", fmt.Sprintf("record of the pixel facts of image %d", e.Case)); err != nil {
		return err
	}
	rec, err := v.entry(ctx, v.pl.MasksKey(e), "", fmt.Sprintf("record of the masks of image %d", e.Case))
	v.bound(rec.Result, fmt.Sprintf("masks of image %d", e.Case))
	return err
}

// windows notes what was assessed; nil where a list of it is a gap.
func (v *inventory) windows(ctx context.Context) ([]contract.Assessed, error) {
	var out []contract.Assessed
	whole := true
	for i, ref := range v.r.Assessed {
		role := fmt.Sprintf("list of the assessed windows of shard %d", i)
		v.open(ref, role)
		packed, ok, err := readHeld[contract.Packed](ctx, v, ref, role)
		if err != nil {
			return nil, err
		}
		whole = whole && ok
		for _, item := range packed.Items {
			role := fmt.Sprintf("what was assessed of window %d", len(out))
			v.open(item.Ref, role)
			w, ok, err := readHeld[contract.Assessed](ctx, v, item.Ref, role)
			if err != nil {
				return nil, err
			}
			whole = whole && ok
			out = append(out, w)
			v.bound(w.Inputs, fmt.Sprintf("inputs of window %d", w.Window))
			for _, t := range w.Tasks {
				role := fmt.Sprintf("findings of %s in window %d", t.Task, w.Window)
				v.bound(t.Result, role)
				if _, err := v.record(ctx, t.Key, "", "record of the "+role); err != nil {
					return nil, err
				}
			}
		}
	}
	if !whole {
		return nil, nil
	}
	return out, nil
}
