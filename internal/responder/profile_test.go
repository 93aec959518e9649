package responder

import (
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/cxreasonbench"
)

const goodProfile = `format: cxrepro-responder-1
seed: 3
models:
- name: a
  behaviour: exact
  dissent: 0.2
  tables:
    all:
      all:
        path1: {cases: 20, unknown: 4, initial: 9, criteria: 12, rejected: 3, structures: 7, measurement: 5, final: 4, consistent: 3, aligned: 2}
        path2: {cases: 7, structures: 5, measurement: 4, final: 3, consistent: 2}
        re_path1: {cases: 3, initial: 2, criteria: 2, structures: 1, measurement: 1, final: 1}
      inclusion:
        path1: {unknown: 0.5, criteria: 1}
- {name: b, behaviour: rates, paper: GPT-4.1}
- name: c
  behaviour: scripted
  otherwise: wrong
  script:
  - {task: rotation, key: guidance-final, draw: 1, answer: unknown}
  - {key: init, reply: "Hm."}
- {name: judge, behaviour: judge, errs: 0.01}
`

// TestParseProfile holds a profile with everything in it, and that its faults are named with
// their place.
func TestParseProfile(t *testing.T) {
	p, err := ParseProfile("p.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	if o := p.Models[0].Tables["all"]["all"].of(cxreasonbench.Path1).odds(cxreasonbench.Path1); o != (odds{unknown: 0.2, initial: 7.0 / 12, criteria: 0.75, rejected: 0.25, structures: 7.0 / 9, measurement: 5.0 / 7, final: 0.8, consistent: 0.6, aligned: 0.5}) {
		t.Errorf("odds %+v", o)
	}
	for _, x := range []struct{ from, to, says string }{
		{"responder-1", "responder-9", "format"},
		{"behaviour: exact", "behaviour: exactly", "behaviour"},
		{"criteria: 12", "criteria: 17", "17 cases after 16"},
		{"cases: 20", "cases: 20.5", "numbers of cases"},
		{"final: 3, consistent: 2", "final: 3, consistent: 2, right_consistent: 1.5", "right_consistent: is 1.5"},
		{"final: 3, consistent: 2", "final: 3, consistent: 2, right_consistent: 4", "right_consistent: is a share"},
		{"final: 3, consistent: 2", "final: 3, consistent: 2, right_consistent: 0", "consistent: is a share of 2"},
		{"unknown: 0.5", "unknown: 1.5", "share"},
		{"      inclusion:", "      inclusio:", "no task is called"},
		{"    all:\n      all", "    greed:\n      all", "greedy, draws3 or all"},
		{"paper: GPT-4.1", "paper: GPT-9", "the paper has no model"},
		{", paper: GPT-4.1", "", "either paper or tables"},
		{"behaviour: scripted", "behaviour: oracle", "belong to the behaviour scripted"},
		{"answer: unknown", "answer: idk", "right, wrong, unknown or none"},
		{", answer: unknown", "", "either answer or reply"},
		{"key: init", "key: initial", "no question is called"},
		{"draw: 1", "draw: 3", "0, 1 or 2"},
		{"name: judge", "name: a", "stands twice"},
		{"errs: 0.01", "errs: -1", "share"},
		{"seed: 3\n", "", "missing"},
	} {
		_, err := ParseProfile("p.yaml", []byte(strings.Replace(goodProfile, x.from, x.to, 1)))
		if err == nil || !strings.Contains(err.Error(), "p.yaml:") || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%q instead of %q: %v", x.to, x.from, err)
		}
	}
}

// TestExact holds that exactly the table's numbers of cases succeed, at the table's size and
// at another, in an order that does not depend on how the benchmark lists its cases.
func TestExact(t *testing.T) {
	p, err := ParseProfile("p.yaml", []byte(goodProfile))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		cases                                                  int
		unknown, rejected                                      int
		path1                                                  [4]int
		consistent, aligned, path2, initial, reviewed, matched int
	}{
		{20, 4, 3, [4]int{12, 7, 5, 4}, 3, 2, 3, 2, 1, 2},
		{40, 8, 6, [4]int{24, 14, 10, 8}, 6, 4, 6, 4, 2, 4},
	} {
		m := makeBenchmark(t, cxreasonbench.Corrected, x.cases)
		s := serve(t, m, nil, p.Models[0])
		played, err := s.Play("a", m.rules, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		task := cxreasonbench.Tasks()[1] // projection: expert-defined, a measurement of two sides
		one := cxreasonbench.Count(cxreasonbench.Path1, played[cxreasonbench.Path1][task])
		two := cxreasonbench.Count(cxreasonbench.Path2, played[cxreasonbench.Path2][task])
		again := cxreasonbench.Count(cxreasonbench.RePath1, played[cxreasonbench.RePath1][task])
		if one.Unknown != x.unknown || one.Rejected != x.rejected || one.Right != x.path1 || one.Consistent != x.consistent || one.Aligned != x.aligned {
			t.Errorf("%d cases, path 1: %+v, want %+v", x.cases, one, x)
		}
		if two.Right[2] != x.path2 || two.Consistent != x.matched || again.Entered != x.initial || again.Right[3] != x.reviewed {
			t.Errorf("%d cases, path 2 %+v, again %+v, want %+v", x.cases, two, again, x)
		}
	}
	ids := []string{"d", "a", "c", "b", "e"}
	settled := map[string]fate{}
	for turn := range 2 {
		var cases []*known
		for _, id := range ids {
			cases = append(cases, &known{id: id})
		}
		c := chooser{exact: true, seed: 1, names: []string{"x"}, cases: cases}
		for i, f := range c.settle(p.Models[0].Tables["all"]["all"], true) {
			if was, ok := settled[cases[i].id]; ok && was != f {
				t.Errorf("turn %d: the fate of a case depends on the order of the list", turn)
			}
			settled[cases[i].id] = f
		}
		slices.Sort(ids)
	}
}

// TestRates holds that shares are met on average, each case by itself.
func TestRates(t *testing.T) {
	var cases []*known
	all := make([]bool, 4000)
	for i := range all {
		all[i] = true
		cases = append(cases, &known{id: itoa(int64(i))})
	}
	for _, want := range []float64{0, 0.1, 0.5, 0.9, 1} {
		n := 0
		for _, yes := range (chooser{seed: 1, cases: cases}).choose(want, all, "x") {
			if yes {
				n++
			}
		}
		if got := float64(n) / 4000; got < want-0.03 || got > want+0.03 || (want == 0 || want == 1) && got != want {
			t.Errorf("share %v, want %v", got, want)
		}
	}
}

// TestValues holds the share of consistent values for every measurement task, by the check
// that scores them: all of them, or none.
func TestValues(t *testing.T) {
	m := makeBenchmark(t, cxreasonbench.Corrected, 20)
	forms := map[cxreasonbench.ValueForm]int{}
	for _, k := range m.bench.cases {
		if cxreasonbench.KindOf(k.task) != cxreasonbench.Measurement {
			continue
		}
		for _, path := range cxreasonbench.Paths() {
			p := place{k, k, k.question(cxreasonbench.Key{Path: path, Stage: cxreasonbench.StageFinal})}
			reference := k.question(cxreasonbench.Key{Path: path, Stage: cxreasonbench.StageMeasurement}).Answer
			for _, want := range []bool{true, false} {
				text := write(p, intent{word: WordRight, consistent: want}, named(1, k.id, path.String()).rand())
				forms[cxreasonbench.FormOf(k.task, text)]++
				if got := cxreasonbench.Consistent(m.rules, k.task, reference, text); got != want {
					t.Errorf("%s, %s: %q against %q is consistent: %t, want %t", k.task, path, text, reference, got, want)
				}
				extract, ok := judge(cxreasonbench.JudgementOf(m.rules, k.task, p.q.Key).Extract, cxreasonbench.ExtractMessage(text))
				if !ok || (want && extract == "N/A") {
					t.Errorf("%s: value of %q: %q", k.task, text, extract)
				}
			}
		}
	}
	if forms[cxreasonbench.OneNumber] == 0 || forms[cxreasonbench.RangeOnly] == 0 || forms[cxreasonbench.NoNumber] == 0 {
		t.Errorf("forms %v", forms)
	}
}
