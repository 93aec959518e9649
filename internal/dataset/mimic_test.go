package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
)

func TestRowsOfALaidOutFolder(t *testing.T) {
	f, report := laidOut(t, 5)
	m := openFrontal(t, f)
	rows := collect(t, m.Rows(0, -1))
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 5", len(rows))
	}
	for i, r := range rows {
		p := report.Pictures[i]
		e := r.Entry
		if e.Case != i+1 || e.Outcome != Kept || e.Width != p.Width || e.Height != p.Height || e.Published != p.Digest || e.Split != SplitTrain {
			t.Errorf("row %d is %+v, laid out %+v", i, e, p)
		}
		if r.Source.Path != p.Path || !strings.HasPrefix(p.Path, "files/p10/p1000000") {
			t.Errorf("row %d lies at %s, laid out at %s", i, r.Source.Path, p.Path)
		}
		l, err := m.Load(r, LoadOptions{})
		if err != nil || l.Outcome != Kept || l.Digest != p.Digest || l.Image.Width != p.Width {
			t.Errorf("row %d loads as %+v, %v", i, l, err)
		}
	}
}

func TestWindowsEqualTheWhole(t *testing.T) {
	f, _ := laidOut(t, 9)
	f.unpacked(t, MetadataFile, func(s string) string { // rows 10 and 11 repeat the first two
		lines := strings.Split(s, "\n")
		return s + lines[1] + "\n" + lines[2] + "\n"
	})
	m := openFrontal(t, f)
	whole := collect(t, m.Rows(0, -1))
	for size := 1; size <= 4; size++ {
		var joined []Row
		for at := 0; at < len(whole)+size; at += size {
			joined = append(joined, collect(t, m.Rows(at, size))...)
		}
		if fmt.Sprint(joined) != fmt.Sprint(whole) {
			t.Errorf("windows of %d give other rows than one pass", size)
		}
	}
	if whole[9].Entry.Outcome != DuplicateID || whole[0].Entry.Outcome != Kept {
		t.Errorf("the repeated row is %s, the first one %s", whole[9].Entry.Outcome, whole[0].Entry.Outcome)
	}
}

// Rows of a hand-written table, each outcome the tables alone can give.
func TestRowOutcomes(t *testing.T) {
	const table = "\xef\xbb\xbfViewPosition,Columns,Rows,extra,dicom_id,study_id,subject_id\r\n" +
		"PA,2544,3056,x,aaa-1,50000001,10000001\r\n" +
		"AP,2544.0,,x,aaa-2,50000001,10000001\r\n" +
		"LATERAL,1,1,x,aaa-3,50000001,10000001\r\n" +
		",1,1,x,aaa-4,50000001,10000001\r\n" +
		"PAX,1,1,x,aaa-5,50000001,10000001\r\n" +
		"PA,1,1,x,aaa-6,5000001,10000001\r\n" +
		"PA,1,1,x,../aaa,50000001,10000001\r\n" +
		"PA,1,1,x,aaa-7,50000001,1000000a\r\n" +
		"PA,wide,1,x,aaa-8,50000001,10000001\r\n" +
		"PA,1,1,x\r\n" +
		"PA,1,1,\"x\"y,aaa-9,50000001,10000001\r\n" +
		"PA,1,1,x,aaa-1,50000001,10000001\r\n" +
		"AP LLD,1,1,x,aaa-10,50000001,10000001\r\n"
	f := newFolder()
	f.put("mimic-cxr-2.0.0-metadata.csv", table)
	want := []struct {
		outcome Outcome
		detail  string
	}{
		{Kept, ""}, {Kept, ""}, {ViewNotSelected, ""},
		{ViewUnknown, "ViewPosition is empty"}, {ViewUnknown, `ViewPosition "PAX" is not a published value`},
		{BadRow, "line 7: study_id is not a number of 8 digits"}, {BadRow, "line 8: dicom_id is not a file name"},
		{BadRow, "line 9: subject_id is not a number"}, {BadRow, "line 10: Columns is not a number of pixels"},
		{BadRow, "line 11: 4 fields, the header has 7"}, {BadRow, "line 12: "},
		{DuplicateID, "this dicom_id stood in an earlier row"}, {ViewNotSelected, ""},
	}
	rows := collect(t, openFrontal(t, f).Rows(0, -1))
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, w := range want {
		e := rows[i].Entry
		if e.Outcome != w.outcome || !strings.Contains(e.Detail, w.detail) || w.detail == "" && e.Detail != "" {
			t.Errorf("row %d: %s %q, want %s %q", i+1, e.Outcome, e.Detail, w.outcome, w.detail)
		}
		if e.Case != i+1 {
			t.Errorf("row %d has case number %d", i+1, e.Case)
		}
	}
	if e := rows[0].Entry; e.Width != 2544 || e.Height != 3056 || rows[0].Source.Path != "files/p10/p10000001/s50000001/aaa-1.jpg" {
		t.Errorf("first row is %+v", rows[0])
	}
	if e := rows[1].Entry; e.Width != 2544 || e.Height != 0 {
		t.Errorf("second row has size %d x %d, want 2544 x unknown", e.Width, e.Height)
	}
}

func TestSplitSelection(t *testing.T) {
	f, _ := laidOut(t, 4)
	f.unpacked(t, SplitFile, func(s string) string {
		lines := strings.Split(strings.TrimSpace(s), "\n")
		lines[2] = strings.Replace(lines[2], "train", "test", 1)
		return strings.Join([]string{lines[0], lines[4], lines[2], lines[1]}, "\n") + "\n" // another order, one row gone
	})
	opt := frontal()
	opt.Selection.Split = SplitTrain
	m, err := OpenMIMIC(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	var got []Outcome
	for _, r := range collect(t, m.Rows(0, -1)) {
		got = append(got, r.Entry.Outcome)
	}
	if want := []Outcome{Kept, SplitNotSelected, SplitUnknown, Kept}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
	delete(f.MapFS, "mimic-cxr-2.0.0-split.csv")
	var te *TableError
	if _, err := OpenMIMIC(f, opt); !errors.As(err, &te) || !strings.Contains(te.Detail, "asks for split train") {
		t.Errorf("without a split table: %v", err)
	}
}

// What can be wrong with the tables as a whole; each message names file and way out.
func TestTableErrors(t *testing.T) {
	const header = "dicom_id,subject_id,study_id,ViewPosition,Rows,Columns\n"
	cut := func(t *testing.T) string {
		data, err := packTable([][]string{strings.Split(strings.TrimSpace(header), ","), {"a", "10000001", "50000001", "PA", "1", "1"}})
		if err != nil {
			t.Fatal(err)
		}
		return string(data[:len(data)-9])
	}
	cases := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"no metadata", map[string]string{"readme": ""}, "table mimic-cxr-2.0.0-metadata.csv.gz: is missing in the data set's folder"},
		{"two versions", map[string]string{"mimic-cxr-2.0.0-metadata.csv": header, "mimic-cxr-2.1.0-metadata.csv": header}, "are two versions of the metadata table"},
		{"missing column", map[string]string{"mimic-cxr-2.0.0-metadata.csv": "dicom_id,subject_id,study_id,View,Rows,Columns\n"},
			"table mimic-cxr-2.0.0-metadata.csv line 1 column ViewPosition: is missing; the header has dicom_id, subject_id, study_id, View, Rows, Columns"},
		{"column twice", map[string]string{"mimic-cxr-2.0.0-metadata.csv": "dicom_id,Rows,Rows\n"}, "column Rows: stands twice"},
		{"empty", map[string]string{"mimic-cxr-2.0.0-metadata.csv": ""}, "is empty, want a header line"},
		{"no gzip", map[string]string{"mimic-cxr-2.0.0-metadata.csv.gz": "\x1f\x8bgarbage"}, "damaged gzip header"},
		{"cut gzip", map[string]string{"mimic-cxr-2.0.0-metadata.csv.gz": cut(t)}, "breaks off or is damaged"},
		{"open quote", map[string]string{"mimic-cxr-2.0.0-metadata.csv": header + "a,10000001,50000001,\"PA,1,1\nb,10000001,50000001,PA,1,1\n"}, "line 2: a quote that is opened here swallows"},
		{"split value", map[string]string{"mimic-cxr-2.0.0-metadata.csv": header, "mimic-cxr-2.0.0-split.csv": "dicom_id,split\na,val\n"},
			`table mimic-cxr-2.0.0-split.csv line 2 column split: holds no split: split "val" is not one of train, validate, test`},
		{"two splits", map[string]string{"mimic-cxr-2.0.0-metadata.csv": header, "mimic-cxr-2.0.0-split.csv": "dicom_id,split\na,test\na,train\n"}, "gives one picture two splits, test and train"},
		{"checksum line", map[string]string{"mimic-cxr-2.0.0-metadata.csv": header, "SHA256SUMS.txt": "abc  files/x\n"}, "table SHA256SUMS.txt line 1: is no checksum line"},
		{"two checksums", map[string]string{"mimic-cxr-2.0.0-metadata.csv": header,
			"SHA256SUMS.txt": strings.Repeat("a", 64) + "  files/x\n" + strings.Repeat("b", 64) + " *./files/x\n"}, "gives one file two checksums"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFolder()
			for n, s := range c.files {
				f.put(n, s)
			}
			m, err := OpenMIMIC(f, frontal())
			if err == nil {
				for _, err = range m.Rows(0, -1) {
				}
			}
			var te *TableError
			if !errors.As(err, &te) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestSelectionErrors(t *testing.T) {
	f, _ := laidOut(t, 1)
	for _, s := range []Selection{{}, {Views: []cxr.ViewPosition{0}}, {Views: []cxr.ViewPosition{cxr.ViewPA}, Split: 9}} {
		if _, err := OpenMIMIC(f, MIMICOptions{Selection: s}); err == nil || !strings.HasPrefix(err.Error(), "selection: ") {
			t.Errorf("selection %+v: %v", s, err)
		}
	}
}

// Every way a file can be bad: one outcome each, the others untouched, the books balanced.
func TestLoadOutcomes(t *testing.T) {
	good, err := cxr.EncodeJPEG(testPicture(0), 95)
	if err != nil {
		t.Fatal(err)
	}
	other, err := cxr.EncodeJPEG(testPicture(1), 95)
	if err != nil {
		t.Fatal(err)
	}
	png, err := cxr.EncodePNG(testPicture(0))
	if err != nil {
		t.Fatal(err)
	}
	bomb := bytes.Clone(good)
	at := bytes.Index(bomb, []byte{0xff, 0xc0})
	copy(bomb[at+5:], []byte{0xff, 0xdc, 0xff, 0xdc})
	flat := bytes.Clone(good)
	copy(flat[at+5:], []byte{0, 0})
	damaged := append(bytes.Clone(good[:len(good)-20]), 0xff, 0xd9)
	cases := []struct {
		name    string
		data    []byte // nil: no file
		outcome Outcome
		detail  string
	}{
		{"good", good, Kept, ""},
		{"png named jpg", png, Kept, ""},
		{"no file", nil, MissingFile, "not in the folder"},
		{"zero bytes", []byte{}, ZeroBytes, "zero bytes"},
		{"text named jpg", []byte("PA view of the chest\n"), NotAnImage, "the content is text"},
		{"gif named jpg", []byte("GIF89a\x01\x00\x01\x00"), UnsupportedImage, "a GIF"},
		{"truncated", good[:len(good)/2], Truncated, "before its"},
		{"bomb", bomb, TooLarge, "65500 x 65500 = 4290250000 pixels"},
		{"no height", flat, BadDimensions, "24 x 0"},
		{"damaged", damaged, Damaged, "picture data"},
		{"other size", other, DimensionMismatch, "picture is 25 x 30 pixels, Columns x Rows says 24 x 30"},
	}
	f, books := newFolder(), Accounting{}
	table := "dicom_id,subject_id,study_id,ViewPosition,Rows,Columns\n"
	for i, c := range cases {
		id := fmt.Sprintf("case-%d", i)
		table += id + ",10000001,50000001,PA,30,24\n"
		if p, err := ImagePath("10000001", "50000001", id); err != nil {
			t.Fatal(err)
		} else if c.data != nil {
			f.put(p, string(c.data))
		}
	}
	f.put("mimic-cxr-2.0.0-metadata.csv", table)
	m := openFrontal(t, f)
	for i, r := range collect(t, m.Rows(0, -1)) {
		c := cases[i]
		books.Meet(1)
		l, err := m.Load(r, LoadOptions{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if l.Outcome != c.outcome || !strings.Contains(l.Detail, c.detail) || c.detail == "" && l.Detail != "" {
			t.Errorf("%s: %s %q, want %s %q", c.name, l.Outcome, l.Detail, c.outcome, c.detail)
		}
		if want := (artifacts.Digest{}); c.data != nil && l.Digest != artifacts.Sum(c.data) || c.data == nil && l.Digest != want {
			t.Errorf("%s: digest %s", c.name, l.Digest)
		}
		if (l.Image != nil) != (l.Outcome == Kept) {
			t.Errorf("%s: picture present %v with outcome %s", c.name, l.Image != nil, l.Outcome)
		}
		if strings.Contains(l.Detail, r.Source.ID) || strings.Contains(l.Detail, "10000001") {
			t.Errorf("%s: detail %q holds an identifier", c.name, l.Detail)
		}
		if err := books.Decide(l.Outcome); err != nil {
			t.Error(err)
		}
	}
	if err := books.Check(); err != nil || books.In != int64(len(cases)) {
		t.Errorf("%s: %v", books.String(), err)
	}
}

func TestByteLimitGivesDigest(t *testing.T) {
	f, report := laidOut(t, 1)
	m := openFrontal(t, f)
	row := collect(t, m.Rows(0, 1))[0]
	l, err := m.Load(row, LoadOptions{Limits: cxr.Limits{MaxBytes: 50}})
	if err != nil || l.Outcome != TooLarge || l.Digest != report.Pictures[0].Digest || !strings.Contains(l.Detail, "limit 50") {
		t.Errorf("got %+v, %v", l, err)
	}
}

func TestDigestMismatch(t *testing.T) {
	f, report := laidOut(t, 2)
	path := report.Pictures[0].Path
	f.MapFS[path].Data[200] ^= 1
	m := openFrontal(t, f)
	rows := collect(t, m.Rows(0, -1))
	l, err := m.Load(rows[0], LoadOptions{})
	if err != nil || l.Outcome != DigestMismatch || !strings.Contains(l.Detail, "SHA256SUMS.txt says "+report.Pictures[0].Digest.Short()) {
		t.Errorf("got %+v, %v", l, err)
	}
	if l, err := m.Load(rows[1], LoadOptions{}); err != nil || l.Outcome != Kept {
		t.Errorf("its neighbour: %+v, %v", l, err)
	}
	// Cut short as well: the detail says so, the reason stays the checksum.
	f.MapFS[path].Data = f.MapFS[path].Data[:300]
	if l, _ = m.Load(rows[0], LoadOptions{}); l.Outcome != DigestMismatch || !strings.Contains(l.Detail, "truncated") {
		t.Errorf("cut file: %+v", l)
	}
	// Trusting the list means not looking; without the list nothing can be told.
	f.MapFS[path].Data = f.MapFS[report.Pictures[1].Path].Data
	if l, _ = m.Load(rows[0], LoadOptions{TrustChecksums: true}); l.Digest != report.Pictures[0].Digest {
		t.Errorf("trusted: digest %s, want the published one", l.Digest)
	}
}

// flakyFS damages the first read of a file.
type flakyFS struct {
	fs.FS
	path  string
	opens *int
}

func (f flakyFS) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil || name != f.path {
		return file, err
	}
	*f.opens++
	if *f.opens > 1 {
		return file, nil
	}
	return flippingFile{file}, nil
}

type flippingFile struct{ fs.File }

func (f flippingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	if n > 300 {
		p[300] ^= 0x10
	}
	return n, err
}

func TestDamagedReadIsRepeatedOnce(t *testing.T) {
	f, report := laidOut(t, 1)
	opens := 0
	m := openFrontal(t, flakyFS{f, report.Pictures[0].Path, &opens})
	l, err := m.Load(collect(t, m.Rows(0, 1))[0], LoadOptions{})
	if err != nil || l.Outcome != Kept || opens != 2 {
		t.Errorf("got %s after %d reads, %v; want kept after 2", l.Outcome, opens, err)
	}
}

// brokenFS fails to open one file for a reason that may pass.
type brokenFS struct {
	fs.FS
	path string
}

func (f brokenFS) Open(name string) (fs.File, error) {
	if name == f.path {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("stale file handle")}
	}
	return f.FS.Open(name)
}

func TestStorageErrorsNameNoIdentifier(t *testing.T) {
	f, report := laidOut(t, 1)
	m := openFrontal(t, brokenFS{f, report.Pictures[0].Path})
	row := collect(t, m.Rows(0, 1))[0]
	_, err := m.Load(row, LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), "stale file handle") || strings.Contains(err.Error(), row.Source.ID) || strings.Contains(err.Error(), "p10") {
		t.Errorf("got %v, want the cause and the case number only", err)
	}
}

// What may enter a history holds none of the identifiers of its row.
func TestEntriesHoldNoIdentifiers(t *testing.T) {
	f, _ := laidOut(t, 3)
	f.unpacked(t, MetadataFile, func(s string) string { return s + strings.Split(s, "\n")[1] + "\nshort,row\n" })
	f.put("files/p10/p10000009/s50000009/stray.jpg", "x")
	m := openFrontal(t, f)
	rows := collect(t, m.Rows(0, -1))
	rows = append(rows, collect(t, m.Orphans(len(rows)+1))...)
	for _, r := range rows {
		text, err := json.Marshal(r.Entry)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{r.Source.ID, r.Source.Subject, r.Source.Study, r.Source.Path} {
			if id != "" && strings.Contains(string(text), id) {
				t.Errorf("entry %s holds %q", text, id)
			}
		}
		var back Entry
		if err := json.Unmarshal(text, &back); err != nil || back != r.Entry {
			t.Errorf("entry %s comes back as %+v, %v", text, back, err)
		}
	}
}

func TestOrphans(t *testing.T) {
	f, _ := laidOut(t, 2)
	f.put("files/p10/p10000009/s50000009/stray.jpg", "x")
	f.put("files/p10/p10000009/s50000009/other.PNG", "x")
	f.put("files/p10/p10000009/s50000009.txt", "a report")
	f.put("files/p10/index.html", "a page")
	m := openFrontal(t, f)
	rows := collect(t, m.Orphans(3))
	if len(rows) != 2 || rows[0].Source.ID != "other" || rows[1].Source.ID != "stray" {
		t.Fatalf("orphans %+v", rows)
	}
	for i, r := range rows {
		if r.Entry.Case != 3+i || r.Entry.Outcome != MissingMetadataRow {
			t.Errorf("orphan %d is %+v", i, r.Entry)
		}
	}
}

func TestLabels(t *testing.T) {
	f, _ := laidOut(t, 1)
	m := openFrontal(t, f)
	if _, ok, err := m.Labels(); ok || err != nil {
		t.Fatalf("labels without a table: %v, %v", ok, err)
	}
	header := "subject_id,study_id"
	for _, x := range Findings() {
		header += "," + x.String()
	}
	f.put("mimic-cxr-2.0.0-chexpert.csv", header+"\n10000001,50000001,1.0,0.0,-1.0"+strings.Repeat(",", 11)+"\n")
	l, ok, err := openFrontal(t, f).Labels()
	if err != nil || !ok || l.Len() != 1 {
		t.Fatalf("%v, %v", ok, err)
	}
	s, ok := l.Study("10000001", "50000001")
	if !ok || s[Atelectasis] != MentionPositive || s[Cardiomegaly] != MentionNegative || s[Consolidation] != MentionUncertain || s[Edema] != MentionNone {
		t.Errorf("labels %v, %v", s, ok)
	}
	f.put("mimic-cxr-2.0.0-chexpert.csv", header+"\n10000001,50000001,2.0"+strings.Repeat(",", 13)+"\n")
	var te *TableError
	if _, _, err := openFrontal(t, f).Labels(); !errors.As(err, &te) || te.Column != "Atelectasis" || te.Line != 2 {
		t.Errorf("a label of 2.0: %v", err)
	}
}

func TestGzipWinsOverUnpackedCopy(t *testing.T) {
	f, _ := laidOut(t, 1)
	f.put(strings.TrimSuffix(MetadataFile, ".gz"), "nonsense")
	m := openFrontal(t, f)
	if m.Tables()[0] != MetadataFile {
		t.Errorf("reads %s", m.Tables()[0])
	}
}

var (
	_ LayoutWriter   = memFolder{}
	_ io.WriteCloser = (*memFile)(nil)
	_ fs.FS          = fstest.MapFS{}
)
