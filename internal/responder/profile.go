package responder

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/strictyaml"
)

// ProfileFormat is Profile.Format.
const ProfileFormat = "cxrepro-responder-1"

// Profile says which models there are and how they answer.
type Profile struct {
	Format string `yaml:"format"`
	// Seed names every pseudo-random choice.
	Seed   uint64  `yaml:"seed"`
	Models []Model `yaml:"models"`
}

// Behaviour says how a model answers. The zero value is invalid.
type Behaviour string

// Behaviours.
const (
	// Exact lets exactly the tables' numbers of cases succeed, ranked in a pseudo-random
	// order.
	Exact Behaviour = "exact"
	// Rates lets each case succeed by itself with the tables' probability.
	Rates Behaviour = "rates"
	// Oracle is always right, and its values lie in the range.
	Oracle Behaviour = "oracle"
	// AlwaysIDK says "I don't know", "No" or "None of the above" wherever there is one.
	AlwaysIDK Behaviour = "always_idk"
	// RandomLetter chooses an option without looking.
	RandomLetter Behaviour = "random_letter"
	// Scripted answers by its script.
	Scripted Behaviour = "scripted"
	// Judge answers the judge's prompts only. Every other model answers them too.
	Judge Behaviour = "judge"
)

// Behaviours returns every behaviour.
func Behaviours() []Behaviour {
	return []Behaviour{Exact, Rates, Oracle, AlwaysIDK, RandomLetter, Scripted, Judge, Agent, Lookup, Teacher}
}

// Model is one model that the endpoint serves.
type Model struct {
	// Name is what requests call it.
	Name      string    `yaml:"name"`
	Behaviour Behaviour `yaml:"behaviour"`
	// Paper, for exact and rates, takes the tables from the published ones of this model.
	Paper string `yaml:"paper,omitempty"`
	// Tables, for exact and rates: by way of sampling (greedy, draws3 or all) and task (or
	// all), how many succeed at each stage.
	Tables map[string]map[string]Table `yaml:"tables,omitempty"`
	// Dissent is the share of questions at which one of three draws, told apart by
	// consecutive seeds, answers otherwise than the two others.
	Dissent float64 `yaml:"dissent,omitempty"`
	// Script and Otherwise belong to scripted: the first line that fits a question answers
	// it, and otherwise it is answered right, wrong, unknown or none.
	Script    []Line `yaml:"script,omitempty"`
	Otherwise Word   `yaml:"otherwise,omitempty"`
	// Errs, for a judge, is the share of comparisons in which it mistakes right for wrong
	// and the reverse.
	Errs float64 `yaml:"errs,omitempty"`
	// Agent, for agent, says how it plays.
	Agent *AgentScript `yaml:"agent,omitempty" json:",omitempty"`
}

// Word is an answer in a word. The empty word means right.
type Word string

// Words.
const (
	WordRight   Word = "right"
	WordWrong   Word = "wrong"
	WordUnknown Word = "unknown"
	WordNone    Word = "none"
)

// Line answers the questions that it fits.
type Line struct {
	// Task, Case, Key and Draw restrict the line where they are given. Key is that of a
	// question, for example criteria_0 or guidance-final; Draw counts from 0 and is the
	// request's seed modulo 3.
	Task string `yaml:"task,omitempty"`
	Case string `yaml:"case,omitempty"`
	Key  string `yaml:"key,omitempty"`
	Draw *int   `yaml:"draw,omitempty"`
	// Answer is the answer in a word, Reply its whole text. One of both is given.
	Answer Word    `yaml:"answer,omitempty"`
	Reply  *string `yaml:"reply,omitempty"`
}

// ParseProfile reads a profile strictly. file is for messages.
//
// Errors: everything wrong with it, with file and line.
func ParseProfile(file string, data []byte) (*Profile, error) {
	var p Profile
	origin, err := strictyaml.Decode(file, data, "profile", &p)
	if err != nil {
		return nil, err
	}
	c := &checker{strictyaml.Findings{File: file, Origin: origin}}
	p.check(c)
	return &p, c.Err()
}

// checker collects what is wrong with the values of a file.
type checker struct{ strictyaml.Findings }

func (c *checker) share(field string, v float64) {
	if v < 0 || v > 1 {
		c.Add(field, "is %v, want a share from 0 to 1", v)
	}
}

func (p *Profile) check(c *checker) {
	if p.Format != ProfileFormat {
		c.Add("format", "is %q, want %q", p.Format, ProfileFormat)
	}
	if len(p.Models) == 0 {
		c.Add("models", "is empty; name at least one model")
	}
	seen := map[string]bool{}
	for i := range p.Models {
		m, at := &p.Models[i], fmt.Sprintf("models[%d]", i)
		if m.Name == "" {
			c.Add(at+".name", "is empty")
		} else if seen[m.Name] {
			c.Add(at+".name", "%q stands twice", m.Name)
		}
		seen[m.Name] = true
		m.check(c, at)
	}
}

func (m *Model) check(c *checker, at string) {
	if !slices.Contains(Behaviours(), m.Behaviour) {
		c.Add(at+".behaviour", "is %q, want one of %v", m.Behaviour, Behaviours())
	}
	tabled := m.Behaviour == Exact || m.Behaviour == Rates
	switch {
	case !tabled && (m.Paper != "" || m.Tables != nil):
		c.Add(at, "paper and tables belong to the behaviours exact and rates")
	case tabled && (m.Paper == "") == (m.Tables == nil):
		c.Add(at, "behaviour %s needs either paper or tables", m.Behaviour)
	case m.Behaviour != Scripted && (m.Script != nil || m.Otherwise != ""):
		c.Add(at, "script and otherwise belong to the behaviour scripted")
	}
	if m.Paper != "" && !slices.Contains(PaperModels(), m.Paper) {
		c.Add(at+".paper", "the paper has no model %q; it has %s", m.Paper, strings.Join(PaperModels(), ", "))
	}
	c.share(at+".dissent", m.Dissent)
	c.share(at+".errs", m.Errs)
	m.checkAgent(c, at)
	for _, sampling := range slices.Sorted(maps.Keys(m.Tables)) {
		if !slices.Contains([]string{"greedy", "draws3", allOfThem}, sampling) {
			c.Add(at+".tables."+sampling, "want greedy, draws3 or all")
		}
		for _, task := range slices.Sorted(maps.Keys(m.Tables[sampling])) {
			field := at + ".tables." + sampling + "." + task
			if !taskName(task) && task != allOfThem {
				c.Add(field, "no task is called %q", task)
			}
			t := m.Tables[sampling][task]
			t.check(c, field)
		}
	}
	m.checkWord(c, at+".otherwise", m.Otherwise)
	for i := range m.Script {
		m.Script[i].check(c, fmt.Sprintf("%s.script[%d]", at, i))
	}
}

func (m *Model) checkWord(c *checker, field string, w Word) {
	if !slices.Contains([]Word{"", WordRight, WordWrong, WordUnknown, WordNone}, w) {
		c.Add(field, "is %q, want right, wrong, unknown or none", w)
	}
}

func (l *Line) check(c *checker, at string) {
	if l.Task != "" && !taskName(l.Task) {
		c.Add(at+".task", "no task is called %q", l.Task)
	}
	if _, ok := cxreasonbench.ParseKey(l.Key); l.Key != "" && !ok {
		c.Add(at+".key", "no question is called %q; examples are criteria_0, guidance-final, review-bodypart_1", l.Key)
	}
	if l.Draw != nil && (*l.Draw < 0 || *l.Draw > 2) {
		c.Add(at+".draw", "is %d, want 0, 1 or 2", *l.Draw)
	}
	if (l.Answer == "") == (l.Reply == nil) {
		c.Add(at, "needs either answer or reply")
	}
	(&Model{}).checkWord(c, at+".answer", l.Answer)
}

// fits reports whether the line answers a question.
func (l *Line) fits(p place, draw int) bool {
	return (l.Task == "" || l.Task == p.at.task.String()) && (l.Case == "" || l.Case == p.at.id) &&
		(l.Key == "" || l.Key == p.q.Key.String()) && (l.Draw == nil || *l.Draw == draw)
}

func taskName(name string) bool {
	for _, t := range cxreasonbench.Tasks() {
		if t.String() == name {
			return true
		}
	}
	return false
}
