package trainer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Progress is how far a trainer is, by what it wrote.
type Progress struct {
	Step  int `json:"step"`
	Total int `json:"total"`
	// Saved is the step of the newest complete checkpoint that was handed on.
	Saved int `json:"saved_step"`
	// Moved is when it last wrote anything.
	Moved time.Time `json:"moved"`
	PID   int       `json:"pid"`
	// Out and Err are how much of its logs there is.
	Out     int64   `json:"out_offset"`
	Err     int64   `json:"err_offset"`
	Loss    float64 `json:"loss,omitempty"`
	Rewards float64 `json:"reward_sum,omitempty"`
}

// watch follows the trainer to its end.
func (s *supervisor) watch(ctx context.Context) error {
	tick := time.NewTicker(s.Poll)
	defer tick.Stop()
	seen, moved := "", s.Now()
	for {
		if now := s.traces(); now != seen {
			seen, moved = now, s.Now()
			if err := s.sync(ctx); err != nil && ctx.Err() == nil {
				return err // the trainer runs on, and another attempt attaches
			}
			if s.Beat != nil {
				s.Beat(s.progress(moved))
			}
		}
		code, over, err := s.child.ended()
		if err != nil {
			return err
		}
		if over {
			return s.over(ctx, code)
		}
		if s.Now().Sub(moved) > s.Stall {
			return s.end(ctx, &Failure{Class: Stalled, Code: -1, Said: fmt.Sprintf("it wrote nothing for %v", s.Stall)})
		}
		select {
		case <-ctx.Done():
			return s.end(context.WithoutCancel(ctx), ctx.Err())
		case <-s.Detach:
			return ErrDetached
		case <-s.child.own: // nil for one that we attached to, and for one that left some behind
			s.child.own = nil
		case <-tick.C:
		}
	}
}

// traces is a text that changes whenever the trainer wrote something.
func (s *supervisor) traces() string {
	text := ""
	for _, pattern := range append(slices.Clone(s.Recipe.Progress), EventsName, s.Recipe.Checkpoints+"/*") {
		names, _ := filepath.Glob(filepath.Join(s.Folder, filepath.FromSlash(pattern))) // recipes are checked: the pattern is fine
		for _, name := range names {
			if info, err := os.Stat(name); err == nil {
				text += fmt.Sprintf("%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return text
}

// progress is read from the events and the newest checkpoint.
func (s *supervisor) progress(moved time.Time) Progress {
	p := Progress{Step: s.Segment.From, Total: s.Segment.To, Moved: moved, PID: s.child.group,
		Out: sizeOf(filepath.Join(s.Folder, outName)), Err: sizeOf(filepath.Join(s.Folder, errName))}
	events, _ := ReadEvents(filepath.Join(s.Folder, EventsName)) // a line in the making is not news
	for _, e := range events {
		if e.Step > p.Step && e.Step <= s.Segment.To {
			p.Step, p.Loss, p.Rewards = e.Step, e.Loss, e.RewardSum
		}
	}
	if a := s.record.last(); a != nil {
		p.Saved = a.Reached
		p.Step = max(p.Step, a.Reached)
	}
	return p
}

// sync hands on the complete checkpoints that were not yet, and notes how far they go.
func (s *supervisor) sync(ctx context.Context) error {
	list, err := s.List()
	if err != nil {
		return err
	}
	for _, c := range list {
		if c.Torn != "" || s.synced[c.Path] || c.Step > s.Segment.To {
			continue
		}
		if s.Sync != nil {
			if err := s.Sync(ctx, s.CheckpointsFolder(), c); err != nil {
				return fmt.Errorf("hand on checkpoint %s: %w", c.Path, err)
			}
		}
		s.synced[c.Path] = true
		if a := s.record.last(); a != nil && s.record.Key == s.Segment.Key() && a.Ended == "" && c.Step > a.Reached {
			a.Reached = c.Step
			if err := s.record.write(s.Folder); err != nil {
				return err
			}
		}
	}
	return nil
}

// end stops the trainer, hands on what is complete, and returns why.
func (s *supervisor) end(ctx context.Context, why error) error {
	err := s.child.stop(s.Grace)
	err = errors.Join(err, s.sync(context.WithoutCancel(ctx)), s.closeStart(why.Error()))
	if err != nil {
		return errors.Join(why, err)
	}
	return why
}

// over closes an attempt that ended by itself.
func (s *supervisor) over(ctx context.Context, code int) error {
	if err := s.child.sweep(); err != nil {
		return err
	}
	if err := s.sync(ctx); err != nil {
		return err
	}
	if code == 0 {
		return s.closeStart("exit code 0")
	}
	_, done, err := s.position()
	if err != nil {
		return err
	}
	f := classify(code, redact(s.said(), s.Secrets))
	if err := s.closeStart(f.Error()); err != nil || done {
		return err // what it reached counts, not how it ended
	}
	return f
}

// said is the end of what the current attempt wrote, standard error last.
func (s *supervisor) said() string {
	a := s.record.last()
	return tail(filepath.Join(s.Folder, outName), a.Out) + "\n" + tail(filepath.Join(s.Folder, errName), a.Err)
}

// tail is the last 64 KiB of a file after an offset.
func tail(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size := sizeOf(path); size-from > 64<<10 {
		from = size - 64<<10
	}
	data, err := io.ReadAll(io.NewSectionReader(f, from, 64<<10))
	if err != nil {
		return ""
	}
	return string(data)
}

// closeStart notes how the last start ended, unless it is noted.
func (s *supervisor) closeStart(how string) error {
	a := s.record.last()
	if a == nil || a.Ended != "" || s.record.Key != s.Segment.Key() {
		return nil
	}
	if list, err := s.List(); err == nil {
		for _, c := range list {
			if c.Torn == "" && c.Step <= s.Segment.To {
				a.Reached = max(a.Reached, c.Step)
			}
		}
	}
	a.Ended = how
	return s.record.write(s.Folder)
}
