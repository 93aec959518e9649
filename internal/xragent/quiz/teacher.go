package quiz

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// Teacher writes both turns of quiz items by script. It knows the picture, and plays by the
// protocol: what it says in turn 2 rests on what it was shown. It is imperfect on purpose, so
// that a policy taught by it has something left to learn from rewards.
type Teacher struct {
	Seed uint64
	// Uses is how often it calls the tool that a question needs, Wastes how often one that
	// no question needs; Slips is how often it takes another answer than it sees; Silent how
	// often it says nothing of a measurement that it is shown.
	Uses, Wastes, Slips, Silent float64
}

// DefaultTeacher is the teacher of the demonstration: right in about six of ten answers.
func DefaultTeacher() Teacher {
	return Teacher{Seed: 1, Uses: 0.4, Wastes: 0.25, Slips: 0.1, Silent: 0.3}
}

// Turn writes the turn that is asked for of an item of study s. draw tells several of its
// attempts apart.
func (t Teacher) Turn(s Study, family Family, draw int, r xragent.Rollout, step xragent.Step) (xragent.Turn, error) {
	l := lesson{t: t, s: s, family: family, r: drawer{t.Seed, fmt.Sprintf("%s %s %d", s.Path, family, draw)}.stream(fmt.Sprint("teacher", step.Turn))}
	text := ""
	switch step.Turn {
	case 1:
		text = l.plan(r.Question)
	case 2:
		text = l.reply(r)
	default:
		return xragent.Turn{}, fmt.Errorf("%s: no turn is asked for", r.ID)
	}
	return xragent.Turn{Text: text, FinishReason: "stop"}, nil
}

// lesson is one turn of the teacher.
type lesson struct {
	t      Teacher
	s      Study
	family Family
	r      *rand.Rand
}

func (l lesson) chance(p float64) bool { return l.r.Float64() < p }

// first is the first reading of each family.
var first = map[Family]string{Heart: "look at heart", Crop: "fine pattern unclear", Lookup: "sign unclear", Plain: "square in corner"}

func (l lesson) plan(q xragent.Question) string {
	call := "<no_tool/>"
	tool := l.family.Tool()
	switch {
	case tool != "" && l.chance(l.t.Uses):
	case tool == "" && l.chance(l.t.Wastes):
		tool = []string{xragent.ToolCrop, xragent.ToolLookup}[l.r.IntN(2)]
	default:
		tool = ""
	}
	switch tool {
	case xragent.ToolCrop:
		quarter := l.r.IntN(4)
		if l.family == Crop && !l.chance(l.t.Slips) {
			quarter = l.s.Hidden.Quarter
		}
		b := quarterBox(quarter)
		call = fmt.Sprintf(`<tool_call>{"name":"roi_crop","arguments":{"bbox":[ %d, %d, %d, %d]}}</tool_call>`, b[0], b[1], b[2], b[3])
	case xragent.ToolLookup:
		name := conditions[l.r.IntN(len(conditions))]
		for _, c := range conditions {
			if l.family == Lookup && strings.Contains(q.Text, c) {
				name = c
			}
		}
		call = fmt.Sprintf(`<tool_call>{"name":"evidence_lookup","arguments":{"conditions":[ "%s"]}}</tool_call>`, name)
	}
	return "<think> " + first[l.family] + "</think>" + call
}

// reply says what is seen and takes the option that has it; what is not seen is guessed.
func (l lesson) reply(r xragent.Rollout) string {
	reason, seen := l.evidence(r)
	k := slices.Index(r.Question.Options, seen)
	if k < 0 || l.chance(l.t.Slips) {
		k = l.r.IntN(len(r.Question.Options))
	}
	return fmt.Sprintf("<think> %s</think><answer> %c) %s</answer>", reason, 'A'+k, r.Question.Options[k])
}

// evidence is the teacher's reasoning and the option it leads to, none where nothing shows.
func (l lesson) evidence(r xragent.Rollout) (reason, option string) {
	shown := func(tool string) *xragent.Observation {
		for i, o := range r.Results {
			if o.Name == tool && o.Status == xragent.StatusOK {
				return &r.Results[i]
			}
		}
		return nil
	}
	switch l.family {
	case Heart:
		if !r.Measurement.Exposed(xragent.CTR) {
			return "heart not measurable", options[Heart][2]
		}
		option = r.Measurement.Values[0].Category
		if l.chance(l.t.Silent) {
			return "look at heart", option
		}
		return "the cardiothoracic ratio is " + option, option
	case Crop:
		if o := shown(xragent.ToolCrop); o != nil && *o.Box == quarterBox(l.s.Hidden.Quarter) {
			option = options[Crop][l.s.Hidden.Look]
			return "crop shows " + option, option
		}
		return "fine pattern unclear", ""
	case Lookup:
		if o := shown(xragent.ToolLookup); o != nil {
			for _, sign := range options[Lookup] {
				if strings.Contains(o.Text, " "+sign+".") {
					return "book says " + sign, sign
				}
			}
		}
		return "sign unclear", ""
	}
	option = options[Plain][l.s.Shown.Look]
	return option + " square", option
}
