package cxreasonbench

import (
	"fmt"

	"cxrepro/artifacts"
)

// ManifestFile lies in the folder of a benchmark that was built here, beside the official
// layout.
const ManifestFile = "cxrepro-benchmark.json"

// ItemsFile holds the items with everything that the official files do not say: letters,
// meanings, rules. One JSON item a line, sorted by task, case and order of asking.
const ItemsFile = "cxrepro-items.jsonl"

// Recipe is everything besides the pictures that decides what a benchmark asks.
type Recipe struct {
	Rules   Rules      `json:"rules"`
	Sample  SampleMode `json:"sample"`
	Profile Profile    `json:"pictures"`
	Seed    uint64     `json:"seed"`
}

// Manifest says what a benchmark is and how it came about.
type Manifest struct {
	Recipe
	Prompts struct {
		Version int              `json:"version"`
		Digest  artifacts.Digest `json:"digest"`
	} `json:"prompts"`
	Tasks []TaskManifest `json:"tasks"`
	Tally Tally          `json:"tally"`
	Pairs int            `json:"pairs"`
}

// TaskManifest tells of one task.
type TaskManifest struct {
	Task       Task `json:"task"`
	Candidates int  `json:"candidates"`
	Cases      int  `json:"cases"`
	// Normal is how many of the cases are of the task's normal class.
	Normal int `json:"normal"`
	// Left counts candidates that cannot be asked about, by reason.
	Left map[Ineligibility]int `json:"left,omitempty"`
}

// TaskPlan is what is built for one task.
type TaskPlan struct {
	Task Task
	// Cases are in the order of the case list; Formats belongs to it.
	Cases   []Source
	Formats []CaseFormats
	Told    TaskManifest
}

// PlanBenchmark draws the cases of every task out of the candidates and deals their formats.
// quotas are the numbers of cases in the order of [Tasks].
//
// Special cases: a task with fewer eligible candidates than its quota gets all of them.
// Errors: those of [Sample] and [DealFormats].
func PlanBenchmark(r Recipe, candidates []Source, quotas []int) ([]TaskPlan, error) {
	if len(quotas) != len(taskTable) {
		return nil, fmt.Errorf("cxreasonbench: plan: %d quotas for %d tasks", len(quotas), len(taskTable))
	}
	byTask := map[Task][]Source{}
	for _, s := range candidates {
		byTask[s.Task] = append(byTask[s.Task], s)
	}
	plans := make([]TaskPlan, len(taskTable))
	for i, t := range Tasks() {
		p, err := PlanTask(r, t, byTask[t], quotas[i])
		if err != nil {
			return nil, err
		}
		plans[i] = p
	}
	return plans, nil
}

// PlanTask draws the cases of one task and deals their formats.
//
// Special cases and errors are those of [PlanBenchmark].
func PlanTask(r Recipe, t Task, candidates []Source, quota int) (TaskPlan, error) {
	cases, left, err := Sample(r.Rules, r.Sample, r.Seed, t, candidates, quota)
	if err != nil {
		return TaskPlan{}, err
	}
	p := TaskPlan{Task: t, Cases: cases, Told: TaskManifest{Task: t, Candidates: len(candidates), Cases: len(cases)}}
	ids := make([]string, len(cases))
	for j, s := range cases {
		ids[j] = s.Case
		if s.class() == 0 {
			p.Told.Normal++
		}
	}
	for _, e := range left {
		if p.Told.Left == nil {
			p.Told.Left = map[Ineligibility]int{}
		}
		p.Told.Left[e.Reason]++
	}
	p.Formats, err = DealFormats(r.Rules, r.Seed, t, ids)
	return p, err
}

// NewManifest describes what was built.
func NewManifest(r Recipe, pack *Pack, plans []TaskPlan, tally Tally) Manifest {
	m := Manifest{Recipe: r, Tally: tally, Pairs: tally.Pairs()}
	m.Prompts.Version, m.Prompts.Digest = pack.Version(), pack.Digest()
	for _, p := range plans {
		m.Tasks = append(m.Tasks, p.Told)
	}
	return m
}

// OverlaysOf lists the structure pictures that a radiograph has: those of every task that it
// passed.
func OverlaysOf(passed []Task) []Overlay {
	var list []Overlay
	for _, t := range passed {
		for _, s := range Structures(t) {
			list = append(list, Overlay{t, s})
		}
	}
	return list
}
