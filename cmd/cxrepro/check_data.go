package main

import (
	"context"

	"cxrepro/experiments"
	"cxrepro/internal/claims"
	"cxrepro/internal/contract"
)

// stated are the published figures that a check takes from files.
type stated struct {
	text  *claims.Stated
	agent claims.AgentResults
}

// checked holds the published figures against a reproduction. It is what `check` prints and what
// `report --compare paper` puts beside its figures.
func checked(ctx context.Context, e *evaluated, s *contract.Summary, st stated) (*claims.Checked, error) {
	in := claims.Input{Findings: s, Stated: st.text, Agent: st.agent}
	if e != nil {
		in.Summary, in.Tally, in.Released = e.summary, &e.bench.Tally, e.bench.Source == experiments.SourceRelease
		var err error
		if in.Noise, err = e.decodingNoise(ctx); err != nil {
			return nil, err
		}
	}
	return claims.Check(in)
}

// decodingNoise counts, evaluation by evaluation, how far the stored replies to one question part
// ways. What was answered once has none to count.
func (e *evaluated) decodingNoise(ctx context.Context) ([]*claims.Noise, error) {
	if e.noise != nil {
		return e.noise, nil
	}
	list := make([]*claims.Noise, len(e.docs))
	for i := range e.docs {
		if e.summary.Evaluations[i].Draws < 2 {
			continue
		}
		list[i] = &claims.Noise{}
		if err := e.pages(ctx, i, func(page *contract.DialoguesDoc) error { list[i].Add(page); return nil }); err != nil {
			return nil, err
		}
	}
	e.noise = list
	return list, nil
}
