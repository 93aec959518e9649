package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/phantom"
)

func TestPhantomGenerate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	code, out, talk := runLine("phantom", "generate", "--n", "2", "--seed", "5", "--size", "120x144", "--cases", "--json", "--out", dir)
	require.Equal(t, exitOK, code, talk)
	var sum phantom.Summary
	require.NoError(t, json.Unmarshal([]byte(out), &sum))
	require.Equal(t, 2, sum.Frontal)
	for _, name := range []string{"mimic-cxr-jpg/SHA256SUMS.txt", "mimic-cxr-jpg/mimic-cxr-2.0.0-metadata.csv.gz", "chexmask/OriginalResolution/MIMIC-CXR-JPG.csv", "truth/summary.json"} {
		require.FileExists(t, filepath.Join(dir, filepath.FromSlash(name)))
	}
	for _, pattern := range []string{"truth/*.truth.json", "truth/*.jpg"} {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.Len(t, found, 2, pattern)
	}

	// a second write into the same folder must not mix two sets
	code, _, talk = runLine("phantom", "generate", "--n", "1", "--out", dir)
	require.Equal(t, exitUsage, code)
	require.Contains(t, talk, "is not empty")
	require.Contains(t, talk, "give a new folder")
}

func TestPhantomTraining(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "train")
	code, _, talk := runLine("phantom", "generate", "--training", "--n", "3", "--first", "4", "--shard", "2", "--seed", "1", "--out", dir)
	require.Equal(t, exitOK, code, talk)
	size := func(name string) int64 {
		f, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return f.Size()
	}
	require.EqualValues(t, 2*512*512, size("images-0000.u8"))
	require.EqualValues(t, 512*512, size("images-0001.u8"))
	require.EqualValues(t, 2*34*512*64, size("masks-0000.bits"))
	want, err := phantom.TrainingSample(1, 6)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, "images-0001.u8"))
	require.NoError(t, err)
	require.Equal(t, want.Pix, got, "the third sample has number 6, whatever the shard")
	var meta trainingMeta
	b, err := os.ReadFile(filepath.Join(dir, "meta.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &meta))
	require.Len(t, meta.Structures, phantom.StructureCount)
	require.Equal(t, "right lung", meta.Structures[30].Name)
}

func TestPhantomUsage(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no folder", []string{}, "name a folder with --out DIR"},
		{"no phantoms", []string{"--out", "x", "--n", "0"}, "at least 1"},
		{"number too large", []string{"--out", "x", "--first", "499999"}, "0 to 499999"},
		{"unknown size", []string{"--out", "x", "--size", "big"}, "native, mimic, 512, or WxH"},
		{"size too small", []string{"--out", "x", "--size", "10x10"}, "64 to 8192"},
		{"training with cases", []string{"--out", "x", "--training", "--cases"}, "drop --cases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			code, _, talk := runLine(append([]string{"phantom", "generate"}, c.args...)...)
			require.Equal(t, exitUsage, code)
			require.Contains(t, talk, c.want)
			require.NoDirExists(t, "x")
		})
	}
}
