package activities

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/xragent"
)

const rolloutSpec = `name: rollout-test
paper: X-Ragent
preset: corrected
dataset: {name: quiz, layout: quiz, data_use: synthetic, quiz: {seed: 1, split: train, pictures: 1}}
masks: {source: onnx, card: seg.yaml, provider: cpu}
agent:
  view: view.yaml
  profile: calibrated
  policies: [{card: a.yaml, role: full}]
  lookup: book.yaml
  arms: [no_measure]
  sampling: draws
  repeats: 1
  seed: 11
  scorer: strict
  bootstrap: 10
  reward: {lambda_c: 0.2, lambda_t: 0.05, gated: true, malformed_counts_as_wrong: true}
`

// rolloutLab is a lab with an agent's plan and two items that ask about one picture.
func rolloutLab(t *testing.T) (*askLab, contract.RolloutInput) {
	t.Helper()
	l := newAskLab(t)
	spec, err := experiments.Parse("spec.yaml", []byte(rolloutSpec))
	if err != nil {
		t.Fatal(err)
	}
	policy, book := l.plan.Models[0], *l.plan.Judge
	book.Name = "book"
	book.Greedy.MaxTokens = 1000
	policy.Draws = &lvlm.Decoding{Temperature: new(0.7), MaxTokens: 200, Seed: new(int64(3))}
	p, err := experiments.Pin(spec, experiments.Pins{Model: &experiments.Model{}, View: &experiments.Model{}, Lookup: &book, Models: []experiments.ModelCard{policy}})
	if err != nil {
		t.Fatal(err)
	}
	doc := contract.Questions{Format: contract.QuestionsFormat, Layout: "quiz", Version: "test", DataUse: "synthetic"}
	for _, id := range []string{"q/1", "q/2"} {
		doc.Items = append(doc.Items, xragent.Item{ID: id, Pictures: []xragent.ItemPicture{{Image: l.put(pixels(1), "image/png")}},
			Question: xragent.Question{Type: xragent.Lettered, Text: "What of " + id + "?", Options: []string{"effusion", "mass"}, Key: "A"}})
	}
	return l, contract.RolloutInput{
		Plan: l.putJSON(p, experiments.PlanMediaType), Questions: l.putJSON(doc, contract.QuestionsMediaType), Reproduction: "r1", Arm: xragent.ArmNoMeasure, Draw: 2,
	}
}

func rollOut(a *Activities, in contract.RolloutInput) (out contract.RolloutResult, err error) {
	err = inActivity(a, func(b *askBeat) error {
		r, err := a.rollout(b.work, in)
		if err != nil {
			return err
		}
		if _, err = r.run(&liveMeans{a: a, b: b, r: r}); err != nil {
			return err
		}
		out, err = r.result()
		return err
	})
	return out, err
}

// TestRolloutLooksUp: the reference book sees conditions and nothing of picture or question, and
// is asked once for equal conditions; turns carry the draw's seed; the records alone tell the
// same rollout, and pages made from them name every call.
func TestRolloutLooksUp(t *testing.T) {
	l, in := rolloutLab(t)
	s := serve(t, func(_ int, _ *http.Request, body string) reply {
		switch {
		case strings.Contains(body, "reference book"):
			return reply{text: "fluid collects at the bases", finish: "length"} // cut off, and read all the same
		case strings.Contains(body, "<observation>"):
			return reply{text: "<think>fluid</think><answer>A</answer>"}
		}
		return reply{text: `<think>perhaps fluid</think><tool_call>{"name":"evidence_lookup","arguments":{"conditions":["Mass"," effusion "]}}</tool_call>`}
	})
	a := l.worker("one", l.endpoint(s.URL, place{}))
	for item := range 2 {
		in.Item = item
		out, err := rollOut(a, in)
		if err != nil || out != (contract.RolloutResult{Ending: "completed", Correct: true, Asked: 3}) {
			t.Fatalf("item %d: %+v, %v", item, out, err)
		}
	}
	if s.requests() != 5 {
		t.Errorf("%d requests, want two turns for each item and one lookup", s.requests())
	}
	for _, body := range s.bodies {
		lookup := strings.Contains(body, "reference book")
		if lookup && (strings.Contains(body, "What of") || strings.Contains(body, "image_url") || !strings.Contains(body, "effusion; mass") || !strings.Contains(body, `"max_tokens":300`)) {
			t.Errorf("the reference book was sent %s", body)
		}
		if !lookup && !strings.Contains(body, `"seed":16`) {
			t.Errorf("card 3 + spec 11 + draw 2 is not the seed of %s", body)
		}
	}
	asked := s.requests()
	rg := contract.RolloutRange{Plan: in.Plan, Questions: in.Questions, Reproduction: "r1", Items: 2,
		Set: contract.RolloutSet{Name: "model-a/no_measure/2", Card: "model-a", Arm: xragent.ArmNoMeasure, Repeat: 2}}
	docs := map[string][]any{}
	closed, err := a.closeRollouts(&pulse{ctx: context.Background(), work: context.Background(), a: a}, rg, nil, func(doc any, media string) (artifacts.Ref, error) {
		docs[media] = append(docs[media], doc)
		return refOfJSON(doc, media)
	})
	if err != nil || closed.Totals.Done != 2 || s.requests() != asked {
		t.Fatalf("%+v after %d requests more, %v", closed.Totals, s.requests()-asked, err)
	}
	page := docs[contract.RolloutsMediaType][0].(contract.RolloutsDoc)
	d := page.Rollouts[1]
	var parts []string
	for _, c := range d.Calls {
		parts = append(parts, c.Part)
	}
	if strings.Join(parts, " ") != "turn.1 lookup.1 turn.2" || d.Score == nil || d.Score.Calls != 1 || !d.Outcome.Correct || d.Outcome.Config != "xr.module.no_measure" {
		t.Errorf("calls %v, score %+v, outcome %+v", parts, d.Score, d.Outcome)
	}
	calls := docs[contract.CallsMediaType][0].(contract.CallsDoc)
	kinds := map[string]int{}
	for _, c := range calls.Calls {
		kinds[c.Count.Kind] += c.Times
	}
	if kinds[ledger.KindModel] != 4 || kinds[ledger.KindLookup] != 2 || len(calls.Calls) != 5 {
		t.Errorf("accounts %v of %d calls", kinds, len(calls.Calls))
	}
}

// TestForcedLookup: conditions are taken from the options alone, and looked up; options that name
// none are an observation.
func TestForcedLookup(t *testing.T) {
	l, in := rolloutLab(t)
	named := "1. effusion\n2. mass"
	s := serve(t, func(_ int, _ *http.Request, body string) reply {
		if strings.Contains(body, "answer options") {
			if strings.Contains(body, "What of") {
				t.Errorf("the question was sent: %s", body)
			}
			return reply{text: named}
		}
		return reply{text: "words of the book"}
	})
	a := l.worker("one", l.endpoint(s.URL, place{}))
	look := func(options ...string) (o xragent.Observation) {
		t.Helper()
		err := inActivity(a, func(b *askBeat) error {
			r, err := a.rollout(b.work, in)
			if err != nil {
				return err
			}
			var ok bool
			o, ok, err = r.lookup(&liveMeans{a: a, b: b, r: r}, xragent.ToolCall{Number: 5, Name: xragent.ToolLookup, Options: options})
			if err == nil && !ok {
				t.Error("a live lookup is missing")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	if o := look("effusion", "mass"); o.Status != xragent.StatusOK || o.Text != "words of the book" {
		t.Errorf("%+v", o)
	}
	named = "none"
	if o := look("yes", "no"); o.Status != xragent.StatusNotFound {
		t.Errorf("options that name nothing: %+v", o)
	}
}

// TestRolloutEndings: a refused first turn ends the rollout for good, wrong and under its own
// name; an endpoint that fails leaves no record and no outcome.
func TestRolloutEndings(t *testing.T) {
	l, in := rolloutLab(t)
	say := reply{refusal: "I will not"}
	s := serve(t, func(int, *http.Request, string) reply { return say })
	a := l.worker("one", l.endpoint(s.URL, place{}))
	out, err := rollOut(a, in)
	if err != nil || out.Ending != string(xragent.MalformedTurn1) || out.Correct {
		t.Fatalf("%+v, %v", out, err)
	}
	describe := func() contract.RolloutDoc {
		t.Helper()
		acc := newAccount()
		d, err := a.closeRollout(context.Background(), contract.RolloutRange{Plan: in.Plan, Questions: in.Questions, Reproduction: "r1", Items: 2,
			Set: contract.RolloutSet{Card: "model-a", Arm: in.Arm, Repeat: in.Draw}}, in.Item, contract.ErrTypeUnreachable, &acc)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if d := describe(); d.Undetermined != "" || d.Outcome.Ending != string(lvlm.Refusal) || !d.Outcome.Unparsed || d.Calls[0].Terminal != string(lvlm.Refusal) {
		t.Errorf("a refusal: %+v", d)
	}
	in.Item, say = 1, reply{status: http.StatusServiceUnavailable, body: `{}`}
	if _, err := rollOut(a, in); failure(t, err).Type() != contract.ErrTypeUnreachable {
		t.Errorf("an endpoint that fails: %v", err)
	}
	if d := describe(); d.Undetermined != contract.ErrTypeUnreachable || !d.Outcome.Undetermined || d.Outcome.Correct || d.Score != nil {
		t.Errorf("a rollout without an end: %+v", d)
	}
}

// TestRolloutGroup: the draws of an item are asked side by side, one that fails fails the group,
// and the next attempt asks what is missing.
func TestRolloutGroup(t *testing.T) {
	l, in := rolloutLab(t)
	broken := true
	s := serve(t, func(_ int, _ *http.Request, body string) reply {
		if broken && strings.Contains(body, `"seed":17`) {
			return reply{status: http.StatusServiceUnavailable, body: `{}`}
		}
		return reply{text: "<think>clear</think><no_tool/>"}
	})
	a := l.worker("one", l.endpoint(s.URL, place{}))
	group := func() (out contract.RolloutGroupResult, err error) {
		err = inActivity(a, func(b *askBeat) error {
			out, err = a.RolloutGroup(b.ctx, contract.RolloutGroupInput{Input: in, Size: 3})
			return err
		})
		return out, err
	}
	if out, err := group(); failure(t, err).Type() != contract.ErrTypeUnreachable || !strings.Contains(err.Error(), "draw 3 of item 0") {
		t.Fatalf("%+v, %v", out, err)
	}
	asked := s.requests()
	broken = false
	out, err := group()
	if err != nil || out.Asked != 6 || s.requests() != asked+2 {
		t.Errorf("%+v, %v: %d requests after %d, of two turns of three draws one draw was missing", out, err, s.requests(), asked)
	}
}
