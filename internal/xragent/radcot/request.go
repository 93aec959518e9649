package radcot

import (
	_ "embed"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
)

// The texts that the teacher is asked with, and the one that a report example begins with.
// [ours]: the paper prints none of them.
var (
	//go:embed prompts/report.txt
	reportPrompt string
	//go:embed prompts/question.txt
	questionPrompt string
	//go:embed prompts/student.txt
	studentPrompt string
)

// studentAsk is what the user says in a report example.
const studentAsk = "Describe the findings of this chest radiograph."

// Prompts names every text by its digest, the agent's own included.
func (s Spec) Prompts() map[string]string {
	out := map[string]string{}
	for name, text := range map[string]string{"report": reportPrompt, "question": questionPrompt, "student": studentPrompt} {
		out[name] = artifacts.Sum([]byte(text)).String()
	}
	if agent, ok := s.Agent.Identity()["prompts"].(map[string]string); ok {
		for name, digest := range agent {
			out["agent/"+name] = digest
		}
	}
	return out
}

// writing is what the teacher is asked to write something from a candidate's findings.
func (s Spec) writing(c *Candidate) dialogue.Transcript {
	system := reportPrompt
	if c.Part != Report {
		options := s.Options
		if c.Part == Binary {
			options = 2
		}
		wrong := strings.TrimSuffix(strings.Repeat(`"...", `, options-1), ", ")
		system = strings.NewReplacer("{OPTIONS}", strconv.Itoa(options), "{WRONG}", wrong).Replace(questionPrompt)
	}
	return dialogue.Transcript{}.System(strings.TrimSpace(system)).Ask("The expert's text:\n"+strings.TrimSpace(c.Findings), c.Pictures()...)
}

// RequestDigest names what is asked, for the ledger.
func RequestDigest(t dialogue.Transcript) (artifacts.Digest, error) {
	data, err := canonical(t)
	return artifacts.Sum(data), err
}
