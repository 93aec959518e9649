package main

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"cxrepro/internal/lineage"
)

// testLineage: every cell that the report names leads down to the calls that were made, a case
// up to the cells, in every form; what is mistyped names what it may have been.
func testLineage(t *testing.T, store string) {
	_, text, _ := cxrepro(t, store, "report", "--format", "csv", "--table", "13")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	ref := ""
	for _, r := range rows[1:] {
		if ref = r[len(r)-1]; strings.HasPrefix(ref, "t13/rotation.") && strings.HasSuffix(ref, "/stage1") {
			break
		}
	}
	var doc struct {
		Way     string
		Counts  lineage.Counts
		LeftOut []string `json:"left_out"`
		More    bool
		Nodes   []lineage.Node
		Edges   []lineage.Edge
	}
	code, text, talk := cxrepro(t, store, "lineage", ref, "--json")
	if err := json.Unmarshal([]byte(text), &doc); code != exitOK || err != nil {
		t.Fatalf("lineage %s: exit %d, %v\n%s", ref, code, err, talk)
	}
	if c := doc.Counts; doc.Way != "down" || doc.More || c[lineage.KindDialogue] != 6 || c[lineage.KindCase] != 6 || c[lineage.KindCall] < 12 || c[lineage.KindModel] != 2 || len(doc.Edges) < len(doc.Nodes)-1 {
		t.Errorf("%s: %s, %d edges", ref, c.Words(), len(doc.Edges))
	}
	if len(doc.LeftOut) != 1 || doc.LeftOut[0] != drawOfCases {
		t.Errorf("%s: left out: %v", ref, doc.LeftOut)
	}
	call := ""
	for _, n := range doc.Nodes {
		if n.Kind == lineage.KindCall && n.Key.IsZero() {
			t.Errorf("the call of %s has no key", n.Title)
		}
		if n.Kind == lineage.KindCall {
			call = n.Key.String()
		}
	}
	for _, name := range []string{call, call[len("call/sha256:"):][:12]} {
		if code, text, talk := cxrepro(t, store, "lineage", name, "--down"); code != exitOK || !strings.Contains(text, "\nsystem message") && !strings.Contains(text, "prompt") {
			t.Errorf("lineage %s: exit %d\n%s%s", name, code, text, talk)
		}
	}
	// The same, a line each: the same nodes and edges.
	_, text, _ = cxrepro(t, store, "lineage", ref, "--json", "--all")
	nodes, edges := 0, 0
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var line map[string]json.RawMessage
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if line["node"] != nil {
			nodes++
		}
		if line["edge"] != nil {
			edges++
		}
	}
	if nodes != len(doc.Nodes) || edges != len(doc.Edges) {
		t.Errorf("%d nodes and %d edges in lines, %d and %d in one document", nodes, edges, len(doc.Nodes), len(doc.Edges))
	}
	svg := filepath.Join(t.TempDir(), "cell.svg")
	if code, text, talk := cxrepro(t, store, "lineage", ref, "--format", "svg", "--out", svg); code != exitOK || strings.TrimSpace(text) != svg {
		t.Errorf("svg: exit %d, %s%s", code, text, talk)
	}
	picture, err := os.ReadFile(svg)
	if err != nil || xml.Unmarshal(picture, new(struct{})) != nil || !strings.Contains(string(picture), "6 dialogues") {
		t.Errorf("svg: %v, %.300s", err, picture)
	}
	for _, args := range [][]string{{"7", "--up"}, {"decoding"}, {"oracle"}, {ref, "--depth", "1"}, {ref, "--all"}, {ref, "--format", "dot"}, {"latest"}} {
		code, text, talk := cxrepro(t, store, append([]string{"lineage"}, args...)...)
		if code != exitOK || len(text) < 80 {
			t.Errorf("lineage %v: exit %d\n%s%s", args, code, text, talk)
		}
	}
	if _, text, _ := cxrepro(t, store, "lineage", "7", "--up"); strings.Contains(text, drawOfCases) || !strings.Contains(text, "t3/path-1.") || !strings.Contains(text, "\n2 dialogues") && !strings.Contains(text, " dialogues, ") {
		t.Errorf("up from a case:\n%s", text)
	}
	testLineageErrors(t, store, ref)
}

// TestLineageManyStarts: an answer may be that of more calls than a page holds.
func TestLineageManyStarts(t *testing.T) {
	starts := make([]lineage.Node, pageNodes+10)
	for i := range starts {
		starts[i] = lineage.Node{ID: strconv.Itoa(i), Kind: lineage.KindCall}
	}
	var out strings.Builder
	s := &pageSink{w: &lineageWalk{starts: starts, way: lineage.Up}, out: &out, counts: lineage.Counts{}}
	for _, n := range append(starts, lineage.Node{ID: "d", Kind: lineage.KindDialogue}) {
		if err := s.Node(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.show(true); err != nil || !strings.Contains(out.String(), ":\n1 dialogue\n") || s.counts.Words() != "1 dialogue" {
		t.Errorf("%v, %s\n%s", err, s.counts.Words(), out.String())
	}
}

func testLineageErrors(t *testing.T, store, ref string) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{strings.Replace(ref, "stage1", "stage9", 1)}, exitUsage, ref},
		{[]string{"t5/a/b"}, exitUsage, "no cell is called t5/a/b; nearest are t"},
		{[]string{"99999"}, exitUsage, "has no case 99999"},
		{[]string{"decodin"}, exitUsage, "nearest are decoding"},
		{[]string{"decoding=7"}, exitUsage, "its values in this store are {"},
		{[]string{"00000000"}, exitFailed, "no statement in the store names"},
		{[]string{ref, "nowhere"}, exitUsage, "no reproduction nowhere"},
		{[]string{ref, "--up", "--down"}, exitUsage, "hint: "},
		{[]string{ref, "--format", "pdf"}, exitUsage, "text, dot, svg, json"},
		{[]string{ref, "--format", "svg", "--all"}, exitUsage, "hint: "},
		{[]string{}, exitUsage, "hint: "},
	} {
		code, out, talk := cxrepro(t, store, append([]string{"lineage"}, c.args...)...)
		if code != c.code || out != "" || !strings.Contains(talk, c.says) {
			t.Errorf("lineage %v: exit %d, %q, %q", c.args, code, out, talk)
		}
	}
}
