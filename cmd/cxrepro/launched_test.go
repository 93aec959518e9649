package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestLaunchWithoutData starts an experiment where no worker has its folder: the launch can
// be named from the first moment, status says what is missing, it cannot be paused, it can
// be cancelled, and with the folder the same experiment comes to its end.
func TestLaunchWithoutData(t *testing.T) {
	b := newBench(t, 2)
	_, down := b.background("up", "--json", "--no-ui")
	defer func() { down() }()
	code, out, talk := b.ask("start", "spec.yaml", "--retry-interval", "100ms")
	found := regexp.MustCompile("`cxrepro watch (launch/[0-9a-f]{16})`").FindStringSubmatch(out)
	if code != exitOK || found == nil {
		t.Fatalf("start: exit %d\n%s%s", code, out, talk)
	}
	id := found[1]
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		code, out, talk = b.ask("status", id)
		if strings.Contains(out, `this worker has no folder for data set "golden-cases"; start it with --data golden-cases=FOLDER`) {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("status never says what is missing: exit %d\n%s%s", code, out, talk)
		}
	}
	state := func() string {
		_, out, _ := b.ask("status", "--json")
		var list []known
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, k := range list {
			if k.ID == id {
				return k.State
			}
		}
		return ""
	}
	if s := state(); s != "ingest" {
		t.Errorf("listed as %q, want ingest", s)
	}
	if code, _, talk := b.ask("pause", id); code != exitUsage || !strings.Contains(talk, "still reading its data set and cannot be paused") || !strings.Contains(talk, "hint: ") {
		t.Errorf("pause: exit %d\n%s", code, talk)
	}
	if code, out, talk := b.ask("cancel", id); code != exitOK || out != id+" is cancelled\n" {
		t.Errorf("cancel: exit %d\n%s%s", code, out, talk)
	}
	if code, _, talk := b.ask("watch", id); code != exitCancelled {
		t.Errorf("watch of a cancelled launch: exit %d\n%s", code, talk)
	}
	if s := state(); s != "cancelled" {
		t.Errorf("listed as %q, want cancelled", s)
	}
	if code, _, talk := b.ask("watch", "launch/0000000000000000"); code != exitUsage || !strings.Contains(talk, "no launch launch/0000000000000000 is known") {
		t.Errorf("watch of nothing: exit %d\n%s", code, talk)
	}
	down()
	_, down = b.background("up", "--json", "--no-ui", "--data", "golden-cases=data")
	if code, out, talk := b.ask("start", "spec.yaml"); code != exitOK {
		t.Fatalf("start again: exit %d\n%s%s", code, out, talk)
	}
	if code, out, talk := b.ask("watch", id); code != exitOK || !strings.Contains(talk, "summarise done") {
		t.Errorf("watch to the end: exit %d\n%s%s", code, out, talk)
	}
	if s := state(); s != "" {
		t.Errorf("the launch is still listed, as %q", s)
	}
}
