package tiny

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"cxrepro/internal/lvlm/openai"
	"cxrepro/internal/trainer/quiztraining"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

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
	list, err := quiztraining.All(ctx, len(step)*draws, client, func(n int) (quiztraining.Laid, quiztraining.Sampling, error) {
		how := quiztraining.Sampling{Model: model, Temperature: 1, Seed: int64(r.o.Seed) * 1_000_003, Draw: k*draws + n%draws}
		return r.train.Laid(step[n/draws]), how, nil
	})
	if err != nil {
		return nil, round, err
	}
	var lines []line
	for n := 0; n < len(list); n += draws {
		group := list[n : n+draws]
		rewards := make([]float64, draws)
		for j, o := range group {
			rewards[j] = o.Reward
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
			t := r.train.Laid(step[n/draws])
			l, err := r.written("grpo", t, o.Played)
			if err != nil {
				return nil, round, err
			}
			l.Schema, l.Step, l.Item, l.Draw, l.Model, l.Reward, l.Advantage = 1, k+1, t.Item.ID, j, model, o.Reward, advantages[j]
			lines = append(lines, l)
		}
	}
	round.Reward /= float64(len(list))
	round.Accuracy /= float64(len(list))
	round.Seconds = time.Since(start).Seconds()
	return lines, round, nil
}

func (r *Round) count(o quiztraining.Outcome, f quiz.Family) {
	r.Reward += o.Reward
	if o.Judged.Correct {
		r.Accuracy++
	}
	if !o.Judged.WellFormed() {
		r.Malformed++
	}
	r.Calls[string(f)] += o.Judged.Calls
}

// printed is accuracy, and per family accuracy and share of rollouts with a call.
func printed(s quiztraining.Score) string {
	out := fmt.Sprintf("%.3f", float64(s.Right)/float64(s.Items))
	for _, f := range quiz.Families() {
		x := s.Families[f]
		n := float64(x.Items)
		out += fmt.Sprintf("  %s %.3f (calls %.2f, reward %.3f)", f, float64(x.Right)/n, float64(x.Called)/n, x.Reward/n)
	}
	return out
}

func (r *runner) evaluate(ctx context.Context, model string) (quiztraining.Score, error) {
	client, err := r.client(model)
	if err != nil {
		return quiztraining.Score{}, err
	}
	return quiztraining.Evaluate(ctx, client, model, min(r.o.HeldOut, r.held.Len()), func(i int) (quiztraining.Laid, error) { return r.held.Laid(i), nil })
}
