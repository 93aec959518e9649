package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/datause"
)

func list(ps ...Picture) iter.Seq2[Picture, error] {
	return func(yield func(Picture, error) bool) {
		for _, p := range ps {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func TestLayOutIsDeterministicAndComplete(t *testing.T) {
	a, ra := laidOut(t, 3)
	b, rb := laidOut(t, 3)
	if !reflect.DeepEqual(a.MapFS, b.MapFS) || !reflect.DeepEqual(ra, rb) {
		t.Error("the same pictures give two folders")
	}
	sums, err := readSums(a, SumsFile, "")
	if err != nil {
		t.Fatal(err)
	}
	if sums.len() != len(a.MapFS)-1 {
		t.Errorf("%d checksums for %d files", sums.len(), len(a.MapFS))
	}
	for name, f := range a.MapFS {
		if d, ok := sums.find(keyOf(name)); name != SumsFile && (!ok || d != artifacts.Sum(f.Data)) {
			t.Errorf("checksum of %s is wrong or missing", name)
		}
	}
	var record LayoutReport
	if err := json.Unmarshal(a.MapFS[LayoutRecordFile].Data, &record); err != nil || !reflect.DeepEqual(record, ra) {
		t.Errorf("the record on disk differs from the report: %v", err)
	}
	// The header of the metadata table is the published one, in its order.
	tab, err := openTable(a, MetadataFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(tab.names(), ","); got != "dicom_id,subject_id,study_id,PerformedProcedureStepDescription,ViewPosition,Rows,Columns,StudyDate,StudyTime,ProcedureCodeSequence_CodeMeaning,ViewCodeSequence_CodeMeaning,PatientOrientationCodeSequence_CodeMeaning" {
		t.Errorf("metadata header %s", got)
	}
}

func TestConversions(t *testing.T) {
	grey, err := cxr.EncodeJPEG(testPicture(1), 80)
	if err != nil {
		t.Fatal(err)
	}
	png, err := cxr.EncodePNG(testPicture(2))
	if err != nil {
		t.Fatal(err)
	}
	f := newFolder()
	r, err := LayOut(f, list(
		Picture{"a.jpg", grey, cxr.ViewPA}, Picture{"b.png", png, cxr.ViewAP}, Picture{"again.jpg", grey, cxr.ViewPA},
		Picture{"note.txt", []byte("not a picture"), cxr.ViewPA}, Picture{"cut.jpg", grey[:len(grey)-9], cxr.ViewPA},
	), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pictures) != 2 || len(r.Refused) != 3 {
		t.Fatalf("%d laid out, %d refused", len(r.Pictures), len(r.Refused))
	}
	kept, made := r.Pictures[0], r.Pictures[1]
	if kept.Conversion != KeptJPEG || !bytes.Equal(f.MapFS[kept.Path].Data, grey) || kept.Original != kept.Digest {
		t.Errorf("the JPEG changed: %+v", kept)
	}
	back, err := cxr.Decode(f.MapFS[made.Path].Data, cxr.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := maxDifference(back.Pix, testPicture(2).Pix); made.Conversion != GreyJPEG || made.Quality != 95 || d != made.MaxDifference || d == 0 || made.Original != artifacts.Sum(png) {
		t.Errorf("recorded %+v, measured difference %d", made, d)
	}
	for i, want := range []struct {
		name, detail string
		outcome      Outcome
	}{{"again.jpg", "the same bytes as a.jpg", DuplicateID}, {"note.txt", "text", NotAnImage}, {"cut.jpg", "truncated", Truncated}} {
		if got := r.Refused[i]; got.Name != want.name || got.Outcome != want.outcome || !strings.Contains(got.Detail, want.detail) {
			t.Errorf("refused %+v, want %+v", got, want)
		}
	}
}

func TestLayOutErrors(t *testing.T) {
	png, err := cxr.EncodePNG(testPicture(0))
	if err != nil {
		t.Fatal(err)
	}
	good := Picture{"a.png", png, cxr.ViewPA}
	cases := []struct {
		name   string
		pics   iter.Seq2[Picture, error]
		change func(*LayoutOptions)
		want   string
	}{
		{"low quality", list(good), func(o *LayoutOptions) { o.Quality = 80 }, "quality 80, want 95 to 100"},
		{"no class", list(good), func(o *LayoutOptions) { o.DataUse = 0 }, "data_use is missing"},
		{"no name", list(good), func(o *LayoutOptions) { o.Name = " " }, "name is empty"},
		{"lowered", list(good), func(o *LayoutOptions) { o.Name = "MIMIC-CXR-JPG"; o.DataUse = datause.Public }, "weaker than credentialed"},
		{"unset view", list(Picture{"a.png", png, 0}), func(*LayoutOptions) {}, "takes PA, AP or LATERAL"},
		{"nothing usable", list(Picture{"a", nil, cxr.ViewPA}), func(*LayoutOptions) {}, "no usable picture among 1"},
		{"source fails", func(yield func(Picture, error) bool) { yield(Picture{}, errors.New("disk gone")) }, func(*LayoutOptions) {}, "disk gone"},
	}
	for _, c := range cases {
		opt := testOptions()
		c.change(&opt)
		if _, err := LayOut(newFolder(), c.pics, opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	f := newFolder()
	f.put(DeclarationFile, "something")
	if _, err := LayOut(f, list(good), testOptions()); err == nil || !strings.Contains(err.Error(), "write "+DeclarationFile) {
		t.Errorf("an existing file was written over: %v", err)
	}
}

func TestCheckFindsEverything(t *testing.T) {
	f, r := laidOut(t, 6)
	f.MapFS[r.Pictures[1].Path].Data = nil
	delete(f.MapFS, r.Pictures[2].Path)
	f.MapFS[r.Pictures[3].Path].Data = []byte("text named .jpg")
	last := f.MapFS[r.Pictures[4].Path].Data
	last[len(last)-20] ^= 1 // found by its checksum only
	f.put("files/p10/p10000099/s50000099/stray.jpg", "x")
	want := map[Depth]map[Outcome]int64{
		DepthTables:  {Kept: 6},
		DepthFiles:   {Kept: 4, ZeroBytes: 1, MissingFile: 1},
		DepthHeaders: {Kept: 3, ZeroBytes: 1, MissingFile: 1, NotAnImage: 1},
		DepthDigests: {Kept: 2, ZeroBytes: 1, MissingFile: 1, NotAnImage: 1, DigestMismatch: 1},
		DepthPixels:  {Kept: 2, ZeroBytes: 1, MissingFile: 1, DigestMismatch: 2},
	}
	for depth := DepthTables; depth <= DepthPixels; depth++ {
		rows := 0
		report, err := Check(f, CheckOptions{Selection: frontal().Selection, Depth: depth, Orphans: depth == DepthPixels, Progress: func(n int) { rows = n }})
		if err != nil {
			t.Fatal(err)
		}
		if depth == DepthPixels {
			want[depth][MissingMetadataRow] = 1
		}
		for _, o := range Outcomes() {
			if got := report.Accounting.Count(o); got != want[depth][o] {
				t.Errorf("%s: %d %s, want %d", depth, got, o, want[depth][o])
			}
		}
		if q := report.Accounting.Total(StatusQuarantined); int64(len(report.Problems)) != q || rows != 6 {
			t.Errorf("%s: %d problems listed of %d, progress ended at %d", depth, len(report.Problems), q, rows)
		}
		if report.DataUse != datause.Synthetic || report.Views["PA"] != 3 || report.Views["AP"] != 3 {
			t.Errorf("%s: %+v", depth, report)
		}
		text, err := json.Marshal(report)
		if err != nil || strings.Contains(string(text), "p1000000") {
			t.Errorf("%s: the report holds a path: %s, %v", depth, text, err)
		}
	}
}

func TestCheckNotes(t *testing.T) {
	f, _ := laidOut(t, 1)
	for _, n := range []string{DeclarationFile, SumsFile, SplitFile} {
		delete(f.MapFS, n)
	}
	r, err := Check(f, CheckOptions{Selection: frontal().Selection, Depth: DepthTables})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Notes, "\n")
	for _, want := range []string{"counts as MIMIC-CXR-JPG, class credentialed", "no SHA256SUMS.txt", "no split table", "MIMIC-CXR-JPG has 377110"} {
		if !strings.Contains(all, want) {
			t.Errorf("notes lack %q:\n%s", want, all)
		}
	}
	if r.DataUse != datause.Credentialed {
		t.Errorf("class %s", r.DataUse)
	}
	if _, err := Check(f, CheckOptions{Selection: frontal().Selection}); err == nil {
		t.Error("the unset depth was accepted")
	}
}

// A spec may raise a class, never lower it.
func TestDataUse(t *testing.T) {
	declared := func(name string, c datause.Class) memFolder {
		f := newFolder()
		d, err := Declaration{Name: name, DataUse: c}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		f.put(DeclarationFile, string(d))
		return f
	}
	bare := newFolder()
	cases := []struct {
		name   string
		folder memFolder
		layout Known
		spec   string
		asked  datause.Class
		want   datause.Class // 0: refused
	}{
		{"as published", bare, MIMICCXRJPG, "MIMIC-CXR-JPG", datause.Credentialed, datause.Credentialed},
		{"nothing asked", bare, MIMICCXRJPG, "mimic-cxr-jpg", 0, datause.Credentialed},
		{"lowered", bare, MIMICCXRJPG, "MIMIC-CXR-JPG", datause.Public, 0},
		{"lowered under another name", bare, MIMICCXRJPG, "my pictures", datause.Synthetic, 0},
		{"an undeclared folder called phantoms", bare, MIMICCXRJPG, "phantoms", datause.Synthetic, 0},
		{"phantoms", declared("phantoms", datause.Synthetic), MIMICCXRJPG, "phantoms", datause.Synthetic, datause.Synthetic},
		{"raised", declared("phantoms", datause.Synthetic), MIMICCXRJPG, "phantoms", datause.Credentialed, datause.Credentialed},
		{"the name outranks the folder", declared("some", datause.Public), MIMICCXRJPG, "mimic_cxr", datause.Public, 0},
		{"NIH", declared("NIH ChestX-ray14", datause.PublicAttribution), MIMICCXRJPG, "nih-chestxray14", 0, datause.PublicAttribution},
		{"CheXmask", bare, CheXmaskDB, "chexmask", 0, datause.PublicAttribution},
		{"nothing known", bare, 0, "my pictures", datause.Public, 0},
	}
	for _, c := range cases {
		got, err := DataUse(c.folder, c.layout, c.spec, c.asked)
		if got != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%s: %s, %v, want %s", c.name, got, err, c.want)
		}
	}
	var le *LoweredError
	if _, err := DataUse(bare, MIMICCXRJPG, "x", datause.Public); !errors.As(err, &le) || le.Floor != datause.Credentialed || !strings.Contains(err.Error(), "without "+DeclarationFile) {
		t.Errorf("got %v", err)
	}
	if _, err := (Declaration{Name: "mimic", DataUse: datause.Public}).Encode(); !errors.As(err, &le) {
		t.Errorf("a folder of MIMIC declared public: %v", err)
	}
	for name, text := range map[string]string{
		"unknown field": `{"format":"cxrepro-dataset-1","name":"x","data_use":"public","more":1}`, "class": `{"format":"cxrepro-dataset-1","name":"x","data_use":"free"}`,
		"format": `{"format":"2","name":"x","data_use":"public"}`, "no class": `{"format":"cxrepro-dataset-1","name":"x"}`,
		"lowered": `{"format":"cxrepro-dataset-1","name":"Chest ImaGenome","data_use":"public"}`, "no json": `x`,
	} {
		f := newFolder()
		f.put(DeclarationFile, text)
		if _, err := DataUse(f, MIMICCXRJPG, "x", datause.Credentialed); err == nil || !strings.Contains(err.Error(), DeclarationFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every known data set has a class, and the ones under agreement are credentialed.
func TestKnown(t *testing.T) {
	want := map[Known]datause.Class{MIMICCXRJPG: datause.Credentialed, ChestImaGenome: datause.Credentialed,
		CheXmaskDB: datause.PublicAttribution, NIHChestXray14: datause.PublicAttribution, Phantoms: datause.Synthetic}
	for k, c := range want {
		if k.DataUse() != c || ByName(k.String()) != k || k.Terms() == "" {
			t.Errorf("%s: class %s, by name %s", k, k.DataUse(), ByName(k.String()))
		}
	}
	if ByName("something") != 0 || Known(0).DataUse().Valid() {
		t.Error("an unknown name has a class")
	}
}
