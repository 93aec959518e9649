package radcot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/xragent"
)

// Source is the data set that a candidate comes from.
type Source string

// The sources.
const (
	SourceMIMIC       Source = "mimic"
	SourceSlake       Source = "slake"
	SourceOpenI       Source = "openi"
	SourceRadReStruct Source = "rad_restruct"
	SourceItems       Source = "items"
)

// Candidate is one picture with what may become an example.
type Candidate struct {
	// ID is the part and our own number, for example "mcq-00017".
	ID      string        `json:"id,omitempty"`
	Part    Part          `json:"part,omitempty"`
	Source  Source        `json:"source"`
	DataUse datause.Class `json:"data_use"`
	// Group is the study or picture that must not stand in two parts.
	Group   string              `json:"group"`
	Picture xragent.ItemPicture `json:"picture"`
	// Findings are the reference findings; hidden from everyone but the writer.
	Findings string `json:"findings,omitempty"`
	// Prior says that the findings speak of an earlier film.
	Prior bool `json:"prior,omitempty"`
	// Labels has one mark per label of the labeller: + - ? or a dot where it is not mentioned.
	Labels string `json:"labels,omitempty"`
	// Question is set where a published set asks it.
	Question *xragent.Question `json:"question,omitempty"`
}

// Written reports whether the teacher writes something from findings before anything else: a
// rationale or a question.
func (c *Candidate) Written() bool { return c.Question == nil }

// Pictures are the candidate's pictures as a rollout has them.
func (c *Candidate) Pictures() []artifacts.Ref { return []artifacts.Ref{c.Picture.Image} }

// key orders candidates by content: nothing of it depends on the order of files.
func (c *Candidate) key() string {
	k := string(c.Source) + "\x00" + c.Picture.Path
	if c.Question != nil {
		k += "\x00" + c.Question.Text + "\x00" + c.Question.Key
	}
	return k
}

// noFinding reports that the labeller found nothing.
func (c *Candidate) noFinding() bool {
	return len(c.Labels) == len(dataset.Findings()) && c.Labels[dataset.NoFinding-dataset.Atelectasis] == '+'
}

// LabelMarks writes a study's labels with one mark each, in the order of the table.
func LabelMarks(l dataset.StudyLabels) string {
	var b strings.Builder
	for _, f := range dataset.Findings() {
		switch l[f] {
		case dataset.MentionPositive:
			b.WriteByte('+')
		case dataset.MentionNegative:
			b.WriteByte('-')
		case dataset.MentionUncertain:
			b.WriteByte('?')
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}

// Count is a number with what it counts.
type Count struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// tally counts by name.
type tally map[string]int

// list returns the counts by name.
func (t tally) list() []Count {
	out := make([]Count, 0, len(t))
	for name, n := range t {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// SetFormat is Set.Format.
const SetFormat = "cxrepro-radcot-candidates-1"

// Set is the document of the candidates of a data construction: what is asked, in order.
type Set struct {
	Format string `json:"format"`
	Spec   Spec   `json:"spec"`
	// Files are the sources' files by content.
	Files []SourceFile `json:"files"`
	// Left counts what did not enter the pool, by source and code; Pool what did, by source.
	Left       []Count          `json:"left"`
	Pool       []Count          `json:"pool"`
	Exclusions artifacts.Digest `json:"exclusions"`
	Short      []Count          `json:"short,omitempty"` // parts whose pool was too small, with what is missing
	DataUse    datause.Class    `json:"data_use"`
	Candidates []Candidate      `json:"candidates"`
}

// SourceFile is a file that candidates were read from.
type SourceFile struct {
	Name   string           `json:"name"`
	Digest artifacts.Digest `json:"digest"`
}

// Encode returns the document's bytes; equal sets give equal bytes.
func (s *Set) Encode() ([]byte, error) { return json.Marshal(s) }

// ReadSet reads a candidates document.
func ReadSet(data []byte) (*Set, error) {
	var s Set
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("candidate set: %w", err)
	}
	if s.Format != SetFormat {
		return nil, fmt.Errorf("candidate set: format is %q, want %q; hint: build it again with this version", s.Format, SetFormat)
	}
	if err := s.Spec.Validate(); err != nil {
		return nil, fmt.Errorf("candidate set: %w", err)
	}
	return &s, nil
}
