package rewardserver

import (
	"context"
	"encoding/base64"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/xragent"
)

// Observe runs the plan of a first turn and returns the message that turn 2 is asked with.
//
// Errors: *Fault; those of the tools.
func (s *Service) Observe(ctx context.Context, r *ObserveRequest) (*ObserveReply, error) {
	switch {
	case r.Schema != Schema:
		return nil, schemaFault("schema", "is %d, this service reads %d", r.Schema, Schema)
	case r.RunID == "" || r.ItemID == "" || r.Turn1 == nil || r.FinishReason == "":
		return nil, schemaFault("", "run_id, item_id, turn1 and finish_reason are all needed")
	case s.o.Tools == nil:
		return nil, &Fault{Status: 404, Code: "no_tools", Message: "this service was started without tools; it serves rewards only"}
	}
	item := s.items[r.ItemID]
	if item == nil {
		return nil, refused("unknown_item", "item_id", "%q is no item of the question set", r.ItemID)
	}
	roll := s.rollout(item, *r.Turn1, r.FinishReason)
	plan := xragent.ReadPlan(*roll.Turn1)
	reply := &ObserveReply{Reasons: plan.Reasons, Calls: plan.Counted, Parts: []Part{}, Observations: []xragent.Observation{}}
	if reply.Reasons == nil {
		reply.Reasons = []xragent.Reason{}
	}
	step, err := s.toTurn2(ctx, item, &roll)
	if err != nil {
		return nil, err
	}
	t := s.o.Agent.Trajectory(roll)
	reply.Ending, reply.Observations = step.Ending, append(reply.Observations, t.Observations...)
	if step.Ending != "" {
		return reply, nil
	}
	// what the trajectory says of the measurement once there is a second turn
	roll.Turn2 = &xragent.Turn{}
	b := s.o.Agent.Trajectory(roll).Measurement
	reply.Measurement = &b
	reply.Parts, err = s.parts(ctx, step.Ask)
	return reply, err
}

// toTurn2 drives the agent until it asks for turn 2 or the rollout has ended.
func (s *Service) toTurn2(ctx context.Context, item *xragent.Item, roll *xragent.Rollout) (xragent.Step, error) {
	for {
		step, err := s.o.Agent.Next(*roll)
		if err != nil || step.Ending != "" || step.Turn == 2 {
			return step, err
		}
		for _, c := range step.Run {
			o, err := s.o.Tools.Run(ctx, item, c, roll.Results)
			if err != nil {
				return step, fmt.Errorf("item %s: call %d: %w", item.ID, c.Number, err)
			}
			if *roll, err = s.o.Agent.Observed(*roll, o); err != nil {
				return step, err
			}
		}
		if !step.Measure {
			continue
		}
		b, err := s.measured(ctx, item, *roll)
		if err != nil {
			return step, err
		}
		if *roll, err = s.o.Agent.Measured(*roll, b); err != nil {
			return step, err
		}
	}
}

// parts writes the last message of a transcript for a trainer.
func (s *Service) parts(ctx context.Context, t dialogue.Transcript) ([]Part, error) {
	var out []Part
	for _, p := range t.Messages[len(t.Messages)-1].Parts {
		if p.Image == nil {
			out = append(out, Part{Type: "text", Text: p.Text})
			continue
		}
		url, err := s.dataURL(ctx, *p.Image)
		if err != nil {
			return nil, err
		}
		out = append(out, Part{Type: "image_url", ImageURL: &ImageURL{url}})
	}
	return out, nil
}

func (s *Service) dataURL(ctx context.Context, ref artifacts.Ref) (string, error) {
	data, err := s.o.Pictures.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("picture %s: %w", ref.Digest.Short(), err)
	}
	return "data:" + ref.MediaType + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
