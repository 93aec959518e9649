package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx/onnxtest"
)

// run executes one command line and returns exit code, stdout and stderr.
func runLine(args ...string) (code int, out, talk string) {
	var o, e bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// segmentBench is a folder with a card, its model and a few pictures.
func segmentBench(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	model := onnxtest.Ellipses([]onnxtest.Ellipse{
		{CX: 20, CY: 30, A: 10, B: 18}, {CX: 44, CY: 30, A: 10, B: 18}, {CX: 34, CY: 40, A: 10, B: 8},
	}, onnxtest.Options{Size: 64, Channels: 1})
	card := fmt.Sprintf(`format: cxrepro-model-card-1
name: three
version: "1"
file: three.onnx
sha256: "%x"
licence: {name: MIT, notice: made for a test}
source: written by the test
input: {name: image, width: 64, height: 64, channels: 1, layout: NCHW, divisor: 255, mean: [0], std: [1], resize: nearest}
output: {name: logits, kind: logits, threshold: 0, layout: NCHW, width: 64, height: 64}
channels: [right lung, left lung, heart]
`, sha256.Sum256(model))
	put := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	put("three.onnx", model)
	put("card.yaml", []byte(card))
	for name, size := range map[string][2]int{"a.png": {120, 90}, "b.png": {64, 64}} {
		m := cxr.NewImage(size[0], size[1])
		for i := range m.Pix {
			m.Pix[i] = uint8(i % 251)
		}
		data, err := cxr.EncodePNG(m)
		require.NoError(t, err)
		put(name, data)
	}
	put("text.jpg", []byte("this is no picture"))
	return dir
}

func TestSegmentVerb(t *testing.T) {
	dir := segmentBench(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	code, out, talk := runLine("segment", at("a.png"), at("text.jpg"), at("b.png"), at("none.png"), "--model", at("card.yaml"), "--out", at("masks"), "--json")
	require.Equal(t, exitQuarantined, code, talk)
	require.Contains(t, talk, "2 of 4 pictures could not be read")
	require.Contains(t, talk, "made for a test")
	var lines []segmented
	for _, text := range strings.Split(strings.TrimSpace(out), "\n") {
		var l segmented
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	require.Len(t, lines, 4)
	require.Equal(t, 3, lines[0].Report.Present)
	require.Equal(t, [2]int{120, 90}, lines[0].Report.Native)
	require.Len(t, lines[0].Files, 3)
	require.Contains(t, lines[1].Error, "text")
	require.Contains(t, lines[3].Error, "none.png")
	require.Equal(t, "segment-1/nearest", lines[2].Identity["preprocessing"])

	c, err := chexstruct.ReadCase(os.DirFS(at("masks")), "a.json")
	require.NoError(t, err)
	require.Equal(t, 120, c.Input.NativeWidth)
	require.Equal(t, 3, c.Input.Masks.Present().Len())
	require.NotNil(t, c.Input.Facts, "the picture beside the case is on the masks' grid")
	overlay, err := os.ReadFile(at("masks/a-overlay.png"))
	require.NoError(t, err)
	m, err := cxr.Decode(overlay, cxr.Limits{})
	require.NoError(t, err)
	require.Equal(t, previewSide+previewLegend, m.Width)

	code, out, _ = runLine("segment", at("b.png"), "--model", at("card.yaml"))
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "3/3")
	require.Contains(t, out, "none")
}

func TestSegmentEval(t *testing.T) {
	dir := segmentBench(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	code, _, talk := runLine("segment", at("a.png"), at("b.png"), "--model", at("card.yaml"), "--out", at("truth"), "--no-overlay")
	require.Equal(t, exitOK, code, talk)
	code, _, _ = runLine("segment", at("a.png"), "--model", at("card.yaml"), "--out", at("pred"), "--no-overlay")
	require.Equal(t, exitOK, code)
	code, out, talk := runLine("segment", "eval", "--pred", at("pred"), "--truth", at("truth"))
	require.Equal(t, exitQuarantined, code)
	require.Contains(t, talk, "1 of 2 true cases have no found masks, the first is b.json")
	require.Contains(t, out, "Heart                          1      0  1.000  1.000  1.000  1.000  1.000   |    0.97   0.94   0.97")
	code, out, _ = runLine("segment", "eval", "--pred", at("truth"), "--truth", at("truth"), "--json")
	require.Equal(t, exitOK, code)
	var r evaluationReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, 2, r.Cases)
	require.Len(t, r.Rows, 3)
	require.Equal(t, 0.96, r.Rows[0].Published.IoU)
	code, _, talk = runLine("segment", "eval", "--pred", at("none"), "--truth", at("truth"))
	require.Equal(t, exitFailed, code)
	require.Contains(t, talk, "hint:")
}

func TestSegmentRefusals(t *testing.T) {
	dir := segmentBench(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name string
		code int
		says string
		args []string
	}{
		{"no picture", exitUsage, "no picture named", []string{"segment", "--model", at("card.yaml")}},
		{"card missing", exitUsage, "none.yaml", []string{"segment", at("a.png"), "--model", at("none.yaml")}},
		{"two of one name", exitUsage, "both be written", []string{"segment", at("a.png"), at("a.jpg"), "--model", at("card.yaml"), "--out", at("o")}},
		{"provider unknown", exitUsage, "cpu or", []string{"segment", at("a.png"), "--model", at("card.yaml"), "--provider", "gpu"}},
		{"CUDA absent", exitFailed, "provider cuda was asked for but cannot be used", []string{"segment", at("a.png"), "--model", at("card.yaml"), "--provider", "cuda"}},
		{"library absent", exitFailed, "none.so", []string{"segment", at("a.png"), "--model", at("card.yaml"), "--onnxruntime", at("none.so")}},
		{"card of another file", exitFailed, "has digest", []string{"segment", "card", at("other.yaml")}},
	}
	card, err := os.ReadFile(at("card.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(at("other.yaml"), []byte(strings.Replace(string(card), "three.onnx", "a.png", 1)), 0o644))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, talk := runLine(tt.args...)
			require.Equal(t, tt.code, code, talk)
			require.Contains(t, talk, tt.says)
		})
	}
	code, out, talk := runLine("segment", "card", at("card.yaml"))
	require.Equal(t, exitOK, code, talk)
	require.Contains(t, out, "structures  3")
}
