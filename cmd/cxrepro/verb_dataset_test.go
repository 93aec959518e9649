package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
)

// writeRadiographs writes two small PNGs and a note, and returns their paths.
func writeRadiographs(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i := range 2 {
		m := cxr.NewImage(40, 30+i)
		for j := range m.Pix {
			m.Pix[j] = uint8(j % 200)
		}
		data, err := cxr.EncodePNG(m)
		require.NoError(t, err)
		paths = append(paths, filepath.Join(dir, string(rune('a'+i))+".png"))
		require.NoError(t, os.WriteFile(paths[i], data, 0o600))
	}
	note := filepath.Join(dir, "note.txt")
	require.NoError(t, os.WriteFile(note, []byte("no picture"), 0o600))
	return append(paths, note)
}

func TestDatasetLayoutAndCheck(t *testing.T) {
	files := writeRadiographs(t)
	dir := filepath.Join(t.TempDir(), "set")
	code, out, talk := runLine("dataset", "layout", files[0], files[1], "--out", dir, "--view", "AP", "--data-use", "synthetic", "--json")
	require.Equal(t, exitOK, code, talk)
	var report dataset.LayoutReport
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Pictures, 2)
	require.Equal(t, "a.png", report.Pictures[0].Name)

	code, out, talk = runLine("dataset", "check", dir, "--depth", "pixels", "--orphans")
	require.Equal(t, exitOK, code, talk)
	require.Contains(t, out, "2 in = 2 kept + 0 filtered + 0 quarantined")
	require.Contains(t, out, "data use synthetic")

	// break one file: one item is quarantined, and its path is told only on request
	path := filepath.Join(dir, filepath.FromSlash(report.Pictures[1].Path))
	require.NoError(t, os.Truncate(path, 100))
	code, out, talk = runLine("dataset", "check", dir, "--depth", "pixels")
	require.Equal(t, exitQuarantined, code, out)
	require.Contains(t, out, "problem     case 2: digest_mismatch")
	require.NotContains(t, out, report.Pictures[1].Path)
	require.Contains(t, talk, "1 items are quarantined")
	code, out, _ = runLine("dataset", "check", dir, "--depth", "pixels", "--paths", "--json")
	require.Equal(t, exitQuarantined, code)
	var check struct {
		Accounting dataset.Accounting `json:"accounting"`
		Problems   []struct{ Path, Outcome string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &check))
	require.EqualValues(t, 1, check.Accounting.Count(dataset.DigestMismatch))
	require.Equal(t, report.Pictures[1].Path, check.Problems[0].Path)

	// the selection filters, it does not lose
	code, out, talk = runLine("dataset", "check", dir, "--view", "PA", "--depth", "tables")
	require.Equal(t, exitFailed, code)
	require.Contains(t, talk, "no image is left")
	require.Contains(t, out, "2 in = 0 kept + 2 filtered + 0 quarantined")
}

func TestDatasetLayoutRefusals(t *testing.T) {
	files := writeRadiographs(t)
	fresh := func() string { return filepath.Join(t.TempDir(), "set") }
	dir := fresh()
	code, out, talk := runLine("dataset", "layout", files[0], files[2], "--out", dir, "--view", "PA")
	require.Equal(t, exitQuarantined, code)
	require.Contains(t, out, "data use credentialed", "without a class the strictest counts")
	require.Contains(t, talk, "refused note.txt: not_an_image")
	require.FileExists(t, filepath.Join(dir, dataset.MetadataFile))

	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"folder in use": {[]string{files[0], "--out", dir, "--view", "PA"}, "is not empty"},
		"no folder":     {[]string{files[0], "--view", "PA"}, "no output folder"},
		"no view":       {[]string{files[0], "--out", fresh()}, `view ""`},
		"other view":    {[]string{files[0], "--out", fresh(), "--view", "OTHER"}, "PA, AP or LATERAL"},
		"unknown class": {[]string{files[0], "--out", fresh(), "--view", "PA", "--data-use", "free"}, `data-use class "free"`},
		"lowered class": {[]string{files[0], "--out", fresh(), "--view", "PA", "--name", "MIMIC-CXR-JPG", "--data-use", "public"}, "weaker than credentialed"},
		"low quality":   {[]string{files[0], "--out", fresh(), "--view", "PA", "--quality", "90"}, "quality 90"},
		"unknown split": {[]string{files[0], "--out", fresh(), "--view", "PA", "--split", "dev"}, `split "dev"`},
		"no pictures":   {[]string{"--out", fresh(), "--view", "PA"}, "requires at least 1 arg"},
	} {
		code, _, talk := runLine(append([]string{"dataset", "layout"}, c.args...)...)
		require.NotEqual(t, exitOK, code, name)
		require.Contains(t, talk, c.want, name)
	}
	code, _, talk = runLine("dataset", "layout", files[2], "--out", fresh(), "--view", "PA")
	require.Equal(t, exitFailed, code)
	require.Contains(t, talk, "no usable picture among 1")
}

func TestDatasetCheckUsage(t *testing.T) {
	empty := t.TempDir()
	code, _, talk := runLine("dataset", "check", empty)
	require.Equal(t, exitFailed, code)
	require.Contains(t, talk, "mimic-cxr-2.0.0-metadata.csv.gz: is missing")
	require.Contains(t, talk, "hint: point at the folder that holds files/")
	for _, args := range [][]string{{empty, "--depth", "deep"}, {empty, "--view", "SIDE"}, {empty, "--split", "dev"}, {empty, "--max", "0"}, {filepath.Join(empty, "none")}} {
		code, _, _ := runLine(append([]string{"dataset", "check"}, args...)...)
		require.Equal(t, exitUsage, code, args)
	}
}
