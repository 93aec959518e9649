package activities

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
)

// Window is what came of measuring one window again.
type Window struct {
	Images int
	// Pictures is of how many the pixels were at hand, Masks how many masks a model or
	// their files gave anew.
	Pictures, Masks int
	// Other lists masks that a model gave otherwise, by case: inference promises no equal
	// bytes on other machines, so that nothing is wrong with them.
	Other []int
	Found []Difference
}

// Windows is how many windows of images there are, 0 without findings.
func (u *Audit) Windows(ctx context.Context) (int, error) {
	if u.r.Summary.IsZero() {
		return 0, nil
	}
	data, err := u.a.dataset(ctx, u.r.Manifest)
	if err != nil {
		return 0, err
	}
	return len(data.Manifest.Chunks()), nil
}

// Measure computes the findings of window i from its masks and facts, and these from pictures
// where they are at hand. With segment the model runs too.
//
// Errors: masks, facts or lists that are not there.
func (u *Audit) Measure(ctx context.Context, i int, segment bool) (Window, error) {
	data, assessed, err := u.assessed(ctx)
	if err != nil {
		return Window{}, err
	}
	entries, err := data.Window(ctx, i)
	if err != nil {
		return Window{}, err
	}
	in, err := getJSON[contract.WindowIn](ctx, u.a.opts.Store, assessed[i].Inputs)
	if err != nil {
		return Window{}, err
	}
	out := Window{Images: len(entries)}
	if len(in.Images) != len(entries) {
		return out, fmt.Errorf("window %d: inputs of %d images, the manifest has %d", i, len(in.Images), len(entries))
	}
	w := &window{a: u.a, plan: u.pl, entries: entries, masks: make([]artifacts.Ref, len(entries))}
	doc := contract.WindowIn{Format: contract.WindowInFormat, Images: make([]contract.ImageIn, len(entries))}
	for n, e := range entries {
		w.masks[n] = in.Images[n].Masks
		doc.Images[n] = derive.ImageIn(e, in.Images[n].Masks)
		if err := u.pixels(ctx, e, in.Images[n].Masks, segment, &out); err != nil {
			return out, err
		}
	}
	if w.ref, err = refOfJSON(doc, contract.WindowInMediaType); err != nil {
		return out, err
	}
	out.compare(assessed[i].Inputs.Digest, w.ref.Digest, fmt.Sprintf("inputs of window %d", i))
	rows, err := w.measure(u.p, u.pl.Tasks)
	if err != nil {
		return out, err
	}
	for n, task := range u.pl.Tasks {
		ref, err := refOfJSON(rows[task], contract.FindingsMediaType)
		if err != nil {
			return out, err
		}
		out.compare(assessed[i].Tasks[n].Result.Digest, ref.Digest, fmt.Sprintf("findings of %s in window %d", task, i))
		if key, err := w.key(task).Key(); err != nil || key != assessed[i].Tasks[n].Key {
			out.Found = append(out.Found, Difference{
				Object: artifacts.EntryObject(assessed[i].Tasks[n].Key), What: fmt.Sprintf("key of %s in window %d", task, i),
				Detail: "from the inputs and the plan follows " + key.Short(),
			})
		}
	}
	return out, nil
}

func (w *Window) compare(recorded, computed artifacts.Digest, what string) {
	if recorded != computed {
		w.Found = append(w.Found, Difference{
			Object: artifacts.BlobObject(recorded), What: what,
			Detail: fmt.Sprintf("recorded is %s, measuring again gives %s", recorded.Short(), computed.Short()),
		})
	}
}

// pixels computes facts and masks of an image anew, as far as its picture and the model are at
// hand.
func (u *Audit) pixels(ctx context.Context, e contract.Entry, masks artifacts.Ref, segment bool, out *Window) error {
	img, err := u.a.pixels(ctx, u.pl, e)
	if err != nil {
		return nil // not at hand, or other bytes than those that were measured
	}
	out.Pictures++
	out.compare(e.Facts.Digest, artifacts.Sum(chexstruct.Facts(img).Encode()), fmt.Sprintf("pixel facts of image %d", e.Case))
	if !segment {
		return nil
	}
	made, err := u.a.masks(ctx, u.pl, e)
	if err != nil {
		return fmt.Errorf("masks of image %d: %w", e.Case, err)
	}
	out.Masks++
	switch got := artifacts.Sum(made.data); {
	case got == masks.Digest:
	case u.pl.Spec.Masks.Import != nil:
		out.compare(masks.Digest, got, fmt.Sprintf("masks of image %d", e.Case))
	default:
		out.Other = append(out.Other, e.Case)
	}
	return nil
}
