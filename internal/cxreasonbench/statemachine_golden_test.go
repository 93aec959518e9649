package cxreasonbench

import (
	"encoding/json"
	"reflect"
	"sort"
	"strings"
	"testing"
)

type scriptCase struct {
	Task      Task                `json:"task"`
	Case      string              `json:"case"`
	Criteria  string              `json:"criteria_format"`
	Structure string              `json:"bodypart_format"`
	Verdicts  map[string][]string `json:"verdicts"`
}

type script struct {
	Samples int               `json:"samples"`
	Re      map[string]string `json:"re_path1_formats"`
	Cases   []scriptCase      `json:"cases"`
}

type goldenCall struct {
	Stage         string   `json:"stage"`
	Images        int      `json:"images"`
	HistoryTurns  int      `json:"history_turns"`
	HistoryImages int      `json:"history_images"`
	HistoryKept   string   `json:"history_kept"`
	Judge         string   `json:"judge"`
	Judged        string   `json:"judged_stage"`
	Question      bool     `json:"question_in_judge"`
	Verdicts      []string `json:"verdicts"`
	OtherCase     bool     `json:"other_case"`
	Extract       string   `json:"value_extraction"`
}

type goldenDialogue struct {
	Calls      []goldenCall   `json:"calls"`
	Scores     map[string]any `json:"scores"`
	Keys       []string       `json:"inference_stage_keys"`
	Source     string         `json:"source"`
	Candidates []string       `json:"review_candidates"`
	TopKeys    []string       `json:"top_keys"`
}

type goldenRun struct {
	Lists map[string]map[string][]string `json:"lists"`
	Cases []struct {
		Case  string          `json:"case"`
		Task  Task            `json:"task"`
		Path1 goldenDialogue  `json:"path1"`
		Path2 *goldenDialogue `json:"path2"`
	} `json:"cases"`
}

func roundsOf(format string) int {
	if strings.HasPrefix(format, "two-round") {
		return 2
	}
	return 1
}

// play answers a dialogue from the script until it is over. Every draw's letter is its index,
// A for the first, as the transcript marks the kept replies.
func play(t *testing.T, s State, verdicts map[string][]string, pop *Population, re Shape) (State, []goldenCall) {
	t.Helper()
	var calls []goldenCall
	for {
		// A resumed dialogue comes from its encoded state.
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back State
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		s = back
		step := s.Step()
		switch step.Kind {
		case StepDone:
			return s, calls
		case StepReselect:
			if s, _, err = Reselected(s, pop.Reselect(42, s.Case), re); err != nil {
				t.Fatal(err)
			}
			continue
		}
		a := step.Ask
		// The scripted judge answers for the reply that it is shown.
		texts := verdicts[a.Judgement.Reply.String()]
		call := goldenCall{
			Stage: a.Key.String(), Images: a.Images, HistoryTurns: a.HistoryTurns, HistoryImages: a.HistoryImages,
			Judge: a.Judgement.Prompt.String(), Judged: a.Judgement.Reply.String(), Question: a.Judgement.Question,
			Verdicts: texts, OtherCase: a.Case != s.Case,
		}
		if a.Judgement.Extract != 0 {
			call.Extract = a.Judgement.Extract.String()
		}
		for _, turn := range s.Turns {
			call.HistoryKept += string(rune('A' + turn.Kept))
		}
		calls = append(calls, call)
		var o Outcome
		for _, text := range texts {
			v, ok := ReadVerdict(s.Rules, a.Judgement.Prompt, text)
			if !ok {
				t.Fatalf("%s: no verdict in %q", a.Key, text)
			}
			o.Draws = append(o.Draws, Draw{Score: v.Score})
		}
		if s, _, err = Next(s, o); err != nil {
			t.Fatal(err)
		}
	}
}

func sameCalls(t *testing.T, caseID string, got, want []goldenCall) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d calls, want %d", caseID, len(got), len(want))
		return
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s call %d:\n got %+v\nwant %+v", caseID, i, got[i], want[i])
		}
	}
}

// sameScores compares the scores of a dialogue's own turns and the stage keys of its file.
func sameScores(t *testing.T, s State, want goldenDialogue) {
	t.Helper()
	scores := map[string]any{}
	var keys []string
	for i, turn := range s.Turns {
		name := turn.Key.String()
		if s.Entry != 0 && i < s.Replayed {
			keys = append(keys, "stage-reasoning-"+name)
			continue
		}
		keys = append(keys, "stage-"+name)
		scores[name] = float64(turn.Score.Number())
		if turn.Key.Stage == StageFinal {
			extracted := ""
			if KindOf(s.Task) == Measurement {
				extracted = "as-extracted"
			}
			scores["measured_value"+map[Path]string{Path1: "", Path2: "_guidance", RePath1: "_review"}[turn.Key.Path]] = extracted
		}
	}
	if !reflect.DeepEqual(scores, want.Scores) {
		t.Errorf("%s: scores %v, want %v", s.Case, scores, want.Scores)
	}
	if !reflect.DeepEqual(keys, want.Keys) {
		t.Errorf("%s: keys %v, want %v", s.Case, keys, want.Keys)
	}
}

// TestStateMachineGolden replays a scripted evaluation of the released programs turn by turn:
// questions, pictures, history, judge prompts, scores, lists and re-selection candidates.
func TestStateMachineGolden(t *testing.T) {
	in := load[script](t, "statemachine_greedy.script.json")
	want := load[goldenRun](t, "statemachine_greedy.golden.json")
	rules := rulesOf(t, AsReleased, nil)
	scripts := map[string]scriptCase{}
	ids := map[Task][]string{}
	path1 := map[Task]map[string]State{}
	for _, c := range in.Cases {
		scripts[c.Case] = c
		ids[c.Task] = append(ids[c.Task], c.Case)
		s, _, err := Start(rules, c.Task, c.Case, Shape{roundsOf(c.Criteria), roundsOf(c.Structure)}, in.Samples)
		if err != nil {
			t.Fatal(err)
		}
		s, calls := play(t, s, c.Verdicts, nil, Shape{})
		if path1[c.Task] == nil {
			path1[c.Task] = map[string]State{}
		}
		path1[c.Task][c.Case] = s
		for _, g := range want.Cases {
			if g.Case == c.Case {
				sameCalls(t, c.Case, calls, g.Path1.Calls)
				sameScores(t, s, g.Path1)
			}
		}
	}
	re := Shape{roundsOf(in.Re["criteria"]), roundsOf(in.Re["bodypart"])}
	for task, cases := range ids {
		pop, err := NewPopulation(rules, task, cases, path1[task])
		if err != nil {
			t.Fatal(err)
		}
		lists := map[string][]string{
			"dicom_lst_idk_init": letters(pop.Entering(EntryInit)), "dicom_lst_idk_custom": letters(pop.Entering(EntryRefined)),
			"dicom_lst_correct_final": letters(pop.FinalRight()),
		}
		if !reflect.DeepEqual(lists, want.Lists[task.String()]) {
			t.Errorf("%s: lists %v, want %v", task, lists, want.Lists[task.String()])
		}
		for _, g := range want.Cases {
			if g.Task != task || (g.Path2 == nil) != (path1[task][g.Case].Step().End.Entry() == 0) {
				if g.Task == task {
					t.Errorf("%s: path 2 %v, ours ended as %s", g.Case, g.Path2 != nil, path1[task][g.Case].Step().End)
				}
				continue
			}
			if g.Path2 == nil {
				continue
			}
			s, _, err := StartPath2(path1[task][g.Case], len(Structures(task)))
			if err != nil {
				t.Fatal(err)
			}
			if s.Entry.String() != g.Path2.Source {
				t.Errorf("%s: entry %s, want %s", g.Case, s.Entry, g.Path2.Source)
			}
			if got := letters(pop.Candidates(g.Case)); !reflect.DeepEqual(got, g.Path2.Candidates) {
				t.Errorf("%s: candidates %v, want %v", g.Case, got, g.Path2.Candidates)
			}
			s, calls := play(t, s, scripts[g.Case].Verdicts, pop, re)
			sameCalls(t, g.Case, calls, g.Path2.Calls)
			sameScores(t, s, *g.Path2)
		}
	}
}

// letters shortens case names to their last letter, sorted; never nil, as in the reference.
func letters(ids []string) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, id[len(id)-1:])
	}
	sort.Strings(out)
	return out
}
