package cxreasonbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/artifacts"
	"cxrepro/internal/answer"
	"cxrepro/internal/chexstruct"
)

func start(t testing.TB, rules Rules, task Task, shape Shape, draws int) State {
	t.Helper()
	s, step, err := Start(rules, task, "case", shape, draws)
	if err != nil || step.Kind != StepAsk || step.Ask.Key.Stage != StageInit {
		t.Fatalf("start: %+v, %v", step, err)
	}
	return s
}

// feed answers questions one by one with one draw each.
func feed(t testing.TB, s State, scores ...Score) (State, Step) {
	t.Helper()
	step := s.Step()
	for _, score := range scores {
		o := Outcome{}
		for range s.Draws {
			o.Draws = append(o.Draws, Draw{Score: score})
		}
		var err error
		if s, step, err = Next(s, o); err != nil {
			t.Fatal(err)
		}
	}
	return s, step
}

// TestCorrected holds what the corrected preset mends in the re-evaluation: the second round is
// not asked after a miss, and measurement and last question are judged as in Path 1.
func TestCorrected(t *testing.T) {
	two := Shape{2, 2}
	for _, c := range []struct {
		preset   Preset
		asksAll  bool
		measured JudgePrompt
		final    Stage
	}{{AsReleased, true, JudgeStructures, StageMeasurement}, {Corrected, false, JudgeMeasurementSides, StageFinal}} {
		s := start(t, rulesOf(t, c.preset, nil), chexstruct.Projection, two, 1)
		s, _ = feed(t, s, Unknown)
		s, _, err := StartPath2(s, 2)
		if err != nil {
			t.Fatal(err)
		}
		s, step := feed(t, s, Right, Right, Right, Right)
		if step.Kind != StepReselect {
			t.Fatalf("%s: after guidance %+v", c.preset, step)
		}
		if s, _, err = Reselected(s, "other", two); err != nil {
			t.Fatal(err)
		}
		miss, step := feed(t, s, Right, Wrong)
		if asked := step.Kind == StepAsk; asked != c.asksAll {
			t.Errorf("%s: second round asked after a miss: %v", c.preset, asked)
		}
		if c.asksAll {
			if _, step = feed(t, miss, Right); step.Kind != StepDone || step.End != EndFailed {
				t.Errorf("%s: a stage with a miss passes: %+v", c.preset, step)
			}
		}
		s, step = feed(t, s, Right, Right, Right, Right, Right)
		if step.Ask.Judgement.Prompt != c.measured {
			t.Errorf("%s: measurement judged with %s", c.preset, step.Ask.Judgement.Prompt)
		}
		_, step = feed(t, s, Right)
		if step.Ask.Judgement.Reply.Stage != c.final || step.Ask.Case != "other" {
			t.Errorf("%s: last question judged on %s of %s", c.preset, step.Ask.Judgement.Reply, step.Ask.Case)
		}
	}
}

// TestTerminal: an outcome without a judgement is wrong at its stage, so a refused first
// question goes on, and a refused refined criterion stops without Path 2.
func TestTerminal(t *testing.T) {
	s := start(t, rulesOf(t, Corrected, nil), chexstruct.Inspiration, Shape{1, 1}, 1)
	s, step, err := Next(s, Outcome{Draws: []Draw{{Score: Wrong, Terminal: Refusal}}})
	if err != nil || step.Kind != StepAsk || step.Ask.Key.Stage != StageCriteria {
		t.Fatalf("after a refused first question: %+v, %v", step, err)
	}
	s, _ = feed(t, s, Right)
	s, step = feed(t, s, Wrong)
	if step.End != EndFailed || step.End.Entry() != 0 {
		t.Errorf("a malformed refined criterion: %+v", step)
	}
	c := Count(Path1, []CaseScores{ScoresOf(s)})
	if c.Malformed != 1 || c.Accepted() != 1 || c.Remaining() != 1 {
		t.Errorf("it counts as accepted: %+v", c)
	}
	if _, _, err := Next(s, Outcome{Draws: []Draw{{Score: Right}}}); !errors.Is(err, ErrFinished) {
		t.Errorf("an answer after the end: %v", err)
	}
	fresh := start(t, rulesOf(t, Corrected, nil), chexstruct.Rotation, Shape{1, 1}, 1)
	for _, o := range []Outcome{{}, {Draws: []Draw{{}}}, {Draws: []Draw{{Score: Right, Terminal: Refusal}}}, {Draws: []Draw{{Score: Right}, {Score: Right}}}} {
		if _, _, err := Next(fresh, o); err == nil {
			t.Errorf("outcome %+v is accepted", o)
		}
	}
	if _, _, err := Reselected(fresh, "x", Shape{1, 1}); !errors.Is(err, ErrNotAsked) {
		t.Errorf("re-selection before guidance: %v", err)
	}
	if _, _, err := StartPath2(fresh, 2); !errors.Is(err, ErrNotAsked) {
		t.Errorf("path 2 before path 1 ends: %v", err)
	}
	for _, bad := range []Shape{{}, {1, 3}, {0, 1}} {
		if _, _, err := Start(rulesOf(t, Corrected, nil), chexstruct.Rotation, "c", bad, 1); err == nil {
			t.Errorf("shape %+v is accepted", bad)
		}
	}
	if _, _, err := Start(rulesOf(t, Corrected, nil), chexstruct.Global, "c", Shape{1, 1}, 1); err == nil {
		t.Error("a section that is no task is accepted")
	}
}

// TestNoReview: guidance that ends right without another case ends the dialogue, and says so.
func TestNoReview(t *testing.T) {
	s := start(t, rulesOf(t, Corrected, nil), chexstruct.CarinaAngle, Shape{1, 1}, 1)
	s, _ = feed(t, s, Unknown)
	s, _, err := StartPath2(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	s, _ = feed(t, s, Right, Right, Right)
	if _, step, err := Reselected(s, "", Shape{}); err != nil || step.End != EndNoReview {
		t.Errorf("%+v, %v", step, err)
	}
	if _, _, err := Reselected(s, "case", Shape{1, 1}); err == nil {
		t.Error("a case is re-evaluated on itself")
	}
}

// TestDialogueProperties walks random dialogues: they end, their history only grows, pictures
// stay within the published limits, a state survives its encoding at every step, and Next
// leaves its input as it was.
func TestDialogueProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		task := rapid.SampledFrom(Tasks()).Draw(rt, "task")
		shape := Shape{rapid.IntRange(1, 2).Draw(rt, "criteria"), rapid.IntRange(1, 2).Draw(rt, "structures")}
		draws := rapid.SampledFrom([]int{1, 3}).Draw(rt, "draws")
		preset := rapid.SampledFrom(Presets()).Draw(rt, "preset")
		s := start(t, rulesOf(t, preset, nil), task, shape, draws)
		asked := 0
		for {
			data, err := json.Marshal(s)
			if err != nil {
				rt.Fatal(err)
			}
			var back State
			if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back.Step(), s.Step()) {
				rt.Fatalf("%v: %+v, then %+v", err, s.Step(), back.Step())
			}
			step := s.Step()
			switch {
			case step.Kind == StepReselect:
				if s, _, err = Reselected(s, "other", shape); err != nil {
					rt.Fatal(err)
				}
				continue
			case step.Kind == StepDone && s.Entry == 0 && step.End.Entry() != 0:
				if s, _, err = StartPath2(s, len(Structures(task))); err != nil {
					rt.Fatal(err)
				}
				continue
			case step.Kind == StepDone:
				if len(s.Turns) != asked {
					rt.Fatalf("%d turns, %d asked", len(s.Turns), asked)
				}
				return
			}
			limit := 9
			if s.Entry != 0 {
				limit = 15
			}
			if step.Ask.HistoryTurns != len(s.Turns) || step.Ask.HistoryImages+step.Ask.Images > limit || asked > 20 {
				rt.Fatalf("%+v after %d questions", step.Ask, asked)
			}
			var o Outcome
			for range draws {
				o.Draws = append(o.Draws, Draw{Score: rapid.SampledFrom([]Score{Right, Right, Right, Right, Right, Wrong, Unknown, NoneOfAbove}).Draw(rt, "score")})
			}
			next, _, err := Next(s, o)
			if again, _ := json.Marshal(s); err != nil || string(again) != string(data) {
				rt.Fatalf("Next changed its input, or %v", err)
			}
			s = next
			asked++
		}
	})
}

// TestReselect: the choice depends on seed, task, case and candidates only; a missing Path 1
// blocks; an empty pool falls back to the cases that were right, and may stay empty.
func TestReselect(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	path1 := map[string]State{}
	var ids []string
	for i := range 40 {
		id := fmt.Sprintf("case-%02d", i)
		s, _, err := Start(rules, chexstruct.Rotation, id, Shape{1, 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 4 {
		case 0:
			s, _ = feed(t, s, Unknown)
		case 1:
			s, _ = feed(t, s, Right, Right, Right, Right, Right)
		case 2:
			s, _ = feed(t, s, Right, Wrong)
		default:
			s, _ = feed(t, s, Right, Right, Right, Right, Wrong)
		}
		path1[id], ids = s, append(ids, id)
	}
	pop, err := NewPopulation(rules, chexstruct.Rotation, ids, path1)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(ids)
	reversed, err := NewPopulation(rules, chexstruct.Rotation, append(ids, ids[0]), path1)
	if err != nil {
		t.Fatal(err)
	}
	chosen := map[string]bool{}
	for _, id := range pop.Entering(EntryInit) {
		a, b := pop.Reselect(1, id), reversed.Reselect(1, id)
		if a != b || a == id || slices.Contains(pop.FinalRight(), a) {
			t.Errorf("%s: chose %s and %s", id, a, b)
		}
		chosen[a] = true
	}
	if len(chosen) < 3 || len(pop.Candidates("case-00")) != 29 {
		t.Errorf("%d choices, %d candidates", len(chosen), len(pop.Candidates("case-00")))
	}
	paper, err := NewPopulation(rulesOf(t, Corrected, map[string]string{string(ReselectionPool): UnfinishedOrIDK}), chexstruct.Rotation, ids, path1)
	if err != nil || len(paper.Candidates("case-00")) != 19 {
		t.Errorf("the paper's pool has %d candidates, %v", len(paper.Candidates("case-00")), err)
	}
	var blocked *BlockedError
	if _, err := NewPopulation(rules, chexstruct.Rotation, append(ids, "missing"), path1); !errors.As(err, &blocked) || blocked.Cases[0] != "missing" {
		t.Errorf("a missing path 1: %v", err)
	}
	few, err := NewPopulation(rules, chexstruct.Rotation, []string{"case-00", "case-01"}, path1)
	if err != nil || few.Reselect(1, "case-00") != "case-01" {
		t.Errorf("only a right case is left: %v", err)
	}
	one, err := NewPopulation(rules, chexstruct.Rotation, []string{"case-00"}, path1)
	if err != nil || one.Reselect(1, "case-00") != "" {
		t.Errorf("no other case: %v", err)
	}
}

// TestReselectPinned holds the stream of a named seed: a change would move every re-evaluation.
func TestReselectPinned(t *testing.T) {
	r := stream(42, "reselect", "rotation", "case-00")
	if got := [3]int{r.IntN(1000), r.IntN(1000), r.IntN(1000)}; got != [3]int{846, 644, 888} {
		t.Errorf("the stream begins with %v", got)
	}
	if stream(42, "a", "bc").IntN(1<<30) == stream(42, "ab", "c").IntN(1<<30) {
		t.Error("names run together")
	}
}

// TestConversation: text, pictures and kept replies in their order.
func TestConversation(t *testing.T) {
	s := start(t, rulesOf(t, Corrected, nil), chexstruct.Rotation, Shape{1, 1}, 3)
	s, _, err := Next(s, Outcome{Draws: []Draw{{Score: Wrong}, {Score: Right}, {Score: Right}}})
	if err != nil {
		t.Fatal(err)
	}
	picture := artifacts.Ref{Digest: artifacts.Sum([]byte("x")), Size: 1, MediaType: "image/png"}
	content := func(id string, k Key) (Content, error) {
		c := Content{Text: id + " " + k.String()}
		for range k.Images() {
			c.Images = append(c.Images, picture)
		}
		return c, nil
	}
	s.Turns[0].Draws[1].Reply = picture // the kept one
	reply := func(turn SaidTurn) (string, error) {
		if turn.Reply != picture {
			return "", fmt.Errorf("not the kept reply: %v", turn.Reply)
		}
		return "draw 1", nil
	}
	ask := s.Step().Ask
	tr, err := Conversation("system", s.Said(), ask.Case, ask.Key, content, reply)
	if err != nil || tr.Validate() != nil {
		t.Fatal(err, tr.Validate())
	}
	if got := tr.Messages[2].Text(); got != "draw 1" || tr.Turns() != 2 || len(tr.Images()) != 1 || tr.Messages[3].Text() != "case criteria_0" {
		t.Errorf("%+v", tr)
	}
	lost := errors.New("lost")
	if _, err := Conversation("", s.Said(), ask.Case, ask.Key, content, func(SaidTurn) (string, error) { return "", lost }); !errors.Is(err, lost) {
		t.Errorf("a lost reply: %v", err)
	}
	done, _ := feed(t, s, Wrong)
	finished, err := NewSession(done, SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := finished.Context(Call{Kind: CallModel, Key: ask.Key}); !errors.Is(err, ErrNotAsked) {
		t.Errorf("a finished dialogue: %v", err)
	}
	absent := func(string, Key) (Content, error) { return Content{}, lost }
	if _, err := Conversation("", nil, ask.Case, ask.Key, absent, reply); !errors.Is(err, lost) {
		t.Errorf("a question that is not there: %v", err)
	}
}

// TestScoreParsed holds how a reading without a judge scores.
func TestScoreParsed(t *testing.T) {
	yesNo := []Option{{"a", "Yes", MeansYes}, {"b", "No", MeansNo}, {"c", "I don't know", MeansUnknown}}
	first := &Question{Key: Key{Path: Path1, Stage: StageInit}, Options: yesNo, Rule: OneOf, Accepted: []string{"a", "b"}}
	refined := &Question{Key: Key{Path: Path1, Stage: StageRefined}, Options: yesNo[:2], Rule: AllOf, Accepted: []string{"a"}}
	set := &Question{Key: Key{Path: Path1, Stage: StageStructures}, Rule: AllOf, Accepted: []string{"a", "e"}, Options: []Option{
		{"a", "1st image", "structure:heart"}, {"b", "2nd image", "structure:trachea"}, {"e", "Need new options", MeansNeedNew},
	}}
	last := &Question{Key: Key{Path: Path1, Stage: StageStructures, Round: 1}, Rule: AllOf, Accepted: []string{"a"}, Options: []Option{
		{"a", "1st image", "structure:heart"}, {"e", "None of the above", MeansNone},
	}}
	for _, c := range []struct {
		q        *Question
		reply    string
		score    Score
		terminal Terminal
	}{
		{first, "FINAL ANSWER: (a) Yes", Right, 0},
		{first, "FINAL ANSWER: (b) No", Right, 0},
		{first, "FINAL ANSWER: (a) Yes, (b) No", Wrong, 0},
		{first, "FINAL ANSWER: (c) I don't know", Unknown, 0},
		{first, "I'm sorry, I can't assist with that.", Wrong, Refusal},
		{first, "", Wrong, EmptyReply},
		{first, "Perhaps.", Wrong, Unparsable},
		{refined, "FINAL ANSWER: (a) Yes", Right, 0},
		{refined, "FINAL ANSWER: (b) No", Unknown, 0},
		{set, "FINAL ANSWER: (e) Need new options, (a) 1st image", Right, 0},
		{set, "FINAL ANSWER: (a) 1st image", Wrong, 0},
		{set, "FINAL ANSWER: (e) Need new options", Wrong, 0},
		{last, "FINAL ANSWER: (e) None of the above", NoneOfAbove, 0},
	} {
		s, terminal, err := ScoreParsed(c.q, answer.Parse(c.q.Readable(), c.reply))
		if err != nil || s != c.score || terminal != c.terminal {
			t.Errorf("%s %q: got %s %s, %v", c.q.Key, c.reply, s, terminal, err)
		}
	}
	for _, k := range []answer.Kind{0, answer.Infrastructure} {
		if _, _, err := ScoreParsed(first, answer.Outcome{Kind: k}); err == nil {
			t.Errorf("an outcome of kind %s is scored", k)
		}
	}
	k := Key{Path: Path1, Stage: StageInit}
	flips, agreement, unpaired := Flips(
		[]Scored{{chexstruct.Inclusion, "z", k, 0, Right}, {chexstruct.Rotation, "b", k, 0, Right}, {chexstruct.Rotation, "a", k, 0, Wrong}, {chexstruct.Rotation, "c", k, 0, Wrong}},
		[]Scored{{chexstruct.Rotation, "a", k, 0, Right}, {chexstruct.Inclusion, "z", k, 0, Unknown}, {chexstruct.Rotation, "b", k, 0, Right}, {chexstruct.Rotation, "d", k, 0, Wrong}})
	if len(flips) != 2 || flips[0].Case != "a" || flips[1].Case != "z" || unpaired != 2 || agreement.Observed().K != 1 {
		t.Errorf("flips %+v, unpaired %d, agreement %+v", flips, unpaired, agreement.Observed())
	}
}
