package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// evaluationFolders writes one case of Path 1 as the authors' programs do and returns the
// folders of replies and scores.
func evaluationFolders(t *testing.T) (inference, scoring string) {
	t.Helper()
	save := t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(save, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	put("inference/reasoning/m/config.json", `{"model_id":"m"}`)
	put("inference/reasoning/m/cardiomegaly/a.json", `{"dicom":"a",
		"stage-measurement":{"query":"q","img_path":[],"response":"(b)","answer":"(b) [0.49 - 0.51]"},
		"stage-final":{"query":"q","img_path":[],"response":"FINAL ANSWER: (b) No\nValue: 0.50","answer":"(b) No"}}`)
	put("scoring/reasoning/j/m/cardiomegaly/a.json", `{"stage-init":1,"stage-criteria_0":1,"stage-bodypart_0":1,
		"stage-measurement":1,"stage-final":1,"stage-measured_value":"0.50","sysmsg-init":"p"}`)
	put("scoring/reasoning/j/m/dicom_lst_correct_final.jsonl", "\"a\"\n")
	return filepath.Join(save, "inference", "reasoning", "m"), filepath.Join(save, "scoring", "reasoning", "j", "m")
}

// TestScore scores one case: 1 of 1 is 36.39 in the paper's formula.
func TestScore(t *testing.T) {
	inference, scoring := evaluationFolders(t)
	code, out, talk := runLine("cxreasonbench", "score", "--inference", inference, "--scoring", scoring, "--json")
	require.Equal(t, exitOK, code, talk)
	var got map[string]map[string]map[string]map[string]*float64
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got, 1)
	row := got["path1"]["tasks"]["cardiomegaly"]
	require.Equal(t, 36.39, *row["completion_refined"])
	require.Equal(t, 4.0, *row["depth"])
	require.Nil(t, got["path1"]["tasks"]["rotation"]["stage1"])
	require.Equal(t, 36.39, *got["path1"]["groups"]["overall"]["consistency"])

	code, out, talk = runLine("cxreasonbench", "score", "--inference", inference, "--scoring", scoring)
	require.Equal(t, exitOK, code, talk)
	require.Contains(t, out, "36.39 (36.39)")
	require.Contains(t, out, "1/1 100.0 [20.7, 100.0]")
	require.Contains(t, out, "Preset: corrected.")

	code, out, talk = runLine("cxreasonbench", "score", "--inference", inference, "--scoring", scoring, "--json", "--cells")
	require.Equal(t, exitOK, code, talk)
	require.Contains(t, out, `"completion":{"value":36.39,"k":1,"n":1,"formula":"paper.adjusted_wilson","standard"`)
}

// TestScoreFaults: what is wrong is named with a way out, and unscored cases are exit code 3.
func TestScoreFaults(t *testing.T) {
	inference, scoring := evaluationFolders(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"cxreasonbench"}, exitUsage, "score"},
		{[]string{"cxreasonbench", "score", "--inference", inference}, exitUsage, "--scoring DIR is missing"},
		{[]string{"cxreasonbench", "score", "--inference", inference, "--scoring", inference + "x"}, exitUsage, "is no folder"},
		{[]string{"cxreasonbench", "score", "--inference", t.TempDir(), "--scoring", t.TempDir()}, exitUsage, "hold no results"},
		{[]string{"cxreasonbench", "score", "--inference", inference, "--scoring", scoring, "--cells"}, exitUsage, "--json"},
		{[]string{"cxreasonbench", "score", "--inference", inference, "--scoring", scoring, "--preset", "x"}, exitUsage, "as_released"},
		{[]string{"cxreasonbench", "score", "--inference", inference, "--scoring", scoring, "--set", "score.numbers=x"}, exitUsage, "exponents"},
		{[]string{"cxreasonbench", "score", "--inference", t.TempDir(), "--scoring", scoring}, exitFailed, "cardiomegaly/a.json"},
	} {
		code, _, talk := runLine(c.args...)
		require.Equal(t, c.code, code, "%v: %s", c.args, talk)
		require.Contains(t, talk, c.says, "%v", c.args)
	}
	require.NoError(t, os.WriteFile(filepath.Join(inference, "cardiomegaly", "b.json"), []byte("{}"), 0o644))
	code, out, talk := runLine("cxreasonbench", "score", "--inference", inference, "--scoring", scoring, "--json")
	require.Equal(t, exitQuarantined, code)
	require.Contains(t, talk, "cardiomegaly/b")
	require.Contains(t, out, "path1")
}
