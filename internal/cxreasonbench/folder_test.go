package cxreasonbench

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// folderOf lays a result set out as the authors' programs do.
func folderOf(t *testing.T, in inputSet, rules Rules) (inference, scoring fstest.MapFS) {
	t.Helper()
	inference, scoring = fstest.MapFS{}, fstest.MapFS{}
	put := func(tree fstest.MapFS, name string, v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		tree[name] = &fstest.MapFile{Data: data}
	}
	put(inference, "config.json", map[string]string{"model_id": "m"})
	scoring["dicom_lst_idk_init.jsonl"] = &fstest.MapFile{Data: []byte("\"x\"\n\"x\"\n")}
	for task, cases := range in.Tasks {
		for _, c := range cases {
			s, kept := c.scores(t, rules, task)
			scores := map[string]any{"sysmsg-init": []string{"prompt"}}
			replies := map[string]any{"dicom": c.ID, "measured_value": ""}
			for k, score := range s.Scores {
				scores["stage-"+k.String()] = score.Number()
				replies["stage-"+k.String()] = map[string]any{"query": "q", "img_path": []string{}, "response": "r", "answer": "a"}
				if k.Stage == StageFinal {
					extracted := ""
					if KindOf(task) == Measurement {
						extracted = "not used"
					}
					scores[valueKeys[k.Path]] = extracted
				}
			}
			for name, v := range c.Values {
				p := map[string]Path{"final": Path1, "guidance": Path2, "review": RePath1}[name]
				final, measured := Key{Path: p, Stage: StageFinal}, Key{Path: p, Stage: StageMeasurement}
				replies["stage-"+measured.String()] = map[string]any{"answer": text(t, v[0], 0)}
				replies["stage-"+final.String()] = map[string]any{"response": text(t, v[1], kept[final.String()][1])}
			}
			dir := task.String()
			if c.Source != 0 {
				dir = path.Join(c.Source.String(), dir)
				replies["stage-reasoning-init"] = map[string]any{"response": "I don't know"}
			}
			put(inference, path.Join(dir, c.ID+".json"), replies)
			put(scoring, path.Join(dir, c.ID+".json"), scores)
		}
	}
	return inference, scoring
}

// TestFoldersGolden scores every result set from folders as the authors' programs write them;
// the encoded results equal the reference.
func TestFoldersGolden(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	released := rulesOf(t, AsReleased, nil)
	for _, name := range sets(t) {
		inference, scoring := folderOf(t, load[inputSet](t, name+".input.json"), released)
		r, err := ReadFolders(rules, inference, scoring, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(r.Unscored)+len(r.Ignored) > 0 {
			t.Errorf("%s: unscored %v, ignored %v", name, r.Unscored, r.Ignored)
		}
		data, err := ResultsJSON(r.Score(rules))
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]goldenPath
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		want := load[goldenSet](t, name+".golden.json").Results
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Errorf("%s:\n got %s\nwant %s", name, a, b)
		}
		if !strings.HasPrefix(string(data), `{"path1":{"tasks":{"rotation":{"stage1":`) && !strings.HasPrefix(string(data), `{"path2":{"tasks":{"rotation":{"stage1":`) {
			t.Errorf("%s: order %.60s", name, data)
		}
		cells, err := CellsJSON(r.Score(rules))
		if err != nil || !json.Valid(cells) {
			t.Errorf("%s: cells %v", name, err)
		}
	}
}

// TestFolderFaults holds what folders that are not whole come to.
func TestFolderFaults(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const whole = `{"stage-init":1,"stage-criteria_0":1,"stage-bodypart_0":1,"stage-measurement":1,"stage-final":0,"stage-measured_value":"0.5"}`
	const replies = `{"stage-measurement":{"answer":"(b) [0.49 - 0.51]"},"stage-final":{"response":"Value: 0.50"}}`
	const at = "cardiomegaly/c1.json"
	read := func(inference, scoring fstest.MapFS) (*FolderResults, error) {
		return ReadFolders(rules, inference, scoring, nil)
	}
	r, err := read(fstest.MapFS{at: file(replies), "cardiomegaly/c2.json": file("{}"), "notes/x.json": file("{}")}, fstest.MapFS{at: file(whole)})
	if err != nil {
		t.Fatal(err)
	}
	c := Count(Path1, r.Cases[Path1][Tasks()[2]])
	if c.Entered != 1 || c.Checked != 1 || c.Consistent != 1 || c.RightConsistent != 0 {
		t.Errorf("counts %+v", c)
	}
	if len(r.Unscored) != 1 || r.Unscored[0] != "cardiomegaly/c2" || len(r.Ignored) != 1 || r.Ignored[0] != "notes" {
		t.Errorf("unscored %v, ignored %v", r.Unscored, r.Ignored)
	}
	if len(r.Paths) != 1 || r.Paths[0] != Path1 {
		t.Errorf("paths %v", r.Paths)
	}
	for name, f := range map[string][2]fstest.MapFS{
		"c1.json":              {{}, {at: file(whole)}},
		"no stage-final":       {{at: file(`{"stage-measurement":{"answer":"a"}}`)}, {at: file(whole)}},
		"stage-final.response": {{at: file(`{"stage-measurement":{"answer":"a"},"stage-final":{}}`)}, {at: file(whole)}},
		"stage-init is 7":      {{}, {at: file(`{"stage-init":7}`)}},
		`stage-init is "True"`: {{}, {at: file(`{"stage-init":"True"}`)}},
		"no JSON object":       {{}, {at: file(`[`)}},
	} {
		if _, err := read(f[0], f[1]); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q named, got %v", name, err)
		}
	}
	if _, err := read(fstest.MapFS{}, fstest.MapFS{}); !errors.Is(err, ErrNoResults) {
		t.Errorf("empty folders: %v", err)
	}
	empty, err := ReadFolders(rules, fstest.MapFS{}, fstest.MapFS{}, []Path{Path2})
	if err != nil || len(empty.Paths) != 2 || empty.Score(rules)[0].Groups[Overall].Cells[0].Plain.Known {
		t.Errorf("empty folders of path 2: %v, %v", empty, err)
	}
	// A value that is not there, or no text, switches the check off.
	for _, value := range []string{"null", "0.5"} {
		s := strings.Replace(whole, `"0.5"`, value, 1)
		r, err := read(fstest.MapFS{at: file(replies)}, fstest.MapFS{at: file(s)})
		if err != nil || Count(Path1, r.Cases[Path1][Tasks()[2]]).Checked != 0 {
			t.Errorf("value %s: %v", value, err)
		}
	}
}
