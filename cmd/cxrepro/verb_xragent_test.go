package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const oneTrajectory = `{"id":"a","question":{"type":"yesno","text":"Is the cardiac silhouette enlarged?","key":"Yes"},` +
	`"turn1":{"text":"<think>x</think><no_tool/>","finish_reason":"stop"},` +
	`"turn2":{"text":"<think>The heart is enlarged.</think><answer>yes</answer>","finish_reason":"stop"},` +
	`"observations":[],"measurement":{"status":"ok","view":"PA","ctr":{"value":0.58,"category":"enlarged"}}}`

func rewardOf(t *testing.T, input string, args ...string) (int, string, string) {
	t.Helper()
	var out, errw bytes.Buffer
	code := execute(t.Context(), append([]string{"xragent", "reward"}, args...), strings.NewReader(input), &out, &errw)
	return code, out.String(), errw.String()
}

func TestXragentReward(t *testing.T) {
	malformed := strings.Replace(oneTrajectory, "<no_tool/>", "", 1)
	code, out, errs := rewardOf(t, oneTrajectory+"\n\n"+malformed+"\n", "--trajectories", "-", "--json")
	if code != exitOK || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	want := []struct {
		R       float64
		Verdict string
	}{{1.2, "ok"}, {-1, "malformed"}}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines: %s", len(lines), out)
	}
	for i, w := range want {
		var got struct {
			R       float64
			Verdict string
			Rewards []json.RawMessage
		}
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil || got.R != w.R || got.Verdict != w.Verdict || len(got.Rewards) != 4 {
			t.Errorf("line %d: %s (%v)", i, lines[i], err)
		}
	}
	if code, out, _ := rewardOf(t, oneTrajectory, "--trajectories", "-"); code != exitOK || !strings.Contains(out, "1.20") {
		t.Errorf("table: exit %d, %s", code, out)
	}
}

func TestXragentRewardRefuses(t *testing.T) {
	for _, r := range []struct {
		name, input, says string
		code              int
		args              []string
	}{
		{"no file named", "", "no trajectories", exitUsage, nil},
		{"cost too high", oneTrajectory, "lambda_t", exitUsage, []string{"--trajectories", "-", "--lambda-t", "0.2"}},
		{"negative weight", oneTrajectory, "lambda_c", exitUsage, []string{"--trajectories", "-", "--lambda-c", "-1"}},
		{"broken line", oneTrajectory + "\n{", "line 2", exitFailed, []string{"--trajectories", "-"}},
		{"no bundle", `{"id":"q","question":{"type":"yesno","key":"No"}}`, "measurement is missing", exitFailed, []string{"--trajectories", "-"}},
		{"unknown type", strings.Replace(oneTrajectory, "yesno", "essay", 1), "question.type", exitFailed, []string{"--trajectories", "-"}},
		{"key of another type", strings.Replace(oneTrajectory, `"key":"Yes"`, `"key":"B"`, 1), "question.key", exitFailed, []string{"--trajectories", "-"}},
		{"category of no profile", strings.Replace(oneTrajectory, `"category":"enlarged"`, `"category":"huge"`, 1), "neither profile", exitFailed, []string{"--trajectories", "-"}},
	} {
		if code, _, errs := rewardOf(t, r.input, r.args...); code != r.code || !strings.Contains(errs, r.says) {
			t.Errorf("%s: exit %d, want %d with %q: %s", r.name, code, r.code, r.says, errs)
		}
	}
}
