package review

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

var update = flag.Bool("update", false, "write golden files anew")

// published puts made-up published figures beside a summary.
func published(s *contract.Summary) *contract.Summary {
	out := *s
	out.Expected = "a made-up table"
	out.Global.ExpectedImages, out.Global.ExpectedKept = 2000, 1900
	out.Tasks = append([]contract.SummaryTask{}, s.Tasks...)
	for i := range out.Tasks {
		t := &out.Tasks[i]
		t.Expected = 1000
		t.Labels = append([]contract.LabelCount{}, t.Labels...)
		t.Labels[0].Expected, t.Labels[1].Expected = 800, 200
	}
	out.Images.In += 3
	out.Images.Filtered = []contract.Count{{Name: "view_not_selected", N: 2}}
	out.Images.Quarantined = []contract.Count{{Name: "truncated", N: 1}}
	return &out
}

func TestSummaryText(t *testing.T) {
	b := newBench(t, golden(t, 20), "synthetic")
	for name, s := range map[string]*contract.Summary{"summary": b.in.Summary, "summary_published": published(b.in.Summary)} {
		var got bytes.Buffer
		if err := WriteText(&got, s); err != nil {
			t.Fatal(err)
		}
		for _, table := range Tables(s) {
			if wrong := table.Check(); len(wrong) > 0 {
				t.Errorf("%s, %s: %v", name, table.Title, wrong)
			}
		}
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s differs (-want +got):\n%s", name, d)
		}
		var md bytes.Buffer
		if err := WriteMarkdown(&md, s); err != nil || strings.Count(md.String(), "\n### ") != 3 {
			t.Errorf("Markdown: %v\n%s", err, md.String())
		}
	}
}

func known(n int) bool { return n >= 1 && n <= 9 }

func TestReadVerdicts(t *testing.T) {
	text := "\ufeffcase,task,verdict,note\r\n3,cardiomegaly,good,\r\n4,carina_angle,minor,\"a point, off by a few pixels\"\r\n3,rotation,,not looked at\r\n5,cardiomegaly,reject,\r\n"
	got, err := ReadVerdicts("v.csv", strings.NewReader(text), known)
	if err != nil || len(got) != 3 || got[1].Opinion != Minor || got[1].Note != "a point, off by a few pixels" {
		t.Fatalf("%+v, %v", got, err)
	}
	want := []OpinionCount{{"cardiomegaly", 1, 0, 1}, {"carina_angle", 0, 1, 0}}
	if d := cmp.Diff(want, CountVerdicts(got)); d != "" {
		t.Error(d)
	}
	if again, err := ReadVerdicts("v.csv", bytes.NewReader(encodeVerdicts(got)), known); err != nil || cmp.Diff(got, again) != "" {
		t.Errorf("written and read again: %+v, %v", again, err)
	}
}

func TestReadVerdictsNamesBadLines(t *testing.T) {
	text := strings.Join([]string{"case,task,verdict,note", "3,cardiomegaly,good,", "x,cardiomegaly,good,", "77,cardiomegaly,good,", "3,hart,good,",
		"3,rotation,fine,", "3,cardiomegaly,reject,", "3,rotation,good", "4,global,good,", "5,rotation,good,fine"}, "\n")
	_, err := ReadVerdicts("v.csv", strings.NewReader(text), known)
	var bad *TableError
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	want := map[int]string{3: `case "x" is not a whole number`, 4: "no case 77", 5: `no diagnostic task is called "hart"`, 6: `"fine" is not one of good, minor, reject`,
		7: "has a verdict already", 8: "3 fields, want the 4", 9: `"global"`}
	if len(bad.Lines) != len(want) {
		t.Errorf("lines %+v", bad.Lines)
	}
	for _, l := range bad.Lines {
		if !strings.Contains(l.Why, want[l.Line]) || want[l.Line] == "" {
			t.Errorf("line %d: %q, want %q", l.Line, l.Why, want[l.Line])
		}
	}
	if !strings.Contains(err.Error(), "v.csv:3: ") {
		t.Errorf("the message does not name file and line: %v", err)
	}
	for name, text := range map[string]string{"empty": "", "other header": "case,verdict\n1,good\n", "open quote": "case,task,verdict,note\n1,rotation,good,\"never closed\n"} {
		if _, err := ReadVerdicts("v.csv", strings.NewReader(text), known); !errors.As(err, &bad) || len(bad.Lines) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// receipt stands for the finished reproduction of a bench.
func receipt() *contract.Receipt {
	return &contract.Receipt{Reproduction: "0123456789abcdef", ResultDigest: artifacts.Sum([]byte("result"))}
}

func TestImportVerdicts(t *testing.T) {
	b := newBench(t, golden(t, 5), "synthetic")
	text := []byte("case,task,verdict,note\n2,rotation,good,\n3,rotation,reject,rotated\n")
	rec, ref, err := ImportVerdicts(t.Context(), b.in, receipt(), "v.csv", text)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Table.Digest != artifacts.Sum(text) || rec.Lines != 2 || rec.Verdicts[0].Reject != 1 {
		t.Errorf("record %+v", rec)
	}
	data, err := b.in.Store.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := json.Unmarshal(data, &back); err != nil || back.Reproduction != receipt().Reproduction || back.ResultDigest != receipt().ResultDigest {
		t.Errorf("stored %+v, %v", back, err)
	}
	pins, err := b.in.Store.Pins(t.Context())
	if err != nil || len(pins) != 1 || pins[0].Roots[0] != ref {
		t.Errorf("pins %+v, %v", pins, err)
	}
	var bad *TableError
	if _, _, err := ImportVerdicts(t.Context(), b.in, receipt(), "v.csv", []byte("case,task,verdict,note\n99,rotation,good,\n")); !errors.As(err, &bad) {
		t.Errorf("a case that is not there: %v", err)
	}
	if pins, _ := b.in.Store.Pins(t.Context()); len(pins) != 1 {
		t.Error("a bad table was recorded")
	}
}

// TestLabels takes a rule's page, fills its table in as a stricter reviewer would, and reads
// it back.
func TestLabels(t *testing.T) {
	b := newBench(t, golden(t, 20), "synthetic")
	files := memory{}
	made, err := BuildRule(t.Context(), b.in, "trachea.width_median", files, Options{Bins: 4, PerBin: 20, side: 96})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(files["labels.csv"], made.Labels) || made.Tiles < 15 || !bytes.Contains(files["index.html"], []byte("0.03 to 0.08")) {
		t.Errorf("made %+v", made.Made)
	}
	if _, err := BuildRule(t.Context(), b.in, "carina_angle.mask_width", memory{}, Options{side: 96}); err != nil {
		t.Fatal(err)
	}
	text, values := filled(t, b, "carina_angle.mask_width", func(v float64) string {
		if v >= 0.2 {
			return "accept"
		}
		return "reject"
	})
	rec, _, err := ImportLabels(t.Context(), b.in, receipt(), "carina_angle.mask_width", "l.csv", text)
	if err != nil {
		t.Fatal(err)
	}
	a := rec.Labels[0]
	k, n := a.Agrees()
	if rec.Lines != len(values) || n != len(values) || k != a.AcceptedPass+a.RefusedFail {
		t.Errorf("agreement %+v over %d values", a, len(values))
	}
	if a.Best == nil || a.BestAgrees != n {
		t.Fatalf("agreement %+v: a limit that separates all labels exists", a)
	}
	for _, v := range values {
		if (v >= *a.Best) != (v >= 0.2) {
			t.Errorf("limit %v takes %v otherwise than the reviewer", *a.Best, v)
		}
	}
	for name, c := range map[string]struct{ old, new, want string }{
		"other rule":    {"carina_angle.mask_width", "trachea.height", "is for rule"},
		"other value":   {exact(values[0]) + ",", "0.9123,", "made for other results"},
		"unknown label": {",accept,", ",perhaps,", "is not one of accept, reject, unsure"},
	} {
		var bad *TableError
		spoiled := bytes.Replace(text, []byte(c.old), []byte(c.new), 1)
		_, _, err := ImportLabels(t.Context(), b.in, receipt(), "carina_angle.mask_width", "l.csv", spoiled)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var unknown *UnknownRuleError
	if _, err := BuildRule(t.Context(), b.in, "trachea.hight", memory{}, Options{side: 96}); !errors.As(err, &unknown) || len(unknown.Known) < 40 {
		t.Errorf("an unknown rule: %v", err)
	}
}

// filled returns a rule's table with every line labelled, and the values in it.
func filled(t *testing.T, b *bench, rule string, label func(v float64) string) (text []byte, values []float64) {
	t.Helper()
	made, err := BuildRule(t.Context(), b.in, rule, memory{}, Options{Bins: 5, PerBin: 30, side: 96})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(made.Labels)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[5], 64)
		if err != nil {
			t.Fatal(err)
		}
		r[7] = label(v)
		values = append(values, v)
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), values
}

// TestRulesOfPairs holds that a rule of two figures has a range page for each, and one of
// them alone where asked for.
func TestRulesOfPairs(t *testing.T) {
	b := newBench(t, golden(t, 8), "synthetic")
	s, err := readAll(t.Context(), b.in)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"rotation.clavicle_x": 2, "rotation.clavicle_x/left": 1, "cardiomegaly.heart_box/IoU": 1, "cardiomegaly.label": 1, "projection.label": 2, "global.gradient": 1, "trachea.height": 1, "inclusion.side_width": 1} {
		keys, err := s.find(name)
		if err != nil || len(keys) != want {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
}

// TestOfficial reads the released columns back and compares some with the rows.
func TestOfficial(t *testing.T) {
	b := newBench(t, golden(t, 12), "synthetic")
	dir := t.TempDir()
	names, err := ExportOfficial(t.Context(), b.in, dir, true)
	if err != nil || len(names) != 15 {
		t.Fatalf("%v, %v", names, err)
	}
	read := func(name string) []map[string]string {
		data, err := os.ReadFile(filepath.Join(dir, name+".csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var out []map[string]string
		for _, r := range rows[1:] {
			m := map[string]string{}
			for i, h := range rows[0] {
				m[h] = r[i]
			}
			out = append(out, m)
		}
		return out
	}
	for _, task := range b.in.Summary.Tasks {
		rows := read(task.Task)
		if len(rows) != task.Total {
			t.Errorf("%s: %d lines, %d images have a label", task.Task, len(rows), task.Total)
		}
		positives := 0
		for _, r := range rows {
			if r["label"] == "1" {
				positives++
			}
			for column, v := range r {
				if v == "" && !strings.HasPrefix(column, "label_") {
					t.Errorf("%s: column %s is empty", task.Task, column)
				}
			}
		}
		want := task.Labels[1].N
		if task.Task == "inclusion" {
			want = task.Labels[0].N
		}
		if positives != want {
			t.Errorf("%s: %d lines labelled 1, want %d", task.Task, positives, want)
		}
	}
	for _, r := range read("cardiomegaly") {
		heart, _ := strconv.ParseFloat(r["heart_width"], 64)
		lung, _ := strconv.ParseFloat(r["lung_width"], 64)
		if ctr, _ := strconv.ParseFloat(r["ctr"], 64); ctr != heart/lung {
			t.Errorf("ctr %v of %v over %v", ctr, heart, lung)
		}
	}
	for _, r := range read("abdomial_xray") {
		up, _ := strconv.ParseFloat(r["distance_upper"], 64)
		down, _ := strconv.ParseFloat(r["distance_lower"], 64)
		if ratio, _ := strconv.ParseFloat(r["ratio"], 64); ratio != down/up {
			t.Errorf("ratio %v of %v over %v", ratio, down, up)
		}
	}
}
