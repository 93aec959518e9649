package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/responder"
)

// TestCarriedProfiles holds that every profile and fault script that the program carries is
// valid.
func TestCarriedProfiles(t *testing.T) {
	require.Subset(t, carried(), []string{"demo", "paper", "extremes", "faults"})
	for _, name := range carried() {
		data, err := readCarried(name)
		require.NoError(t, err)
		if name == carriedFaults {
			_, err = responder.ParseFaults(name, data)
		} else {
			_, err = responder.ParseProfile(name, data)
		}
		require.NoError(t, err)
	}
}

func TestResponderUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("format: x\nseed: 1\nmodels: []\n"), 0o644))
	for _, x := range []struct {
		args []string
		says string
	}{
		{nil, "is missing"},
		{[]string{"--profile", "demo"}, "--benchmark or --questions is missing"},
		{[]string{"--profile", "nosuch", "--benchmark", "x"}, "one of "},
		{[]string{"--profile", bad, "--benchmark", "x"}, "bad.yaml:1: format"},
		{[]string{"--profile", "demo", "--benchmark", "x"}, "is no folder and no digest"},
		{[]string{"--profile", "demo", "--benchmark", "x", "--faults", bad}, "bad.yaml"},
		{[]string{"--profile", "demo", "--benchmark", t.TempDir()}, "cxreasonbench build"},
		{[]string{"--profile", "demo", "--benchmark", "x", "--latency", "-1s"}, "negative"},
		{[]string{"--profile", "demo", "--benchmark", "x", "--credential-env", "CXREPRO_TEST_NONE"}, "is empty"},
	} {
		code, _, talk := runLine(append([]string{"responder"}, x.args...)...)
		require.Contains(t, talk, x.says, "%v", x.args)
		if x.says != "cxreasonbench build" {
			require.Equal(t, exitUsage, code, "%v", x.args)
		}
	}
}

// TestResponder builds a small benchmark, serves it, asks the first question of a case, and
// stops the responder.
func TestResponder(t *testing.T) {
	dir := t.TempDir()
	phantoms, bench := filepath.Join(dir, "P"), filepath.Join(dir, "B")
	code, _, talk := runLine("phantom", "generate", "--n", "10", "--seed", "1", "--size", "512x512", "--cases", "--out", phantoms)
	require.Equal(t, exitOK, code, talk)
	code, _, talk = runLine("cxreasonbench", "build", "--cases", filepath.Join(phantoms, "truth"), "--data", filepath.Join(phantoms, "mimic-cxr-jpg"),
		"--per-task", "1", "--out", bench, "--threshold", "global.mask_count.mask_num_min=25")
	require.Contains(t, []int{exitOK, exitQuarantined}, code, talk)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	read, write := io.Pipe()
	var said bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"responder", "--json", "--profile", "extremes", "--benchmark", bench}, strings.NewReader(""), write, &said)
	}()
	var ready responderReady
	require.NoError(t, json.NewDecoder(read).Decode(&ready))
	require.Equal(t, "ready", ready.Event)
	require.Contains(t, ready.Models, "oracle")
	require.Positive(t, ready.Cases)

	res, err := http.Get(ready.URL + "/models")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	body := firstQuestion(t, bench, "oracle")
	res, err = http.Post(ready.URL+"/chat/completions", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode, string(data))
	require.Contains(t, string(data), "FINAL ANSWER")

	stop()
	select {
	case code := <-ended:
		require.Equal(t, exitOK, code, said.String())
	case <-time.After(10 * time.Second):
		t.Fatal("the responder does not stop")
	}
	require.Contains(t, said.String(), "1 requests, 1 answered")
}

// firstQuestion is a request with the first question of the first case of a benchmark.
func firstQuestion(t *testing.T, bench, model string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join(bench, cxreasonbench.ItemsFile))
	require.NoError(t, err)
	defer f.Close()
	var it cxreasonbench.Item
	require.NoError(t, json.NewDecoder(f).Decode(&it))
	q := it.Questions[0]
	picture, err := os.ReadFile(filepath.Join(bench, "files", filepath.FromSlash(q.Pictures[0].Path)))
	require.NoError(t, err)
	// A []byte becomes base64 in JSON; cut off its quotes.
	encoded, err := json.Marshal(picture)
	require.NoError(t, err)
	url := "data:image/jpeg;base64," + strings.Trim(string(encoded), `"`)
	body, err := json.Marshal(map[string]any{"model": model, "messages": []any{map[string]any{"role": "user", "content": []any{
		map[string]any{"type": "text", "text": q.Text},
		map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}},
	}}}})
	require.NoError(t, err)
	return body
}
