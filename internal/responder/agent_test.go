package responder

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
	"cxrepro/internal/xragent/radcot/fixture"
)

// quizzed is a responder for a small quiz, with the pictures.
type quizzed struct {
	*Responder
	items    []xragent.Item
	pictures map[artifacts.Digest][]byte
	url      string
}

func newQuizzed(t *testing.T, profile *Profile) *quizzed {
	t.Helper()
	q := &quizzed{pictures: map[artifacts.Digest][]byte{}}
	for n := range 10 {
		s, err := quiz.Draw(3, quiz.HeldOut, n)
		require.NoError(t, err)
		q.items = append(q.items, s.Items...)
		q.pictures[s.Image.Digest] = s.PNG
	}
	questions, err := NewQuestions(q.items, func(r artifacts.Ref) ([]byte, error) { return q.pictures[r.Digest], nil })
	require.NoError(t, err)
	if profile == nil {
		data, err := experiments.Files.ReadFile("xragent-demo/profiles/agent.yaml")
		require.NoError(t, err)
		profile, err = ParseProfile("agent.yaml", data)
		require.NoError(t, err)
	}
	q.Responder, err = New(Options{Profile: profile, Questions: questions})
	require.NoError(t, err)
	server := httptest.NewServer(q.Responder)
	t.Cleanup(server.Close)
	q.url = server.URL
	return q
}

// given is what a rollout is given: a bundle by the kind of picture, notes, crops without looks.
func given(item *xragent.Item, gateOff bool) Given {
	ratio := xragent.Verified{Value: 0.58, Category: "enlarged"}
	if q := item.Question; slices.Contains(q.Options, "normal") && q.Options[q.Key[0]-'A'] == "normal" {
		ratio = xragent.Verified{Value: 0.45, Category: "normal"}
	}
	g := Given{Bundle: xragent.Bundle{View: "PA", Values: [3]*xragent.Verified{&ratio, {Value: 0.1, Category: "symmetric"}, {Value: 0.01, Category: "midline"}}}}
	if item.Labels[0] != "pa" && !gateOff {
		g.Bundle = xragent.Bundle{Reason: xragent.ReasonViewLateral}
	}
	g.Observe = func(c xragent.ToolCall, _ []xragent.Observation) xragent.Observation {
		o := xragent.Observation{Call: c.Number, Name: c.Name, Status: xragent.StatusOK}
		for _, name := range c.Conditions {
			if note, ok := item.Notes[name]; ok {
				o.Text = note
			}
		}
		return o
	}
	return g
}

// ask sends a transcript as a request and returns status and text.
func (q *quizzed) ask(t *testing.T, model string, tr dialogue.Transcript, extra map[string]any) (int, string) {
	t.Helper()
	var messages []any
	for _, m := range tr.Messages {
		var parts []any
		for _, p := range m.Parts {
			if p.Image == nil {
				parts = append(parts, map[string]any{"type": "text", "text": p.Text})
				continue
			}
			if data, ok := q.pictures[p.Image.Digest]; ok {
				parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]any{"url": "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)}})
			}
		}
		if m.Role == dialogue.Assistant {
			messages = append(messages, map[string]any{"role": "assistant", "content": m.Text()})
			continue
		}
		messages = append(messages, map[string]any{"role": m.Role.String(), "content": parts})
	}
	body := map[string]any{"model": model, "messages": messages}
	for k, v := range extra {
		body[k] = v
	}
	data, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.Post(q.url+"/v1/chat/completions", "application/json", bytes.NewReader(data))
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	if r.StatusCode != 200 {
		return r.StatusCode, string(text)
	}
	var reply completion
	require.NoError(t, json.Unmarshal(text, &reply))
	return 200, *reply.Choices[0].Message.Content
}

// rollout plays over the endpoint.
func (q *quizzed) rollout(t *testing.T, model string, a xragent.Agent, item *xragent.Item, g Given) (xragent.Rollout, xragent.Ending) {
	t.Helper()
	r := xragent.Rollout{ID: item.ID, Question: item.Question, Pictures: item.Images()}
	for {
		step, err := a.Next(r)
		require.NoError(t, err)
		if step.Ending != "" {
			return r, step.Ending
		}
		for _, c := range step.Run {
			r, err = a.Observed(r, g.Observe(c, r.Results))
			require.NoError(t, err)
		}
		if step.Measure {
			r, err = a.Measured(r, g.Bundle)
			require.NoError(t, err)
		}
		if step.Turn > 0 {
			status, text := q.ask(t, model, step.Ask, nil)
			require.Equal(t, 200, status, text)
			r, err = a.Answered(r, xragent.Turn{Text: text, FinishReason: "stop"})
			require.NoError(t, err)
		}
	}
}

// TestAgentPlaysItsScript holds that every policy over the endpoint, in every arm, is what its
// script says without any protocol.
func TestAgentPlaysItsScript(t *testing.T) {
	q := newQuizzed(t, nil)
	for _, name := range xragent.Arms() {
		arm, err := xragent.ArmOf(name, xragent.ProfileCalibrated)
		require.NoError(t, err)
		for _, m := range q.options.Profile.Models {
			if m.Behaviour != Agent {
				continue
			}
			for i := range q.items[:12] {
				item := &q.items[i]
				want, ending, err := q.PlayAgent(m.Name, arm.Agent, item, -1, given(item, arm.GateOff))
				require.NoError(t, err)
				got, ended := q.rollout(t, m.Name, arm.Agent, item, given(item, arm.GateOff))
				require.Equal(t, want, got, "%s %s %s", name, m.Name, item.ID)
				require.Equal(t, ending, ended)
			}
		}
	}
}

// sums are what a policy did over all items.
type sums struct{ correct, calls, malformed, overBudget, evidence, eligible int }

func (q *quizzed) sums(t *testing.T, model, arm string) (s sums) {
	t.Helper()
	a, err := xragent.ArmOf(arm, xragent.ProfileCalibrated)
	require.NoError(t, err)
	for i := range q.items {
		r, _, err := q.PlayAgent(model, a.Agent, &q.items[i], -1, given(&q.items[i], a.GateOff))
		require.NoError(t, err)
		v := xragent.ScoreTrajectory(a.Agent.Trajectory(r), xragent.DefaultSetting())
		s.calls += v.Calls
		s.eligible += v.Eligible
		if v.CXR == 1 {
			s.evidence++
		}
		if v.Acc == 1 {
			s.correct++
		}
		if v.Verdict == "malformed" {
			s.malformed++
		}
		for _, why := range v.Reasons {
			if why == xragent.OverBudget {
				s.overBudget++
			}
		}
	}
	return s
}

// TestAgentProfiles holds what each carried policy is there to show. The numbers follow from the
// script: 40 items, a quarter of each source.
func TestAgentProfiles(t *testing.T) {
	q := newQuizzed(t, nil)
	always, never, needed := q.sums(t, "always-tools", "default"), q.sums(t, "never-tools", "default"), q.sums(t, "needed-tools", "default")
	require.Equal(t, 120, always.calls)
	require.Zero(t, never.calls)
	require.Equal(t, 20, needed.calls, "crop and lookup questions")
	require.Equal(t, 30, always.correct-q.plain("always-tools"), "all that evidence answers")
	require.Less(t, never.correct, needed.correct)
	require.Equal(t, needed.eligible, needed.evidence, "what is shown is said")
	require.Positive(t, needed.eligible)
	require.Equal(t, sums{malformed: 40, calls: q.sums(t, "malformed", "default").calls}, q.sums(t, "malformed", "default"))
	require.Equal(t, 40, q.sums(t, "malformed-reply", "default").malformed)
	over := q.sums(t, "over-budget", "default")
	require.Equal(t, []int{40, 40, 240, 0}, []int{over.overBudget, over.malformed, over.calls, over.correct})
	ignores := q.sums(t, "ignores-evidence", "default")
	require.Zero(t, ignores.evidence)
	require.Equal(t, always.eligible, ignores.eligible)
	require.Less(t, ignores.correct, always.correct)
	require.Zero(t, q.sums(t, "hallucinates", "default").evidence, "a value that nobody measured contradicts")
	off := q.sums(t, "needed-tools", "gate_off")
	require.Less(t, off.correct, needed.correct, "without the gate it believes what was measured on a lateral film")
	require.Less(t, q.sums(t, "needed-tools", "direct.v4").correct, needed.correct)
}

// plain counts the items of the plain source that a policy knows.
func (q *quizzed) plain(model string) (n int) {
	m := q.models[model]
	for i := range q.items {
		item := &q.items[i]
		if item.Source == string(quiz.Plain) && m.decide(item, evidence{}, -1) == item.Question.Key {
			n++
		}
	}
	return n
}

// TestStatedWords holds that what a policy says of a category is read as that category.
func TestStatedWords(t *testing.T) {
	for c, words := range stated {
		m := xragent.CTR
		switch c {
		case xragent.Symmetric, xragent.LeftSmaller, xragent.RightSmaller:
			m = xragent.LungAsymmetry
		case xragent.Midline, xragent.ShiftedLeft, xragent.ShiftedRight:
			m = xragent.ThoracicShift
		}
		require.Equal(t, xragent.Agrees, xragent.Compare(m, c, 0.5, "By the measurement "+words+"."), "%s", c)
	}
}

// TestAgentRequests holds recognition and refusals.
func TestAgentRequests(t *testing.T) {
	q := newQuizzed(t, nil)
	a, item := xragent.Agent{}, &q.items[0]
	step, err := a.Next(xragent.Rollout{ID: "r", Question: item.Question, Pictures: item.Images()})
	require.NoError(t, err)
	status, first := q.ask(t, "needed-tools", step.Ask, nil)
	require.Equal(t, 200, status)
	_, again := q.ask(t, "needed-tools", step.Ask, map[string]any{"seed": 7})
	require.Equal(t, first, again)
	status, text := q.ask(t, "lookup", step.Ask, nil)
	require.Equal(t, 400, status)
	require.Contains(t, text, "no policy")
	other := dialogue.Transcript{}.System("x").Ask("What is that?")
	status, text = q.ask(t, "needed-tools", other, nil)
	require.Equal(t, 404, status, text)

	lookup := q.items[2]
	for name, note := range lookup.Notes {
		q.Responder.Ask(mustQuestions(t, []xragent.Item{lookup}, nil))
		for _, model := range []string{"lookup", "never-tools"} {
			status, text = q.ask(t, model, xragent.LookupTranscript([]string{name, "Pneumonia"}), nil)
			require.Equal(t, 200, status)
			require.Contains(t, text, note)
			require.Contains(t, text, "pneumonia")
		}
	}
	q.Responder.Ask(mustQuestions(t, q.items, nil))
	status, text = q.ask(t, "lookup", xragent.ConditionsTranscript([]string{"mass", "oedema"}), nil)
	require.Equal(t, 200, status)
	require.Equal(t, []string{"mass", "oedema"}, xragent.ReadConditions(text))
	require.EqualValues(t, 3, q.Counts().Kinds["lookup"])
	require.EqualValues(t, 3, q.Counts().Tasks["heart"]["turn1"])

	none, err := New(Options{Profile: q.options.Profile})
	require.NoError(t, err)
	server := httptest.NewServer(none)
	defer server.Close()
	q.url = server.URL
	status, text = q.ask(t, "needed-tools", step.Ask, nil)
	require.Equal(t, 503, status)
	require.Contains(t, text, "no_questions")
	none.Ask(q.Responder.questions.Load())
	status, text = q.ask(t, "needed-tools", step.Ask, nil)
	require.Equal(t, 200, status)
	require.Equal(t, first, text)
}

// TestAgentKnowsPicturesByLooks holds that a picture which a client has resized is recognised.
func TestAgentKnowsPicturesByLooks(t *testing.T) {
	q := newQuizzed(t, nil)
	item := &q.items[5]
	step, err := xragent.Agent{}.Next(xragent.Rollout{ID: "r", Question: item.Question, Pictures: item.Images()})
	require.NoError(t, err)
	_, want := q.ask(t, "needed-tools", step.Ask, nil)
	m, err := png.Decode(bytes.NewReader(q.pictures[item.Images()[0].Digest]))
	require.NoError(t, err)
	small := image.NewGray(image.Rect(0, 0, 128, 128))
	for y := range 128 {
		for x := range 128 {
			small.Set(x, y, m.At(2*x, 2*y))
		}
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, small))
	before := q.pictures[item.Images()[0].Digest]
	q.Responder.Ask(mustQuestions(t, q.items, func(r artifacts.Ref) ([]byte, error) {
		if r.Digest == item.Images()[0].Digest {
			return before, nil
		}
		return q.pictures[r.Digest], nil
	}))
	q.pictures[item.Images()[0].Digest] = b.Bytes()
	status, got := q.ask(t, "needed-tools", step.Ask, nil)
	require.Equal(t, 200, status, got)
	require.Equal(t, want, got)
}

func mustQuestions(t *testing.T, items []xragent.Item, open func(artifacts.Ref) ([]byte, error)) *Questions {
	t.Helper()
	q, err := NewQuestions(items, open)
	require.NoError(t, err)
	return q
}

// TestAgentDraws holds that draws share what a policy can and differ where it dissents.
func TestAgentDraws(t *testing.T) {
	p := &Profile{Format: ProfileFormat, Seed: 4, Models: []Model{{Name: "m", Behaviour: Agent, Dissent: 0.5, Agent: &AgentScript{Sources: map[string]Skill{"other": {Knows: 1}}}}}}
	q := newQuizzed(t, p)
	wrong, differ := 0, 0
	for i := range q.items {
		m, item := q.models["m"], &q.items[i]
		require.Equal(t, item.Question.Key, m.decide(item, evidence{}, -1))
		seen := map[string]bool{}
		for draw := range 8 {
			answer := m.decide(item, evidence{}, draw)
			seen[answer] = true
			if answer != item.Question.Key {
				wrong++
			}
		}
		if len(seen) > 1 {
			differ++
		}
	}
	require.InDelta(t, 8*len(q.items)/3, wrong, 30, "half of them guess among three")
	require.Greater(t, differ, len(q.items)*3/4)
}

// TestAgentProfileRefused holds what is wrong with a profile.
func TestAgentProfileRefused(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"{name: a, behaviour: agent}", "agent"},
		{"{name: a, behaviour: oracle, agent: {sources: {other: {knows: 1}}}}", "belongs to the behaviour agent"},
		{"{name: a, behaviour: agent, agent: {sources: {}}}", "sources"},
		{"{name: a, behaviour: agent, agent: {sources: {other: {knows: 2}}}}", "share"},
		{"{name: a, behaviour: agent, agent: {tools: some, sources: {other: {knows: 1}}}}", "always or never"},
		{"{name: a, behaviour: agent, agent: {sources: {x: {knows: 1, needs: luck}}}}", "roi_crop"},
		{"{name: a, behaviour: agent, agent: {malformed: -1, sources: {x: {knows: 1}}}}", "malformed"},
	} {
		_, err := ParseProfile("p.yaml", []byte("format: cxrepro-responder-1\nseed: 1\nmodels:\n- "+c.text+"\n"))
		require.ErrorContains(t, err, c.says, c.text)
	}
	_, err := NewQuestions(nil, nil)
	require.Error(t, err)
	_, err = NewQuestions([]xragent.Item{{ID: "a"}}, nil)
	require.Error(t, err)
	require.True(t, strings.HasPrefix(malformedPlan(0), "I look"))
}

// TestTeacher holds that the teacher over the endpoint says what it says without.
func TestTeacher(t *testing.T) {
	q := newQuizzed(t, nil)
	request := dialogue.Transcript{}.System("You are a reference book.").Ask("Conditions: collapse")
	for seed := range 3 {
		status, text := q.ask(t, "teacher", request, map[string]any{"seed": seed})
		require.Equal(t, 200, status, text)
		require.Equal(t, fixture.Reply(request, seed).Text, text)
	}
	ask := dialogue.Transcript{}.System("You write rationales.").Ask("The expert's text: the heart is enlarged.")
	status, text := q.ask(t, "teacher", ask, map[string]any{"seed": 1})
	require.Equal(t, 200, status)
	require.Equal(t, fixture.Reply(ask, 1).Text, text)
}
