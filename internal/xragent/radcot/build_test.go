package radcot_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
)

func paths(r artifacts.Ref) string { return "images/" + r.Digest.Short() + ".png" }

// TestBuild holds a whole construction: counts add up, nothing overlaps, the same request and
// draw is never asked twice, and the order of results does not show.
func TestBuild(t *testing.T) {
	spec, c := smallSpec(), newClinic(t, 4)
	asked := map[string]int{}
	count := func(w radcot.Work, s radcot.Step) xragent.Turn {
		asked[w.Candidate.ID+string(s.Phase)+string(rune('0'+s.Attempt))+string(rune('0'+s.Turn))]++
		return teach(w, s)
	}
	b, ex := built(t, spec, c, count, nil)
	for key, n := range asked {
		require.Equal(t, 1, n, key)
	}
	for _, p := range b.Parts {
		require.Equal(t, p.Drawn, p.Accepted+p.Rejected, p.Part)
		require.Equal(t, p.Accepted, p.Kept+p.Surplus, p.Part)
		require.NotZero(t, p.Kept, p.Part)
		if p.Part.Routed() {
			require.NotZero(t, p.Rejected, "%s: the teacher breaks rules", p.Part)
		}
		require.Equal(t, spec.Amounts.Of(p.Part).Draw, p.Drawn, p.Part)
	}
	require.Empty(t, b.Overlap)
	require.Equal(t, b.SFT()+b.Parts[2].Kept, len(b.Examples))
	for _, e := range b.Ledger.Entries {
		require.Equal(t, e.Verdict.Accepted, len(e.Verdict.Codes) == 0)
		for _, code := range e.Verdict.Codes {
			require.Contains(t, radcot.Codes(), code)
		}
	}
	sheet := b.Datasheet(artifacts.Sum([]byte("ledger")), ex, "fixture", nil)
	again, _ := built(t, spec, c, teach, rand.New(rand.NewPCG(5, 5)))
	for _, form := range []radcot.Form{radcot.Swift, radcot.TRL, radcot.Verl, radcot.Contract} {
		for _, corpus := range []radcot.Corpus{radcot.SFT, radcot.GRPO} {
			var one, two bytes.Buffer
			if form == radcot.Contract && corpus == radcot.GRPO {
				require.Error(t, b.Write(&one, corpus, form, paths))
				continue
			}
			require.NoError(t, b.Write(&one, corpus, form, paths))
			require.NoError(t, again.Write(&two, corpus, form, paths))
			require.Equal(t, one.Bytes(), two.Bytes(), "%s %s: the order of results shows", corpus, form)
			require.NotContains(t, one.String(), "expert's text", "%s %s: a hidden prompt", corpus, form)
		}
	}
	one, err := json.Marshal(sheet)
	require.NoError(t, err)
	two, err := json.Marshal(again.Datasheet(artifacts.Sum([]byte("ledger")), ex, "fixture", nil))
	require.NoError(t, err)
	require.Equal(t, string(one), string(two))
}

// TestResume stops a construction after every step, keeps only what records hold, and goes on:
// ledger and examples are those of an undisturbed run, and no attempt is asked for again.
func TestResume(t *testing.T) {
	spec, c := smallSpec(), newClinic(t, 4)
	set, _ := drawn(t, spec)
	r := rand.New(rand.NewPCG(9, 9))
	for i, cand := range set.Candidates {
		if i%3 != 0 {
			continue
		}
		cand.Picture.Image = c.refs[i%len(c.refs)]
		want, err := spec.Outcome(c.finish(t, spec, radcot.Work{Candidate: cand}, teach, nil))
		require.NoError(t, err)
		var ledger radcot.Ledger
		require.NoError(t, ledger.Add(want.Entries...))
		w := radcot.Work{Candidate: cand}
		for {
			step, err := spec.Next(w)
			require.NoError(t, err)
			if step.Done {
				break
			}
			w = c.advance(t, spec, w, step, teach, r)
			data, err := json.Marshal(w) // a kill: all that is left is what was stored
			require.NoError(t, err)
			w = radcot.Work{}
			require.NoError(t, json.Unmarshal(data, &w))
		}
		got, err := spec.Outcome(w)
		require.NoError(t, err)
		require.NoError(t, ledger.Add(got.Entries...), "an entry that differs")
		require.Len(t, ledger.Entries, len(want.Entries), "an attempt counted twice")
		require.Equal(t, want, got, cand.ID)
	}
}

func TestLedger(t *testing.T) {
	var l radcot.Ledger
	e := func(c string, p radcot.Phase, n int, ok bool) radcot.Entry {
		v := radcot.Verdict{Accepted: ok}
		if !ok {
			v.Codes = []radcot.Code{radcot.TooShort}
		}
		return radcot.Entry{Candidate: c, Phase: p, Attempt: n, Verdict: v}
	}
	list := []radcot.Entry{e("mcq-00002", radcot.Routing, 0, true), e("mcq-00001", radcot.Writing, 1, true), e("mcq-00002", radcot.Writing, 0, true), e("mcq-00001", radcot.Writing, 0, false)}
	require.NoError(t, l.Add(list...))
	slices.Reverse(list)
	var m radcot.Ledger
	require.NoError(t, m.Add(list...))
	require.NoError(t, m.Add(list...))
	one, err := l.Encode()
	require.NoError(t, err)
	two, err := m.Encode()
	require.NoError(t, err)
	require.Equal(t, string(one), string(two))
	require.Equal(t, []radcot.Count{{Name: "write/too_short", N: 1}}, l.Rejections())
	found, ok := l.Find("mcq-00002", radcot.Routing, 0)
	require.True(t, ok)
	require.Equal(t, "mcq-00002", found.Candidate)
	require.Equal(t, radcot.Routing, found.Phase)
	_, ok = l.Find("mcq-00002", radcot.Routing, 1)
	require.False(t, ok)
	var conflict *radcot.ConflictError
	require.ErrorAs(t, l.Add(e("mcq-00001", radcot.Writing, 0, true)), &conflict)
	_, err = radcot.ReadLedger(one)
	require.NoError(t, err)
	_, err = radcot.ReadLedger(bytes.Replace(one, []byte(`mcq-00001`), []byte(`mcq-00009`), 1))
	require.ErrorContains(t, err, "does not come after")
}

// TestReplay replays every routed example through the agent: the plan of its first turn, run
// again by the same tools, gives the same observations byte for byte; observations stand after
// the turn that asked for them, and loss lies exactly over the assistant's texts.
func TestReplay(t *testing.T) {
	spec := smallSpec()
	b, c := whole(t)
	routed, called := 0, 0
	for i := range b.Examples {
		e := &b.Examples[i]
		if len(e.Messages) == 0 {
			continue
		}
		text, loss := radcot.Render(e.Messages)
		var said []string
		for _, s := range loss {
			said = append(said, text[s.Begin:s.End])
		}
		var want []string
		for _, m := range e.Messages {
			if m.Role == "assistant" {
				want = append(want, m.Content())
			}
		}
		require.Equal(t, want, said, e.ID)
		rest := text
		for _, s := range slices.Backward(loss) {
			rest = rest[:s.Begin] + rest[s.End:]
		}
		require.NotContains(t, rest, "<tool_call>{\"name\": \"roi", "%s: a plan outside the loss", e.ID)
		require.NotContains(t, strings.Join(said, ""), "<observation>", e.ID)
		require.NotContains(t, strings.Join(said, ""), "<measurement>", e.ID)
		if e.Rollout == nil {
			require.Len(t, loss, 1, e.ID)
			continue
		}
		routed++
		roles := make([]string, len(e.Messages))
		for k, m := range e.Messages {
			roles[k] = m.Role
		}
		require.Equal(t, []string{"system", "user", "assistant", "tool", "assistant"}, roles, e.ID)
		require.Len(t, loss, 2, e.ID)

		r := xragent.Rollout{ID: e.Rollout.ID, Question: e.Rollout.Question, Pictures: e.Rollout.Pictures}
		for r.Turn2 == nil {
			step, err := spec.Agent.Next(r)
			require.NoError(t, err)
			switch {
			case step.Turn == 1:
				r, err = spec.Agent.Answered(r, *e.Rollout.Turn1)
			case step.Turn == 2:
				r, err = spec.Agent.Answered(r, *e.Rollout.Turn2)
			case step.Measure:
				r, err = spec.Agent.Measured(r, c.measure(t, r))
			default:
				called++
				r, err = spec.Agent.Observed(r, c.run(t, r, step.Run[len(step.Run)-1]))
			}
			require.NoError(t, err)
		}
		messages, err := spec.Conversation(r)
		require.NoError(t, err)
		one, err := json.Marshal(e.Messages)
		require.NoError(t, err)
		two, err := json.Marshal(messages)
		require.NoError(t, err)
		require.Equal(t, string(one), string(two), e.ID)
	}
	require.Greater(t, routed, 30)
	require.Greater(t, called, 15)
}

// TestRows holds what the rows of the trainers look like.
func TestRows(t *testing.T) {
	b, _ := whole(t)
	lines := func(corpus radcot.Corpus, f radcot.Form) []map[string]any {
		var out bytes.Buffer
		require.NoError(t, b.Write(&out, corpus, f, paths))
		var rows []map[string]any
		for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			var row map[string]any
			require.NoError(t, json.Unmarshal([]byte(l), &row))
			rows = append(rows, row)
		}
		return rows
	}
	require.Len(t, lines(radcot.SFT, radcot.Swift), b.SFT())
	require.Len(t, lines(radcot.GRPO, radcot.Swift), b.GRPO())
	for _, f := range []radcot.Form{radcot.Swift, radcot.Contract} {
		for _, row := range lines(radcot.SFT, f) {
			marks := 0
			for _, m := range row["messages"].([]any) {
				m := m.(map[string]any)
				marks += strings.Count(m["content"].(string), "<image>")
				loss, said := m["loss"]
				require.Equal(t, m["role"] == "assistant", said && loss == true, "loss lies on assistant messages only")
				require.False(t, f == radcot.Contract && m["role"] == "tool")
			}
			require.Len(t, row["images"], marks, "one mark a picture")
		}
	}
	for _, row := range lines(radcot.GRPO, radcot.TRL) {
		require.Len(t, row["prompt"], 2, "what turn 1 is asked with")
		require.NotEmpty(t, row["solution"])
	}

	var out bytes.Buffer
	require.NoError(t, b.Write(&out, radcot.GRPO, radcot.Verl, paths))
	type row struct {
		Source string `parquet:"data_source"`
		Agent  string `parquet:"agent_name"`
		Prompt []struct {
			Role    string `parquet:"role"`
			Content string `parquet:"content"`
		} `parquet:"prompt,list"`
		Images []struct {
			Image string `parquet:"image"`
		} `parquet:"images,list"`
		Reward struct {
			Style string `parquet:"style"`
			Truth string `parquet:"ground_truth"`
		} `parquet:"reward_model"`
	}
	rows, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	require.NoError(t, err)
	require.Len(t, rows, b.GRPO())
	k := 0
	for i := range b.Examples {
		e := &b.Examples[i]
		if !e.Part.GRPO() {
			continue
		}
		require.Equal(t, e.Question.Key, rows[k].Reward.Truth)
		require.Equal(t, []string{"system", "user"}, []string{rows[k].Prompt[0].Role, rows[k].Prompt[1].Role})
		require.Contains(t, rows[k].Prompt[1].Content, "<image>")
		require.Equal(t, paths(e.Picture.Image), rows[k].Images[0].Image)
		k++
	}
}
