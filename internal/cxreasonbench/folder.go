package cxreasonbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sort"
	"strings"
)

// ErrNoResults: a folder holds neither folders of tasks nor of entries to Path 2.
var ErrNoResults = errors.New("cxreasonbench: no results of an evaluation")

// FolderResults is what the result folders of the authors' programs hold for one model and
// decoding mode.
type FolderResults struct {
	// Paths are those the folders hold, in the order of [Paths]: Path1, or Path2 and RePath1.
	Paths []Path
	// Cases holds the cases of each task: of Path 1 under Path1, of both others under Path2.
	Cases map[Path]map[Task][]CaseScores
	// Unscored are cases with replies but without scores: undetermined, in no denominator.
	// "task/case" or "idk_init/task/case", sorted.
	Unscored []string
	// Ignored are folders that are no task's, sorted.
	Ignored []string
}

// ReadFolders reads the model folders of an evaluation by the authors' programs,
// <save>/inference/{reasoning|guidance}/<model> and
// <save>/scoring/{reasoning|guidance}/<judge>/<model>: Path 1 where they hold folders of
// tasks, Path 2 and the re-evaluation where they hold folders of entries, idk_init and
// idk_custom. Cases are those with scores; replies are read only where a value is checked.
// Files that do not end in .json, and those beside the folders of tasks, are left alone.
//
// expect names the paths to report where the folders are empty; nil for none.
//
// Errors: ErrNoResults; a file that is no such result, or misses a reply that is needed,
// named with its key.
func ReadFolders(rules Rules, inference, scoring fs.FS, expect []Path) (*FolderResults, error) {
	r := &FolderResults{Cases: map[Path]map[Task][]CaseScores{Path1: {}, Path2: {}}}
	f := folders{rules: rules, inference: inference, scoring: scoring, out: r, found: map[Path]bool{}}
	tasks, err := f.taskFolders(".")
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		if err := f.readTask(t.String(), t, 0); err != nil {
			return nil, err
		}
	}
	for _, e := range Entries() {
		if !isFolder(scoring, e.String()) && !isFolder(inference, e.String()) {
			continue
		}
		f.found[Path2] = true
		tasks, err := f.taskFolders(e.String())
		if err != nil {
			return nil, err
		}
		for _, t := range tasks {
			if err := f.readTask(path.Join(e.String(), t.String()), t, e); err != nil {
				return nil, err
			}
		}
	}
	if len(f.found) == 0 {
		for _, p := range expect {
			f.found[p] = true
		}
	}
	switch {
	case len(f.found) == 0:
		return nil, ErrNoResults
	case f.found[Path2]:
		f.found[RePath1] = true
	}
	for _, p := range Paths() {
		if f.found[p] {
			r.Paths = append(r.Paths, p)
		}
	}
	sort.Strings(r.Unscored)
	sort.Strings(r.Ignored)
	return r, nil
}

// Score computes the figures of every path that the folders hold.
func (r *FolderResults) Score(rules Rules) []PathScores {
	out := make([]PathScores, 0, len(r.Paths))
	for _, p := range r.Paths {
		from := p
		if p == RePath1 {
			from = Path2
		}
		out = append(out, ScorePath(rules, p, r.Cases[from]))
	}
	return out
}

// folders is a reading in progress.
type folders struct {
	rules              Rules
	inference, scoring fs.FS
	out                *FolderResults
	found              map[Path]bool
}

func isFolder(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

// taskFolders returns the tasks with a folder under dir in either tree, in the order of
// [Tasks], and notes the folders that are none.
func (f folders) taskFolders(dir string) ([]Task, error) {
	has := map[Task]bool{}
	for _, tree := range []fs.FS{f.inference, f.scoring} {
		entries, err := fs.ReadDir(tree, dir)
		if errors.Is(err, fs.ErrNotExist) && dir != "." {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cxreasonbench: read results: %w", err)
		}
		for _, e := range entries {
			var t Task
			switch {
			case !e.IsDir():
			case t.UnmarshalText([]byte(e.Name())) == nil && t.Diagnostic():
				has[t] = true
			case dir != "." || (e.Name() != EntryInit.String() && e.Name() != EntryRefined.String()):
				if name := path.Join(dir, e.Name()); !contains(f.out.Ignored, name) {
					f.out.Ignored = append(f.out.Ignored, name)
				}
			}
		}
	}
	var tasks []Task
	for _, t := range Tasks() {
		if has[t] {
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// caseFiles returns the names of the case files of a folder, sorted; none without the folder.
func caseFiles(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cxreasonbench: read results: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (f folders) readTask(dir string, task Task, entry Entry) error {
	p := Path1
	if entry != 0 {
		p = Path2
	}
	f.found[p] = true
	scored, err := caseFiles(f.scoring, dir)
	if err != nil {
		return err
	}
	for _, name := range scored {
		c, err := f.readCase(path.Join(dir, name), task, entry)
		if err != nil {
			return err
		}
		f.out.Cases[p][task] = append(f.out.Cases[p][task], c)
	}
	replied, err := caseFiles(f.inference, dir)
	if err != nil {
		return err
	}
	for _, name := range replied {
		if !contains(scored, name) {
			f.out.Unscored = append(f.out.Unscored, path.Join(dir, strings.TrimSuffix(name, ".json")))
		}
	}
	return nil
}

func readObject(fsys fs.FS, name, tree string) (map[string]json.RawMessage, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("cxreasonbench: %s file: %w", tree, err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("cxreasonbench: %s file %s is no JSON object: %w", tree, name, err)
	}
	return object, nil
}

// valueKeys names, for each path, the text that the judge extracted. That it is there switches
// the check of the value on. Source: [official code].
var valueKeys = [...]string{Path1: "stage-measured_value", Path2: "stage-measured_value_guidance", RePath1: "stage-measured_value_review"}

func (f folders) readCase(name string, task Task, entry Entry) (CaseScores, error) {
	c := CaseScores{
		Case: strings.TrimSuffix(path.Base(name), ".json"), Entry: entry,
		Scores: map[Key]Score{}, Consistent: map[Path]bool{},
	}
	object, err := readObject(f.scoring, name, "scoring")
	if err != nil {
		return c, err
	}
	for field, raw := range object {
		text, found := strings.CutPrefix(field, "stage-")
		k, known := ParseKey(text)
		if !found || !known || (k.Path == Path1) != (entry == 0) {
			continue
		}
		var n float64
		s, ok := Score(0), false
		if err := json.Unmarshal(raw, &n); err == nil && n == float64(int(n)) {
			s, ok = ScoreOf(int(n))
		}
		if !ok {
			return c, fmt.Errorf("cxreasonbench: scoring file %s: %s is %.40s, want 1, 0, -1 or -2", name, field, raw)
		}
		c.Scores[k] = s
	}
	if KindOf(task) != Measurement {
		return c, nil
	}
	for _, p := range Paths() {
		var value string
		raw, there := object[valueKeys[p]]
		if !there || string(raw) == "null" || json.Unmarshal(raw, &value) != nil {
			continue
		}
		if !c.score(p, StageFinal).Valid() {
			continue
		}
		reference, reply, err := f.values(name, p)
		if err != nil {
			return c, err
		}
		if f.rules.is(ConsistencyInput, JudgeValue) {
			reply = value
		}
		c.Consistent[p] = Consistent(f.rules, task, reference, reply)
	}
	return c, nil
}

// values returns the reference of a path's measurement and the reply to its last question.
func (f folders) values(name string, p Path) (reference, reply string, err error) {
	object, err := readObject(f.inference, name, "inference")
	if err != nil {
		return "", "", err
	}
	reference, err = turnText(object, Key{Path: p, Stage: StageMeasurement}, "answer")
	if err == nil {
		reply, err = turnText(object, Key{Path: p, Stage: StageFinal}, "response")
	}
	if err != nil {
		return "", "", fmt.Errorf("cxreasonbench: inference file %s: %w", name, err)
	}
	return reference, reply, nil
}

// turnText returns a text of a turn; a list of one text counts as the text.
func turnText(object map[string]json.RawMessage, k Key, field string) (string, error) {
	name := "stage-" + k.String()
	raw, ok := object[name]
	if !ok {
		return "", fmt.Errorf("no %s, though its score is there", name)
	}
	var turn map[string]json.RawMessage
	if err := json.Unmarshal(raw, &turn); err != nil {
		return "", fmt.Errorf("%s is no object: %w", name, err)
	}
	var text string
	if json.Unmarshal(turn[field], &text) == nil {
		return text, nil
	}
	var list []string
	if json.Unmarshal(turn[field], &list) == nil && len(list) == 1 {
		return list[0], nil
	}
	return "", fmt.Errorf("%s.%s is %.40s, want a text", name, field, turn[field])
}
