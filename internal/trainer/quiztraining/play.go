package quiztraining

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// longest is how many tokens of the small policy a turn may have.
const longest = 48

// Laid is a question that is laid out for a policy, with the picture that it is sent.
type Laid struct {
	quiz.Table
	Family quiz.Family
	PNG    []byte
}

// Outcome is a rollout with what the reward reads of it.
type Outcome struct {
	Played quiz.Played
	Judged xragent.Judged
	Reward float64
}

// Sampling is how a policy is asked in this process.
type Sampling struct {
	// Model is the digest of its weights, under which it answers; a reply by another is refused.
	Model       string
	Temperature float64
	Seed        int64
	// Draw tells draws of one question apart; it is added to the seed.
	Draw int
}

// Ask plays a question to its end in this process, through the agent, and rewards it. What is
// asked is recorded nowhere.
func (l Laid) Ask(ctx context.Context, policy lvlm.Asker, s Sampling) (Outcome, error) {
	var o Outcome
	top, most := 1.0, longest
	p, err := l.Play(func(p quiz.Played, step xragent.Step) (xragent.Turn, error) {
		pictures := func(_ context.Context, ref artifacts.Ref) (io.ReadCloser, error) {
			data, ok := p.Crops[ref.Digest]
			if !ok {
				data = l.PNG
			}
			return io.NopCloser(artifacts.Checked(bytes.NewReader(data), ref)), nil
		}
		send, err := policy.Prepare(ctx, lvlm.Request{Adapter: lvlm.ChatVersion, Draw: s.Draw, Transcript: step.Ask,
			Decoding: lvlm.Decoding{Temperature: &s.Temperature, TopP: &top, MaxTokens: most, Seed: &s.Seed}}, pictures)
		if err != nil {
			return xragent.Turn{}, err
		}
		reply, err := send(ctx)
		if err == nil && reply.Served.Model != s.Model {
			err = fmt.Errorf("%s answered for %s", reply.Served.Model, s.Model)
		}
		return xragent.Turn{Text: reply.Answer.Text, FinishReason: reply.Answer.Finish}, err
	})
	if err != nil {
		return o, err
	}
	o.Played = p
	o.Judged = xragent.Judge(l.Agent.Trajectory(p.Rollout), xragent.DefaultPhrases())
	o.Reward = xragent.DefaultReward().Value(o.Judged.Terms()).R
	return o, nil
}

// atOnce is how many questions are in hand at a time: the policy's server answers one by one.
const atOnce = 4

// All asks n questions, a few at a time, and returns their outcomes in order. question lays out
// question i and says how it is asked.
func All(ctx context.Context, n int, policy lvlm.Asker, question func(i int) (Laid, Sampling, error)) ([]Outcome, error) {
	out := make([]Outcome, n)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n {
		g.Go(func() error {
			l, s, err := question(i)
			if err != nil {
				return err
			}
			out[i], err = l.Ask(gctx, policy, s)
			return err
		})
	}
	return out, g.Wait()
}
