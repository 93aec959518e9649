package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
	"cxrepro/internal/overlap"
)

// Describer finds out of images what an overlap is looked for by.
type Describer struct {
	*Recorder
	// Grouping hashes studies and patients.
	Grouping *overlap.Grouping
	// Data are the folders of data sets by name. Pictures of others, and those that the store
	// has no copy of, are not read.
	Data map[string]fs.FS
	// Progress, when set, hears of the images that were looked at.
	Progress func(n int64)
}

// Described is a list of images with what is missing.
type Described struct {
	Images contract.ImageList
	// Unread counts images without a perceptual hash, because their pixels are not here or
	// cannot be decoded.
	Unread int
}

// Judged describes and stores the radiographs that a reproduction's benchmark asks about.
func (d *Describer) Judged(ctx context.Context, r *contract.Receipt) (Described, error) {
	plan, err := read[experiments.Plan](ctx, d.Store, r.Plan)
	if err != nil {
		return Described{}, err
	}
	want, err := judged(ctx, d.Store, JudgedOn(r))
	if err != nil {
		return Described{}, err
	}
	return d.describe(ctx, &plan.Spec.Dataset, r.Manifest, want)
}

// Dataset describes every image of a reproduction's data set and records the data set.
func (d *Describer) Dataset(ctx context.Context, r *contract.Receipt, version string) (Described, artifacts.Ref, error) {
	plan, err := read[experiments.Plan](ctx, d.Store, r.Plan)
	if err != nil {
		return Described{}, artifacts.Ref{}, err
	}
	spec := &plan.Spec.Dataset
	out, err := d.describe(ctx, spec, r.Manifest, nil)
	if err != nil {
		return out, artifacts.Ref{}, err
	}
	if out.Images.Count == 0 {
		return out, artifacts.Ref{}, fmt.Errorf("data set %s: the manifest of reproduction %s lists no images", spec.Name, r.Reproduction)
	}
	ref, err := d.PutDataset(ctx, contract.DatasetEntry{Name: spec.Name, Version: version, DataUse: spec.DataUse, Images: out.Images, Manifest: r.Manifest})
	return out, ref, err
}

// describe describes the wanted images, or all of the manifest when none is named.
func (d *Describer) describe(ctx context.Context, spec *experiments.Dataset, manifest artifacts.Ref, want map[artifacts.Digest]artifacts.Ref) (Described, error) {
	entries, err := d.entries(ctx, manifest, want)
	if err != nil {
		return Described{}, err
	}
	if want == nil {
		want = map[artifacts.Digest]artifacts.Ref{}
		for image, e := range entries {
			want[image] = artifacts.Ref{Digest: image, Size: e.Size}
		}
	}
	grouping := ""
	if len(entries) > 0 {
		grouping = d.Grouping.ID()
	}
	known, grouping, _, err := d.listed(ctx, want, grouping)
	if err != nil {
		return Described{}, err
	}
	list := overlap.List{Perceptual: overlap.PerceptualName, Grouping: grouping}
	var out Described
	decoding, limits := derive.Decoding(spec.Limits)
	for _, image := range sortedDigests(want) {
		m := known[image]
		m.Image = image
		e, ok := entries[image]
		if ok {
			m.Study, m.Patient = d.Grouping.Study(spec.Name, e.Study), d.Grouping.Patient(spec.Name, e.Subject)
		}
		if m.Perceptual == nil {
			p := picture{image: image, ref: want[image], entry: e, spec: spec, decoding: decoding, limits: limits}
			if m.Perceptual, err = d.perceptual(ctx, p); err != nil {
				return out, err
			}
		}
		if m.Perceptual == nil {
			out.Unread++
		}
		list.Images = append(list.Images, m)
		if d.Progress != nil {
			d.Progress(int64(len(list.Images)))
		}
	}
	out.Images, err = d.PutImages(ctx, list, spec.DataUse)
	return out, err
}

// entries are the manifest's entries of the wanted images, or all.
func (d *Describer) entries(ctx context.Context, ref artifacts.Ref, want map[artifacts.Digest]artifacts.Ref) (map[artifacts.Digest]contract.Entry, error) {
	out := map[artifacts.Digest]contract.Entry{}
	if ref.IsZero() {
		return out, nil
	}
	doc, err := read[contract.Dataset](ctx, d.Store, ref)
	if err != nil || doc.Windows.IsZero() {
		return out, err
	}
	err = items(ctx, d.Store, doc.Windows, func(e contract.Entry) error {
		if _, ok := want[e.Image]; ok || want == nil {
			out[e.Image] = e
		}
		return nil
	})
	return out, err
}

// listed looks the images up in the data sets of the store, and returns those that list one.
// Groups are those of one key: the one that is given, else the first that is found.
func (r *Recorder) listed(ctx context.Context, want map[artifacts.Digest]artifacts.Ref, given string) (known map[artifacts.Digest]overlap.Image, grouping string, in []Recorded[contract.DatasetEntry], err error) {
	sets, err := Datasets(ctx, r.Store)
	if err != nil {
		return nil, "", nil, err
	}
	known, grouping = map[artifacts.Digest]overlap.Image{}, given
	for _, s := range sets {
		list, err := Images(ctx, r.Store, s.Value.Images)
		if err != nil {
			return nil, "", nil, err
		}
		lists := false
		for _, m := range list.Images {
			if _, ok := want[m.Image]; !ok {
				continue
			}
			lists = true
			k := known[m.Image]
			if list.Perceptual == overlap.PerceptualName && k.Perceptual == nil {
				k.Perceptual = m.Perceptual
			}
			if grouping == "" {
				grouping = list.Grouping
			}
			if list.Grouping == grouping && k.Study == "" && k.Patient == "" {
				k.Study, k.Patient = m.Study, m.Patient
			}
			known[m.Image] = k
		}
		if lists {
			in = append(in, s)
		}
	}
	return known, grouping, in, nil
}

// picture is an image whose pixels are looked for.
type picture struct {
	image    artifacts.Digest
	ref      artifacts.Ref
	entry    contract.Entry
	spec     *experiments.Dataset
	decoding contract.Decoding
	limits   cxr.Limits
}

// perceptual returns the hash of an image: the recorded one, else that of its pixels, which is
// recorded. It is nil when the pixels are not here or cannot be decoded.
func (d *Describer) perceptual(ctx context.Context, p picture) (*overlap.Hash, error) {
	h, err := PerceptualHash(ctx, d.Store, p.image, p.decoding)
	if err == nil {
		return &h, nil
	}
	if !errors.Is(err, artifacts.ErrNotFound) {
		return nil, err
	}
	data, err := d.file(ctx, p)
	if data == nil || err != nil {
		return nil, err
	}
	m, err := cxr.Decode(data, p.limits)
	var bad *cxr.DecodeError
	if errors.As(err, &bad) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if h, err = overlap.Perceptual(m); err != nil {
		return nil, err
	}
	return &h, d.PutPerceptualHash(ctx, p.image, p.decoding, h, p.spec.DataUse)
}

// file returns the bytes of an image from the store or from the data set's folder, nil when
// neither has them.
func (d *Describer) file(ctx context.Context, p picture) ([]byte, error) {
	ref := p.ref
	ref.Size = max(ref.Size, p.entry.Size)
	if ref.Size > 0 {
		data, err := d.Store.Get(ctx, ref)
		if err == nil || !errors.Is(err, artifacts.ErrNotFound) {
			return data, err
		}
	}
	root := d.Data[p.spec.Name]
	if root == nil || p.entry.Path == "" {
		return nil, nil
	}
	data, err := fs.ReadFile(root, p.entry.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("case %d: %w", p.entry.Case, err)
	}
	if artifacts.Sum(data) != p.image {
		return nil, fmt.Errorf("case %d: the file in data set %s is not the one that was judged", p.entry.Case, p.spec.Name)
	}
	return data, nil
}

func sortedDigests[V any](m map[artifacts.Digest]V) []artifacts.Digest {
	out := make([]artifacts.Digest, 0, len(m))
	for d := range m {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b artifacts.Digest) int { return slices.Compare(a[:], b[:]) })
	return out
}
