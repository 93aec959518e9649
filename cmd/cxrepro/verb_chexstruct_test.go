package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/chexstruct"
)

const goldenFolder = "../../internal/chexstruct/testdata/golden"

func goldenCases(names ...string) []string {
	for i, n := range names {
		names[i] = filepath.Join(goldenFolder, n)
	}
	return names
}

// runCxrepro runs one command line and returns exit code, standard output and error.
func runCxrepro(t *testing.T, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func assessArgs(args ...string) []string { return append([]string{"chexstruct", "assess"}, args...) }

// resultLines decodes one result per line.
func resultLines(t *testing.T, out string) []chexstruct.Result {
	t.Helper()
	var list []chexstruct.Result
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var r chexstruct.Result
		if err := json.Unmarshal([]byte(l), &r); err != nil {
			t.Fatalf("line %q: %v", l, err)
		}
		list = append(list, r)
	}
	return list
}

func TestAssessJSON(t *testing.T) {
	f := goldenCases("open_17.json", "open_01.json", "open_05.json", "open_16.json")
	// Flags and plain arguments mixed keep the order of the command line.
	code, out, talk := runCxrepro(t, assessArgs("--masks", f[0], f[1], "--json", "--masks", f[2], f[3])...)
	if code != exitOK || talk != "" {
		t.Fatalf("exit %d, %s", code, talk)
	}
	got := resultLines(t, out)
	for i, want := range []string{"open_17.json", "open_01.json", "open_05.json", "open_16.json"} {
		if got[i].Case != want || len(got[i].Findings) != 12 || got[i].Global == nil || got[i].XRagent == nil {
			t.Errorf("line %d is %s with %d tasks", i, got[i].Case, len(got[i].Findings))
		}
	}
	// Quality control fails in case 17 and the exit code stays 0; the picture beside the
	// case was read.
	if s := got[0].Finding(chexstruct.Inspiration).Status; s != chexstruct.StatusQCFailed {
		t.Errorf("case 17: %s", s)
	}
	if v, ok := got[1].Global.Checks[2].Value.Float(); !ok || v != 122.875 {
		t.Errorf("gradient of case 1: %v", v)
	}
}

func TestAssessOneTask(t *testing.T) {
	f := goldenCases("open_01.json")[0]
	code, out, talk := runCxrepro(t, assessArgs("--masks", f, "--task", "carina_angle", "--task", "inclusion", "--task", "carina_angle", "--json",
		"--set", "carina_angle.angle_std.max=2", "--preset", "as_released")...)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, talk)
	}
	r := resultLines(t, out)[0]
	if len(r.Findings) != 2 || r.Findings[0].Task != chexstruct.Inclusion || r.Findings[1].Task != chexstruct.CarinaAngle || r.Global == nil || r.XRagent == nil {
		t.Fatalf("findings %+v", r.Findings)
	}
	if failed := r.Findings[1].Failed(); len(failed) != 1 || failed[0] != chexstruct.RuleCarinaAngleStd {
		t.Errorf("failed %v", failed)
	}
	if r.Global.Orientation != chexstruct.OrientationOff {
		t.Errorf("as_released looks at the orientation: %s", r.Global.Orientation)
	}
}

func TestAssessTable(t *testing.T) {
	code, out, _ := runCxrepro(t, assessArgs("--masks", goldenCases("open_17.json")[0])...)
	for _, want := range []string{"open_17.json  (corrected)", "inspiration.rib_iou inspiration.rib_overlap", "0.04 / 0.03", "not_deviated", "x-ragent ctr"} {
		if !strings.Contains(out, want) {
			t.Errorf("exit %d, the table lacks %q:\n%s", code, want, out)
		}
	}
	_, out, _ = runCxrepro(t, assessArgs("--masks", goldenCases("open_05.json")[0])...)
	if !strings.Contains(out, "withheld") {
		t.Errorf("an AP picture is not withheld:\n%s", out)
	}
}

// TestAssessBadCases: a bad file is named with its field, the others are still printed.
func TestAssessBadCases(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"format":"chexstruct-case-1","size":[2,2],"masks":{"heart":[1,1]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(dir, "lost.json")
	f := goldenCases("open_01.json", "open_02.json")
	code, out, talk := runCxrepro(t, assessArgs("--json", "--masks", f[0], bad, lost, f[1])...)
	if code != exitFailed {
		t.Errorf("exit %d, want %d", code, exitFailed)
	}
	if got := resultLines(t, out); len(got) != 2 || got[0].Case != "open_01.json" || got[1].Case != "open_02.json" {
		t.Errorf("printed %s", out)
	}
	for _, want := range []string{bad + `: field masks["heart"]: `, "sum to 2", lost, "2 of 4 cases"} {
		if !strings.Contains(talk, want) {
			t.Errorf("the message lacks %q:\n%s", want, talk)
		}
	}
}

func TestAssessOwnPicture(t *testing.T) {
	f := goldenCases("open_01.json", "open_02.json", "open_06.png", "open_02.png")
	code, out, talk := runCxrepro(t, assessArgs("--json", "--masks", f[0], "--image", f[2])...)
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, talk)
	}
	if v, _ := resultLines(t, out)[0].Global.Checks[2].Value.Float(); v != 368.625 {
		t.Errorf("gradient %v, want that of case 6", v)
	}
	code, out, talk = runCxrepro(t, assessArgs("--json", "--masks", f[0], "--image", f[3])...)
	if code != exitFailed || out != "" || !strings.Contains(talk, "1024x1024") || !strings.Contains(talk, "open_01.json") {
		t.Errorf("picture of another size: exit %d, %s", code, talk)
	}
}

func TestAssessUsage(t *testing.T) {
	f := goldenCases("open_01.json", "open_02.json", "open_01.png")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no cases":      {assessArgs("--json"), "--masks CASE.json"},
		"plain only":    {assessArgs(f[0]), "--masks CASE.json"},
		"two pictures":  {assessArgs("--masks", f[0], f[1], "--image", f[2]), "one picture for 2 cases"},
		"unknown task":  {assessArgs("--masks", f[0], "--task", "heart_size"), "cardiomegaly"},
		"section":       {assessArgs("--masks", f[0], "--task", "global"), "tasks are"},
		"preset":        {assessArgs("--masks", f[0], "--preset", "official"), "as_published as_released corrected"},
		"unknown row":   {assessArgs("--masks", f[0], "--set", "trachea.hight.min=1"), "trachea.height.min"},
		"wrong type":    {assessArgs("--masks", f[0], "--set", "trachea.height.min=tall"), `want a number, got the text "tall"`},
		"no value":      {assessArgs("--masks", f[0], "--set", "trachea.height.min"), "row=value"},
		"unknown flag":  {assessArgs("--mask", f[0]), "--help"},
		"no subcommand": {[]string{"chexstruct"}, "assess"},
	} {
		code, out, talk := runCxrepro(t, c.args...)
		if code != exitUsage || out != "" || !strings.Contains(talk, c.want) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", name, code, exitUsage, c.want, talk)
		}
	}
}

func TestThresholds(t *testing.T) {
	code, out, talk := runCxrepro(t, "chexstruct", "thresholds", "--set", "trachea.height.min=0.12")
	if code != exitOK || !strings.Contains(out, "version 1.0.0, corrected; trachea.height.min = 0.12") || !strings.Contains(out, "rotation.clavicle_x.range") {
		t.Errorf("exit %d, %s\n%s", code, talk, out)
	}
	code, out, _ = runCxrepro(t, "chexstruct", "thresholds", "--json", "--preset", "as_published")
	var doc struct {
		Version, Preset string
		Rows            []chexstruct.RowValue
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitOK || doc.Preset != "as_published" || len(doc.Rows) != 115 {
		t.Errorf("exit %d: %v, %+v", code, err, doc.Preset)
	}
}
