package quiz

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/xragent"
)

// Table is one item laid out for a policy: its picture, what the gate says of it, and the
// tools. It runs everything in the process, for experiments and for the teacher.
type Table struct {
	Agent   xragent.Agent
	Item    xragent.Item
	Picture *cxr.Image
	Bundle  xragent.Bundle
	// Cut makes crops, for who keeps them; nil makes each anew.
	Cut func(box [4]int) (png []byte, used [4]int, err error)
}

// Played is a rollout with the pictures that its tools made, by digest.
type Played struct {
	Rollout xragent.Rollout
	Ending  xragent.Ending
	Crops   map[artifacts.Digest][]byte
}

// Play asks for turns until the rollout ends. ask is called once or twice, in order; it is
// given what happened so far and everything that is to be sent.
func (t Table) Play(ask func(Played, xragent.Step) (xragent.Turn, error)) (Played, error) {
	p := Played{Crops: map[artifacts.Digest][]byte{}, Rollout: xragent.Rollout{ID: t.Item.ID, Question: t.Item.Question, Pictures: t.Item.Images()}}
	so := func(r xragent.Rollout) Played { return Played{Rollout: r, Crops: p.Crops} }
	var err error
	p.Rollout, p.Ending, err = t.Agent.Play(p.Rollout, xragent.Plays{
		Turn: func(r xragent.Rollout, step xragent.Step) (xragent.Turn, error) {
			turn, err := ask(so(r), step)
			if err != nil {
				err = fmt.Errorf("%s: turn %d: %w", t.Item.ID, step.Turn, err)
			}
			return turn, err
		},
		Call:   func(r xragent.Rollout, c xragent.ToolCall) (xragent.Observation, error) { return t.run(c, so(r)) },
		Bundle: t.Bundle,
	})
	return p, err
}

// run runs one call. Without masks, outlines and named regions are errors of the tool.
func (t Table) run(c xragent.ToolCall, p Played) (xragent.Observation, error) {
	o := xragent.Observation{Call: c.Number, Name: c.Name, Status: xragent.StatusOK}
	switch c.Name {
	case xragent.ToolLookup:
		if t.Item.Notes == nil {
			o.Status, o.Text = xragent.StatusError, "no reference book is configured"
			return o, nil
		}
		o := t.Item.NotesFor(c.Conditions)
		o.Call = c.Number
		return o, nil
	case xragent.ToolCrop:
		box, miss, ok := xragent.CropBox(c, p.Rollout.Results, nil)
		if !ok {
			return miss, nil
		}
		cut := t.Cut
		if cut == nil {
			cut = func(box [4]int) ([]byte, [4]int, error) { return CutOut(t.Picture, box) }
		}
		data, used, err := cut(box)
		if err != nil {
			return o, err
		}
		ref := artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: "image/png"}
		p.Crops[ref.Digest] = data
		o.Box, o.Images = &used, []artifacts.Ref{ref}
		return o, nil
	}
	o.Status, o.Text = xragent.StatusError, "there are no masks of the picture"
	return o, nil
}

// CutOut makes a crop as the tool does, as PNG, and returns the box really used.
func CutOut(m *cxr.Image, box [4]int) (png []byte, used [4]int, err error) {
	part, used, err := xragent.Crop(m, box, xragent.CropOptions{})
	if err != nil {
		return nil, used, err
	}
	png, err = cxr.EncodePNG(part)
	return png, used, err
}
