package cxreasonbench

import (
	"encoding/json"
	"fmt"
)

// LayoutWriter writes a benchmark in the official layout: the question files of its cases, the
// case lists, and beside them the items with everything that the official files do not say.
// Pictures are the caller's.
type LayoutWriter struct {
	// Write stores a file by its path below the benchmark's folder, with '/' as separator.
	Write func(name string, data []byte) error

	lists map[Task][]string
	items []byte
	tally Tally
}

// Case writes the items of a case. Cases come in the order of the case lists.
func (w *LayoutWriter) Case(task Task, id string, items []Item) error {
	if w.lists == nil {
		w.lists = map[Task][]string{}
		for _, t := range Tasks() {
			w.lists[t] = []string{}
		}
	}
	w.lists[task] = append(w.lists[task], id)
	w.tally.Count(items...)
	for i := range items {
		data, err := items[i].Official()
		if err != nil {
			return err
		}
		if err := w.Write(items[i].File(), data); err != nil {
			return err
		}
		line, err := json.Marshal(&items[i])
		if err != nil {
			return err
		}
		w.items = append(append(w.items, line...), '\n')
	}
	return nil
}

// Tally returns the account of the cases so far.
func (w *LayoutWriter) Tally() Tally { return w.tally }

// Close writes the case lists, the items and the manifest.
func (w *LayoutWriter) Close(m Manifest) error {
	list, err := CaseList(w.lists)
	if err != nil {
		return err
	}
	manifest, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("cxreasonbench: %s: %w", ManifestFile, err)
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{CaseListFile, list}, {ItemsFile, w.items}, {ManifestFile, append(manifest, '\n')}} {
		if err := w.Write(f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

// PictureFile is where a picture lies below the benchmark's folder; radiographs are those of
// the data set, below "files/".
func PictureFile(p Picture) string {
	switch p.Kind {
	case StructurePicture:
		return StructureFolder + p.Path
	case AnnotatedPicture:
		return AnnotatedFolder + p.Path
	}
	return "files/" + p.Path
}
