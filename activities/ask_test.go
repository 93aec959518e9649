package activities

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/lvlm"
)

// TestAnswerIsDurable: once Ask has returned, another process with an unreachable endpoint reads
// the same from the store, in two objects.
func TestAnswerIsDurable(t *testing.T) {
	dir := t.TempDir()
	l := newAskLabIn(t, dirRepository(t, dir))
	s := serve(t, always(reply{text: "The answer is (a) Yes."}))
	in := l.input(0)
	before := len(objects(t, l.store, ""))
	a := l.worker("one", l.endpoint(s.URL, place{price: testPrice{}}))
	got := l.mustAsk(a, in)
	if got.Score != cxreasonbench.Right || got.Terminal != 0 || got.Unread != 0 || got.Count.Run != 1 || got.Count.Attempts != 1 || got.Count.Cost != 280 {
		t.Errorf("%+v", got)
	}
	if after := objects(t, l.store, ""); len(after) != before+2 {
		t.Errorf("a call left %d objects, want 2", len(after)-before)
	}
	s.Close()
	l.store = dirRepository(t, dir)
	again := l.mustAsk(l.worker("two", l.endpoint(s.URL, place{})), in)
	if again.Answer != got.Answer || again.Score != got.Score || s.requests() != 1 {
		t.Errorf("afterwards %+v, %d requests", again, s.requests())
	}
	e := l.entry(a, in)
	if e.Facts.Served.Model != "served-model" || e.Facts.Served.Usage.Prompt != 100 || e.Facts.Served.Latency == 0 || e.Facts.Card != "model-a" || e.Invocation.Worker != "one" {
		t.Errorf("the statement tells %+v", e.Facts)
	}
	body := s.bodies[0]
	if !contains(body, "You read chest radiographs.", "Case 0: is the heart large?", "data:image/png;base64,") {
		t.Errorf("sent: %.300s", body)
	}
}

// TestHistory: earlier turns go with the question, with their pictures and replies; draws are
// calls of their own.
func TestHistory(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "FINAL ANSWER: (b) No"}))
	a := l.worker("one", l.endpoint(s.URL, place{}))
	in := l.input(1)
	first := l.mustAsk(a, in)
	if first.Score != cxreasonbench.Wrong {
		t.Errorf("%+v", first)
	}
	next := in
	next.History = []contract.Said{{Key: in.Call.Key, Case: 1, Reply: first.Answer}}
	next.Call.Key.Stage = cxreasonbench.StageFinal
	l.mustAsk(a, next)
	if body := s.bodies[1]; !contains(body, "is the heart large?", "FINAL ANSWER: (b) No", "and now?") || strings.Count(body, "base64,") != 1 {
		t.Errorf("sent: %.500s", body)
	}
	draws := in
	draws.Evaluation = 1
	for draw := range 3 {
		draws.Call.Draw = draw
		l.mustAsk(a, draws)
	}
	if n := s.requests(); n != 5 {
		t.Errorf("%d requests, want 5", n)
	}
	if !contains(s.bodies[2], `"seed":7`) || !contains(s.bodies[4], `"seed":9`) {
		t.Errorf("seeds: %.100s, %.100s", s.bodies[2], s.bodies[4])
	}
}

// TestJudge asks about a reply, reads verdicts, and asks again under a key of its own.
func TestJudge(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, func(n int, _ *http.Request, _ string) reply {
		return reply{text: []string{"I would say (a).", "Hm, true enough", "True", "0.52"}[n]}
	})
	a := l.worker("one", l.endpoint(s.URL, place{}))
	in := l.input(0)
	said := l.mustAsk(a, in)
	judge := in
	judge.Call.Kind, judge.Reply = cxreasonbench.CallJudge, said.Answer
	judge.Judgement = cxreasonbench.Judgement{Prompt: cxreasonbench.JudgeFinal, Question: true, Reply: in.Call.Key, Extract: cxreasonbench.ExtractValue}
	if out := l.mustAsk(a, judge); out.Score != 0 || out.Count.Kind != "judge" {
		t.Errorf("a verdict that cannot be read: %+v", out)
	}
	judge.Call.Again = 1
	if out := l.mustAsk(a, judge); out.Score != cxreasonbench.Right {
		t.Errorf("the second verdict: %+v", out)
	}
	if !contains(s.bodies[1], "(a) Yes", "I would say (a).", "is the heart large?") || contains(s.bodies[1], "base64") {
		t.Errorf("the judge was sent %.400s", s.bodies[1])
	}
	extract := judge
	extract.Call = cxreasonbench.Call{Kind: cxreasonbench.CallExtract, Key: in.Call.Key}
	if out := l.mustAsk(a, extract); out.Score != 0 || out.Terminal != 0 {
		t.Errorf("an extraction: %+v", out)
	}
	// Nothing of it is asked twice.
	for _, in := range []contract.AskInput{in, judge, extract} {
		l.mustAsk(a, in)
	}
	if s.requests() != 4 {
		t.Errorf("%d requests", s.requests())
	}
	recorded, _, ok, err := a.recorded(context.Background(), judge)
	if err != nil || !ok || recorded.Score != cxreasonbench.Right {
		t.Errorf("from the ledger: %+v, %t, %v", recorded, ok, err)
	}
	judge.Call.Draw, judge.Call.Again = 0, 2
	if _, _, ok, err := a.recorded(context.Background(), judge); ok || err != nil || s.requests() != 4 {
		t.Errorf("a call that was never made: %t, %v, %d requests", ok, err, s.requests())
	}
}

// TestSingleFlight: of many who make one call at the same time, in two processes, one sends it.
func TestSingleFlight(t *testing.T) {
	for _, kind := range []string{"memory", "folder"} {
		t.Run(kind, func(t *testing.T) {
			l := newAskLab(t)
			if kind == "folder" {
				l = newAskLabIn(t, dirRepository(t, t.TempDir()))
			}
			s := serve(t, always(reply{text: "(a)", wait: 0}))
			in := l.input(0)
			workers := []*Activities{l.worker("one", l.endpoint(s.URL, place{})), l.worker("two", l.endpoint(s.URL, place{}))}
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					if out, err := ask(workers[i%2], in); err != nil || out.Score != cxreasonbench.Right {
						t.Errorf("%+v, %v", out, err)
					}
				})
			}
			wg.Wait()
			if n := s.requests(); n != 1 {
				t.Errorf("%d requests for one call", n)
			}
			if left := objects(t, l.store, "claims/"); len(left) != 0 {
				t.Errorf("%d claims are left", len(left))
			}
		})
	}
}

// TestOutcomes: what is asked again, how often, and what is recorded then.
func TestOutcomes(t *testing.T) {
	blocked := reply{status: 400, body: `{"error":{"code":"content_filter","message":"filtered"}}`}
	invalid := reply{status: 400, body: `{"error":{"code":"context_length_exceeded","message":"too long"}}`}
	for _, c := range []struct {
		name     string
		replies  []reply
		want     cxreasonbench.Terminal
		score    cxreasonbench.Score
		requests int
	}{
		{"refusal", []reply{{refusal: "I cannot"}}, cxreasonbench.Refusal, 0, 3},
		{"empty", []reply{{text: ""}}, cxreasonbench.EmptyReply, 0, 3},
		{"cut before an answer", []reply{{text: "Let me think about", finish: "length"}}, cxreasonbench.Truncated, 0, 3},
		{"cut after the answer", []reply{{text: "The answer is (a) Yes. Because the", finish: "length"}}, 0, cxreasonbench.Right, 1},
		{"blocked", []reply{blocked}, cxreasonbench.SafetyBlock, 0, 1},
		{"invalid", []reply{invalid}, cxreasonbench.RequestInvalid, 0, 1},
		{"refusal, then an answer", []reply{{refusal: "no"}, {text: ""}, {text: "(b)"}}, 0, cxreasonbench.Wrong, 3},
		{"no option", []reply{{text: "It depends."}}, 0, cxreasonbench.Wrong, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newAskLab(t)
			s := serve(t, func(n int, _ *http.Request, _ string) reply { return c.replies[min(n, len(c.replies)-1)] })
			a := l.worker("one", l.endpoint(s.URL, place{price: testPrice{}}))
			in := l.input(0)
			for range 2 { // the second time from the ledger
				out := l.mustAsk(a, in)
				if out.Terminal != c.want || out.Score != c.score || s.requests() != c.requests {
					t.Errorf("%+v after %d requests", out, s.requests())
				}
			}
			e := l.entry(a, in)
			step := contract.StepCall
			if c.want != 0 {
				step = contract.StepCallOutcome
			}
			if e.Record.Key.Step != step || e.Facts.Attempts.Sent != c.requests {
				t.Errorf("recorded under %s with %d attempts", e.Record.Key.Step, e.Facts.Attempts.Sent)
			}
			if answers := objects(t, l.store, "index/"+contract.StepCall+"/"); (len(answers) == 0) != (c.want != 0) {
				t.Errorf("%d records of answers", len(answers))
			}
		})
	}
}

// TestRetryRounds: a round asks again what ended in its classes, and nothing else; answers stay.
func TestRetryRounds(t *testing.T) {
	l := newAskLab(t)
	var mu sync.Mutex
	now := reply{refusal: "no"}
	s := serve(t, func(int, *http.Request, string) reply { mu.Lock(); defer mu.Unlock(); return now })
	set := func(r reply) { mu.Lock(); now = r; mu.Unlock() }
	a := l.worker("one", l.endpoint(s.URL, place{}))
	refused := l.input(0)
	l.mustAsk(a, refused)
	set(reply{text: ""})
	l.mustAsk(a, l.input(1))
	set(reply{text: "(a)"})
	l.mustAsk(a, l.input(2))
	if s.requests() != 7 {
		t.Fatalf("%d requests", s.requests())
	}
	round := func(n int, classes ...string) {
		e := *l.plan.Spec.Evaluation
		e.Retry = nil
		if n > 0 {
			e.Retry = &experiments.RetryOutcomes{Outcomes: classes, Round: n}
		}
		l.plan.Spec.Evaluation = &e
	}
	set(reply{refusal: "still no"})
	round(1, "refusal")
	out := l.mustAsk(a, l.input(0))
	if out.Terminal != cxreasonbench.Refusal || s.requests() != 10 || out.Count.Attempts != 3 {
		t.Errorf("round 1 of the refusal: %+v after %d requests", out, s.requests())
	}
	if l.mustAsk(a, l.input(1)).Terminal != cxreasonbench.EmptyReply || l.mustAsk(a, l.input(2)).Score != cxreasonbench.Right || s.requests() != 10 {
		t.Errorf("round 1 asked other calls again: %d requests", s.requests())
	}
	if l.mustAsk(a, l.input(0)); s.requests() != 10 {
		t.Error("round 1 asks twice")
	}
	set(reply{text: "(a)"})
	round(2, "refusal")
	if out := l.mustAsk(a, l.input(0)); out.Score != cxreasonbench.Right || s.requests() != 11 {
		t.Errorf("round 2: %+v", out)
	}
	round(0)
	if out := l.mustAsk(a, refused); out.Score != cxreasonbench.Right || s.requests() != 11 {
		t.Errorf("the answer does not count for the first round: %+v", out)
	}
}

// TestTooManyPictures is an outcome of the call, and nothing is sent.
func TestTooManyPictures(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	a := l.worker("one", l.endpoint(s.URL, place{}))
	first := l.mustAsk(a, l.input(0))
	l.plan.Models[0].MaxPictures = 1
	in := l.input(1)
	in.History = []contract.Said{{Key: in.Call.Key, Case: 0, Reply: first.Answer}}
	if out := l.mustAsk(a, in); out.Terminal != cxreasonbench.RequestInvalid || s.requests() != 1 || out.Count.Attempts != 0 {
		t.Errorf("%+v, %d requests", out, s.requests())
	}
}

// TestTouchedCalls: a change asks again what it touches, and nothing else.
func TestTouchedCalls(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	a := l.worker("one", l.endpoint(s.URL, place{}))
	all := func(a *Activities) int {
		before := s.requests()
		for number := range l.cases {
			in := l.input(number)
			first := l.mustAsk(a, in)
			next := in
			next.History = []contract.Said{{Key: in.Call.Key, Case: number, Reply: first.Answer}}
			next.Call.Key.Stage = cxreasonbench.StageFinal
			l.mustAsk(a, next)
		}
		return s.requests() - before
	}
	if n := all(a); n != 6 {
		t.Fatalf("%d requests at first", n)
	}
	warmer, weights, greedy := 0.1, l.plan.Models[0].Identity, l.plan.Models[0].Greedy
	for _, c := range []struct {
		name   string
		change func()
		want   int
	}{
		{"nothing", func() {}, 0},
		{"a last question", func() { l.cases[1].Items[1].Questions[0].Text += " Think." }, 1},
		{"a first question, which the last one repeats", func() { l.cases[2].Items[0].Questions[0].Text += " Think." }, 2},
		{"a reference answer that no model sees", func() { l.cases[0].Items[0].Questions[0].Answer = "(b) No" }, 0},
		{"a copied picture file", func() {
			c := &l.cases[0]
			for path, ref := range c.Pictures {
				delete(c.Pictures, path)
				c.Pictures["copy/"+path] = ref
				c.Items[0].Questions[0].Pictures[0].Path = "copy/" + path
			}
		}, 0},
		{"another picture", func() {
			for path := range l.cases[0].Pictures {
				l.cases[0].Pictures[path] = l.put(pixels(77), "image/png")
			}
		}, 2},
		{"a decoding parameter", func() { l.plan.Models[0].Greedy.Temperature = &warmer }, 6},
		{"and back", func() { l.plan.Models[0].Greedy = greedy }, 0},
		{"the picture rule", func() { l.plan.Models[0].Pictures = "long1024" }, 6},
		{"and back", func() { l.plan.Models[0].Pictures = "original" }, 0},
		{"the weights", func() { l.plan.Models[0].Identity.Weights = artifacts.Sum([]byte("weights b")) }, 6},
		{"and back", func() { l.plan.Models[0].Identity = weights }, 0},
		{"the card's name and title", func() { l.plan.Models[0].Name, l.plan.Models[0].Title = "model-b", "B" }, 0},
		{"the seed of the draws, which greedy calls do not send", func() { e := *l.plan.Spec.Evaluation; e.Seed = 8; l.plan.Spec.Evaluation = &e }, 0},
	} {
		c.change()
		if n := all(a); n != c.want {
			t.Errorf("%s: %d requests, want %d", c.name, n, c.want)
		}
	}
	other := serve(t, always(reply{text: "(b)"}))
	if n := all(l.worker("elsewhere", l.endpoint(other.URL, place{price: testPrice{}}))); n != 0 || other.requests() != 0 {
		t.Errorf("another address: %d requests", other.requests())
	}
}

// TestUnpinnedCardsStayApart: two models of which nobody knows the weights are not one.
func TestUnpinnedCardsStayApart(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	a := l.worker("one", l.endpoint(s.URL, place{}))
	l.plan.Models[0].Identity = lvlm.Identity{Unpinned: "local copy"}
	l.mustAsk(a, l.input(0))
	l.plan.Models[0].Name = "model-b"
	l.mustAsk(a, l.input(0))
	if s.requests() != 2 {
		t.Errorf("%d requests for two models", s.requests())
	}
}
