package lineage

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// of collects what a walk found of one kind by a name.
func of(g *Graph, k Kind, name func(Node) string) map[string]bool {
	out := map[string]bool{}
	for _, n := range g.Nodes {
		if n.Kind == k {
			out[name(n)] = true
		}
	}
	return out
}

func differ(t *testing.T, what string, got, want map[string]bool) {
	t.Helper()
	for s := range want {
		if !got[s] {
			t.Errorf("%s: %s is missing", what, s)
			return
		}
	}
	for s := range got {
		if !want[s] {
			t.Errorf("%s: %s does not belong there", what, s)
			return
		}
	}
}

func byDigest(n Node) string { return n.Digest.Hex() }
func byKey(n Node) string    { return n.Key.Digest.Hex() }
func byCell(n Node) string   { s, _, _ := strings.Cut(n.Title, " = "); return s }

// TestUpFromImage: an image leads to its own findings, cases, dialogues, calls and cells, all of
// them, and to nothing of its neighbours in window and page.
func TestUpFromImage(t *testing.T) {
	w := sharedWorld(t)
	x, r, _ := w.explore()
	for i, image := range w.images {
		starts, err := x.Artifact(t.Context(), image)
		if err != nil || len(starts) != 1 || starts[0].Kind != KindImage {
			t.Fatalf("image %d: %+v, %v", i, starts, err)
		}
		g, err := x.Walk(t.Context(), starts, Up, Limits{})
		if err != nil || g.More {
			t.Fatal(err)
		}
		want := w.expect(r, image, i)
		differ(t, "findings", of(g, KindFinding, func(n Node) string { return n.at.finding.task + n.at.finding.image.Image.Hex() }), want.findings)
		differ(t, "cases", of(g, KindCase, byDigest), want.cases)
		differ(t, "dialogues", of(g, KindDialogue, func(n Node) string { return n.Title }), want.dialogues)
		differ(t, "calls", of(g, KindCall, byKey), want.calls)
		differ(t, "cells", of(g, KindCell, byCell), want.cells)
		if len(want.calls) == 0 || len(want.cells) == 0 {
			t.Errorf("image %d leads nowhere by the world's own account", i)
		}
	}
}

type expected struct{ findings, cases, dialogues, calls, cells map[string]bool }

// expect is what depends on an image by the world's own account.
func (w *world) expect(r *Run, image artifacts.Digest, i int) expected {
	out := expected{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, s := range chexstruct.Sections() {
		out.findings[s.String()+image.Hex()] = true
	}
	for _, task := range chexstruct.Tasks() {
		if i != 4 { // the filter removes it
			slug := report.Slug(task.String())
			out.cells["t6/"+slug+"/labelled"] = true
			out.cells["t6/"+slug+"/"+report.Slug(w.labels(task.String())[i%2])] = true
		}
	}
	evaluations, err := r.Evaluations(w.Context())
	w.must(err)
	for at, d := range w.pages {
		task := w.bench.Doc.Cases[at.number].Task
		mine := w.imageOf[d.Case] == image
		again := d.Review >= 0 && w.imageOf[d.Review] == image
		if mine {
			out.cases[w.bench.Doc.Cases[d.Case].Doc.Digest.Hex()] = true
		}
		if !mine && !again {
			continue
		}
		k := pagesKey{at.evaluation, task, at.path}
		p, n, err := r.x.dialogueOf(w.Context(), r, k, d.Case)
		w.must(err)
		out.dialogues[p.node(n).Title] = true
		for turn, q := range own(d) {
			for draw := range q.Draws {
				// Of a dialogue that comes back to the image only what follows its question.
				if mine || q.Key.Path == cxreasonbench.RePath1 {
					for _, judge := range []bool{false, true} {
						if key, ok := w.calls[spot{at.evaluation, at.number, turn, draw, at.path, judge}]; ok {
							out.calls[key.Hex()] = true
						}
					}
				}
			}
		}
		for _, c := range cxreasonbench.Cells(evaluations) {
			path := c.Path == at.path || c.Path == cxreasonbench.RePath1 && at.path == cxreasonbench.Path2 && d.Review >= 0
			if c.Ref.Kind == report.Printed && c.Evaluation == at.evaluation && path && slices.Contains(c.Tasks(), task) && d.Undetermined == nil {
				out.cells[c.Ref.String()] = true
			}
		}
	}
	return out
}

// TestDownAndUpAgree: an image is below a cell exactly where the cell is above the image, and so
// is a threshold row.
func TestDownAndUpAgree(t *testing.T) {
	w := sharedWorld(t)
	x, r, c := w.explore()
	above := map[string]map[string]bool{}
	for _, image := range w.images {
		starts, err := x.Artifact(t.Context(), image)
		w.must(err)
		g, err := x.Walk(t.Context(), starts, Up, Limits{})
		w.must(err)
		above[image.Hex()] = of(g, KindCell, byCell)
	}
	for _, ref := range []string{
		"t3/path-1.model-a/completion", "t3/re-evaluated-path-1.model-b/depth", "t4/overall.model-b/consistency", "t13/rotation.model-a/stage3", "t12/inclusion.model-b/stage1",
		"t6/cardiomegaly/normal", "t6/carina-angle/labelled",
	} {
		start, err := x.Cell(t.Context(), r, ref)
		if err != nil {
			t.Fatal(err)
		}
		g, err := x.Walk(t.Context(), []Node{start}, Down, Limits{})
		w.must(err)
		if start.WithoutDraw() == strings.HasPrefix(ref, "t6/") {
			t.Errorf("%s: without the draw: %t", ref, start.WithoutDraw())
		}
		below := of(g, KindImage, byDigest)
		for _, image := range w.images {
			if below[image.Hex()] != above[image.Hex()][ref] {
				t.Errorf("%s above %s: %t, below it: %t", ref, image.Short(), above[image.Hex()][ref], below[image.Hex()])
			}
		}
		counts := g.Counts()
		if strings.HasPrefix(ref, "t6/") {
			continue
		}
		cases := map[string]bool{}
		for _, n := range g.Nodes {
			if n.Kind != KindDialogue {
				continue
			}
			d := n.at.page.doc.Dialogues[n.at.dialogue]
			for _, number := range []int{d.Case, d.Review} {
				if number >= 0 {
					cases[w.bench.Doc.Cases[number].Doc.Digest.Hex()] = true
				}
			}
		}
		differ(t, "cases below "+ref, of(g, KindCase, byDigest), cases)
		for _, k := range []Kind{KindTable, KindDialogue, KindCall, KindModel, KindPrompt, KindQuestion, KindCase, KindFinding, KindParameter, KindMasks, KindFacts, KindCode} {
			if counts[k] == 0 {
				t.Errorf("%s has no %s below it: %s", ref, k, counts.Words())
			}
		}
		for _, n := range g.Nodes {
			if n.Kind == KindCall && n.Key.IsZero() {
				t.Errorf("%s: the call of %s was not found", ref, n.Title)
			}
		}
		// What the cell reads of the rows: those of its tasks, of the filter, of no other task.
		for name := range of(g, KindParameter, byCell) {
			task, ok := strings.CutSuffix(name, ".limit")
			if ok && task != chexstruct.Global.String() && !slices.ContainsFunc(start.at.cell.Tasks(), func(x cxreasonbench.Task) bool { return x.String() == task }) {
				t.Errorf("%s depends on %s", ref, name)
			}
		}
	}
	values, err := c.Parameters(t.Context(), "cardiomegaly.limit")
	if err != nil || len(values) != 1 {
		t.Fatalf("%+v, %v", values, err)
	}
	starts, err := x.Artifact(t.Context(), values[0].Digest)
	w.must(err)
	g, err := x.Walk(t.Context(), starts, Up, Limits{})
	w.must(err)
	cells := of(g, KindCell, byCell)
	if !cells["t6/cardiomegaly/normal"] || cells["t6/rotation/normal"] || !cells["t13/cardiomegaly.model-a/stage1"] {
		t.Errorf("above a threshold row: %v", slices.Sorted(maps.Keys(cells)))
	}
}

// TestUpFromModels: the figures above a model are those of its evaluation, above the judge and
// the network all.
func TestUpFromModels(t *testing.T) {
	w := sharedWorld(t)
	x, r, _ := w.explore()
	models, err := r.Models(t.Context())
	if err != nil || len(models) != 4 {
		t.Fatalf("%v, %v", models, err)
	}
	for name, has := range map[string][2]bool{"model-a": {true, false}, "model-b": {false, true}, "judge": {true, true}, "network": {true, true}} {
		starts, err := x.Artifact(t.Context(), models[name])
		if err != nil || starts[0].Kind != KindModel || starts[0].Title != name {
			t.Fatalf("%s: %+v, %v", name, starts, err)
		}
		g, err := x.Walk(t.Context(), starts, Up, Limits{})
		w.must(err)
		cells := of(g, KindCell, byCell)
		for i, ref := range []string{"t3/path-1.model-a/depth", "t3/path-1.model-b/depth"} {
			if cells[ref] != has[i] {
				t.Errorf("%s below %s: %t", name, ref, cells[ref])
			}
		}
		if cells["t6/rotation/normal"] != (name == "network") {
			t.Errorf("%s and the labels: %t", name, cells["t6/rotation/normal"])
		}
		if used := g.Counts(); used[KindCall]+used[KindMasks] == 0 {
			t.Errorf("%s: %s", name, used.Words())
		}
	}
}

// TestUpFromAnswer: the same word is the answer of many calls; each leads to its own dialogue.
func TestUpFromAnswer(t *testing.T) {
	w := sharedWorld(t)
	x, _, _ := w.explore()
	byAnswer := map[artifacts.Digest][]spot{}
	for at := range w.calls {
		d := w.pages[spot{evaluation: at.evaluation, number: at.number, path: at.path}]
		answer := own(d)[at.turn].Draws[at.draw].Reply.Digest
		if at.judge {
			answer = d.Turns[at.turn].Draws[at.draw].Verdict.Digest
		}
		byAnswer[answer] = append(byAnswer[answer], at)
	}
	for answer, spots := range byAnswer {
		starts, err := x.Artifact(t.Context(), answer)
		w.must(err)
		keys := map[string]bool{}
		for _, at := range spots {
			keys[w.calls[at].Hex()] = true
		}
		if len(starts) != len(keys) {
			t.Fatalf("%d calls gave answer %s, want %d", len(starts), answer.Short(), len(keys))
		}
		if len(spots) > 12 {
			continue // one of each length is enough
		}
		for _, start := range starts {
			found, err := x.step(t.Context(), &start, Up)
			w.must(err)
			want := map[string]bool{}
			for _, at := range spots {
				if w.calls[at] == start.Key.Digest {
					want[spot{evaluation: at.evaluation, number: at.number, path: at.path}.text()] = true
				}
			}
			got := map[string]bool{}
			for _, f := range found {
				if f.node.Kind == KindDialogue {
					d := f.node.at.page.doc.Dialogues[f.node.at.dialogue]
					got[spot{evaluation: f.node.at.evaluation, number: d.Case, path: f.node.at.page.key.path}.text()] = true
				}
			}
			differ(t, "dialogues of "+start.Key.Short(), got, want)
		}
	}
}

func (s spot) text() string {
	b, _ := json.Marshal([]any{s.evaluation, s.number, s.path.String()}) // numbers and a word
	return string(b)
}

// TestRemoved: what garbage collection removed still answers, as far as statements go.
func TestRemoved(t *testing.T) {
	w := newWorld(t)
	before, r, _ := w.explore()
	start, err := before.Cell(t.Context(), r, "t13/rotation.model-a/stage1")
	w.must(err)
	g, err := before.Walk(t.Context(), []Node{start}, Down, Limits{})
	w.must(err)
	w.must(w.store.RemovePin(t.Context(), pinName))
	w.host.Advance(48 * time.Hour)
	if _, err := w.store.GC(t.Context(), artifacts.GCOptions{Apply: true}); err != nil {
		t.Fatal(err)
	}
	x, _, _ := w.explore()
	for _, n := range g.Nodes {
		if n.Kind != KindCall && n.Kind != KindMasks && n.Kind != KindCase {
			continue
		}
		starts, err := x.Artifact(t.Context(), n.Digest)
		if err != nil || len(starts) == 0 || !starts[0].Removed {
			t.Fatalf("%s: %+v, %v", n.Title, starts, err)
		}
		after, err := x.Walk(t.Context(), starts, Down, Limits{})
		if err != nil {
			t.Fatalf("%s: %v", n.Title, err)
		}
		if c := after.Counts(); n.Kind == KindMasks && (c[KindImage] != 1 || c[KindModel] != 1) || n.Kind == KindCase && (c[KindImage] != 1 || c[KindMasks] != 1 || c[KindParameter] == 0) || n.Kind == KindCall && c[KindPrompt] == 0 {
			t.Errorf("%s: %s", n.Title, c.Words())
		}
	}
	starts, err := x.Artifact(t.Context(), w.images[0])
	w.must(err)
	up, err := x.Walk(t.Context(), starts, Up, Limits{})
	if err != nil || up.Counts()[KindCase] == 0 || up.Counts()[KindMasks] != 1 {
		t.Errorf("up from an image: %s, %v", up.Counts().Words(), err)
	}
}

// TestLimits: depth and number of nodes are kept, and said to be limits.
func TestLimits(t *testing.T) {
	w := sharedWorld(t)
	x, r, _ := w.explore()
	start, err := x.Cell(t.Context(), r, "t13/rotation.model-a/stage1")
	w.must(err)
	all, err := x.Walk(t.Context(), []Node{start}, Down, Limits{})
	w.must(err)
	deepest := 0
	for _, n := range all.Nodes {
		deepest = max(deepest, n.Depth)
	}
	for depth := 1; depth <= deepest; depth++ {
		g, err := x.Walk(t.Context(), []Node{start}, Down, Limits{Depth: depth})
		w.must(err)
		want := slices.DeleteFunc(slices.Clone(all.Nodes), func(n Node) bool { return n.Depth > depth })
		if len(g.Nodes) != len(want) || g.More != (depth < deepest) {
			t.Errorf("depth %d: %d nodes, more %t; want %d of %d", depth, len(g.Nodes), g.More, len(want), len(all.Nodes))
		}
	}
	g, err := x.Walk(t.Context(), []Node{start}, Down, Limits{Nodes: 10})
	if err != nil || len(g.Nodes) != 10 || !g.More {
		t.Errorf("%d nodes, more %t, %v", len(g.Nodes), g.More, err)
	}
	seen := map[string]bool{}
	for _, n := range all.Nodes {
		seen[n.ID] = true
	}
	for _, e := range all.Edges {
		if !seen[e.From] || !seen[e.To] {
			t.Errorf("edge %+v has no end", e)
		}
	}
	if _, err := x.Case(t.Context(), r, 99999); err == nil {
		t.Error("a case that is not there")
	}
}

// TestManyLinks: artifacts with more links than one question brings are asked for fewer at a time,
// and what is left out of one that has more by itself is said.
func TestManyLinks(t *testing.T) {
	w := sharedWorld(t)
	whole := func(most int) (*Graph, *Explorer) {
		x, _, _ := w.explore()
		x.most = most
		starts, err := x.Artifact(t.Context(), w.images[0])
		w.must(err)
		g, err := x.Walk(t.Context(), starts, Up, Limits{})
		w.must(err)
		return g, x
	}
	all, x := whole(mostLinks)
	longest := 0
	for _, links := range x.hops {
		longest = max(longest, len(links))
	}
	if g, _ := whole(longest); g.More || len(g.Nodes) != len(all.Nodes) || len(g.Edges) != len(all.Edges) {
		t.Errorf("%d nodes, %d edges, more %t; want %d, %d", len(g.Nodes), len(g.Edges), g.More, len(all.Nodes), len(all.Edges))
	}
	if g, _ := whole(longest - 1); !g.More {
		t.Errorf("of %d links one is left out, and nothing says so", longest)
	}
}

// mute is a store that does not answer for one document.
type mute struct {
	Documents
	digest artifacts.Digest
}

var errMute = errors.New("no answer")

func (m mute) Get(ctx context.Context, ref artifacts.Ref) ([]byte, error) {
	if ref.Digest == m.digest {
		return nil, errMute
	}
	return m.Documents.Get(ctx, ref)
}

// TestUnreachable: a store that does not answer is an error, and not a model without figures or a
// text without a name.
func TestUnreachable(t *testing.T) {
	w := sharedWorld(t)
	_, r, _ := w.explore()
	models, err := r.Models(t.Context())
	w.must(err)
	plan, err := r.Plan(t.Context())
	w.must(err)
	for _, c := range []struct {
		document artifacts.Ref
		start    artifacts.Digest
	}{{w.receipt.Plan, models["model-a"]}, {w.receipt.Tables, models["model-a"]}, {plan.Prompts, systemDigest(w.bench.Doc.System)}} {
		x, _, _ := w.explore()
		x.docs = mute{x.docs, c.document.Digest}
		starts, err := x.Artifact(t.Context(), c.start)
		if err == nil {
			_, err = x.Walk(t.Context(), starts, Up, Limits{})
		}
		if !errors.Is(err, errMute) {
			t.Errorf("without %s: %v", c.document.MediaType, err)
		}
	}
}

// TestPictures: an SVG is well formed, says how many there are of everything, and is the same
// each time; no form holds an identifier of the data set, a question or a path.
func TestPictures(t *testing.T) {
	w := sharedWorld(t)
	var first []byte
	for range 2 {
		x, r, _ := w.explore()
		start, err := x.Cell(t.Context(), r, "t3/path-1.model-a/completion")
		w.must(err)
		g, err := x.Walk(t.Context(), []Node{start}, Down, Limits{})
		w.must(err)
		var svg, dot bytes.Buffer
		w.must(WriteSVG(&svg, g, "What it depends on", g.Counts().Words()))
		w.must(WriteDOT(&dot, g, "What it depends on"))
		text, err := json.Marshal(g)
		w.must(err)
		dec := xml.NewDecoder(bytes.NewReader(svg.Bytes()))
		for {
			if _, err := dec.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, svg.String())
			}
		}
		counts := g.Counts()
		for _, want := range []string{KindDialogue.Count(counts[KindDialogue]), KindCase.Count(counts[KindCase]), "model-a", "network", " model calls"} {
			if !strings.Contains(svg.String(), want) || !strings.Contains(dot.String(), want) {
				t.Errorf("no %q in the pictures", want)
			}
		}
		secret := w.bench.Cases[0]
		for _, all := range [][]byte{svg.Bytes(), dot.Bytes(), text} {
			for _, never := range []string{"p10000001", secret.ID, secret.Items[0].Questions[0].Text[:20], "files/"} {
				if bytes.Contains(all, []byte(never)) {
					t.Errorf("%q is told", never)
				}
			}
		}
		if first == nil {
			first = svg.Bytes()
		} else if !bytes.Equal(first, svg.Bytes()) {
			t.Error("the same graph is drawn in two ways")
		}
	}
}

// TestWays holds that the two packages' directions agree.
func TestWays(t *testing.T) {
	if catalog.Direction(Down) != catalog.Down || catalog.Direction(Up) != catalog.Up {
		t.Error("ways and directions part")
	}
}
