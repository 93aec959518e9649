package review

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cxrepro/activities"
	"cxrepro/internal/chexstruct"
)

// officialTable is one of the released tables: its name, and how its columns beyond
// image_file, viewposition and label come from a finding. A column without a source is
// left empty.
type officialTable struct {
	name    string
	columns []officialColumn
}

type officialColumn struct {
	name string
	from func(f *chexstruct.Finding) string
}

// one takes a measurement as it stands.
func one(column, measurement string) officialColumn {
	return officialColumn{column, func(f *chexstruct.Finding) string {
		v, _ := f.Measurement(measurement)
		return officialValue(v)
	}}
}

// index takes the task's index as measured, before any rounding.
func index(column string) officialColumn {
	return officialColumn{column, func(f *chexstruct.Finding) string { return officialValue(f.Index) }}
}

func indexPart(column string, part int) officialColumn {
	return officialColumn{column, func(f *chexstruct.Finding) string {
		if part >= f.Index.Len() {
			return ""
		}
		return officialValue(f.Index.At(part))
	}}
}

// element takes element i of a list measurement.
func element(column, measurement string, i int) officialColumn {
	return officialColumn{column, func(f *chexstruct.Finding) string {
		v, _ := f.Measurement(measurement)
		if i >= v.Len() {
			return ""
		}
		return officialValue(v.At(i))
	}}
}

func elements(prefix, measurement string, n int) []officialColumn {
	list := make([]officialColumn, n)
	for i := range list {
		list[i] = element(fmt.Sprintf("%s_%d", prefix, i+1), measurement, i)
	}
	return list
}

// end takes one end of a landmark of two points.
func end(column, name string, i int) officialColumn {
	return officialColumn{column, func(f *chexstruct.Finding) string {
		if pts := marks(f, name); i < len(pts) {
			return fmt.Sprintf("[%s, %s]", plainNumber(pts[i].X), plainNumber(pts[i].Y))
		}
		return ""
	}}
}

// officialValue writes numbers in full, lists as [a, b], absent values as nothing.
func officialValue(v chexstruct.Value) string {
	switch v.Kind() {
	case chexstruct.KindNumber:
		f, _ := v.Float()
		return plainNumber(f)
	case chexstruct.KindText:
		s, _ := v.Text()
		return s
	case chexstruct.KindList:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = officialValue(v.At(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return ""
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// officialTables lists the tables of the diagnostic tasks in the columns of the released
// ones.
//
// Source: [official code] column names; values are ours under the experiment's rules.
var officialTables = map[chexstruct.Task]officialTable{
	chexstruct.Cardiomegaly: {"cardiomegaly", []officialColumn{one("heart_xmin", "heart_xmin"), one("heart_xmax", "heart_xmax"), one("heart_width", "heart_width"),
		one("lung_xmin", "lung_xmin"), one("lung_xmax", "lung_xmax"), one("lung_width", "lung_width"), index("ctr")}},
	chexstruct.MediastinalWidening: {"mediastinal_widening", []officialColumn{one("mediastinum_xmin", "mediastinum_xmin"), one("mediastinum_xmax", "mediastinum_xmax"),
		one("mediastinum_width", "mediastinum_width"), one("lung_xmin", "lung_xmin"), one("lung_xmax", "lung_xmax"), one("lung_width", "lung_width"), index("mcr")}},
	chexstruct.CarinaAngle:               {"carina_angle", []officialColumn{one("point_1", "point_a"), one("point_2", "point_b"), one("point_3", "point_c"), index("angle")}},
	chexstruct.TracheaDeviation:          {"trachea_deviation", append([]officialColumn{index("direction"), one("direction_per_pnt", "sides")}, elements("point", "points", 9)...)},
	chexstruct.AorticKnobEnlargement:     {"aortic_knob_enlargement", []officialColumn{one("aortic_knob_width", "knob_width"), one("aortic_knob_xmin", "knob_xmin"), one("aortic_knob_xmax", "knob_xmax"), one("trachea_width", "trachea_width"), end("trachea_point_right", "trachea_width", 0), end("trachea_point_left", "trachea_width", 1), index("ratio")}},
	chexstruct.AscendingAortaEnlargement: {"ascending_aorta_enlargement", []officialColumn{one("heart_point", "heart_point"), one("trachea_point", "trachea_point"), index("ratio")}},
	chexstruct.DescendingAortaEnlargement: {"descending_aorta_enlargement", []officialColumn{one("trachea_width", "trachea_width"), end("trachea_point_right", "trachea_width", 0), end("trachea_point_left", "trachea_width", 1),
		one("desc_aorta_width", "width"), one("desc_aorta_point_right", "point_right"), one("desc_aorta_point_left", "point_left"), index("ratio")}},
	chexstruct.DescendingAortaTortuous: {"descending_aorta_tortuous", append(elements("point", "points", 6), index("curvature"))},
	chexstruct.Rotation: {"rotation", []officialColumn{one("distance_right", "distance_right"), one("distance_left", "distance_left"), one("medial_end_right", "medial_end_right"), one("medial_end_left", "medial_end_left"),
		one("midline_points", "vertebrae"), end("midline_point_top", "midline", 0), end("midline_point_bottom", "midline", 1), index("ratio")}},
	chexstruct.Projection: {"projection", []officialColumn{one("scapular_region_right", "scapula_right"), one("scapular_region_left", "scapula_left"), one("overlap_region_right", "overlap_right"), one("overlap_region_left", "overlap_left"),
		indexPart("ratio_right", 0), indexPart("ratio_left", 1)}},
	chexstruct.Inspiration: {"inspiration", []officialColumn{one("mid-clavicular_line(x)", "line_x"), index("rib_position")}},
	chexstruct.Inclusion:   {"inclusion", inclusionColumns()},
}

func inclusionColumns() []officialColumn {
	var list []officialColumn
	for _, part := range []string{"apex", "side", "bottom"} {
		for i, side := range sides {
			list = append(list, officialColumn{"label_" + part + "_" + side + "_lung", func(f *chexstruct.Finding) string {
				switch partFlag(f, part, i) {
				case chexstruct.FlagIncluded:
					return "1"
				case chexstruct.FlagExcluded:
					return "0"
				}
				return ""
			}}, one("point_"+part+"_"+side+"_lung", part+"_point_"+side), one("ratio_"+part+"_"+side+"_lung", part+"_ratio_"+side))
		}
	}
	return append(list, one("point_cpa_right_lung", "cpa_point_right"), one("point_cpa_left_lung", "cpa_point_left"))
}

// officialLabel is 1 for the class that a released table counts as 1: the abnormal one;
// for inclusion the included one, for projection AP.
func officialLabel(f *chexstruct.Finding) string {
	labels := chexstruct.Labels(f.Task)
	positive := labels[1]
	if f.Task == chexstruct.Inclusion {
		positive = labels[0]
	}
	if f.Label == positive {
		return "1"
	}
	return "0"
}

// csvFile is one table under way.
type csvFile struct {
	f   *os.File
	buf *bufio.Writer
	w   *csv.Writer
}

func createCSV(dir, name string, header []string) (*csvFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, name+".csv"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	c := &csvFile{f: f, buf: bufio.NewWriterSize(f, 1<<18)}
	c.w = csv.NewWriter(c.buf)
	return c, c.w.Write(header)
}

func (c *csvFile) close() error {
	c.w.Flush()
	return errors.Join(c.w.Error(), c.buf.Flush(), c.f.Close())
}

// ExportOfficial writes one CSV file per task in the columns of the released tables, and
// the three of the global filter, and returns their names. Only images that the filter kept
// and cases with a label have a line, as there. The column image_file names the picture as
// the data set does: these files belong where the data set belongs.
//
// Points that rows do not hold (ends of the trachea's width and of the midline) are
// measured again when again is set, which loads every mask; else their columns are empty.
func ExportOfficial(ctx context.Context, in activities.ReportInput, dir string, again bool) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	e := &official{ctx: ctx, in: in, again: again, tasks: map[chexstruct.Task]*csvFile{}}
	defer func() {
		for _, c := range e.files {
			err = errors.Join(err, c.close())
		}
	}()
	create := func(name string, header ...string) *csvFile {
		c, cerr := createCSV(dir, name, append([]string{"image_file", "viewposition"}, header...))
		if cerr != nil {
			err = errors.Join(err, cerr)
			return nil
		}
		e.files, names = append(e.files, c), append(names, name+".csv")
		return c
	}
	e.count = create("mask_number", "label", "mask_count")
	e.heart = create("abdomial_xray", "label", "ratio", "distance_upper", "distance_lower", "y_start", "y_heart_max", "y_end")
	e.gradient = create("window", "label", "gradient_mean")
	for _, t := range chexstruct.Tasks() {
		table := officialTables[t]
		header := []string{"label"}
		for _, c := range table.columns {
			header = append(header, c.name)
		}
		e.tasks[t] = create(table.name, header...)
	}
	if err != nil {
		return names, err
	}
	_, err = readAll(ctx, in, e.row)
	return names, err
}

// official is an export under way.
type official struct {
	ctx                    context.Context
	in                     activities.ReportInput
	again                  bool
	files                  []*csvFile
	count, heart, gradient *csvFile
	tasks                  map[chexstruct.Task]*csvFile
}

func (e *official) row(row *imageRows) error {
	global, findings := &row.Global, row.Findings
	if e.again {
		in, err := e.in.Input(e.ctx, row.Entry)
		if err != nil {
			return err
		}
		res, err := chexstruct.Assess(in, e.in.Rules, append([]chexstruct.Task{chexstruct.Global}, tasksOf(findings)...))
		if err != nil {
			return err
		}
		global, findings = res.Global, res.Findings
	}
	lead := []string{row.Entry.ID, row.Entry.View}
	for _, c := range global.Checks {
		fail := "0"
		if !c.Pass {
			fail = "1"
		}
		line := append(append([]string{}, lead...), fail, officialValue(c.Value))
		var err error
		switch c.Rule {
		case chexstruct.RuleMaskCount:
			err = e.count.w.Write(line)
		case chexstruct.RuleHeartPosition:
			err = e.heart.w.Write(append(line, heartRows(global)...))
		case chexstruct.RuleGradient:
			err = e.gradient.w.Write(line)
		}
		if err != nil {
			return err
		}
	}
	if !global.Keep() {
		return nil
	}
	for i := range findings {
		f := &findings[i]
		if f.Status != chexstruct.StatusOK {
			continue
		}
		line := append(append([]string{}, lead...), officialLabel(f))
		for _, c := range officialTables[f.Task].columns {
			line = append(line, c.from(f))
		}
		if err := e.tasks[f.Task].w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func tasksOf(list []chexstruct.Finding) []chexstruct.Task {
	out := make([]chexstruct.Task, len(list))
	for i := range list {
		out[i] = list[i].Task
	}
	return out
}

// heartRows are the rows behind the heart position, where they were measured again.
func heartRows(d *chexstruct.FilterDecision) []string {
	bottom, okB := d.Landmark("heart_bottom")
	content, okC := d.Landmark("content_rows")
	if !okB || !okC {
		return []string{"", "", "", "", ""}
	}
	start, heart, stop := content.Points[0].Y, bottom.Points[0].Y, content.Points[1].Y
	return []string{plainNumber(heart - start), plainNumber(stop - heart), plainNumber(start), plainNumber(heart), plainNumber(stop)}
}
