package responder

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/xragent"
)

// Questions are the items of question sets that a responder answers for as a policy of the
// agent. They are immutable but for a cache, and serve several goroutines.
type Questions struct {
	items []xragent.Item
	// texts numbers the texts of questions; asked holds the items of each.
	texts map[string]int
	asked [][]*known
	looks *looks
	// notes are what items say of conditions; empty where they do not agree.
	notes map[string]string
}

// NewQuestions indexes items. open reads a picture; it is called only when a request shows one
// in a form whose bytes are not the set's, and nil means that such requests are not recognised.
//
// Errors: no items, an item twice, an item that cannot be asked, a picture without digest.
func NewQuestions(items []xragent.Item, open func(artifacts.Ref) ([]byte, error)) (*Questions, error) {
	if len(items) == 0 {
		return nil, errors.New("responder: the question set has no items")
	}
	q := &Questions{items: slices.Clone(items), texts: map[string]int{}, notes: map[string]string{}}
	slices.SortFunc(q.items, func(a, b xragent.Item) int { return strings.Compare(a.ID, b.ID) })
	var all []*known
	for i := range q.items {
		item := &q.items[i]
		if err := item.Validate(); err != nil {
			return nil, fmt.Errorf("responder: %w", err)
		}
		if i > 0 && q.items[i-1].ID == item.ID {
			return nil, fmt.Errorf("responder: item %s stands twice", item.ID)
		}
		ref := item.Images()[0]
		if ref.Digest.IsZero() {
			return nil, fmt.Errorf("responder: item %s: its picture has no digest", item.ID)
		}
		k := &known{index: i, id: item.ID, image: ref.Digest}
		if open != nil {
			k.open = func() ([]byte, error) { return open(ref) }
		}
		text := strings.TrimSpace(xragent.QuestionText(item.Question))
		n, ok := q.texts[text]
		if !ok {
			n = len(q.asked)
			q.texts[text] = n
			q.asked = append(q.asked, nil)
		}
		q.asked[n] = append(q.asked[n], k)
		all = append(all, k)
		for name, note := range item.Notes {
			name = strings.ToLower(name)
			if before, known := q.notes[name]; known && before != note {
				note = ""
			}
			q.notes[name] = note
		}
	}
	q.looks = newLooks(all)
	return q, nil
}

// Items is the number of items.
func (q *Questions) Items() int { return len(q.items) }

// locate finds the item that the first of the user's turns asks about: by its text, and by the
// first picture where several items share it.
//
// Errors: wrapping errUnknown.
func (q *Questions) locate(first turn) (*xragent.Item, error) {
	n, ok := q.texts[strings.TrimSpace(first.text)]
	if !ok {
		return nil, fmt.Errorf("%w: the text of the first turn is no question of the set", errUnknown)
	}
	if len(first.pictures) == 0 {
		return nil, fmt.Errorf("%w: the first turn shows no picture", errUnknown)
	}
	asked := q.asked[n]
	shown, err := q.looks.find(first.pictures[0], n, asked)
	if err != nil {
		return nil, err
	}
	for _, k := range shown {
		if slices.Contains(asked, k) {
			return &q.items[k.index], nil
		}
	}
	return nil, fmt.Errorf("%w: the picture of the first turn belongs to no item with this question", errUnknown)
}
