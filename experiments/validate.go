package experiments

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
	"cxrepro/internal/strictyaml"
)

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// maxTitle keeps texts that become search attributes within every database's limit.
const maxTitle = 200

// rowMaskCount is the row that a mask source with fewer structures must override.
const rowMaskCount = "global.mask_count.mask_num_min"

// validation checks the values of a decoded spec or card.
type validation struct{ strictyaml.Findings }

func (v *validation) oneOf(field, got string, allowed ...string) {
	if !slices.Contains(allowed, got) {
		v.Add(field, "%q is not one of %s", got, strings.Join(allowed, ", "))
	}
}

func (v *validation) title(field, got string) {
	if got == "" || len(got) > maxTitle {
		v.Add(field, "want 1 to %d characters, got %d", maxTitle, len(got))
	}
}

// validate checks s across its fields and brings it into normal form.
func validate(s *Spec, file string, origin map[string]string) error {
	v := &validation{strictyaml.Findings{File: file, Origin: origin}}
	if !nameForm.MatchString(s.Name) || len(s.Name) > 64 {
		v.Add("name", "%q: want lower-case letters and digits in words joined by '-', at most 64", s.Name)
	}
	v.title("paper", s.Paper)
	if _, err := Rules(s); err != nil {
		v.rules(err)
	}
	if s.Agent != nil {
		v.agentSpec(s)
		return v.Err()
	}
	v.absent("an experiment without an agent section", "dataset.quiz", "dataset.counts", "training")
	if s.released() {
		v.release(s)
	} else if v.stated(builtOnly...) {
		v.tasks(s)
		v.dataset(&s.Dataset)
		v.masks(&s.Masks)
	}
	v.benchmark(s)
	v.evaluation(s)
	if s.Expected != nil {
		v.expected(s.Expected)
	}
	return v.Err()
}

// Rules returns the threshold table under the spec's preset and overrides.
func Rules(s *Spec) (*chexstruct.Rules, error) {
	preset, ok := chexstruct.ParsePreset(s.Preset)
	if !ok {
		return nil, fmt.Errorf("no preset is called %q; the presets are %v", s.Preset, chexstruct.Presets())
	}
	return chexstruct.NewRules(preset, s.Thresholds)
}

func (v *validation) rules(err error) {
	var value *chexstruct.ThresholdError
	var unknown *chexstruct.UnknownRowError
	switch {
	case errors.As(err, &value):
		v.Add("thresholds."+value.Row, "%v", value)
	case errors.As(err, &unknown):
		v.Add("thresholds."+unknown.Row, "%v", unknown)
	default:
		v.Add("preset", "%v", err)
	}
}

// tasks checks the task list and puts it into the table's order.
func (v *validation) tasks(s *Spec) {
	var known []string
	for _, t := range chexstruct.Sections() {
		if t != chexstruct.Global {
			known = append(known, t.String())
		}
	}
	for i, t := range s.Tasks {
		field := fmt.Sprintf("tasks[%d]", i)
		switch {
		case t == chexstruct.Global.String():
			v.Add(field, "the global filter always runs; leave it out")
		case !slices.Contains(known, t):
			v.Add(field, "no task is called %q; the tasks are %s", t, strings.Join(known, ", "))
		case slices.Contains(s.Tasks[:i], t):
			v.Add(field, "%q stands twice", t)
		}
	}
	if len(s.Tasks) == 0 {
		v.Add("tasks", "want at least one of %s", strings.Join(known, ", "))
	}
	slices.SortFunc(s.Tasks, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
}

// root checks the name of a data root.
func (v *validation) root(field, name string) {
	if !nameForm.MatchString(name) || len(name) > 64 {
		v.Add(field, "%q: want lower-case letters and digits in words joined by '-'", name)
	}
}

func (v *validation) dataUse(d *Dataset) {
	if _, err := datause.Parse(d.DataUse); err != nil {
		v.Add("dataset.data_use", "%v", err)
	}
}

func (v *validation) dataset(d *Dataset) {
	v.root("dataset.name", d.Name)
	v.dataUse(d)
	v.oneOf("dataset.layout", d.Layout, LayoutMIMIC)
	v.oneOf("dataset.split", d.Split, SplitAll, "train", "validate", "test")
	v.oneOf("dataset.boxes", d.Boxes, BoxesChest, SourceNone)
	v.oneOf("dataset.lungs", d.Lungs, LungsMask, SourceNone)
	if len(d.Views) == 0 {
		v.Add("dataset.views", "want at least one view position, for example [PA, AP]")
	}
	for i, text := range d.Views {
		if view, ok := cxr.ParseView(text); !ok || view.String() != text {
			v.Add(fmt.Sprintf("dataset.views[%d]", i), "%q is not one of PA, AP, LATERAL, OTHER", text)
		}
		if slices.Contains(d.Views[:i], text) {
			v.Add(fmt.Sprintf("dataset.views[%d]", i), "%q stands twice", text)
		}
	}
	slices.Sort(d.Views)
	if d.Limits.MaxBytes < 1 {
		v.Add("dataset.limits.max_bytes", "want a positive number of bytes, got %d", d.Limits.MaxBytes)
	}
	if d.Limits.MaxPixels < 1 {
		v.Add("dataset.limits.max_pixels", "want a positive number of pixels, got %d", d.Limits.MaxPixels)
	}
	switch q := d.LungsMinDice; {
	case d.Lungs == LungsMask && q == nil:
		v.Add("dataset.lungs_min_dice", "is missing; dataset.lungs chexmask needs it (0 takes every contour, the publisher advises 0.7)")
	case d.Lungs != LungsMask && q != nil:
		v.Add("dataset.lungs_min_dice", "goes only with dataset.lungs chexmask")
	case q != nil && (*q < 0 || *q > 1):
		v.Add("dataset.lungs_min_dice", "want 0 to 1, got %v", *q)
	}
	if s := d.Sampling; s != nil {
		if s.Limit < 1 {
			v.Add("dataset.sampling.limit", "want a positive number of images, got %d; leave sampling out to take all", s.Limit)
		}
		v.oneOf("dataset.sampling.order", s.Order, OrderTable, OrderHash)
	}
}

func (v *validation) masks(m *Masks) {
	v.oneOf("masks.source", m.Source, MasksONNX, MasksImport)
	switch m.Source {
	case MasksONNX:
		if m.Card == "" {
			v.Add("masks.card", "is missing; masks.source onnx names a model card")
		}
		v.oneOf("masks.provider", m.Provider, "cpu", "cuda")
		if m.Import != nil {
			v.Add("masks.import", "does not go with masks.source onnx")
		}
	case MasksImport:
		if m.Card != "" {
			v.Add("masks.card", "does not go with masks.source import")
		}
		if m.Provider != "" {
			v.Add("masks.provider", "does not go with masks.source import")
		}
		if m.Import == nil {
			v.Add("masks.import", "is missing; masks.source import needs kind and folder")
			return
		}
		if m.Import.Folder == "" {
			v.Add("masks.import.folder", "is empty; name the folder of the mask files below the data root")
		}
		for i, name := range m.Import.Structures {
			if _, ok := anatomy.ByName(name); !ok {
				v.Add(fmt.Sprintf("masks.import.structures[%d]", i), "no structure is called %q", name)
			}
		}
	}
}

func (v *validation) expected(e *Expected) {
	v.title("expected.source", e.Source)
	if e.Kept > e.Images {
		v.Add("expected.kept", "%d is more than expected.images %d", e.Kept, e.Images)
	}
	for i, row := range e.Tasks {
		field := fmt.Sprintf("expected.tasks[%d]", i)
		task, ok := chexstruct.ParseTask(row.Task)
		if !ok || !task.Diagnostic() {
			v.Add(field+".task", "no diagnostic task is called %q", row.Task)
			continue
		}
		sum := 0
		labels := chexstruct.Labels(task)
		for _, l := range labels {
			sum += row.Labels[string(l)]
		}
		if len(row.Labels) != len(labels) || sum != row.Total {
			v.Add(field+".labels", "want a count for each of %v that sum to %d", labels, row.Total)
		}
	}
}

// CheckMasks reports a mask source that cannot produce every structure of the mask-count
// filter while the filter's limit stands as published: every image would be dropped.
func CheckMasks(s *Spec, declared anatomy.Set) error {
	have := declared.And(anatomy.FilterSet()).Len()
	all := anatomy.FilterSet().Len()
	if _, ok := s.Thresholds[rowMaskCount]; ok || have == all {
		return nil
	}
	return &SpecError{Problems: []Problem{{
		Where: "spec " + s.Name, Field: "thresholds",
		Message: fmt.Sprintf("the mask source produces %d of the %d structures that the global filter counts; "+
			"state the limit for this source, for example `%s: %d`", have, all, rowMaskCount, have*70/all),
	}}}
}

// Declared returns the structures that imported masks can hold.
func (i *Import) Declared() anatomy.Set {
	if len(i.Structures) == 0 {
		return anatomy.AllSet()
	}
	var list []anatomy.Structure
	for _, name := range i.Structures {
		if s, ok := anatomy.ByName(name); ok {
			list = append(list, s)
		}
	}
	return anatomy.SetOf(list...)
}
