package contract

import (
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/xragent/analysis"
)

// AgentTables holds what every table of an agent's reproduction is made of: counts by set of
// rollouts and group of questions, and the figures of the paper's tables where the questions are
// those of its benchmarks. Equal rollouts give equal bytes.
type AgentTables struct {
	Format    string                 `json:"format"`
	Name      string                 `json:"name"`
	Paper     string                 `json:"paper"`
	Questions AgentQuestions         `json:"questions"`
	Agent     experiments.Agent      `json:"agent"`
	Models    []SummaryModel         `json:"models"`
	Lookup    *SummaryModel          `json:"lookup,omitempty"`
	Sets      []AgentSet             `json:"sets"`
	Figures   map[string]AgentFigure `json:"figures,omitempty"`
	Settings  []experiments.ArmPin   `json:"arms"`
}

// AgentFigure is a figure of the paper's tables by its id.
type AgentFigure = analysis.Figure

// AgentTablesFormat is AgentTables.Format.
const AgentTablesFormat = "cxrepro-agent-tables-1"

// AgentQuestions is what was asked.
type AgentQuestions struct {
	Digest   artifacts.Digest `json:"digest"`
	Layout   string           `json:"layout"`
	Version  string           `json:"version"`
	DataUse  string           `json:"data_use"`
	Items    int              `json:"items"`
	Pictures int              `json:"pictures"`
	Notes    []string         `json:"notes,omitempty"`
}

// AgentSet is one set of rollouts.
type AgentSet struct {
	Name   string `json:"name"`
	Config string `json:"config"`
	Policy string `json:"policy"`
	Arm    string `json:"arm"`
	Repeat int    `json:"repeat"`
	// Groups are the whole set, then its parts by source.
	Groups []AgentGroup `json:"groups"`
	// Endings, Reasons, Tools and Withheld count rollouts by how they ended, why they have no
	// outcome, the tools that policies called and why bundles were withheld.
	Endings  []Count `json:"endings"`
	Reasons  []Count `json:"reasons,omitempty"`
	Tools    []Count `json:"tools"`
	Withheld []Count `json:"withheld"`
	// Bundles counts rollouts on whose bundle the gate decided, Shown those that saw one.
	Bundles int `json:"bundles"`
	Shown   int `json:"shown"`
	// Rewarded counts two-turn rollouts; the others are means over them.
	Rewarded int     `json:"rewarded"`
	Reward   float64 `json:"reward"`
	Evidence float64 `json:"evidence"`
	Calls    float64 `json:"calls"`
}

// AgentGroup counts a part of a set: Items = Answered + Undetermined, and of the answered so
// many are correct or unparsed.
type AgentGroup struct {
	Name         string `json:"name"`
	Items        int    `json:"items"`
	Answered     int    `json:"answered"`
	Correct      int    `json:"correct"`
	Unparsed     int    `json:"unparsed"`
	Undetermined int    `json:"undetermined"`
	// Called counts answered items whose policy called a tool.
	Called int `json:"called"`
}
