package rewardserver

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/resolve/resolvetest"
)

// shimCalls asks as the recipes do: one sample at a time as verl's reward loop, a batch as TRL.
const shimCalls = `
import json, os, sys
sys.path.insert(0, sys.argv[1])
import client
item, key = sys.argv[2], sys.argv[3]
turn1 = '<think>x</think><tool_call>{"name":"roi_crop","arguments":{"bbox":[0,0,500,500]}}</tool_call>'
seen = client.observe(item, turn1, "stop")
said = client.trajectory(turn1, "stop", seen, "<think>y</think><answer>" + key + "</answer>", "stop")
broken = client.trajectory("no tags", "stop")
one = client.reward([client.sample(5, item, 0, key, said)])
rest = client.reward([client.sample(5, item, k, key, broken if k == 3 else said) for k in range(1, 4)])
try:
    client.reward([client.sample(5, "who", 0, key, said)])
    refused = False
except RuntimeError as e:
    refused = "unknown_item" in str(e)
print(json.dumps({"scores": [r["score"] for r in one + rest], "refused": refused}))
`

// TestShims asks with the Python that the trainers' recipes share.
func TestShims(t *testing.T) {
	python := resolvetest.Bare(t)
	f := newFixture(t, nil)
	shared, err := filepath.Abs("../../infra/trainers/shared")
	require.NoError(t, err)
	c := exec.CommandContext(t.Context(), python, "-c", shimCalls, shared, f.items[1].ID, f.items[1].Question.Key)
	c.Env = append(os.Environ(), "CXREPRO_TOKEN="+token, "CXREPRO_RUN=run-shim", "REWARD_CONFIG="+f.Config().String(),
		"REWARD_URL="+f.url+"/v1/rewards", "OBSERVATIONS_URL="+f.url+"/v1/observations", "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	var got struct {
		Scores  []float64
		Refused bool
	}
	require.NoError(t, json.Unmarshal(out, &got), "%s", out)
	require.Equal(t, []float64{0.95, 0.95, 0.95, -1}, got.Scores)
	require.True(t, got.Refused, "a shim raises where nothing is scored")
	list, err := Recorded(t.Context(), f.store, "run-shim")
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.Equal(t, 3, *list[3].Draw)
}
