package activities

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/contract"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/derive"
)

// openLungs opens the CheXmask table. A compressed one is unpacked into the worker's cache
// once, because rows are looked up at their place.
func (a *Activities) openLungs(pl *derive.Plan, s *source) error {
	where, err := a.root(pl, dataLungs)
	if err != nil {
		return err
	}
	name, err := ds.FindCheXmask(where)
	if err != nil {
		return tableFailure(err)
	}
	if strings.HasSuffix(name, ".gz") {
		if where, name, err = a.unpackLungs(where, name); err != nil {
			return err
		}
	}
	s.lungs, err = ds.OpenCheXmask(where, name, ds.CheXmaskOptions{})
	return tableFailure(err)
}

// unpackLungs writes a plain copy of a compressed table and returns where it is. The
// copy's name follows size and time of the original.
func (a *Activities) unpackLungs(where fs.FS, name string) (fs.FS, string, error) {
	if a.opts.Cache == "" {
		return nil, "", fail(contract.ErrTypeDataset, "the CheXmask table is compressed and this worker has no cache folder; unpack it once with gunzip")
	}
	info, err := fs.Stat(where, name)
	if err != nil {
		return nil, "", err
	}
	id := artifacts.Sum([]byte(fmt.Sprintf("%s %d %d", name, info.Size(), info.ModTime().UnixNano())))
	plain := "chexmask-" + id.Short() + ".csv"
	cache := os.DirFS(a.opts.Cache)
	if _, err := fs.Stat(cache, plain); err == nil {
		return cache, plain, nil
	}
	packed, err := ds.OpenCheXmask(where, name, ds.CheXmaskOptions{})
	if err != nil {
		return nil, "", tableFailure(err)
	}
	if err := os.MkdirAll(a.opts.Cache, 0o700); err != nil {
		return nil, "", err
	}
	tmp, err := os.CreateTemp(a.opts.Cache, "chexmask-*.tmp")
	if err != nil {
		return nil, "", err
	}
	defer os.Remove(tmp.Name())
	_, err = packed.Unpack(tmp)
	if err := errors.Join(tableFailure(err), tmp.Close()); err != nil {
		return nil, "", err
	}
	return cache, plain, os.Rename(tmp.Name(), filepath.Join(a.opts.Cache, plain))
}

// scanLungs stores the index of the CheXmask table.
func (a *Activities) scanLungs(p *pulse, pl *derive.Plan, s *source) (artifacts.Ref, error) {
	if s.lungs == nil {
		return artifacts.Ref{}, nil
	}
	index, err := s.lungs.BuildIndex()
	if err != nil {
		return artifacts.Ref{}, tableFailure(err)
	}
	return a.opts.Store.ForClass(pl.Class()).Put(p.work, index.Encode(), ds.CheXmaskIndexMediaType)
}

// companions adds boxes and the second lung contour to an entry. What is missing or
// unusable is noted, not failed: tasks say what they lack.
func (c *chunk) companions(e *contract.Entry) error {
	if c.src.boxes != nil {
		scene, _, err := c.src.boxes.Scene(e.ID, e.Width, e.Height)
		if err != nil {
			return fmt.Errorf("case %d: %w", e.Case, err)
		}
		c.note("box.heart." + scene.Heart.State.String())
		c.note("box.upper_mediastinum." + scene.UpperMediastinum.State.String())
		for name, b := range scene.Boxes() {
			if e.Boxes == nil {
				e.Boxes = map[string][4]int{}
			}
			e.Boxes[name] = [4]int{b.X0, b.Y0, b.X1, b.Y1}
		}
	}
	if c.src.lungs == nil {
		return nil
	}
	row, ok, err := c.src.lungs.Lookup(c.index, e.ID)
	if err != nil {
		return tableFailure(fmt.Errorf("case %d: %w", e.Case, err))
	}
	if !ok {
		c.note("lung." + ds.OrganNoRow.String())
		return nil
	}
	organ := row.Mask(ds.OrganRightLung, e.Width, e.Height, *c.plan.Spec.Dataset.LungsMinDice)
	c.note("lung." + organ.State.String())
	if !organ.Present() {
		return nil
	}
	m, err := anatomy.NewMasks(e.Width, e.Height, e.Width, e.Height, anatomy.SetOf(anatomy.RightLung))
	if err != nil {
		return err
	}
	if err := m.Put(anatomy.RightLung, organ.Mask); err != nil {
		return err
	}
	e.Lung, err = c.store.Put(c.pulse.work, m.Encode(), anatomy.MediaType)
	return err
}

func (c *chunk) note(name string) {
	c.tally.totals.Notes = contract.AddCount(c.tally.totals.Notes, name, 1)
}
