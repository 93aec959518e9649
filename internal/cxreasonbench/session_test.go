package cxreasonbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
)

// replyRef names the reply of a draw to a question of a case.
func replyRef(caseID string, k Key, draw int) artifacts.Ref {
	name := fmt.Sprintf("%s/%s/%d", caseID, k, draw)
	return artifacts.Ref{Digest: artifacts.Sum([]byte(name)), Size: int64(len(name)), MediaType: "text/plain"}
}

// seat drives a session: it answers the calls in hand in an order of its own, encodes the
// session now and then, and takes calls back.
type seat struct {
	t       testing.TB
	s       *Session
	pick    func(n int) int
	disturb func() int
	answer  func(c Call, at CallContext) CallResult
	// seen are the calls answered with what they depended on.
	calls []Call
	at    []CallContext
	asks  []Ask
}

func (d *seat) run() State {
	d.t.Helper()
	var hand []Call
	for !d.s.Done() {
		switch d.disturb() {
		case 1: // a new process: everything without a result is offered again
			data, err := json.Marshal(d.s)
			if err != nil {
				d.t.Fatal(err)
			}
			back := &Session{}
			if err := json.Unmarshal(data, back); err != nil {
				d.t.Fatalf("%v in %s", err, data)
			}
			d.s, hand = back, nil
		case 2: // a pause
			for _, c := range hand {
				d.s.Return(c)
			}
			hand = nil
		case 3:
			d.s.Compact()
		}
		hand = append(hand, d.s.Calls()...)
		if more := d.s.Calls(); len(more) > 0 {
			d.t.Fatalf("calls given out twice: %v", more)
		}
		if len(hand) == 0 {
			d.t.Fatal("nothing can be asked, and the session is not done")
		}
		i := d.pick(len(hand))
		c := hand[i]
		hand = append(hand[:i], hand[i+1:]...)
		at, err := d.s.Context(c)
		if err != nil {
			d.t.Fatal(err)
		}
		if step := d.s.State().Step(); c.Kind == CallModel && c.Draw == 0 {
			d.asks = append(d.asks, step.Ask)
		}
		d.calls, d.at = append(d.calls, c), append(d.at, at)
		if err := d.s.Record(c, d.answer(c, at)); err != nil {
			d.t.Fatal(err)
		}
		if err := d.s.Record(c, d.answer(c, at)); d.s.Undetermined() == nil && !errors.Is(err, ErrNotAsked) {
			d.t.Fatalf("a second result of %s: %v", c, err)
		}
	}
	if more := d.s.Calls(); len(more) > 0 {
		d.t.Fatalf("a session that is done asks %v", more)
	}
	return d.s.State()
}

// TestSessionGolden drives the scripted evaluation of the released programs call by call, in
// many orders, with restarts and pauses between any two calls.
func TestSessionGolden(t *testing.T) {
	in := load[script](t, "statemachine_greedy.script.json")
	want := load[goldenRun](t, "statemachine_greedy.golden.json")
	rules := rulesOf(t, AsReleased, nil)
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		path1, ids := map[Task]map[string]State{}, map[Task][]string{}
		verdicts := map[string]map[string][]string{}
		for _, c := range in.Cases {
			verdicts[c.Case] = c.Verdicts
			s, _, err := Start(rules, c.Task, c.Case, Shape{roundsOf(c.Criteria), roundsOf(c.Structure)}, in.Samples)
			if err != nil {
				t.Fatal(err)
			}
			end, calls := goldenSeat(t, s, SessionOptions{Judged: true}, c.Verdicts, random)
			if path1[c.Task] == nil {
				path1[c.Task] = map[string]State{}
			}
			path1[c.Task][c.Case] = end
			ids[c.Task] = append(ids[c.Task], c.Case)
			for _, g := range want.Cases {
				if g.Case == c.Case {
					sameCalls(t, c.Case, calls, g.Path1.Calls)
					sameScores(t, end, g.Path1)
				}
			}
		}
		re := Shape{roundsOf(in.Re["criteria"]), roundsOf(in.Re["bodypart"])}
		for _, g := range want.Cases {
			if g.Path2 == nil {
				continue
			}
			pop, err := NewPopulation(rules, g.Task, ids[g.Task], path1[g.Task])
			if err != nil {
				t.Fatal(err)
			}
			s, _, err := StartPath2(path1[g.Task][g.Case], len(Structures(g.Task)))
			if err != nil {
				t.Fatal(err)
			}
			o := SessionOptions{Judged: true, ReviewCase: pop.Reselect(42, g.Case), ReviewShape: re}
			end, calls := goldenSeat(t, s, o, verdicts[g.Case], random)
			sameCalls(t, g.Case, calls, g.Path2.Calls)
			sameScores(t, end, *g.Path2)
		}
	}
}

// goldenSeat answers from a script and returns what the transcript shows of every question.
func goldenSeat(t *testing.T, s State, o SessionOptions, verdicts map[string][]string, random *rand.Rand) (State, []goldenCall) {
	t.Helper()
	se, err := NewSession(s, o)
	if err != nil {
		t.Fatal(err)
	}
	d := &seat{t: t, s: se, pick: random.IntN, disturb: func() int { return random.IntN(5) }}
	d.answer = func(c Call, at CallContext) CallResult {
		switch c.Kind {
		case CallModel:
			return CallResult{Reply: replyRef(at.Case, c.Key, c.Draw)}
		case CallExtract:
			return CallResult{Reply: replyRef("value", c.Key, c.Draw)}
		}
		texts := verdicts[at.Judgement.Reply.String()]
		v, ok := ReadVerdict(s.Rules, at.Judgement.Prompt, texts[c.Draw])
		if !ok {
			t.Fatalf("%s: no verdict in %q", c, texts[c.Draw])
		}
		return CallResult{Reply: replyRef("verdict", c.Key, c.Draw), Score: v.Score}
	}
	end := d.run()
	var calls []goldenCall
	asks := d.asks
	for i, c := range d.calls {
		at := d.at[i]
		switch {
		case c.Kind == CallModel && c.Draw == 0:
			a := asks[0]
			asks = asks[1:]
			call := goldenCall{
				Stage: c.Key.String(), Images: a.Images, HistoryTurns: len(at.History), HistoryImages: a.HistoryImages,
				Judge: at.Judgement.Prompt.String(), Judged: at.Judgement.Reply.String(), Question: at.Judgement.Question,
				Verdicts: verdicts[at.Judgement.Reply.String()], OtherCase: at.Case != s.Case,
			}
			for _, h := range at.History {
				for draw := range s.Draws {
					if h.Reply == replyRef(h.Case, h.Key, draw) {
						call.HistoryKept += string(rune('A' + draw))
					}
				}
			}
			calls = append(calls, call)
		case c.Kind == CallJudge && at.Reply != replyRef(at.Case, at.Judgement.Reply, c.Draw):
			t.Errorf("%s of case %s judges another reply than that to %s", c, s.Case, at.Judgement.Reply)
		case c.Kind == CallExtract:
			for k := range calls {
				if calls[k].Stage == c.Key.String() {
					calls[k].Extract = at.Judgement.Extract.String()
				}
			}
			if at.Reply != replyRef(at.Case, c.Key, c.Draw) {
				t.Errorf("%s of case %s reads another reply", c, s.Case)
			}
		}
	}
	return end, calls
}

// TestSessionAnyOrder holds that the outcome of a dialogue depends on the answers alone: not on
// the order in which the draws of a question come, not on restarts, pauses or what is
// forgotten. The reference is the state machine, fed question by question.
func TestSessionAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		task := rapid.SampledFrom(Tasks()).Draw(rt, "task")
		shape := Shape{rapid.IntRange(1, 2).Draw(rt, "criteria"), rapid.IntRange(1, 2).Draw(rt, "structures")}
		draws := rapid.SampledFrom([]int{1, 2, 3}).Draw(rt, "draws")
		preset := rapid.SampledFrom(Presets()).Draw(rt, "preset")
		judged := rapid.Bool().Draw(rt, "judged")
		seed := rapid.Uint64().Draw(rt, "answers")
		rules := rulesOf(t, preset, nil)

		// What is said is a function of case, question and draw.
		says := func(caseID string, k Key, draw int, about string) *rand.Rand {
			return stream(seed, caseID, k.String(), fmt.Sprint(draw), about)
		}
		terminal := func(caseID string, k Key, draw int) Terminal {
			if says(caseID, k, draw, "terminal").IntN(12) == 0 {
				return Refusal
			}
			return 0
		}
		score := func(caseID string, k Key, draw int) Score {
			r := says(caseID, k, draw, "score")
			if r.IntN(4) > 0 {
				return Right
			}
			return Scores()[r.IntN(len(Scores()))]
		}
		outcome := func(s State) Outcome {
			a := s.Step().Ask
			o := Outcome{}
			for i := range draws {
				d := Draw{Reply: replyRef(a.Case, a.Key, i)}
				shown := a.Judgement.Reply
				switch {
				case terminal(a.Case, a.Key, i) != 0:
					d.Score, d.Terminal = Wrong, terminal(a.Case, a.Key, i)
				case judged && shown != a.Key && terminal(a.Case, shown, i) != 0:
					d.Score = Wrong
				case judged:
					d.Score = score(a.Case, shown, i)
				default:
					d.Score = score(a.Case, a.Key, i)
				}
				o.Draws = append(o.Draws, d)
			}
			return o
		}
		want, _, err := Start(rules, task, "case", shape, draws)
		if err != nil {
			rt.Fatal(err)
		}
		for want.Step().Kind == StepAsk {
			if want, _, err = Next(want, outcome(want)); err != nil {
				rt.Fatal(err)
			}
		}
		first := len(want.Turns)
		o := SessionOptions{Judged: judged, Again: 1, ReviewCase: "other", ReviewShape: Shape{2, 2}}
		if want.Step().End.Entry() != 0 {
			if want, _, err = StartPath2(want, len(Structures(task))); err != nil {
				rt.Fatal(err)
			}
			for want.Step().Kind != StepDone {
				if want.Step().Kind == StepReselect {
					want, _, err = Reselected(want, o.ReviewCase, o.ReviewShape)
				} else {
					want, _, err = Next(want, outcome(want))
				}
				if err != nil {
					rt.Fatal(err)
				}
			}
		}
		finals, extracts := 0, 0
		play := func(s State) State {
			se, err := NewSession(s, o)
			if err != nil {
				rt.Fatal(err)
			}
			d := &seat{t: t, s: se,
				pick:    func(n int) int { return rapid.IntRange(0, n-1).Draw(rt, "pick") },
				disturb: func() int { return rapid.IntRange(0, 9).Draw(rt, "disturb") },
			}
			d.answer = func(c Call, at CallContext) CallResult {
				r := CallResult{Reply: replyRef(at.Case, c.Key, c.Draw)}
				switch c.Kind {
				case CallModel:
					if r.Terminal = terminal(at.Case, c.Key, c.Draw); r.Terminal == 0 {
						r.Score = score(at.Case, c.Key, c.Draw)
					}
				case CallJudge:
					r.Reply = replyRef("verdict", c.Key, c.Draw)
					if c.Again == 0 && says(at.Case, c.Key, c.Draw, "garble").IntN(5) == 0 {
						return r // a verdict that cannot be read
					}
					r.Score = score(at.Case, at.Judgement.Reply, c.Draw)
				case CallExtract:
					extracts++
				}
				return r
			}
			return d.run()
		}
		got, _, err := Start(rules, task, "case", shape, draws)
		if err != nil {
			rt.Fatal(err)
		}
		got = play(got)
		if len(got.Turns) != first {
			rt.Fatalf("path 1 has %d turns, want %d", len(got.Turns), first)
		}
		if got.Step().End.Entry() != 0 {
			if got, _, err = StartPath2(got, len(Structures(task))); err != nil {
				rt.Fatal(err)
			}
			got = play(got)
		}
		for _, turn := range want.Turns {
			if turn.Key.Stage == StageFinal && judged && KindOf(task) == Measurement && turn.Draws[turn.Kept].Terminal == 0 {
				finals++
			}
		}
		if extracts < finals {
			rt.Errorf("%d values extracted, want %d", extracts, finals)
		}
		for _, s := range []*State{&want, &got} {
			forget(s)
		}
		if !reflect.DeepEqual(got, want) {
			rt.Errorf("in pieces:\n%+v\nin one:\n%+v", got, want)
		}
	})
}

// forget drops what Compact may drop.
func forget(s *State) {
	for _, t := range s.Turns {
		for k := range t.Draws {
			if k != t.Kept {
				t.Draws[k].Reply = artifacts.Ref{}
			}
		}
	}
}

// TestSessionUndetermined: a verdict that cannot be read twice, and a call that failed for
// good, end a dialogue without a result; other draws in hand change nothing any more.
func TestSessionUndetermined(t *testing.T) {
	s := start(t, rulesOf(t, Corrected, nil), chexstruct.Rotation, Shape{1, 1}, 2)
	se, err := NewSession(s, SessionOptions{Judged: true, Again: 1})
	if err != nil {
		t.Fatal(err)
	}
	init := Key{Path: Path1, Stage: StageInit}
	a, b := Call{Kind: CallModel, Key: init}, Call{Kind: CallModel, Key: init, Draw: 1}
	if got := se.Calls(); !reflect.DeepEqual(got, []Call{a, b}) {
		t.Fatalf("first calls %v", got)
	}
	reply := CallResult{Reply: replyRef("case", init, 0)}
	if err := se.Record(a, reply); err != nil {
		t.Fatal(err)
	}
	j := Call{Kind: CallJudge, Key: init}
	if got := se.Calls(); !reflect.DeepEqual(got, []Call{j}) {
		t.Fatalf("after the first reply %v", got)
	}
	if err := se.Record(j, CallResult{Terminal: EmptyReply}); err != nil {
		t.Fatal(err)
	}
	j.Again = 1
	if got := se.Calls(); !reflect.DeepEqual(got, []Call{j}) {
		t.Fatalf("after no verdict %v", got)
	}
	if err := se.Record(j, CallResult{Reply: reply.Reply}); err != nil {
		t.Fatal(err)
	}
	u := se.Undetermined()
	if u == nil || u.Why != JudgeUnparsable || u.Call != j || !se.Done() || se.End() != 0 {
		t.Fatalf("after two verdicts that cannot be read: %+v", u)
	}
	if err := se.Record(b, reply); err != nil || len(se.Calls()) > 0 {
		t.Errorf("the other draw: %v", err)
	}

	failed, err := NewSession(s, SessionOptions{Judged: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := failed.Fail(j, "gone"); !errors.Is(err, ErrNotAsked) {
		t.Errorf("failure of a call nobody makes: %v", err)
	}
	if err := failed.Fail(b, "gone"); err != nil || failed.Undetermined().Call != b {
		t.Errorf("%v, %+v", err, failed.Undetermined())
	}
}

// TestSessionReadings: the released reading takes an empty verdict as wrong; a reading without
// a judge asks nobody else.
func TestSessionReadings(t *testing.T) {
	init := Key{Path: Path1, Stage: StageInit}
	a, j := Call{Kind: CallModel, Key: init}, Call{Kind: CallJudge, Key: init}
	released := start(t, rulesOf(t, AsReleased, nil), chexstruct.Rotation, Shape{1, 1}, 1)
	se, err := NewSession(released, SessionOptions{Judged: true, Again: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(se.Record(a, CallResult{Reply: replyRef("case", init, 0)}), se.Record(j, CallResult{Terminal: EmptyReply})); err != nil {
		t.Fatal(err)
	}
	if turns := se.State().Turns; len(turns) != 1 || turns[0].Score != Wrong || turns[0].Draws[0].Terminal != 0 {
		t.Errorf("an empty verdict under as_released: %+v", turns)
	}

	parsed, err := NewSession(start(t, rulesOf(t, Corrected, nil), chexstruct.Rotation, Shape{1, 1}, 1), SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Record(a, CallResult{Reply: replyRef("case", init, 0)}); err == nil {
		t.Error("a reply without a reading is accepted")
	}
	if err := parsed.Record(a, CallResult{Reply: replyRef("case", init, 0), Score: Wrong, Unread: Unparsable}); err != nil {
		t.Fatal(err)
	}
	if turn := parsed.State().Turns[0]; turn.Score != Wrong || turn.Draws[0].Terminal != Unparsable {
		t.Errorf("an unread reply: %+v", turn)
	}
	if _, err := NewSession(released, SessionOptions{ReviewCase: "case", ReviewShape: Shape{1, 1}}); err == nil {
		t.Error("a case is re-evaluated on itself")
	}
	var back Session
	if err := json.Unmarshal([]byte(`{"open":[{}],"state":{"draws":2}}`), &back); err == nil {
		t.Error("a session with too few draws is accepted")
	}
}
