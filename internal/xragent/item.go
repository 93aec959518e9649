package xragent

import (
	"fmt"

	"cxrepro/artifacts"
)

// Item is one question that a policy is asked, wherever it comes from: a benchmark, a
// training set, a drawn quiz. It is data; what a policy reads of it is QuestionText and the
// pictures, never its labels.
type Item struct {
	// ID is unique in its set, for example "chestagentbench/case-17/q-3".
	ID       string   `json:"id"`
	Question Question `json:"question"`
	// Pictures in the order in which the question shows them; at least one.
	Pictures []ItemPicture `json:"pictures"`
	// Source names the part of the set that the item counts in (openi, rad-restruct, slake, a
	// family of a quiz); Labels are the categories it counts in, which may overlap.
	Source string   `json:"source,omitempty"`
	Labels []string `json:"labels,omitempty"`
	// Study groups items that must not be parted between training and evaluation.
	Study string `json:"study,omitempty"`
	// Notes are texts for the evidence lookup of a set that brings its own, by condition.
	Notes map[string]string `json:"notes,omitempty"`
}

// ItemPicture is one picture of an item: where its set keeps it, and its bytes once they are
// in the store.
type ItemPicture struct {
	Path  string        `json:"path,omitempty"`
	Image artifacts.Ref `json:"image,omitzero"`
}

// Images returns the pictures' references in order.
func (i *Item) Images() []artifacts.Ref {
	out := make([]artifacts.Ref, len(i.Pictures))
	for k, p := range i.Pictures {
		out[k] = p.Image
	}
	return out
}

// Validate refuses an item that nobody could be asked or scored on.
func (i *Item) Validate() error {
	if i.ID == "" {
		return fmt.Errorf("item: id is missing")
	}
	if len(i.Pictures) == 0 {
		return fmt.Errorf("item %s: pictures is empty", i.ID)
	}
	if err := i.Question.Validate(); err != nil {
		return fmt.Errorf("item %s: %w", i.ID, err)
	}
	return nil
}

// Validate refuses a question of no known type, or with a key that is no answer to it.
func (q Question) Validate() error {
	switch q.Type {
	case Lettered, YesNo, Closed:
	default:
		return fmt.Errorf("question.type %q is not one of mcq, yesno, closed", q.Type)
	}
	if _, ok := ReadAnswer(q, q.Key); !ok {
		return fmt.Errorf("question.key %q is no answer to a %s question; hint: a letter of the options, Yes or No, or a phrase", q.Key, q.Type)
	}
	return nil
}
