package tiny

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/openai"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// outcome is a scored rollout.
type outcome struct {
	played quiz.Played
	judged xragent.Judged
	reward float64
}

// ask plays item i of a set against a served model.
func (r *runner) ask(ctx context.Context, s *Set, i int, model string, client *openai.Client, temperature float64, draw int) (outcome, error) {
	t := s.Table(i)
	var o outcome
	seed, top := int64(r.o.Seed)*1_000_003, 1.0
	p, err := t.Play(func(p quiz.Played, step xragent.Step) (xragent.Turn, error) {
		pictures := func(_ context.Context, ref artifacts.Ref) ([]byte, error) {
			if crop, ok := p.Crops[ref.Digest]; ok {
				return crop, nil
			}
			return s.Studies[i/4].PNG, nil
		}
		reply, err := client.Ask(ctx, lvlm.Request{Adapter: lvlm.ChatVersion, Draw: draw, Transcript: step.Ask,
			Decoding: lvlm.Decoding{Temperature: &temperature, TopP: &top, MaxTokens: 48, Seed: &seed}}, pictures)
		if err == nil && reply.Served.Model != model {
			err = fmt.Errorf("%s answered for %s", reply.Served.Model, model)
		}
		return xragent.Turn{Text: reply.Answer.Text, FinishReason: reply.Answer.Finish}, err
	})
	if err != nil {
		return o, err
	}
	o.played = p
	o.judged = xragent.Judge(Agent.Trajectory(p.Rollout), xragent.DefaultPhrases())
	o.reward = xragent.DefaultReward().Value(o.judged.Terms()).R
	return o, nil
}

func (r *runner) client(model string) (*openai.Client, error) {
	return openai.New(openai.Options{Endpoint: "tiny", URL: r.server.url, Model: model, Timeout: time.Minute, Concurrency: 4})
}

// Round is what a round of GRPO gave.
type Round struct {
	Reward    float64        `json:"reward"`
	Accuracy  float64        `json:"accuracy"`
	Calls     map[string]int `json:"calls"`
	Malformed int            `json:"malformed"`
	Same      int            `json:"degenerate_groups"`
	Seconds   float64        `json:"seconds"`
}

// round plays the items of a step, scores them, and returns the batch.
func (r *runner) round(ctx context.Context, model string, k int, step []int, shuffle *rand.Rand) ([]line, Round, error) {
	start := time.Now()
	round := Round{Calls: map[string]int{}}
	client, err := r.client(model)
	if err != nil {
		return nil, round, err
	}
	list := make([]outcome, len(step)*draws)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for n := range list {
		g.Go(func() (err error) {
			list[n], err = r.ask(gctx, r.train, step[n/draws], model, client, 1, k*draws+n%draws)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, round, err
	}
	var lines []line
	for n := 0; n < len(list); n += draws {
		group := list[n : n+draws]
		rewards := make([]float64, draws)
		for j, o := range group {
			rewards[j] = o.reward
			round.count(o, quiz.Families()[step[n/draws]%4])
		}
		if xragent.Degenerate(rewards) {
			round.Same++
		}
		if r.o.Permute {
			shuffle.Shuffle(draws, func(a, b int) { rewards[a], rewards[b] = rewards[b], rewards[a] })
		}
		advantages := xragent.Advantages(rewards, r.o.Scale)
		for j, o := range group {
			t, s := r.train.Table(step[n/draws]), r.train.Studies[step[n/draws]/4]
			l, err := r.written("grpo", t, o.played, s.PNG)
			if err != nil {
				return nil, round, err
			}
			l.Schema, l.Step, l.Item, l.Draw, l.Model, l.Reward, l.Advantage = 1, k+1, t.Item.ID, j, model, o.reward, advantages[j]
			lines = append(lines, l)
		}
	}
	round.Reward /= float64(len(list))
	round.Accuracy /= float64(len(list))
	round.Seconds = time.Since(start).Seconds()
	return lines, round, nil
}

func (r *Round) count(o outcome, f quiz.Family) {
	r.Reward += o.reward
	if o.judged.Correct {
		r.Accuracy++
	}
	if !o.judged.WellFormed() {
		r.Malformed++
	}
	r.Calls[string(f)] += o.judged.Calls
}

// Score is how a checkpoint does on the held-out items, greedily.
type Score struct {
	Model   string                      `json:"model"`
	Correct []bool                      `json:"-"`
	Right   int                         `json:"right"`
	Items   int                         `json:"items"`
	Family  map[quiz.Family]FamilyScore `json:"families"`
}

// FamilyScore is that of one family.
type FamilyScore struct {
	Items, Right, Called, Malformed int
	Reward                          float64
}

// String prints accuracy, and per family accuracy and share of rollouts with a call.
func (s Score) String() string {
	out := fmt.Sprintf("%.3f", float64(s.Right)/float64(s.Items))
	for _, f := range quiz.Families() {
		x := s.Family[f]
		n := float64(x.Items)
		out += fmt.Sprintf("  %s %.3f (calls %.2f, reward %.3f)", f, float64(x.Right)/n, float64(x.Called)/n, x.Reward/n)
	}
	return out
}

func (r *runner) evaluate(ctx context.Context, model string) (Score, error) {
	n := min(r.o.HeldOut, r.held.Len())
	s := Score{Model: model, Correct: make([]bool, n), Items: n, Family: map[quiz.Family]FamilyScore{}}
	client, err := r.client(model)
	if err != nil {
		return s, err
	}
	list := make([]outcome, n)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i := range n {
		g.Go(func() (err error) {
			list[i], err = r.ask(gctx, r.held, i, model, client, 0, 0)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return s, err
	}
	for i, o := range list {
		f := quiz.Families()[i%4]
		x := s.Family[f]
		x.Items++
		x.Reward += o.reward
		if s.Correct[i] = o.judged.Correct; o.judged.Correct {
			x.Right++
			s.Right++
		}
		if o.judged.Calls > 0 {
			x.Called++
		}
		if !o.judged.WellFormed() {
			x.Malformed++
		}
		s.Family[f] = x
	}
	return s, nil
}
