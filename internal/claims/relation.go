package claims

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"cxrepro/internal/xragent"
)

// State says what became of an order or a sum that a paper states.
type State string

// States.
const (
	Holds        State = "holds"
	Fails        State = "fails"
	CannotBeTold State = "not computable"
)

// Relation is an order, a sum or a property that a paper states, with what came of it.
type Relation struct {
	ID     string `json:"id"`
	Paper  string `json:"paper"`
	Source string `json:"source"`
	Text   string `json:"text"`
	// Reading says how vague words were read; Relations are what is compared.
	Reading   string   `json:"reading,omitempty"`
	Relations []string `json:"relations,omitempty"`
	State     State    `json:"state"`
	Why       string   `json:"why,omitempty"`
}

// check tests a constraint: sums among the printed figures, orders among ours, and properties of
// the reward by computing it.
func (x agentConstraint) check(printed map[string]float64, results AgentResults) Relation {
	r := Relation{ID: "xragent/" + x.ID, Paper: XRagent, Source: x.Where, Text: x.Text, Reading: x.Reading, Relations: x.Relations}
	switch x.Type {
	case "checksum":
		r.State, r.Why = hold(x.Relations, func(id string) (float64, bool) { v, ok := printed[id]; return v, ok })
		return r
	case "property":
		r.State, r.Why = lexicographic(xragent.DefaultReward())
		return r
	}
	if results == nil {
		r.State, r.Why = CannotBeTold, noAgent
		return r
	}
	r.State, r.Why = hold(x.Relations, func(id string) (float64, bool) {
		v, ok := results[id]
		if !ok || v.Why != "" {
			return 0, false
		}
		return v.value("percent"), true
	})
	return r
}

// hold tests relations one after the other. One that fails decides, before one that cannot be
// told.
func hold(relations []string, value func(id string) (float64, bool)) (State, string) {
	state, why := Holds, ""
	for _, text := range relations {
		s, w := holdOne(text, value)
		if s == Fails {
			return s, w
		}
		if s == CannotBeTold {
			state, why = s, w
		}
	}
	return state, why
}

func holdOne(text string, value func(id string) (float64, bool)) (State, string) {
	for _, op := range []string{" < ", " = "} {
		left, right, found := strings.Cut(text, op)
		if !found {
			continue
		}
		a, missing := sumOf(left, value)
		b, also := sumOf(right, value)
		if missing += also; missing != "" {
			return CannotBeTold, "there is no " + missing
		}
		if op == " < " && a < b || op == " = " && math.Abs(a-b) < 1e-9 {
			return Holds, ""
		}
		return Fails, fmt.Sprintf("%s: %s against %s", text, short(a), short(b))
	}
	return CannotBeTold, "no relation: " + text
}

// sumOf adds up terms: numbers, ids, and a number times an id, with + and - between them. missing
// is the first id without a value.
func sumOf(text string, value func(id string) (float64, bool)) (sum float64, missing string) {
	factor := 1.0
	words := strings.Fields(text)
	for i, word := range words {
		switch word {
		case "+", "*":
			continue
		case "-":
			factor = -1
			continue
		}
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			var ok bool
			if v, ok = value(word); !ok {
				return 0, word
			}
		}
		if i+1 < len(words) && words[i+1] == "*" {
			factor *= v
			continue
		}
		sum, factor = sum+float64(factor*v), 1
	}
	return sum, ""
}

func short(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// lexicographic tests that every well-formed correct trajectory has a larger reward than every
// incorrect one, at the worst and the best of each term.
func lexicographic(r xragent.Reward) (State, string) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, calls := range []int{0, xragent.MaxCalls} {
		for _, consistency := range []float64{0, 1} {
			terms := xragent.Terms{WellFormed: true, Calls: calls}
			for k := range terms.CXR {
				terms.CXR[k] = xragent.Term{Relevant: true, Exposed: true, Consistency: consistency}
			}
			most = max(most, r.Value(terms).R)
			terms.Correct = true
			least = min(least, r.Value(terms).R)
			terms.WellFormed, terms.Correct = false, false
			most = max(most, r.Value(terms).R)
		}
	}
	if least > most {
		return Holds, fmt.Sprintf("computed with the default weights: at least %s against at most %s", short(least), short(most))
	}
	return Fails, fmt.Sprintf("with the default weights: %s against %s", short(least), short(most))
}
