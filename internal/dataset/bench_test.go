package dataset

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"

	"cxrepro/artifacts"
	"cxrepro/internal/mask"
)

// publishedSize is a folder with tables of MIMIC-CXR-JPG's length and no pictures.
var publishedSize = sync.OnceValue(func() fstest.MapFS {
	var metadata, split, sums bytes.Buffer
	zm, zs := gzip.NewWriter(&metadata), gzip.NewWriter(&split)
	fmt.Fprintln(zm, "dicom_id,subject_id,study_id,PerformedProcedureStepDescription,ViewPosition,Rows,Columns,StudyDate,StudyTime,ProcedureCodeSequence_CodeMeaning,ViewCodeSequence_CodeMeaning,PatientOrientationCodeSequence_CodeMeaning")
	fmt.Fprintln(zs, "dicom_id,study_id,subject_id,split")
	views := []string{"AP", "PA", "LATERAL", "AP", "LL", "PA", ""}
	for i := range publishedRows {
		d := artifacts.Sum(fmt.Append(nil, i))
		id, subject, study := LayoutID(d), 10000000+i/6, 50000000+i/2
		fmt.Fprintf(zm, "%s,%d,%d,CHEST (PA AND LAT),%s,3056,2544,21800506,213014.531,CHEST (PA AND LAT),postero-anterior,Erect\n", id, subject, study, views[i%7])
		fmt.Fprintf(zs, "%s,%d,%d,train\n", id, study, subject)
		path, err := ImagePath(fmt.Sprint(subject), fmt.Sprint(study), id)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&sums, "%s  %s\n", d.Hex(), path)
	}
	zm.Close()
	zs.Close()
	return fstest.MapFS{MetadataFile: {Data: metadata.Bytes()}, SplitFile: {Data: split.Bytes()}, SumsFile: {Data: sums.Bytes()}}
})

func BenchmarkOpenPublishedSize(b *testing.B) {
	f := publishedSize()
	for b.Loop() {
		if _, err := OpenMIMIC(f, frontal()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(publishedRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkRowsPublishedSize(b *testing.B) {
	f := publishedSize()
	bare := liveHeap()
	m, err := OpenMIMIC(f, frontal())
	if err != nil {
		b.Fatal(err)
	}
	opened, reading := liveHeap(), int64(0)
	pass := func(last func()) {
		n := 0
		for row, err := range m.Rows(0, -1) {
			if err != nil {
				b.Fatal(err)
			}
			if row.Entry.Outcome == 0 {
				b.Fatal("a row without an outcome")
			}
			if n++; n == publishedRows {
				last()
			}
		}
		if n != publishedRows {
			b.Fatalf("%d rows", n)
		}
	}
	for b.Loop() {
		pass(func() {})
	}
	b.ReportMetric(float64(publishedRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	pass(func() { reading = liveHeap() })
	b.ReportMetric(float64(opened-bare)/1e6, "MB-opened")
	b.ReportMetric(float64(reading-opened)/1e6, "MB-at-last-row")
}

// Reading on costs no more memory than the keys of the ids seen.
func TestRowsMemory(t *testing.T) {
	const rows, perRow = 40000, 64
	var table bytes.Buffer
	table.WriteString("dicom_id,subject_id,study_id,ViewPosition,Rows,Columns\n")
	for i := range rows {
		fmt.Fprintf(&table, "%s,%d,%d,PA,3056,2544\n", LayoutID(artifacts.Sum(fmt.Append(nil, i))), 10000000+i, 50000000+i)
	}
	m := openFrontal(t, fstest.MapFS{"mimic-cxr-2.0.0-metadata.csv": {Data: table.Bytes()}})
	n, early, late := 0, int64(0), int64(0)
	for _, err := range m.Rows(0, -1) {
		if err != nil {
			t.Fatal(err)
		}
		switch n++; n {
		case 1000:
			early = liveHeap()
		case rows:
			late = liveHeap()
		}
	}
	if n != rows || late-early > rows*perRow {
		t.Errorf("%d rows, memory grew by %d bytes, want at most %d", n, late-early, rows*perRow)
	}
}

func BenchmarkDecodeRLENative(b *testing.B) {
	lung := mask.FromFunc(2544, 3056, func(x, y int) bool {
		dx, dy := float64(x-800)/500, float64(y-1400)/1000
		return dx*dx+dy*dy < 1
	})
	text := encodeRLE(lung)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := decodeRLE(2544, 3056, text); err != nil {
			b.Fatal(err)
		}
	}
}
