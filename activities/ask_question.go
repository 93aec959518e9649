package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
	"cxrepro/internal/lvlm"
)

func (s *asks) plan(ctx context.Context, ref artifacts.Ref) (*derive.Evaluated, error) {
	return load(ctx, s.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*derive.Evaluated, error) {
		p, err := getJSON[*experiments.Plan](ctx, s.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load plan: %w", err)
		}
		return derive.NewEvaluated(p, ref, s.pack(ctx))
	})
}

// pack returns what loads a stored prompt pack.
func (s *asks) pack(ctx context.Context) func(artifacts.Ref) (*cxreasonbench.Pack, error) {
	return func(ref artifacts.Ref) (*cxreasonbench.Pack, error) {
		return load(ctx, s.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*cxreasonbench.Pack, error) {
			data, err := s.opts.Store.Get(ctx, ref)
			if err != nil {
				return nil, fmt.Errorf("prompt pack of the plan: %w", err)
			}
			return derive.ParsePrompts(data)
		})
	}
}

func (s *asks) benchmark(ctx context.Context, ref artifacts.Ref) (*derive.Benchmark, error) {
	return load(ctx, s.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*derive.Benchmark, error) {
		doc, err := getJSON[contract.Benchmark](ctx, s.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load benchmark: %w", err)
		}
		return derive.NewBenchmark(doc, ref)
	})
}

// askDocuments hands out what calls are assembled from, and prepares pictures that nobody
// prepared.
type askDocuments struct {
	*asks
	a *Activities
}

// Case returns a case's questions.
func (d askDocuments) Case(ctx context.Context, ref artifacts.Ref) (*derive.Case, error) {
	return d.cases.Load(ref.Digest, func() (*derive.Case, int64, error) {
		doc, err := getJSON[contract.CaseDoc](ctx, d.opts.Store, ref)
		if err != nil {
			return nil, 0, fmt.Errorf("load its document: %w", err)
		}
		c, err := derive.NewCase(&doc)
		return c, 3 * ref.Size, err // decoded texts and structures weigh more than JSON
	})
}

// Answer returns a recorded answer.
func (d askDocuments) Answer(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error) {
	return d.answer(ctx, ref)
}

// Picture returns a stored picture as the call's rule sends it.
func (d askDocuments) Picture(ctx context.Context, c *derive.Call, stored artifacts.Ref) (artifacts.Ref, error) {
	return d.picture(d.a, ctx, c, stored)
}

// question assembles a call from the documents that its input names.
func (s *asks) question(a *Activities, ctx context.Context, in contract.AskInput) (*derive.Question, error) {
	p, err := s.plan(ctx, in.Plan)
	if err != nil {
		return nil, err
	}
	b, err := s.benchmark(ctx, in.Benchmark)
	if err != nil {
		return nil, err
	}
	return p.Question(ctx, askDocuments{s, a}, b, in)
}

// answer returns a recorded answer.
func (s *asks) answer(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error) {
	return s.answers.Load(ref.Digest, func() (lvlm.Answer, int64, error) {
		var out lvlm.Answer
		data, err := s.opts.Store.Get(ctx, ref)
		if err != nil {
			return out, 0, err
		}
		if err := json.Unmarshal(data, &out); err != nil || out.Format != lvlm.AnswerFormat {
			return out, 0, fail(contract.ErrTypeSpec, "%s is not a recorded answer", ref)
		}
		return out, ref.Size + 200, nil
	})
}
