package cxreasonbench

import (
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
