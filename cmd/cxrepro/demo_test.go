package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/internal/contract"
)

// TestDemo runs the demo on small pictures: drawing, real inference, tables, recovery,
// receipt; and a second time, when everything is found.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	b := &bench{t: t, dir: t.TempDir()}
	b.state = filepath.Join(b.dir, "state")
	code, out, talk := b.ask("demo", "--json", "--size", "640x770")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitOK || len(lines) < 2 {
		t.Fatalf("exit %d\n%s%s", code, out, talk)
	}
	var r contract.Receipt
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatal(err)
	}
	// 24 frontal films, three lateral ones and one whose view nobody noted; facts and masks of
	// each, every section of the findings, their tables, the drawing of 36 cases, the cases, and
	// the tables of two models.
	if r.Images.In != 28 || r.Images.Kept != 24 || r.Images.GlobalRemoved != 0 || r.Steps.Needed != 24+24+14+1+1+36+1 || r.Steps.Run != r.Steps.Needed {
		t.Errorf("images %+v, steps %+v", r.Images, r.Steps)
	}
	if c, d := r.Calls, r.Dialogues; c == nil || c.Needed == 0 || c.Run+c.Reused != c.Needed || c.Repeated != 0 || r.Incomplete() {
		t.Errorf("calls %+v, dialogues %+v", c, d)
	}
	var first struct{ Recovery []recovered }
	if err := json.Unmarshal([]byte(lines[len(lines)-2]), &first); err != nil {
		t.Fatal(err)
	}
	found := map[string]recovered{}
	for _, m := range first.Recovery {
		found[m.Measurement] = m
		if m.Compared < 12 || math.IsNaN(m.Mean) || m.Median > m.Worst {
			t.Errorf("%+v: compared too few, or figures that contradict each other", m)
		}
	}
	if len(found) != 18 {
		t.Errorf("%d measurements, want 18", len(found))
	}
	// The heart and the lungs are large: a model that finds them recovers their ratio.
	if m := found["cardiothoracic ratio"]; m.Mean > 0.02 {
		t.Errorf("%+v: want a mean error of at most 0.02", m)
	}
	code, out, talk = b.ask("demo", "--size", "640x770")
	for _, want := range []string{r.Reproduction, r.ResultDigest.String(), "cardiothoracic ratio", "global filter: 24 of 24", "Table 3.", "Table 4.", "simulated", "evaluation report"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("the demo again: exit %d, lacks %q\n%s%s", code, want, out, talk)
		}
	}
}

func TestRecovered(t *testing.T) {
	r := recoveredFrom(comparison{name: "x", exact: true}, []float64{-1, 0, 3, 0})
	if r.Mean != 1 || r.Bias != 0.5 || r.Worst != 3 || r.Median != 0.5 || *r.Exact != 2 || r.Compared != 4 {
		t.Errorf("%+v", r)
	}
	if r := recoveredFrom(comparison{name: "x"}, nil); r.Compared != 0 || math.IsNaN(r.Mean) {
		t.Errorf("%+v", r)
	}
}

// TestDemoRefusesEndpoints: endpoints that the demo would not ask are refused before anything is
// drawn.
func TestDemoRefusesEndpoints(t *testing.T) {
	code, _, talk := runLine("demo", "--endpoints", "endpoints.yaml", "--state", t.TempDir())
	if code != exitUsage || !strings.Contains(talk, "the demo answers by itself") {
		t.Errorf("exit code %d, said %q", code, talk)
	}
}
