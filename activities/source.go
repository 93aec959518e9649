package activities

import (
	"errors"
	"io/fs"
	"sync"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	ds "cxrepro/internal/dataset"
	"cxrepro/internal/derive"
)

// Names under which companions of a data set may have a data root of their own.
const (
	dataBoxes = "chest-imagenome"
	dataLungs = "chexmask"
	dataMasks = "masks"
)

// source is a data set open for reading, with its companions.
type source struct {
	root  fs.FS
	mimic *ds.MIMIC
	boxes *ds.ImaGenome
	lungs *ds.CheXmask
	masks ds.MaskSource
}

// sources keeps data sets open: their tables are read once per worker, not per chunk.
type sources struct {
	mu   sync.Mutex // guards open
	open map[artifacts.Digest]*source
}

// openSource opens the plan's data set for one pass over its tables.
func (a *Activities) openSource(pl *derive.Plan) (*source, error) {
	root, err := a.root(pl, "")
	if err != nil {
		return nil, err
	}
	sel, err := selection(pl.Spec.Dataset)
	if err != nil {
		return nil, err
	}
	s := &source{root: root}
	if s.mimic, err = ds.OpenMIMIC(root, ds.MIMICOptions{Selection: sel}); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail(contract.ErrTypeDataset, "data set %q: the folder given with --data does not exist", pl.Spec.Dataset.Name)
		}
		return nil, tableFailure(err)
	}
	if pl.Spec.Dataset.Boxes == experiments.BoxesChest {
		where, err := a.root(pl, dataBoxes)
		if err != nil {
			return nil, err
		}
		if s.boxes, err = ds.OpenImaGenome(where); err != nil {
			return nil, fail(contract.ErrTypeDataset, "dataset.boxes %s: %w; give its folder with --data %s=FOLDER", experiments.BoxesChest, err, dataBoxes)
		}
	}
	if pl.Spec.Dataset.Lungs == experiments.LungsMask {
		if err := a.openLungs(pl, s); err != nil {
			return nil, err
		}
	}
	if pl.Spec.Masks.Import != nil {
		if s.masks, err = a.openMasks(pl); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// close releases what the companions hold open.
func (s *source) close() {
	// Closing a file that was only read loses nothing.
	if s.boxes != nil {
		_ = s.boxes.Close()
	}
	if s.masks != nil {
		_ = s.masks.Close()
	}
}

// source returns the plan's data set, opened once per row list and kept: an open data set
// costs its checksum list, and chunks of one list follow each other.
func (a *Activities) source(pl *derive.Plan, rows artifacts.Digest) (*source, error) {
	a.sources.mu.Lock()
	defer a.sources.mu.Unlock()
	if s, ok := a.sources.open[rows]; ok {
		return s, nil
	}
	s, err := a.openSource(pl)
	if err != nil {
		return nil, err
	}
	a.sources.open[rows] = s
	return s, nil
}
