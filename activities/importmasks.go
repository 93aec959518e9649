package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/derive"
)

// KindCase is the import kind of case files, <stem>.json each; the other kinds are the
// output forms of the CXAS program.
const KindCase = "case"

// caseMasks reads masks from case files.
type caseMasks struct {
	fsys     fs.FS
	declared anatomy.Set
}

func (c caseMasks) Declared() anatomy.Set { return c.declared }
func (c caseMasks) Close() error          { return nil }

// Masks reads the case file of one picture; its grid must be the picture's.
func (c caseMasks) Masks(stem string, width, height int) (*anatomy.Masks, error) {
	bad := func(class ds.MaskFileClass, detail string) error {
		return &ds.MaskFileError{Class: class, Detail: detail}
	}
	data, err := fs.ReadFile(c.fsys, stem+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, bad(ds.MasksMissing, "no case file for the picture")
	}
	if err != nil {
		return nil, err
	}
	one, err := chexstruct.ParseCase("file", data)
	if err != nil {
		return nil, bad(ds.MasksDamaged, err.Error())
	}
	m := one.Input.Masks
	if m.GridW != width || m.GridH != height {
		return nil, bad(ds.MasksWrongSize, fmt.Sprintf("masks are %d x %d, the picture is %d x %d", m.GridW, m.GridH, width, height))
	}
	out, err := anatomy.NewMasks(width, height, width, height, c.declared)
	if err != nil {
		return nil, err
	}
	for _, s := range c.declared.List() {
		if err := out.Put(s, m.Mask(s)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// openMasks opens the plan's mask files.
func (a *Activities) openMasks(pl *derive.Plan) (ds.MaskSource, error) {
	imp := pl.Spec.Masks.Import
	root, err := a.root(pl, dataMasks)
	if err != nil {
		return nil, err
	}
	sub, err := fs.Sub(root, imp.Folder)
	if err != nil {
		return nil, fail(contract.ErrTypeSpec, "masks.import.folder: %w", err)
	}
	if imp.Kind == KindCase {
		return caseMasks{fsys: sub, declared: imp.Declared()}, nil
	}
	format, err := ds.ParseMaskFormat(imp.Kind)
	if err != nil {
		return nil, fail(contract.ErrTypeSpec, "masks.import.kind: %w; or %s", err, KindCase)
	}
	src, err := ds.OpenCXAS(sub, format, ds.CXASOptions{Structures: imp.Declared()})
	if err != nil {
		return nil, fail(contract.ErrTypeDataset, "masks.import: %w", err)
	}
	return src, nil
}

// maskFiles reads an image's mask files and records the masks. The entry then names them by
// digest. ok is false when the files are unusable and the image went into quarantine.
func (c *chunk) maskFiles(row ds.Row, e *contract.Entry) (ok bool, err error) {
	if c.src.masks == nil {
		return true, nil
	}
	name := stem(e.Path)
	if d, known := c.knownMasks(name, *e); known {
		e.Masks = d
		return true, nil
	}
	stat := c.maskStat(name)
	m, err := c.src.masks.Masks(name, e.Width, e.Height)
	var bad *ds.MaskFileError
	if errors.As(err, &bad) {
		c.reject(row, bad.Class.String(), bad.Error(), e.Image, e.Size)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("masks of case %d: %w", e.Case, err)
	}
	data := m.Encode()
	e.Masks = artifacts.Sum(data)
	// The segmentation stage counts this key; here it is only made.
	uncounted := &tally{effort: c.tally.effort}
	_, err = c.a.steps.once(c.pulse, c.plan.MasksKey(*e), uncounted, c.plan.Class(), func(context.Context) (product, error) {
		return product{data: data, mediaType: anatomy.MediaType}, nil
	})
	if err == nil && stat != nil && c.a.opts.Digests != nil {
		if err := c.a.opts.Digests.Store(c.maskSpace(), name, stat.Size(), stat.ModTime(), e.Masks); err != nil {
			c.a.opts.Log.Warn("digest not remembered", "err", err)
		}
	}
	return err == nil, err
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// maskSpace separates remembered mask digests by the way they were read.
func (c *chunk) maskSpace() string {
	imp := c.plan.Spec.Masks.Import
	return c.plan.Spec.Dataset.Name + "|" + imp.Kind + "|" + imp.Folder + "|" + strings.Join(imp.Structures, ",")
}

// maskStat describes the one file that holds an image's masks, or nil where there are many.
func (c *chunk) maskStat(name string) fs.FileInfo {
	imp := c.plan.Spec.Masks.Import
	ext := map[string]string{KindCase: ".json", "json": ".json", "npy": ".npy", "npz": ".npz"}[imp.Kind]
	if ext == "" {
		return nil
	}
	root, err := c.a.root(c.plan, dataMasks)
	if err != nil {
		return nil
	}
	info, err := fs.Stat(root, path.Join(imp.Folder, name+ext))
	if err != nil {
		return nil
	}
	return info
}

// knownMasks returns the digest of masks that were read before from an unchanged file and
// still have their record.
func (c *chunk) knownMasks(name string, e contract.Entry) (artifacts.Digest, bool) {
	stat := c.maskStat(name)
	if c.a.opts.Digests == nil || stat == nil {
		return artifacts.Digest{}, false
	}
	d, ok := c.a.opts.Digests.Lookup(c.maskSpace(), name, stat.Size(), stat.ModTime())
	if !ok {
		return artifacts.Digest{}, false
	}
	e.Masks = d
	key, err := c.plan.MasksKey(e).Key()
	if err != nil {
		return artifacts.Digest{}, false
	}
	_, err = c.a.opts.Store.Lookup(c.pulse.work, key)
	return d, err == nil
}

// importMasks reads an image's mask files again, when their record is gone.
func (a *Activities) importMasks(pl *derive.Plan, e contract.Entry) (*anatomy.Masks, error) {
	src, err := a.openMasks(pl)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	m, err := src.Masks(stem(e.Path), e.Width, e.Height)
	var bad *ds.MaskFileError
	if errors.As(err, &bad) {
		return nil, fail(contract.ErrTypeInputChanged, "masks of case %d: %w", e.Case, err)
	}
	if err != nil {
		return nil, err
	}
	if artifacts.Sum(m.Encode()) != e.Masks {
		return nil, fail(contract.ErrTypeInputChanged, "masks of case %d differ from what ingest read; run again to read the folder anew", e.Case)
	}
	return m, nil
}
