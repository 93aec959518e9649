package review

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"cxrepro/internal/chexstruct"
)

// ParquetMediaType of the tables.
const ParquetMediaType = "application/vnd.apache.parquet"

// FindingRow is one row of the findings table: one image and one diagnostic task. The
// columns are described in docs/review.md; changing one changes TableVersion.
type FindingRow struct {
	// Case is our own number of the image, Image its digest.
	Case  int64  `parquet:"case"`
	Image string `parquet:"image"`
	View  string `parquet:"view,dict"`
	Task  string `parquet:"task,dict"`
	// Kept tells whether the global filter kept the image; the summary counts kept rows only.
	Kept   bool    `parquet:"kept"`
	Status string  `parquet:"status,dict"`
	Reason *string `parquet:"reason,optional,dict"`
	// Failed are the quality rules that are false, in order.
	Failed []string `parquet:"failed,list"`
	Label  *string  `parquet:"label,optional,dict"`
	// Index1 is the measured figure, or the right side's where there are two; IndexText
	// stands for a direction. Rounded is the figure that the label rule compares.
	Index1    *float64 `parquet:"index_1,optional"`
	Index2    *float64 `parquet:"index_2,optional"`
	IndexText *string  `parquet:"index_text,optional,dict"`
	Rounded1  *float64 `parquet:"rounded_1,optional"`
	Rounded2  *float64 `parquet:"rounded_2,optional"`
	// Measurements and QC are JSON objects: a value by name, and pass and value by rule.
	Measurements string `parquet:"measurements,json"`
	QC           string `parquet:"qc,json"`
}

// ImageRow is one row of the image table: one image and the global filter.
type ImageRow struct {
	Case          int64    `parquet:"case"`
	Image         string   `parquet:"image"`
	View          string   `parquet:"view,dict"`
	Width         int32    `parquet:"width"`
	Height        int32    `parquet:"height"`
	Kept          bool     `parquet:"kept"`
	Failed        []string `parquet:"failed,list"`
	Orientation   string   `parquet:"orientation,dict"`
	MaskCount     *float64 `parquet:"mask_count,optional"`
	HeartPosition *float64 `parquet:"heart_position,optional"`
	GradientMean  *float64 `parquet:"gradient_mean,optional"`
}

// TableVersion is written into the tables' metadata.
const TableVersion = "1"

// groupRows is how many rows a row group holds at most; it bounds the memory of writing.
const groupRows = 64 << 10

// table writes rows as they come. Equal rows give equal bytes.
type table[T any] struct {
	w *parquet.GenericWriter[T]
	n int
}

func newTable[T any](out io.Writer, name, rules, class string) *table[T] {
	return &table[T]{w: parquet.NewGenericWriter[T](out,
		parquet.Compression(&parquet.Zstd), parquet.CreatedBy("cxrepro", TableVersion, ""),
		parquet.KeyValueMetadata("cxrepro.table", name), parquet.KeyValueMetadata("cxrepro.table_version", TableVersion),
		parquet.KeyValueMetadata("cxrepro.rules", rules), parquet.KeyValueMetadata("cxrepro.data_use", class))}
}

func (t *table[T]) add(rows ...T) error {
	if _, err := t.w.Write(rows); err != nil {
		return fmt.Errorf("write parquet: %w", err)
	}
	if t.n += len(rows); t.n >= groupRows {
		t.n = 0
		return t.w.Flush()
	}
	return nil
}

func (t *table[T]) close() error { return t.w.Close() }

// findingRows turns an image's rows into rows of the findings table.
func findingRows(r *imageRows) ([]FindingRow, error) {
	out := make([]FindingRow, len(r.Findings))
	for i := range r.Findings {
		f := &r.Findings[i]
		var parts struct {
			Measurements json.RawMessage `json:"measurements"`
			QC           json.RawMessage `json:"qc"`
		}
		if err := json.Unmarshal(r.Raw[i], &parts); err != nil {
			return nil, fmt.Errorf("%s of image %s: %w", f.Task, r.Entry.Image.Short(), err)
		}
		row := &out[i]
		*row = FindingRow{
			Case: int64(r.Entry.Case), Image: r.Entry.Image.String(), View: r.Entry.View, Task: f.Task.String(), Kept: r.Global.Keep(),
			Status: f.Status.String(), Reason: orNil(f.Reason), Failed: ruleNames(f.Failed()), Label: orNil(f.Label),
			Measurements: string(parts.Measurements), QC: string(parts.QC),
		}
		row.Index1, row.Index2 = figures2(f.Index)
		row.Rounded1, row.Rounded2 = figures2(f.Rounded)
		if text, ok := f.Index.Text(); ok {
			row.IndexText = &text
		}
	}
	return out, nil
}

func imageRow(r *imageRows) ImageRow {
	row := ImageRow{
		Case: int64(r.Entry.Case), Image: r.Entry.Image.String(), View: r.Entry.View, Width: int32(r.Entry.Width), Height: int32(r.Entry.Height),
		Kept: r.Global.Keep(), Failed: ruleNames(r.Global.Failed()), Orientation: string(r.Global.Orientation),
	}
	for _, c := range r.Global.Checks {
		v, ok := c.Value.Float()
		if !ok {
			continue
		}
		switch c.Rule {
		case chexstruct.RuleMaskCount:
			row.MaskCount = &v
		case chexstruct.RuleHeartPosition:
			row.HeartPosition = &v
		case chexstruct.RuleGradient:
			row.GradientMean = &v
		}
	}
	return row
}

func orNil[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	text := string(s)
	return &text
}

func ruleNames(rules []chexstruct.Rule) []string {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.String()
	}
	return names
}

// figures2 returns the one or two numbers of an index.
func figures2(v chexstruct.Value) (a, b *float64) {
	get := func(v chexstruct.Value) *float64 {
		if f, ok := v.Float(); ok {
			return &f
		}
		return nil
	}
	if v.Len() == 2 {
		return get(v.At(0)), get(v.At(1))
	}
	return get(v), nil
}
