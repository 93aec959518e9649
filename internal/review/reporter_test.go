package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
)

// TestReports makes every report twice and reads the tables back against the rows.
func TestReports(t *testing.T) {
	b := newBench(t, golden(t, 7), "synthetic")
	r := &Reporter{Temporary: t.TempDir(), Options: Options{PerStratum: 3, Bins: 3, side: 160}}
	made, err := r.Report(t.Context(), b.in)
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.Report(t.Context(), b.in)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(made, again); d != "" {
		t.Errorf("the same results gave other reports (-first +second):\n%s", d)
	}
	if left, err := os.ReadDir(r.Temporary); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	byName := map[string][]byte{}
	for _, m := range made {
		if byName[m.Name], err = b.in.Store.Get(t.Context(), m.Ref); err != nil {
			t.Fatal(err)
		}
	}
	checkFindings(t, b, byName[ReportFindings])
	checkImages(t, b, byName[ReportImages])
	dir := t.TempDir()
	n, err := Unpack(bytes.NewReader(byName[ReportSheet]), int64(len(byName[ReportSheet])), dir)
	if err != nil || n < 30 {
		t.Errorf("unpacked %d files: %v", n, err)
	}
	for _, want := range []string{"index.html", "style.css", "cardiomegaly.html", "ranges-cardiomegaly.html", "filter-mask_count.html", "contact/rotation.png", "verdicts.csv"} {
		if _, err := os.Stat(filepath.Join(dir, want)); err != nil {
			t.Errorf("sheet: %v", err)
		}
	}
	if ref, ok := Sheet(&contract.Receipt{Reports: made}); !ok || ref.MediaType != "application/zip" {
		t.Errorf("the receipt's sheet is %v", ref)
	}
	lines := strings.Count(string(byName[ReportFigures]), "\n")
	if lines < 1+6+12*3+12*5 {
		t.Errorf("summary.csv has %d lines", lines)
	}
}

func checkFindings(t *testing.T, b *bench, data []byte) {
	t.Helper()
	rows, err := parquet.Read[FindingRow](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 7*12 {
		t.Fatalf("%d rows, want one per image and task", len(rows))
	}
	at := 0
	for i := range b.in.Windows {
		w, _ := b.in.Window(t.Context(), i)
		for k, e := range w.Entries {
			for _, task := range chexstruct.Tasks() {
				var f struct {
					Status       string          `json:"status"`
					Label        *string         `json:"label"`
					Failed       []string        `json:"failed"`
					Index        any             `json:"index"`
					Measurements json.RawMessage `json:"measurements"`
				}
				if err := json.Unmarshal(w.Rows[task.String()][k].Finding, &f); err != nil {
					t.Fatal(err)
				}
				got := rows[at]
				at++
				if got.Case != int64(e.Case) || got.Image != e.Image.String() || got.Task != task.String() || got.Status != f.Status || got.View != e.View {
					t.Fatalf("row %d is %+v, want case %d, %s, %s", at, got, e.Case, task, f.Status)
				}
				if d := cmp.Diff(f.Label, got.Label); d != "" {
					t.Errorf("case %d %s label: %s", e.Case, task, d)
				}
				if strings.Join(got.Failed, " ") != strings.Join(f.Failed, " ") || got.Measurements != string(f.Measurements) {
					t.Errorf("case %d %s: failed %v, measurements %s", e.Case, task, got.Failed, got.Measurements)
				}
				if v, ok := f.Index.(float64); ok && (got.Index1 == nil || *got.Index1 != v || got.Index2 != nil) {
					t.Errorf("case %d %s: index %v, want %v", e.Case, task, got.Index1, v)
				}
				if v, ok := f.Index.(string); ok && (got.IndexText == nil || *got.IndexText != v) {
					t.Errorf("case %d %s: index text %v, want %v", e.Case, task, got.IndexText, v)
				}
				if v, ok := f.Index.([]any); ok && (got.Index1 == nil || got.Index2 == nil || *got.Index1 != v[0] || *got.Index2 != v[1]) {
					t.Errorf("case %d %s: index %v %v, want %v", e.Case, task, got.Index1, got.Index2, v)
				}
				if got.Image == "" || strings.Contains(got.Image, e.ID) {
					t.Errorf("a row names the data set's identifier: %+v", got)
				}
			}
		}
	}
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := file.Lookup("cxrepro.data_use"); !ok || v != "synthetic" {
		t.Errorf("data use in the metadata is %q, %v", v, ok)
	}
}

func checkImages(t *testing.T, b *bench, data []byte) {
	t.Helper()
	rows, err := parquet.Read[ImageRow](bytes.NewReader(data), int64(len(data)))
	if err != nil || len(rows) != 7 {
		t.Fatalf("%d image rows: %v", len(rows), err)
	}
	kept := 0
	for _, r := range rows {
		if r.Kept {
			kept++
		}
		if r.MaskCount == nil || r.GradientMean == nil || r.Width < 512 {
			t.Errorf("image row %+v lacks figures of the filter", r)
		}
	}
	if kept != b.in.Summary.Global.Kept {
		t.Errorf("%d images kept, the summary says %d", kept, b.in.Summary.Global.Kept)
	}
}

// TestRowGroups holds that rows are written as they come, not kept.
func TestRowGroups(t *testing.T) {
	var out bytes.Buffer
	w := newTable[ImageRow](&out, "images", "corrected", "synthetic")
	row := ImageRow{Image: "sha256:0", Failed: []string{}}
	for i := range groupRows + 5 {
		row.Case = int64(i)
		if err := w.add(row); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() == 0 {
		t.Error("nothing was written before the end")
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(f.RowGroups()) != 2 || f.NumRows() != groupRows+5 {
		t.Errorf("%d row groups, %d rows: %v", len(f.RowGroups()), f.NumRows(), err)
	}
}

// BenchmarkScan is what one image costs in the pass over all rows, tables written.
func BenchmarkScan(b *testing.B) {
	n := newBench(b, golden(b, 20), "synthetic")
	ft, it := newTable[FindingRow](io.Discard, "findings", "", ""), newTable[ImageRow](io.Discard, "images", "", "")
	for b.Loop() {
		_, err := readAll(b.Context(), n.in, func(row *imageRows) error {
			rows, err := findingRows(row)
			return errors.Join(err, ft.add(rows...), it.add(imageRow(row)))
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(20*b.N), "µs/image")
}
