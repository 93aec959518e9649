package xragent

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// The texts of the protocol. [ours]: the paper prints none of them. Their digests are part
// of an agent's identity.
var (
	//go:embed prompts/system.txt
	systemPrompt string
	//go:embed prompts/lookup.txt
	lookupPrompt string
	//go:embed prompts/conditions.txt
	conditionsPrompt string
	//go:embed prompts
	prompts embed.FS
)

// DirectPrompts lists the names of the direct prompts of the base model.
//
// Source: five prompts of that description [paper]; their words [ours].
func DirectPrompts() []string { return []string{"v0", "v1", "v2", "v3", "v4"} }

// DirectPrompt returns the system text of a direct prompt.
func DirectPrompt(name string) (string, error) {
	if !slices.Contains(DirectPrompts(), name) {
		return "", fmt.Errorf("direct prompt %q is not one of %s", name, strings.Join(DirectPrompts(), ", "))
	}
	text, err := prompts.ReadFile("prompts/base_" + name + ".txt")
	if err != nil {
		return "", fmt.Errorf("direct prompt %s: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// LookupTokens caps the reply to an evidence lookup.
const LookupTokens = 300

// routedPrompt stands after the tools where the policy routes measurements.
const routedPrompt = `measure takes the measurements of a picture. Arguments: optional "image".`

// system is the agent's system text.
func (a Agent) system() (string, error) {
	if a.Direct != "" {
		return DirectPrompt(a.Direct)
	}
	text := strings.TrimSpace(systemPrompt)
	if a.Routed {
		text = strings.Replace(text, "\n\nEach call costs a little.", "\n"+routedPrompt+"\n\nEach call costs a little.", 1)
	}
	return text, nil
}

// QuestionText is the question as the policy reads it: text, lettered options, and how to
// answer.
func QuestionText(q Question) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(q.Text))
	switch q.Type {
	case Lettered:
		b.WriteString("\n")
		for i, o := range q.Options {
			fmt.Fprintf(&b, "\n%c) %s", 'A'+i, strings.TrimSpace(o))
		}
		b.WriteString("\n\nAnswer with one letter.")
	case YesNo:
		b.WriteString("\n\nAnswer with Yes or No.")
	default:
		b.WriteString("\n\nAnswer with the shortest phrase that is right.")
	}
	return b.String()
}

// LookupTranscript is what an evidence lookup asks its model: the conditions, nothing of
// the picture and nothing of the question. Conditions are cleaned and sorted, so one set
// of conditions is one call whoever asks for it.
func LookupTranscript(conditions []string) dialogue.Transcript {
	list := make([]string, 0, len(conditions))
	for _, c := range conditions {
		list = append(list, cleanCondition(c))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return dialogue.Transcript{}.System(strings.TrimSpace(lookupPrompt)).Ask("Conditions: " + strings.Join(list, "; "))
}

// cleanCondition is a condition in lower case with single spaces.
func cleanCondition(c string) string { return strings.ToLower(strings.Join(strings.Fields(c), " ")) }

// ConditionsTranscript asks for the conditions that options speak of, one a line: what a forced
// lookup looks up. The question and the picture stay out of it.
func ConditionsTranscript(options []string) dialogue.Transcript {
	return dialogue.Transcript{}.System(strings.TrimSpace(conditionsPrompt)).Ask("Options:\n" + strings.Join(options, "\n"))
}

// MaxConditions is how many conditions one lookup takes.
const MaxConditions = 4

// ReadConditions reads the reply: its first lines with text, without marks of a list.
func ReadConditions(reply string) []string {
	var out []string
	for line := range strings.SplitSeq(reply, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(line, " \t-*•0123456789.)"))
		if line != "" && !strings.EqualFold(line, "none") && !slices.Contains(out, line) && len(out) < MaxConditions {
			out = append(out, line)
		}
	}
	return out
}

// promptDigests name the texts by content.
func (a Agent) promptDigests() map[string]string {
	sum := func(text string) string { return artifacts.Sum([]byte(text)).String() }
	system, err := a.system()
	if err != nil {
		system = "" // refused by Validate
	}
	out := map[string]string{"system": sum(system), "lookup": sum(lookupPrompt)}
	if a.Forced {
		out["conditions"] = sum(conditionsPrompt)
	}
	return out
}
