package rewardserver

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// DefaultGroup is G, how many samples of an item are compared.
const DefaultGroup = 4

// Measurements know what the gate lets through.
type Measurements interface {
	// Bundle returns the bundle of some of an item's pictures, as turn 2 is shown it when the
	// agent measures these. Errors: ErrNotMeasured while nobody knows.
	Bundle(ctx context.Context, item *xragent.Item, pictures []artifacts.Ref) (xragent.Bundle, error)
}

// ErrNotMeasured: the pictures of an item were not measured yet.
var ErrNotMeasured = errors.New("not measured")

// Tools run calls of a plan. They may be called from several goroutines.
type Tools interface {
	// Run returns what the call comes to. earlier are the results of the plan's calls so far.
	Run(ctx context.Context, item *xragent.Item, call xragent.ToolCall, earlier []xragent.Observation) (xragent.Observation, error)
}

// Pictures hold what observations show.
type Pictures interface {
	Get(ctx context.Context, ref artifacts.Ref) ([]byte, error)
}

// Options says what a service is made of.
type Options struct {
	Questions []xragent.Item
	// Agent is how the policy runs; its zero value is the whole protocol.
	Agent xragent.Agent
	// Setting is the reward; nil is the default.
	Setting *xragent.Setting
	// GroupSize is G; 0 is DefaultGroup.
	GroupSize    int
	Measurements Measurements
	// Tools and Pictures serve observations; without Tools there are none.
	Tools    Tools
	Pictures Pictures
	// Records keeps what was rewarded.
	Records *Records
}

// Service answers requests. It holds nothing that a request changes.
type Service struct {
	o       Options
	setting xragent.Setting
	config  artifacts.Digest
	items   map[string]*xragent.Item
}

// New returns a service.
//
// Errors: questions that cannot be scored or share a name, an agent or a setting that is none, a
// missing part.
func New(o Options) (*Service, error) {
	s := &Service{o: o, setting: xragent.DefaultSetting(), items: map[string]*xragent.Item{}}
	if o.Setting != nil {
		s.setting = *o.Setting
	}
	if s.o.GroupSize == 0 {
		s.o.GroupSize = DefaultGroup
	}
	var err error
	switch {
	case o.Measurements == nil || o.Records == nil:
		return nil, errors.New("reward service: Options.Measurements and Options.Records are required")
	case len(o.Questions) == 0:
		return nil, errors.New("reward service: there are no questions")
	case s.o.GroupSize < 2:
		return nil, fmt.Errorf("reward service: a group of %d has nothing to compare", s.o.GroupSize)
	}
	if err := o.Agent.Validate(); err != nil {
		return nil, fmt.Errorf("reward service: %w", err)
	}
	if o.Agent.Direct != "" {
		return nil, fmt.Errorf("reward service: %s has one turn, and the reward is that of two", o.Agent.Direct)
	}
	if s.config, err = s.setting.Digest(); err != nil {
		return nil, fmt.Errorf("reward service: %w", err)
	}
	for i := range o.Questions {
		item := &o.Questions[i]
		if err := item.Validate(); err != nil {
			return nil, fmt.Errorf("reward service: %w", err)
		}
		if s.items[item.ID] != nil {
			return nil, fmt.Errorf("reward service: item %s stands twice", item.ID)
		}
		s.items[item.ID] = item
	}
	return s, nil
}

// Config is the digest of the setting that the service serves.
func (s *Service) Config() artifacts.Digest { return s.config }

// rollout is an item with a first turn, before anything was observed.
func (s *Service) rollout(item *xragent.Item, turn1, finish string) xragent.Rollout {
	return xragent.Rollout{ID: item.ID, Question: item.Question, Pictures: item.Images(), Turn1: &xragent.Turn{Text: turn1, FinishReason: finish}}
}

// measured asks for the bundle that a rollout of an item is shown.
func (s *Service) measured(ctx context.Context, item *xragent.Item, r xragent.Rollout) (xragent.Bundle, error) {
	b, err := s.o.Measurements.Bundle(ctx, item, s.o.Agent.MeasuredPictures(r))
	if errors.Is(err, ErrNotMeasured) {
		return b, &Fault{Status: 503, Code: "not_measured", Field: item.ID, Message: "the pictures of this item are not measured yet; come again", After: notMeasuredAfter}
	}
	return b, err
}

// rewarded is a score as it is told and recorded.
func rewarded(v xragent.Score) contract.Rewarded {
	return contract.Rewarded{Score: v.R, Acc: v.Acc, Format: v.Format, CXR: v.CXR, Calls: v.Calls, Eligible: v.Eligible, Reasons: v.Reasons}
}
