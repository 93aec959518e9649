package rewardserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// Schema is the version of the requests.
const Schema = 1

// MostSamples is how many samples a request may hold.
const MostSamples = 256

// RewardRequest is the body of POST /v1/rewards.
type RewardRequest struct {
	Schema int    `json:"schema"`
	RunID  string `json:"run_id"`
	// RewardConfig is the digest of the setting that the trainer means.
	RewardConfig string   `json:"reward_config"`
	Samples      []Sample `json:"samples"`
}

// Sample is one trajectory to be scored.
type Sample struct {
	SampleID string `json:"sample_id"`
	ItemID   string `json:"item_id"`
	GroupID  string `json:"group_id"`
	Step     *int   `json:"step"`
	// Draw is which of the group's samples it is, from 0; optional.
	Draw       *int       `json:"draw,omitempty"`
	Trajectory Trajectory `json:"trajectory"`
	// GroundTruth is the key as the trainer's data file has it. It must be the item's.
	GroundTruth string `json:"ground_truth"`
}

// Trajectory is what a trainer has of a trajectory. Calls is not read: turn 1 says what was
// called. A measurement that is given must be what was shown.
type Trajectory struct {
	Turn1         *string               `json:"turn1"`
	Calls         json.RawMessage       `json:"calls,omitempty"`
	Observations  []xragent.Observation `json:"observations,omitempty"`
	Measurement   *xragent.Bundle       `json:"measurement,omitempty"`
	Turn2         *string               `json:"turn2"`
	FinishReasons []string              `json:"finish_reasons"`
}

// RewardReply is the reply to a RewardRequest: results in the order of the samples, groups in
// the order in which the samples name them.
type RewardReply struct {
	Results []Result `json:"results"`
	Groups  []Group  `json:"groups"`
}

// Result is the reward of one sample.
type Result struct {
	SampleID string `json:"sample_id"`
	contract.Rewarded
}

// Group says of the samples of one group whether they teach anything.
type Group struct {
	GroupID string `json:"group_id"`
	Step    int    `json:"step"`
	Size    int    `json:"size"`
	// Complete: the group has all of its G samples.
	Complete bool `json:"complete"`
	// Degenerate: all rewards are equal, so every advantage is 0.
	Degenerate bool `json:"degenerate"`
	// Again counts samples beyond the first of their draw, or of their id where none is known: a
	// trainer that goes on from a checkpoint makes some anew. They are not part of Size.
	Again int `json:"again,omitempty"`
}

// ObserveRequest is the body of POST /v1/observations.
type ObserveRequest struct {
	Schema       int     `json:"schema"`
	RunID        string  `json:"run_id"`
	ItemID       string  `json:"item_id"`
	Turn1        *string `json:"turn1"`
	FinishReason string  `json:"finish_reason"`
}

// ObserveReply is what follows turn 1. With an ending nothing does: the trajectory is over.
type ObserveReply struct {
	Ending  xragent.Ending   `json:"ending"`
	Reasons []xragent.Reason `json:"reasons"`
	Calls   int              `json:"n_calls"`
	// Parts are the content of the message that the trainer appends, without loss.
	Parts []Part `json:"parts"`
	// Observations and Measurement go into the trajectory of the reward request as they are.
	Observations []xragent.Observation `json:"observations"`
	Measurement  *xragent.Bundle       `json:"measurement"`
}

// Part is a text or a picture, in the form of chat completions.
type Part struct {
	Type     string    `json:"type"` // text or image_url
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
}

// ImageURL holds a picture as a data URL.
type ImageURL struct {
	URL string `json:"url"`
}

// decode reads a body strictly: unknown fields, other types and anything behind the object are
// faults that name the field.
func decode(body io.Reader, v any) error {
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return unread(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return &Fault{Status: 400, Code: "schema", Message: "something follows the request's object"}
	}
	return nil
}

// marshal writes a reply: as encoding/json does, without escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// field names a part of a sample.
func field(i int, name string) string {
	if name == "" {
		return fmt.Sprintf("samples[%d]", i)
	}
	return fmt.Sprintf("samples[%d].%s", i, name)
}

// check refuses a request that lacks something, before anything is looked up.
func (r *RewardRequest) check() error {
	switch {
	case r.Schema != Schema:
		return schemaFault("schema", "is %d, this service reads %d", r.Schema, Schema)
	case r.RunID == "":
		return schemaFault("run_id", "is missing")
	case len(r.Samples) == 0:
		return schemaFault("samples", "is missing or empty")
	case len(r.Samples) > MostSamples:
		return &Fault{Status: 422, Code: "too_many_samples", Field: "samples", Message: fmt.Sprintf("holds %d samples, the most are %d; send several requests", len(r.Samples), MostSamples)}
	}
	for i := range r.Samples {
		if err := r.Samples[i].check(i); err != nil {
			return err
		}
	}
	return nil
}

func (m *Sample) check(i int) error {
	for _, f := range []struct{ name, value string }{{"sample_id", m.SampleID}, {"item_id", m.ItemID}, {"group_id", m.GroupID}, {"ground_truth", m.GroundTruth}} {
		if strings.TrimSpace(f.value) == "" {
			return schemaFault(field(i, f.name), "is missing")
		}
	}
	turns := 1
	if m.Trajectory.Turn2 != nil {
		turns = 2
	}
	switch {
	case m.Step == nil:
		return schemaFault(field(i, "step"), "is missing")
	case *m.Step < 0:
		return schemaFault(field(i, "step"), "is %d; steps count from 0", *m.Step)
	case m.Trajectory.Turn1 == nil:
		return schemaFault(field(i, "trajectory.turn1"), "is missing")
	case len(m.Trajectory.FinishReasons) != turns:
		return schemaFault(field(i, "trajectory.finish_reasons"), "has %d entries for %d turns", len(m.Trajectory.FinishReasons), turns)
	}
	return nil
}
