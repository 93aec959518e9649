package rewardserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"time"

	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

const notMeasuredAfter = 5 * time.Second

// Rewards scores the samples of a request and records them.
//
// Errors: *Fault, of the first sample at fault; those of the records.
func (s *Service) Rewards(ctx context.Context, r *RewardRequest) (*RewardReply, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.RewardConfig != s.config.String() {
		return nil, &Fault{Status: 409, Code: "config_differs", Field: "reward_config", Message: "this service serves " + s.config.String() + "; start the trainer and the service with one setting"}
	}
	if err := s.checkGroups(r.Samples); err != nil {
		return nil, err
	}
	page := &contract.RewardPage{Format: contract.RewardFormat, RunID: r.RunID, Config: s.config, Samples: make([]contract.RewardedSample, len(r.Samples))}
	errs := make([]error, len(r.Samples))
	var wait sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(errs))
	for w := range workers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := w; i < len(errs); i += workers {
				page.Samples[i], errs[i] = s.judge(ctx, i, &r.Samples[i])
			}
		}()
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if err := s.o.Records.put(ctx, page); err != nil {
		return nil, err
	}
	notes := make([]sampleNote, len(page.Samples))
	reply := &RewardReply{Results: make([]Result, len(page.Samples))}
	for i := range page.Samples {
		notes[i] = noteOf(&page.Samples[i])
		reply.Results[i] = Result{page.Samples[i].Sample, page.Samples[i].Rewarded}
	}
	reply.Groups = groupsOf(notes, s.o.GroupSize)
	return reply, nil
}

// judge scores one sample.
func (s *Service) judge(ctx context.Context, i int, m *Sample) (contract.RewardedSample, error) {
	if err := ctx.Err(); err != nil {
		return contract.RewardedSample{}, err
	}
	t, err := s.trajectory(ctx, s.items[m.ItemID], i, m)
	if err != nil {
		return contract.RewardedSample{}, err
	}
	return contract.RewardedSample{Step: *m.Step, Sample: m.SampleID, Item: m.ItemID, Group: m.GroupID, Draw: m.Draw, Trajectory: t,
		Rewarded: rewarded(xragent.ScoreTrajectory(t, s.setting))}, nil
}

// trajectory puts together what is judged: the question of the set, the turns of the request,
// the bundle of the measurements.
func (s *Service) trajectory(ctx context.Context, item *xragent.Item, i int, m *Sample) (xragent.Trajectory, error) {
	g := &m.Trajectory
	r := s.rollout(item, *g.Turn1, g.FinishReasons[0])
	r.ID = m.SampleID
	step, err := s.o.Agent.Next(r)
	if err != nil {
		return xragent.Trajectory{}, refused("trajectory", field(i, "trajectory"), "%v", err)
	}
	if step.Measure {
		b, err := s.measured(ctx, item, r)
		if err != nil {
			var f *Fault
			if errors.As(err, &f) {
				f.Field = field(i, "item_id")
				f.Message = item.ID + ": " + f.Message
			}
			return xragent.Trajectory{}, err
		}
		r.Measurement = &b
	}
	if g.Turn2 != nil {
		r.Turn2 = &xragent.Turn{Text: *g.Turn2, FinishReason: g.FinishReasons[1]}
	}
	r.Results = g.Observations
	t := s.o.Agent.Trajectory(r)
	if step.Ending != "" && r.Measurement == nil {
		t.Measurement = xragent.Bundle{Reason: xragent.ReasonNotReached}
	}
	if g.Measurement != nil && !sameBundle(*g.Measurement, t.Measurement) {
		return t, refused("measurement_differs", field(i, "trajectory.measurement"), "is not what was shown for item %s", item.ID)
	}
	return t, nil
}

func sameBundle(a, b xragent.Bundle) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
