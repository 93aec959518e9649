package xragent

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// QuestionSet is what an importer reads from a published benchmark, or draws: items whose
// pictures are named by path, and where their bytes come from.
type QuestionSet struct {
	// Version names the importer with its rules: part of the set's identity.
	Version string
	Items   []Item
	// Notes say what a reader should know of the set, such as counts that differ.
	Notes []string
	// Picture returns the bytes of a picture by its path.
	Picture func(path string) ([]byte, error)
}

// Order checks every item and puts them in the order of their ids, in which they are numbered:
// the order of files moves nothing.
func (s *QuestionSet) Order() error {
	slices.SortFunc(s.Items, func(a, b Item) int { return cmp.Compare(a.ID, b.ID) })
	for i := range s.Items {
		if err := s.Items[i].Validate(); err != nil {
			return err
		}
		if i > 0 && s.Items[i].ID == s.Items[i-1].ID {
			return fmt.Errorf("item %s: two items have this id", s.Items[i].ID)
		}
	}
	if len(s.Items) == 0 {
		return fmt.Errorf("the question set has no item")
	}
	return nil
}

// NotesFor answers an evidence lookup from an item's own texts: a line for each condition that
// has one, in the order asked. A forced lookup, which names none, is given all of them.
func (i *Item) NotesFor(conditions []string) Observation {
	var out bytes.Buffer
	write := func(condition string) {
		if text, ok := i.note(condition); ok {
			fmt.Fprintf(&out, "%s: %s\n", condition, text)
		}
	}
	if conditions == nil {
		names := make([]string, 0, len(i.Notes))
		for name := range i.Notes {
			names = append(names, name)
		}
		slices.Sort(names)
		conditions = names
	}
	for _, c := range conditions {
		write(c)
	}
	if out.Len() == 0 {
		return Observation{Name: ToolLookup, Status: StatusNotFound, Text: "the book has no entry"}
	}
	return Observation{Name: ToolLookup, Status: StatusOK, Text: string(bytes.TrimSpace(out.Bytes()))}
}

// note finds a text whatever the case and spacing of the condition.
func (i *Item) note(condition string) (string, bool) {
	for name, text := range i.Notes {
		if cleanCondition(name) == cleanCondition(condition) {
			return text, true
		}
	}
	return "", false
}
