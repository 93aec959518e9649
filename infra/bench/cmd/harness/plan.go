package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"cxrepro/internal/cxreasonbench"
)

// plannedCase is what the peer needs of a case.
type plannedCase struct {
	System    string            `json:"system"`
	Questions []plannedQuestion `json:"questions"`
}

// plannedQuestion is a question with what its judge is told: the instruction, the message up to
// the reply, and the instruction that extracts a value, if there is one.
type plannedQuestion struct {
	Text     string   `json:"text"`
	Pictures []string `json:"pictures"`
	Judge    string   `json:"judge"`
	Compare  string   `json:"compare"`
	Extract  string   `json:"extract"`
}

// writePlan writes Path 1 of every case of a benchmark for the peer.
func writePlan(benchmark, dir string) (file string, cases int, err error) {
	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
	if err != nil {
		return "", 0, err
	}
	in, err := os.Open(filepath.Join(benchmark, cxreasonbench.ItemsFile))
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	var plan []*plannedCase
	at := map[string]*plannedCase{}
	lines := json.NewDecoder(bufio.NewReader(in))
	for {
		var it cxreasonbench.Item
		if err := lines.Decode(&it); err == io.EOF {
			break
		} else if err != nil {
			return "", 0, err
		}
		if it.Path != cxreasonbench.Path1 {
			continue
		}
		name := it.Task.String() + "/" + it.Case
		if at[name] == nil {
			at[name] = &plannedCase{System: cxreasonbench.Prompts().System()}
			plan = append(plan, at[name])
		}
		for _, q := range it.Questions {
			at[name].Questions = append(at[name].Questions, planned(rules, benchmark, it.Task, q))
		}
	}
	data, err := json.Marshal(plan)
	if err != nil {
		return "", 0, err
	}
	file = filepath.Join(dir, "plan.json")
	return file, len(plan), os.WriteFile(file, data, 0o600)
}

func planned(rules cxreasonbench.Rules, benchmark string, task cxreasonbench.Task, q cxreasonbench.Question) plannedQuestion {
	j := cxreasonbench.JudgementOf(rules, task, q.Key)
	question := ""
	if j.Question {
		question = q.Text
	}
	p := plannedQuestion{Text: q.Text, Pictures: []string{}, Judge: cxreasonbench.Prompts().Judge(j.Prompt),
		Compare: cxreasonbench.JudgeMessage(rules, question, q.Answer, ""), Extract: cxreasonbench.Prompts().Judge(j.Extract)}
	for _, picture := range q.Pictures {
		folder := "files"
		if picture.Kind == cxreasonbench.StructurePicture {
			folder = cxreasonbench.StructureFolder
		}
		p.Pictures = append(p.Pictures, filepath.Join(benchmark, folder, filepath.FromSlash(picture.Path)))
	}
	return p
}
