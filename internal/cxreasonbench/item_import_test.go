package cxreasonbench

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"cxrepro/internal/dataset"
)

// TestImportReads holds that a benchmark built here reads back through
// the importer of the release: same counts, questions, answers and pictures. And that the
// importer refuses a benchmark with something wrong.
func TestImportReads(t *testing.T) {
	const cases = 4
	items := buildAll(t, rulesOf(t, AsReleased, nil), 1, cases)
	var tally Tally
	tally.Count(items...)
	want := dataset.CXRBCounts{Cases: 12 * cases, Path1: tally.Path1, Path2: tally.Path2, RePath1: tally.RePath1}
	disk := fstest.MapFS{}
	lists := map[Task][]string{}
	byFile := map[string]*Item{}
	for i := range items {
		it := &items[i]
		data, err := it.Official()
		if err != nil {
			t.Fatal(err)
		}
		disk["CXReasonBench/"+it.File()] = &fstest.MapFile{Data: data}
		byFile[it.File()] = it
		if it.Path == Path1 && it.Stage == StageInit {
			lists[it.Task] = append(lists[it.Task], it.Case)
		}
	}
	list, err := CaseList(lists)
	if err != nil {
		t.Fatal(err)
	}
	disk["CXReasonBench/dx_by_dicoms.json"] = &fstest.MapFile{Data: list}
	b, err := dataset.OpenCXRB(disk)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Cases("rotation"); !cmp.Equal(got, lists[Tasks()[0]]) {
		t.Errorf("cases of rotation: %v", got)
	}
	for _, task := range b.Tasks() {
		read, err := b.Items(task, b.Cases(task)[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range read {
			name := strings.Join([]string{"qa", r.Task, r.Path, r.Stage, r.Format, r.Case + ".json"}, "/")
			it := byFile[name]
			for i, q := range it.Questions {
				if r.Questions[i] != q.Text || r.Answers[i] != q.Answer || !cmp.Equal(r.Pictures[i], picturePaths(q.Pictures)) && len(q.Pictures) > 0 {
					t.Errorf("%s: question %d reads %q, %q, %v", name, i, r.Questions[i], r.Answers[i], r.Pictures[i])
				}
			}
		}
	}
	if got, err := b.Verify(want, false); err != nil || got.Pairs() != tally.Pairs() {
		t.Errorf("%+v, %v", got, err)
	}
	if r := dataset.CXRBRelease; r.Pairs() != 18988 {
		t.Errorf("the release has %d pairs", r.Pairs())
	}
	refused := func(name, message string, change func() (undo func())) {
		t.Helper()
		undo := change()
		defer undo()
		b, err := dataset.OpenCXRB(disk)
		if err == nil {
			_, err = b.Verify(want, false)
		}
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want %q", name, err, message)
		}
	}
	file := "CXReasonBench/qa/aortic_knob_enlargement/path1/init/basic/aortic_knob_enlargement-000.json"
	replace := func(name string, data []byte) func() func() {
		return func() func() {
			old := disk[name]
			if delete(disk, name); data != nil {
				disk[name] = &fstest.MapFile{Data: data}
			}
			return func() {
				if delete(disk, name); old != nil {
					disk[name] = old
				}
			}
		}
	}
	refused("missing file", "no format folder", replace(file, nil))
	refused("two formats", "a case lies in basic and in two-round", replace(strings.Replace(file, "basic", "two-round", 1), []byte(`{}`)))
	refused("no answer", "1 questions and 0 answers", replace(file, []byte(`{"question":"q"}`)))
	refused("a number", "neither a text nor a list", replace(file, []byte(`{"question":7,"answer":"a"}`)))
	refused("a key twice", `aortic_knob_enlargement/path1/init/basic/<case>: the key "answer" stands twice`, replace(file, []byte(`{"question":"q","answer":"a","answer":"b"}`)))
	refused("cut off", "aortic_knob_enlargement/path1/init/basic/<case>: unexpected end", replace(file, []byte(`{"question":"q","answ`)))
	refused("a task twice", `dx_by_dicoms.json: the key "cardiomegaly" stands twice`,
		replace("CXReasonBench/dx_by_dicoms.json", append(bytes.TrimRight(disk["CXReasonBench/dx_by_dicoms.json"].Data, "} \n"), `, "cardiomegaly": []}`...)))
	refused("a round too many", "want 48 with ", replace(file, []byte(`{"question":["q","r"],"answer":["a","b"]}`)))
	if _, err := b.Verify(dataset.CXRBRelease, false); err == nil || !strings.Contains(err.Error(), "aortic_knob_enlargement has 4 cases, the release has 100") {
		t.Errorf("a short list: %v", err)
	}
	if _, err := b.Verify(want, true); err == nil || !strings.Contains(err.Error(), "unpack segmask_bodypart.zip") {
		t.Errorf("no pictures: %v", err)
	}
	refused("no questions", "unpack qa.zip", func() func() {
		all := disk
		disk = fstest.MapFS{"dx_by_dicoms.json": all["CXReasonBench/dx_by_dicoms.json"]}
		return func() { disk = all }
	})
}

// TestImportGivesTheItems holds that everything a question knows comes back out of its official
// file: letters, meanings, rules. Only the texts of the pack tell them, in either preset.
func TestImportGivesTheItems(t *testing.T) {
	for _, rules := range []Rules{
		rulesOf(t, AsReleased, nil), rulesOf(t, Corrected, nil),
		rulesOf(t, Corrected, map[string]string{string(BuildNumbers): AsTyped, string(BuildRibs): BareNumber}),
	} {
		im := NewImporter(Prompts())
		items := buildAll(t, rules, 3, 12)
		for i := range items {
			f := officialOf(t, &items[i])
			im.Learn(&f)
			got, err := im.Item(&f)
			if err != nil {
				t.Fatalf("%s: %v\n%q", items[i].File(), err, f.Questions)
			}
			if d := cmp.Diff(items[i], got); d != "" {
				t.Fatalf("%s, %s: (- built, + imported)\n%s", rules, items[i].File(), d)
			}
		}
	}
}

// officialOf reads an item back as the data set does.
func officialOf(t *testing.T, it *Item) OfficialFile {
	t.Helper()
	f := OfficialFile{Task: it.Task.String(), Case: it.Case, Path: it.Path.Folder(), Stage: StageFolder(it.Path, it.Stage), Format: it.Format.String()}
	for _, q := range it.Questions {
		f.Questions, f.Answers, f.Pictures = append(f.Questions, q.Text), append(f.Answers, q.Answer), append(f.Pictures, picturePaths(q.Pictures))
	}
	return f
}

// TestImportOtherTexts reads texts in other forms: options in one line, criteria in other words,
// sentences after the last option.
func TestImportOtherTexts(t *testing.T) {
	file := func(task, path, stage, question, answer string, pictures ...string) OfficialFile {
		return OfficialFile{Task: task, Case: "c", Path: path, Stage: stage, Format: "basic", Questions: []string{question}, Answers: []string{answer}, Pictures: [][]string{pictures}}
	}
	im := NewImporter(Prompts())
	other := file("rotation", "path1", "stage1", "Which one? Options: (a) Something of the heart., (b) The ends of the collar bones., (c) A., (d) B., (e) None of the above", "(b) The ends of the collar bones.")
	im.Learn(&other)
	means := func(f OfficialFile) (list []string, accepted []string) {
		t.Helper()
		it, err := im.Item(&f)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range it.Questions[0].Options {
			list = append(list, o.Means)
		}
		return list, it.Questions[0].Accepted
	}
	four := []string{"/cardiomegaly/heart/c.png", "/carina_angle/carina/c.png", "/inclusion/lung_both/c.png", "/rotation/midline/c.png"}
	for _, c := range []struct {
		name           string
		file           OfficialFile
		want, accepted string
	}{
		{"a learned criterion", other, "criterion:unknown criterion:rotation criterion:unknown criterion:unknown none_of_above", "b"},
		{"one line", file("cardiomegaly", "path1", "init", `If unsure choose "(c)". Is it? (a) Yes, (b) No, (c) I don’t know. Explain.`, "(a) Yes, (b) No", "p10/x.jpg"), "yes no idk", "a b"},
		{"a sentence behind", file("rotation", "path1", "stage4", "Rotated? (a) Yes, (b) No. Then write Value: [Value]", "(b) No"), "yes no", "b"},
		{"pictures", file("carina_angle", "path2", "stage1", "Which? (a) 1st image, (b) 2nd image, (c) 3rd image, (d) 4th image, (e) None of the above", "(b) 2nd image", four...), "structure:heart structure:carina structure:lung_both structure:midline none_of_above", "b"},
		{"sides", file("projection", "path1", "stage3", "Choose (a) Right: [0 - 0.1], (b) Right: [0.11 - 0.31], (c) Left: [0 - 0.1], (d) Left: [0.11 - 0.31], ", "(b) Right: [0.11 - 0.31], (c) Left: [0 - 0.1]"), "right:0..0.1 right:0.11..0.31 left:0..0.1 left:0.11..0.31", "b c"},
		{"small numbers", file("descending_aorta_tortuous", "path1", "stage3", "(a) [5e-05 - 0.00035], (b) [0.00036 - 0.00066]", "(a) [5e-05 - 0.00035]"), "range:5e-05..0.00035 range:0.00036..0.00066", "a"},
		{"ribs", file("inspiration", "path1", "stage3", "Which? (a) 7, (b) 8th rib, (c) 9, ", "(b) 8th rib"), "rib:7 rib:8 rib:9", "b"},
		{"directions", file("trachea_deviation", "path1", "stage3", "(a) It is not deviated., (b) To the left., (c) First left, then right.", "(a) It is not deviated"), "direction:flat direction:left direction:left&right", "a"},
		{"no options", file("cardiomegaly", "path2", "stage3", "Is the heart large?", "(a) Yes"), "", "a"},
	} {
		got, accepted := means(c.file)
		if strings.Join(got, " ") != c.want || strings.Join(accepted, " ") != c.accepted {
			t.Errorf("%s: %q, accepted %q", c.name, got, accepted)
		}
	}
	for _, c := range []struct {
		want string
		file OfficialFile
	}{
		{"there is no such stage", file("rotation", "path2", "stage4", "q (a) Yes, (b) No", "(a) Yes")},
		{"there is no such stage", file("global", "path1", "init", "q (a) Yes, (b) No", "(a) Yes")},
		{"the answer names no letter", file("rotation", "path1", "stage4", "q (a) Yes, (b) No", "Yes")},
		{"the answer (c) is none of its 2 options", file("rotation", "path1", "stage4", "q (a) Yes, (b) No", "(c) Yes")},
		{"no options are found", file("rotation", "path1", "stage4", "q", "(a) Yes")},
		{"0 pictures, want 1", file("rotation", "path1", "init", "q (a) Yes, (b) No", "(a) Yes")},
		{"a third option", file("rotation", "path1", "stage4", "q (a) Yes, (b) No, (c) Perhaps", "(a) Yes")},
		{"no range of the form", file("rotation", "path1", "stage3", "q (a) low, (b) high", "(a) low")},
		{"its picture's path", file("carina_angle", "path2", "stage1", "(a) 1st image, (b) 2nd image", "(b) 2nd image", "a.png", "b.png", "c.png", "d.png")},
		{"2 parts are included", file("inclusion", "path1", "stage3", "(a) apex: Included, edge: Excluded (b) none", "(a) apex")},
	} {
		if _, err := im.Item(&c.file); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "/c.") {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
