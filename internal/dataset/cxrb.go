package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// CXRB is the released CXReasonBench: its case lists, its questions and the paths of its
// pictures, used as they are.
//
// The folder is the one that holds dx_by_dicoms.json, or the release's root above it. The
// release's archives must be unpacked in place.
//
// Source: [official code] of the evaluation programs for what is read and how.
type CXRB struct {
	fsys  fs.FS
	cases map[string][]string
}

// Names in the release.
const (
	cxrbFolder   = "CXReasonBench"
	cxrbCases    = "dx_by_dicoms.json"
	cxrbPictures = "segmask_bodypart"
	cxrbPoints   = "pnt_on_cxr"
)

// CXRBCasesPerTask is the length of every case list of the release.
const CXRBCasesPerTask = 100

// cxrbTasks are the tasks of the release, with whether they have a Stage 1.5: a fixed list,
// since a folder that is missing by accident must not change what is asked.
var cxrbTasks = []struct {
	name    string
	refined bool
}{
	{"aortic_knob_enlargement", true}, {"ascending_aorta_enlargement", true}, {"cardiomegaly", false},
	{"carina_angle", false}, {"descending_aorta_enlargement", true}, {"descending_aorta_tortuous", true},
	{"inclusion", false}, {"inspiration", true}, {"mediastinal_widening", true}, {"projection", true},
	{"rotation", false}, {"trachea_deviation", false},
}

// cxrbStages are the stages of each path, in the order in which they are asked.
var cxrbStages = []struct{ path, stage string }{
	{"path1", "init"}, {"path1", "stage1"}, {"path1", "stage1.5"}, {"path1", "stage2"}, {"path1", "stage3"}, {"path1", "stage4"},
	{"path2", "stage1"}, {"path2", "stage2"}, {"path2", "stage3"},
	{"re-path1", "init"}, {"re-path1", "stage1"}, {"re-path1", "stage2"}, {"re-path1", "stage3"}, {"re-path1", "stage4"},
}

// CXRBItem is one question file.
type CXRBItem struct {
	Task, Case, Path, Stage, Format string
	// Questions and Answers are of equal length: one a round, in Path 2 one a structure.
	Questions, Answers []string
	// Pictures are those shown with each question, as the file writes them. In Path 2 all
	// structures are asked about the pictures of the first.
	Pictures [][]string
}

// CXRBCounts are the pairs of a release as the paper counts them: rounds in path1 and re-path1,
// files in path2.
type CXRBCounts struct {
	Cases, Path1, Path2, RePath1 int
}

// Pairs is the total.
func (c CXRBCounts) Pairs() int { return c.Path1 + c.Path2 + c.RePath1 }

// CXRBRelease are the counts of version 1.0.1.
//
// Source: [paper].
var CXRBRelease = CXRBCounts{Cases: 1200, Path1: 8044, Path2: 3600, RePath1: 7344}

// OpenCXRB reads the case lists.
//
// Errors: a missing or malformed list, a task that is missing, unknown or listed twice, an id
// that is no file name or stands twice.
func OpenCXRB(fsys fs.FS) (*CXRB, error) {
	if _, err := fs.Stat(fsys, cxrbCases); errors.Is(err, fs.ErrNotExist) {
		if sub, err := fs.Sub(fsys, cxrbFolder); err == nil {
			if _, err := fs.Stat(sub, cxrbCases); err == nil {
				fsys = sub
			}
		}
	}
	c := &CXRB{fsys: fsys}
	data, err := fs.ReadFile(fsys, cxrbCases)
	if err != nil {
		return nil, fmt.Errorf("dataset: CXReasonBench: %w; name the folder that holds %s", err, cxrbCases)
	}
	lists, err := decodeOnce(data)
	if err != nil {
		return nil, fmt.Errorf("dataset: CXReasonBench: %s: %w", cxrbCases, err)
	}
	c.cases = make(map[string][]string, len(lists))
	for _, t := range cxrbTasks {
		var ids []string
		text, ok := lists[t.name]
		if !ok {
			return nil, fmt.Errorf("dataset: CXReasonBench: %s: task %s is missing", cxrbCases, t.name)
		}
		if err := json.Unmarshal(text, &ids); err != nil {
			return nil, fmt.Errorf("dataset: CXReasonBench: %s: %s: %w", cxrbCases, t.name, err)
		}
		c.cases[t.name] = ids
	}
	for _, t := range cxrbTasks {
		sorted := slices.Sorted(slices.Values(c.cases[t.name]))
		for i, id := range sorted {
			switch {
			case !plainName(id):
				return nil, fmt.Errorf("dataset: CXReasonBench: %s: %s: an id is no file name", cxrbCases, t.name)
			case i > 0 && sorted[i-1] == id:
				return nil, fmt.Errorf("dataset: CXReasonBench: %s: %s: an id stands twice", cxrbCases, t.name)
			}
		}
	}
	if len(lists) != len(cxrbTasks) {
		return nil, fmt.Errorf("dataset: CXReasonBench: %s: %d tasks, want the %d of the benchmark", cxrbCases, len(lists), len(cxrbTasks))
	}
	if _, err := fs.Stat(fsys, "qa"); err != nil {
		return nil, fmt.Errorf("dataset: CXReasonBench: folder qa: %w; unpack qa.zip in place", err)
	}
	return c, nil
}

// Tasks returns the tasks in the order of their names.
func (c *CXRB) Tasks() []string {
	names := make([]string, len(cxrbTasks))
	for i, t := range cxrbTasks {
		names[i] = t.name
	}
	return names
}

// Cases returns the ids of a task in the order of the list.
func (c *CXRB) Cases(task string) []string { return slices.Clone(c.cases[task]) }

// Items reads every question file of a case, in the order of asking.
//
// Errors: a stage with no format folder that has the case, or with several; a malformed file.
func (c *CXRB) Items(task, id string) ([]CXRBItem, error) {
	refined := false
	for _, t := range cxrbTasks {
		refined = refined || t.name == task && t.refined
	}
	var items []CXRBItem
	for _, s := range cxrbStages {
		if s.stage == "stage1.5" && !refined {
			continue
		}
		folder := path.Join("qa", task, s.path, s.stage)
		formats, err := fs.ReadDir(c.fsys, folder)
		if err != nil {
			return nil, fmt.Errorf("dataset: CXReasonBench: %w", err)
		}
		found := ""
		for _, f := range formats {
			if f.Type().IsRegular() {
				continue // what a system left there
			}
			if _, err := fs.Stat(c.fsys, path.Join(folder, f.Name(), id+".json")); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("dataset: CXReasonBench: %s/%s/<case>: %w", folder, f.Name(), withoutPath(err))
			}
			if found != "" {
				return nil, fmt.Errorf("dataset: CXReasonBench: %s: a case lies in %s and in %s", folder, found, f.Name())
			}
			found = f.Name()
		}
		if found == "" {
			return nil, fmt.Errorf("dataset: CXReasonBench: %s: a listed case is in no format folder", folder)
		}
		it, err := c.item(path.Join(folder, found, id+".json"))
		if err != nil {
			return nil, err
		}
		it.Task, it.Case, it.Path, it.Stage, it.Format = task, id, s.path, s.stage, found
		items = append(items, it)
	}
	return items, nil
}

// OpenPicture opens a picture of an item below the benchmark's folder.
func (c *CXRB) OpenPicture(it *CXRBItem, picture string) (fs.File, error) {
	f, err := c.fsys.Open(it.PicturePath(picture))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, it.missing()
	}
	return f, err
}

func (it *CXRBItem) missing() error {
	return fmt.Errorf("dataset: CXReasonBench: a picture of %s/%s/%s is missing: unpack %s.zip and %s.zip in place", it.Task, it.Path, it.Stage, cxrbPictures, cxrbPoints)
}

// item reads a question file. Keys beyond the three that the programs read are let be, but
// none may stand twice. Errors name task, path, stage and format, never the case.
func (c *CXRB) item(name string) (it CXRBItem, err error) {
	fail := func(err error) (CXRBItem, error) {
		return it, fmt.Errorf("dataset: CXReasonBench: %s/<case>: %w", path.Dir(name), err)
	}
	data, err := fs.ReadFile(c.fsys, name)
	if err != nil {
		return fail(withoutPath(err))
	}
	raw, err := decodeOnce(data)
	if err != nil {
		return fail(err)
	}
	for _, f := range []struct {
		key string
		to  *[]string
	}{{"question", &it.Questions}, {"answer", &it.Answers}} {
		var texts oneOrMany
		if text := raw[f.key]; text != nil {
			if err := json.Unmarshal(text, &texts); err != nil {
				return fail(fmt.Errorf("%s: %w", f.key, err))
			}
		}
		*f.to = texts
	}
	if len(it.Questions) == 0 || len(it.Questions) != len(it.Answers) {
		return fail(fmt.Errorf("%d questions and %d answers", len(it.Questions), len(it.Answers)))
	}
	for i, q := range it.Questions {
		if strings.TrimSpace(q) == "" || strings.TrimSpace(it.Answers[i]) == "" {
			return fail(errors.New("an empty question or answer"))
		}
	}
	it.Pictures = make([][]string, len(it.Questions))
	shown := raw["img_path"]
	if len(shown) == 0 {
		return it, nil
	}
	if err := json.Unmarshal(shown, &it.Pictures); err != nil || len(it.Pictures) != len(it.Questions) {
		var flat oneOrMany
		if err := json.Unmarshal(shown, &flat); err != nil {
			return fail(fmt.Errorf("img_path: %w", err))
		}
		it.Pictures = make([][]string, len(it.Questions))
		it.Pictures[0] = flat
	}
	return it, nil
}

// oneOrMany is a text or a list of texts.
type oneOrMany []string

// UnmarshalJSON accepts both.
func (o *oneOrMany) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = oneOrMany{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return errors.New("neither a text nor a list of texts")
	}
	*o = many
	return nil
}

// PicturePath is where a picture of an item lies below the benchmark's folder; empty for a
// radiograph, which belongs to another data set.
func (it *CXRBItem) PicturePath(picture string) string {
	switch {
	case it.Stage == "init":
		return ""
	case it.Path == "path2" && it.Stage == "stage2":
		return cxrbPoints + picture
	}
	return cxrbPictures + picture
}

// Verify reads everything and compares the counts. want is [CXRBRelease] for the release; a
// zero want compares nothing. Pictures must exist where checkPictures is set.
//
// Errors: all that [CXRB.Items] reports, a missing picture, wrong counts; the first of them.
func (c *CXRB) Verify(want CXRBCounts, checkPictures bool) (got CXRBCounts, err error) {
	if want == CXRBRelease {
		if err := c.CheckLists(); err != nil {
			return got, err
		}
	}
	for _, t := range cxrbTasks {
		for _, id := range c.cases[t.name] {
			got.Cases++
			items, err := c.Items(t.name, id)
			if err != nil {
				return got, err
			}
			for i := range items {
				got.Add(&items[i])
				if checkPictures {
					if err := c.hasPictures(&items[i]); err != nil {
						return got, err
					}
				}
			}
		}
	}
	return got, got.Check(want)
}

// CheckLists reports a case list that has not the length of the release's.
func (c *CXRB) CheckLists() error {
	for _, t := range cxrbTasks {
		if n := len(c.cases[t.name]); n != CXRBCasesPerTask {
			return fmt.Errorf("dataset: CXReasonBench: %s has %d cases, the release has %d", t.name, n, CXRBCasesPerTask)
		}
	}
	return nil
}

// Check reports counts that differ from want; a zero want compares nothing.
func (c CXRBCounts) Check(want CXRBCounts) error {
	if want != (CXRBCounts{}) && c != want {
		return fmt.Errorf("dataset: CXReasonBench: %d cases with %d + %d + %d pairs, want %d with %d + %d + %d",
			c.Cases, c.Path1, c.Path2, c.RePath1, want.Cases, want.Path1, want.Path2, want.RePath1)
	}
	return nil
}

// Add counts the pairs of a question file.
func (c *CXRBCounts) Add(it *CXRBItem) {
	switch it.Path {
	case "path1":
		c.Path1 += len(it.Questions)
	case "path2":
		c.Path2++
	default:
		c.RePath1 += len(it.Questions)
	}
}

func (c *CXRB) hasPictures(it *CXRBItem) error {
	for _, list := range it.Pictures {
		for _, p := range list {
			name := it.PicturePath(p)
			if name == "" {
				continue
			}
			if _, err := fs.Stat(c.fsys, name); err != nil {
				return it.missing()
			}
		}
	}
	return nil
}
