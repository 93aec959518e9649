package derive

import (
	"context"
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/artifacts/manifest"
	"cxrepro/internal/contract"
)

// Dataset is an open data set manifest.
type Dataset struct {
	contract.Dataset
	Ref      artifacts.Ref
	Manifest *manifest.Manifest
}

// OpenDataset opens the manifest that lies under ref.
func OpenDataset(ctx context.Context, store manifest.Getter, ref artifacts.Ref) (*Dataset, error) {
	out := &Dataset{Ref: ref}
	data, err := store.Get(ctx, ref)
	if err == nil {
		err = json.Unmarshal(data, &out.Dataset)
	}
	if err != nil {
		return nil, fmt.Errorf("load manifest: %w", err)
	}
	if out.Format != contract.DatasetFormat {
		return nil, contract.Fail(contract.ErrTypeSpec, "manifest %s: format %q, want %q", ref.Digest.Short(), out.Format, contract.DatasetFormat)
	}
	out.Manifest, err = manifest.Open(ctx, store, out.Windows)
	return out, err
}

// Window returns the entries of window i.
func (d *Dataset) Window(ctx context.Context, i int) ([]contract.Entry, error) {
	items, err := d.Manifest.Chunk(ctx, i)
	if err != nil {
		return nil, err
	}
	entries := make([]contract.Entry, len(items))
	for n, item := range items {
		if err := json.Unmarshal(item, &entries[n]); err != nil {
			return nil, fmt.Errorf("manifest %s window %d entry %d: %w", d.Ref.Digest.Short(), i, n, err)
		}
	}
	return entries, nil
}

// Sizes are how many images the windows have.
func (d *Dataset) Sizes() []int {
	chunks := d.Manifest.Chunks()
	images := make([]int, len(chunks))
	for i := range chunks {
		images[i] = int(chunks[i].Count)
	}
	return images
}
