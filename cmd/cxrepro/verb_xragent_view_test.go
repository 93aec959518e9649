package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
	"cxrepro/internal/viewcheck"
	"cxrepro/internal/xragent"
)

// drawnFile writes a picture of a kind and returns its path.
func drawnFile(t *testing.T, k phantom.Kind) string {
	t.Helper()
	m, _, err := phantom.DrawKind(77, 1, k, 480)
	require.NoError(t, err)
	data, err := cxr.EncodePNG(m)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), k.String()+".png")
	require.NoError(t, os.WriteFile(file, data, 0o644))
	return file
}

func ran(t *testing.T, args ...string) (int, string, string) {
	t.Helper()
	var out, errw bytes.Buffer
	code := execute(t.Context(), args, strings.NewReader(""), &out, &errw)
	return code, out.String(), errw.String()
}

// TestXragentViewAndMeasure runs both verbs with the models that the program carries.
func TestXragentViewAndMeasure(t *testing.T) {
	pa, lateral := drawnFile(t, phantom.KindPA), drawnFile(t, phantom.KindLateral)
	code, out, errs := ran(t, "xragent", "view", pa, lateral, "--json")
	require.Equal(t, exitOK, code, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 2)
	for i, want := range []string{"", xragent.ReasonViewLateral} {
		var got viewed
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &got))
		require.Equal(t, want, got.Code)
		require.InDelta(t, 1, got.Type[0]+got.Type[1]+got.Type[2]+got.Type[3], 1e-3)
	}
	code, out, errs = ran(t, "xragent", "view", lateral)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "view_lateral")
	require.Contains(t, errs, "PhantomView is trained on drawn phantoms")

	for _, profile := range []string{"table", "calibrated"} {
		code, out, errs = ran(t, "xragent", "measure", pa, lateral, "--profile", profile, "--json")
		require.Equal(t, exitOK, code, errs)
		lines = strings.Split(strings.TrimSpace(out), "\n")
		require.Len(t, lines, 2)
		var got measured
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &got))
		require.True(t, got.Bundle.Exposed(xragent.CTR), lines[0])
		require.NoError(t, got.Bundle.Check(xragent.Profile(profile)))
		require.NoError(t, json.Unmarshal([]byte(lines[1]), &got))
		require.Equal(t, xragent.ReasonViewLateral, got.Bundle.Reason)
	}
	code, out, errs = ran(t, "xragent", "measure", pa)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, `"status":"ok","view":"PA"`)
}

func TestXragentViewRefuses(t *testing.T) {
	for _, r := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "no picture named", []string{"view"}},
		{exitUsage, "no picture named", []string{"measure"}},
		{exitUsage, "--n 0", []string{"view", "eval", "--n", "0"}},
		{exitUsage, "table or calibrated", []string{"measure", "x.png", "--profile", "best"}},
		{exitUsage, "--provider cpu", []string{"view", "x.png", "--provider", "tpu"}},
		{exitUsage, "view card", []string{"view", "x.png", "--model", "none.yaml"}},
		{exitFailed, "no such file", []string{"view", "none.png"}},
	} {
		code, _, errs := ran(t, append([]string{"xragent"}, r.args...)...)
		require.Equal(t, r.code, code, "%v: %s", r.args, errs)
		require.Contains(t, errs, r.says)
	}
}

// TestXragentViewEval holds that the figures of an evaluation are what a card takes.
func TestXragentViewEval(t *testing.T) {
	code, out, errs := ran(t, "xragent", "view", "eval", "--n", "8", "--seed", "5", "--json")
	require.Equal(t, exitOK, code, errs)
	var f viewcheck.Figures
	require.NoError(t, json.Unmarshal([]byte(out), &f))
	require.Equal(t, 8, f.Cases)
	require.Len(t, f.Heads, 4)
	code, out, errs = ran(t, "xragent", "view", "eval", "--n", "3", "--seed", "5")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "truth \\ read")
}

// TestPhantomGenerateViews holds the files that the view check is trained on.
func TestPhantomGenerateViews(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "views")
	code, _, errs := ran(t, "phantom", "generate", "--views", "--n", "3", "--seed", "4", "--shard", "2", "--out", dir)
	require.Equal(t, exitOK, code, errs)
	sizes := map[string]int64{"images-0000.u8": 2 * 65536, "images-0001.u8": 65536, "labels-0000.u8": 10, "labels-0001.u8": 5}
	for name, want := range sizes {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, want, info.Size(), name)
	}
	labels, err := os.ReadFile(filepath.Join(dir, "labels-0001.u8"))
	require.NoError(t, err)
	m, truth, err := phantom.ViewSample(4, 2)
	require.NoError(t, err)
	require.Equal(t, viewLabel(truth), labels)
	pix, err := os.ReadFile(filepath.Join(dir, "images-0001.u8"))
	require.NoError(t, err)
	s, err := viewcheck.Prepare(viewcheck.GreyOf(m))
	require.NoError(t, err)
	require.Equal(t, byte(s.Final.Pix[128*256+128]), pix[128*256+128])
	code, _, errs = ran(t, "phantom", "generate", "--views", "--training", "--out", filepath.Join(dir, "x"))
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "different samples")
}
