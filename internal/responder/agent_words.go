package responder

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

const firstReading = "<think>The film can be read. I say first what I see and then what I need.</think>"

func call(name string, arguments map[string]any) string {
	body, err := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		panic(err) // texts and numbers only
	}
	return "<tool_call>" + string(body) + "</tool_call>"
}

// crop asks for the quarter of the picture that the question names, else for its middle.
func crop(item *xragent.Item) string {
	box := []int{250, 250, 750, 750}
	for i, words := range [][2]string{{"upper", "lower"}, {"left", "right"}} {
		at := 1 - i // y first
		for k, w := range words {
			if strings.Contains(item.Question.Text, w) {
				box[at], box[at+2] = 500*k, 500*k+500
			}
		}
	}
	return call(xragent.ToolCrop, map[string]any{"bbox": box})
}

func parse(item *xragent.Item) string {
	target := "heart"
	if strings.Contains(strings.ToLower(item.Question.Text), "lung") {
		target = "right lung"
	}
	return call(xragent.ToolParse, map[string]any{"target": target})
}

// lookup asks for what the item has notes on, else for its options, at most four.
func lookup(item *xragent.Item) string {
	var list []string
	for name := range item.Notes {
		list = append(list, name)
	}
	if len(list) == 0 {
		list = slices.Clone(item.Question.Options)
	}
	list = slices.DeleteFunc(list, func(s string) bool { return strings.TrimSpace(s) == "" })
	slices.Sort(list)
	if len(list) == 0 {
		list = []string{"the finding"}
	}
	return call(xragent.ToolLookup, map[string]any{"conditions": list[:min(4, len(list))]})
}

// malformedPlans each break another contract of the first turn.
var malformedPlans = []string{
	"I look at the heart.<no_tool/>",
	"<think>I look at the heart.</think>",
	"<think>I look at the heart.</think><no_tool/>" + `<tool_call>{"name":"region_parse","arguments":{"target":"heart"}}</tool_call>`,
	"<think>I look at the heart.</think><tool_call>{\"name\":\"roi_crop\"</tool_call>",
	"<think>I look at the heart.</think><tool_call>{\"name\":\"zoom\",\"arguments\":{}}</tool_call>",
	"<think>I look at the heart.</think><no_tool/><answer>A</answer>",
}

func malformedPlan(n int) string { return malformedPlans[n] }

// reasoning is the text of a think block.
func reasoning(said []string) string {
	return strings.Join(append([]string{"I weigh the picture against the question."}, said...), " ")
}

// stated says a category in words that the reward reads as that category.
var stated = map[xragent.Category]string{
	xragent.Normal: "the heart is normal in size", xragent.Enlarged: "the heart is enlarged",
	xragent.Symmetric: "the lungs are symmetric", xragent.LeftSmaller: "the left lung is smaller", xragent.RightSmaller: "the right lung is smaller",
	xragent.Midline: "the trachea is central", xragent.ShiftedLeft: "the trachea is deviated to the left", xragent.ShiftedRight: "the trachea is deviated to the right",
}

// measured says what was shown of the measurements that the question asks for.
func measured(q xragent.Question, b *xragent.Bundle) (said []string) {
	if b == nil {
		return nil
	}
	if b.Reason != "" {
		return []string{"No measurement is available, so I go by the picture alone."}
	}
	for i, m := range xragent.Measurements() {
		if !b.Exposed(m) || !xragent.Relevant(m, q) {
			continue
		}
		c, err := b.Values[i].Read(m)
		if err != nil {
			continue
		}
		s := "By the measurement " + stated[c] + "."
		if m == xragent.CTR {
			s = fmt.Sprintf("The cardiothoracic ratio is %.2f: %s.", b.Values[i].Value, stated[c])
		}
		said = append(said, s)
	}
	return said
}

// invented quotes a ratio that is not the one shown.
func invented(b *xragent.Bundle) string {
	v := 0.83
	if b != nil && b.Exposed(xragent.CTR) && b.Values[0].Value > 0.7 {
		v = 0.41
	}
	return fmt.Sprintf("I measure a cardiothoracic ratio of %.2f.", v)
}

// unmeasurable are words of an option that says so.
var unmeasurable = []string{"not measurable", "cannot be measured", "not available", "unavailable"}

// byMeasurement takes the first option that agrees with a measurement that the question asks
// for, or, of a bundle that was withheld, the option that says so.
func byMeasurement(q xragent.Question, b xragent.Bundle) (string, bool) {
	if b.Reason != "" {
		for i, o := range q.Options {
			if slices.ContainsFunc(unmeasurable, func(w string) bool { return strings.Contains(strings.ToLower(o), w) }) {
				return string(rune('A' + i)), true
			}
		}
		return "", false
	}
	for k, m := range xragent.Measurements() {
		if !b.Exposed(m) || !xragent.Relevant(m, q) {
			continue
		}
		v := b.Values[k]
		c, err := v.Read(m)
		if err != nil {
			continue
		}
		if q.Type == xragent.YesNo {
			return yesNo(m, c), true
		}
		for i, o := range q.Options {
			if xragent.Compare(m, c, v.Value, subjectsOf[k]+o) == xragent.Agrees {
				return string(rune('A' + i)), true
			}
		}
	}
	return "", false
}

// subjectsOf begin a sentence that an option completes.
var subjectsOf = [3]string{"The heart is ", "The lungs are ", "The trachea is "}

// yesNo answers whether something is out of the ordinary.
func yesNo(m xragent.Measurement, c xragent.Category) string {
	if c == [3]xragent.Category{xragent.Normal, xragent.Symmetric, xragent.Midline}[int(m)-1] {
		return "No"
	}
	return "Yes"
}
