package trainer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// folderOf is the folder of the checkpoint of a step.
func (s *supervisor) folderOf(step int) (string, error) {
	list, err := s.List()
	if err != nil {
		return "", err
	}
	for _, c := range list {
		if c.Step == step {
			return filepath.Join(s.CheckpointsFolder(), c.Path), nil
		}
	}
	return "", nil
}

// bring hands what is complete to the store, and fetches what is not here.
func (s *supervisor) bring(ctx context.Context) error {
	if err := s.sync(ctx); err != nil {
		return err
	}
	list, err := s.List()
	if err != nil || s.Restore == nil {
		return err
	}
	complete, _ := Newest(list)
	if complete != nil && complete.Step >= s.Segment.From {
		return nil
	}
	most := s.Segment.To
	if !s.Recipe.Silent { // what a step consumed is told by its event, and that stayed where it was trained
		if most, err = s.known(); err != nil {
			return err
		}
	}
	return s.Restore(ctx, s.CheckpointsFolder(), s.Segment.From, most)
}

// position is the checkpoint to resume from, nil for the base. done says that the segment is
// trained.
//
// A trainer writes the event of a step after its checkpoint. A checkpoint without its event is
// passed over, so that the step is trained again and its event written.
func (s *supervisor) position() (resume *Checkpoint, done bool, err error) {
	list, err := s.List()
	if err != nil {
		return nil, false, err
	}
	known, err := s.known()
	if err != nil {
		return nil, false, err
	}
	for i := range list {
		c := &list[i]
		if c.Torn == "" && c.Step >= s.Segment.From && c.Step <= s.Segment.To && (s.Recipe.Silent || c.Step <= known) {
			resume = c
		}
	}
	if resume == nil && s.Segment.From > 0 {
		return nil, false, fmt.Errorf("no complete checkpoint of step %d is here or in the store, and the segment goes on from it", s.Segment.From)
	}
	return resume, resume != nil && resume.Step == s.Segment.To, nil
}

// known is the last step that every event up to it is there for.
func (s *supervisor) known() (int, error) {
	events, err := ReadEvents(filepath.Join(s.Folder, EventsName))
	if err != nil {
		return 0, err
	}
	have := map[int]bool{}
	for _, e := range events {
		have[e.Step] = true
	}
	step := s.Segment.From
	for have[step+1] {
		step++
	}
	return step, nil
}

// patience refuses another start after too many that made no step.
func (s *supervisor) patience() error {
	idle := 0
	for i := len(s.record.Starts) - 1; i >= 0 && s.record.Key == s.Segment.Key(); i-- {
		if a := s.record.Starts[i]; a.Reached > a.From {
			break
		}
		idle++
	}
	if idle < s.Idle {
		return nil
	}
	return &StuckError{Attempts: idle, Last: errors.New(s.record.last().Ended)}
}
