package xragent

import (
	_ "embed"
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
)

// LookupTokens caps the reply to an evidence lookup.
const LookupTokens = 300

// routedPrompt stands after the tools where the policy routes measurements.
const routedPrompt = `measure takes the measurements of a picture. Arguments: optional "image".`

// system is the agent's system text.
func (a Agent) system() string {
	text := strings.TrimSpace(systemPrompt)
	if a.Routed {
		text = strings.Replace(text, "\n\nEach call costs a little.", "\n"+routedPrompt+"\n\nEach call costs a little.", 1)
	}
	return text
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
		list = append(list, strings.ToLower(strings.Join(strings.Fields(c), " ")))
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return dialogue.Transcript{}.System(strings.TrimSpace(lookupPrompt)).Ask("Conditions: " + strings.Join(list, "; "))
}

// promptDigests name the texts by content.
func (a Agent) promptDigests() map[string]string {
	return map[string]string{"system": artifacts.Sum([]byte(a.system())).String(), "lookup": artifacts.Sum([]byte(lookupPrompt)).String()}
}
