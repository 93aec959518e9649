package cxreasonbench

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"cxrepro/artifacts"
)

//go:embed prompts/pack.yaml
var packYAML []byte

// Pack is the prompt pack: every text that the questions are made of. It is immutable.
type Pack struct {
	file   packFile
	data   []byte
	digest artifacts.Digest
	// questions is the digest of what the generator reads.
	questions artifacts.Digest
}

type packFile struct {
	Version    int                   `yaml:"version"`
	Texts      packTexts             `yaml:"texts"`
	Structures map[string]string     `yaml:"structures"`
	Tasks      map[string]packOfTask `yaml:"tasks"`
	Judge      packOfJudge           `yaml:"judge"`
}

// packOfJudge are the instructions to the judge. Lead begins those that compare answers.
type packOfJudge struct {
	Lead    string            `yaml:"lead"`
	Prompts map[string]string `yaml:"prompts"`
}

type packTexts struct {
	System               string   `yaml:"system"`
	InitLead             string   `yaml:"init_lead"`
	ReinitLead           string   `yaml:"reinit_lead"`
	View                 string   `yaml:"view"`
	CriterionAsk         string   `yaml:"criterion_ask"`
	CriterionFirst       string   `yaml:"criterion_first"`
	CriterionAgain       string   `yaml:"criterion_again"`
	CriterionLast        string   `yaml:"criterion_last"`
	RefinedAsk           string   `yaml:"refined_ask"`
	StructuresLead       string   `yaml:"structures_lead"`
	StructuresOne        string   `yaml:"structures_one"`
	StructuresAll        string   `yaml:"structures_all"`
	StructuresPartialOne string   `yaml:"structures_partial_one"`
	StructuresPartialAll string   `yaml:"structures_partial_all"`
	StructuresAgainOne   string   `yaml:"structures_again_one"`
	StructuresAgainAll   string   `yaml:"structures_again_all"`
	StructuresLast       string   `yaml:"structures_last"`
	Selected             string   `yaml:"selected"`
	Refined              string   `yaml:"refined"`
	GuideFirst           string   `yaml:"guide_first"`
	GuideNext            string   `yaml:"guide_next"`
	FinalLead            string   `yaml:"final_lead"`
	ValueOne             string   `yaml:"value_one"`
	ValueSides           string   `yaml:"value_sides"`
	Unknown              string   `yaml:"unknown"`
	None                 string   `yaml:"none"`
	NeedNew              string   `yaml:"need_new"`
	Yes                  string   `yaml:"yes"`
	No                   string   `yaml:"no"`
	Pictures             []string `yaml:"pictures"`
	RightRange           string   `yaml:"right_range"`
	LeftRange            string   `yaml:"left_range"`
	OrdinalRib           string   `yaml:"ordinal_rib"`
	Beyond               string   `yaml:"beyond"`
	NotBeyond            string   `yaml:"not_beyond"`
	Included             string   `yaml:"included"`
	Excluded             string   `yaml:"excluded"`
	Parts                []string `yaml:"parts"`
	Directions           []string `yaml:"directions"`
}

// packOfTask are the texts of one task. ToldReleased is the threshold as the released
// program tells it; Told, where it is not empty, as it is scored.
type packOfTask struct {
	Question         string   `yaml:"question"`
	Options          []string `yaml:"options"`
	Criterion        string   `yaml:"criterion"`
	RefinedCriterion string   `yaml:"refined_criterion"`
	Refined          string   `yaml:"refined"`
	Measure          string   `yaml:"measure"`
	Guide            string   `yaml:"guide"`
	ToldReleased     string   `yaml:"told_released"`
	Told             string   `yaml:"told"`
}

// defaultPack loads the embedded pack once. The pack is part of the program, so a fault in
// it is a fault of the program and panics; a test loads it.
var defaultPack = sync.OnceValue(func() *Pack {
	p, err := ParsePack(packYAML)
	if err != nil {
		panic(err)
	}
	return p
})

// Prompts returns the compiled-in prompt pack.
func Prompts() *Pack { return defaultPack() }

// Version of the pack. A change of any text raises it.
func (p *Pack) Version() int { return p.file.Version }

// Digest identifies the bytes of the pack.
func (p *Pack) Digest() artifacts.Digest { return p.digest }

// Questions identifies the texts that questions are made of: the pack without the system
// message and the judge's prompts, which no question holds.
func (p *Pack) Questions() artifacts.Digest { return p.questions }

// Bytes are the pack as it was read.
func (p *Pack) Bytes() []byte { return slices.Clone(p.data) }

// PackMediaType is the media type of a prompt pack.
const PackMediaType = "application/vnd.cxrepro.prompt-pack+yaml"

// System is the system message of every dialogue.
func (p *Pack) System() string { return p.file.Texts.System }

// Judge is the whole instruction that a judge gets; empty for an invalid prompt.
func (p *Pack) Judge(prompt JudgePrompt) string {
	if !prompt.Valid() {
		return ""
	}
	text := p.file.Judge.Prompts[prompt.String()]
	if prompt == ExtractValue || prompt == ExtractValueSides {
		return text
	}
	return paragraphs(p.file.Judge.Lead, text)
}

// StructureName is how a structure is called in a question.
func (p *Pack) StructureName(structure string) string { return p.file.Structures[structure] }

func (p *Pack) task(t Task) packOfTask { return p.file.Tasks[t.String()] }

// criterion is the sentence of a task, in the version of a path.
func (p *Pack) criterion(t Task, path Path) string {
	if path == RePath1 {
		return p.task(t).RefinedCriterion
	}
	return p.task(t).Criterion
}

// ParsePack reads a prompt pack strictly: every text of every task and structure, and none
// beside them, each with its placeholders and no others.
//
// Errors name the text that is missing or too much, and the placeholder.
func ParsePack(data []byte) (*Pack, error) {
	p := &Pack{data: slices.Clone(data), digest: artifacts.Sum(data)}
	if err := yaml.UnmarshalWithOptions(data, &p.file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("cxreasonbench: prompt pack: %w", err)
	}
	if p.file.Version < 1 {
		return nil, fmt.Errorf("cxreasonbench: prompt pack: version is %d, want 1 or more", p.file.Version)
	}
	if err := p.file.Texts.check(); err != nil {
		return nil, err
	}
	for _, t := range Tasks() {
		if err := p.task(t).check(t); err != nil {
			return nil, err
		}
		for _, s := range Structures(t) {
			if p.StructureName(s) == "" {
				return nil, fmt.Errorf("cxreasonbench: prompt pack: structures.%s is missing", s)
			}
		}
	}
	if err := p.file.Judge.check(); err != nil {
		return nil, err
	}
	if len(p.file.Tasks) != len(taskTable) {
		return nil, fmt.Errorf("cxreasonbench: prompt pack: %d tasks, want the %d of the benchmark", len(p.file.Tasks), len(taskTable))
	}
	if err := p.file.checkPlaces(); err != nil {
		return nil, err
	}
	read := p.file
	read.Version, read.Texts.System, read.Judge = 0, "", packOfJudge{}
	text, err := artifacts.Canonical(read)
	if err != nil {
		return nil, fmt.Errorf("cxreasonbench: prompt pack: %w", err)
	}
	p.questions = artifacts.Sum(text)
	return p, nil
}

func (x *packTexts) check() error {
	missing := func(field string) error {
		return fmt.Errorf("cxreasonbench: prompt pack: texts.%s is missing or incomplete", field)
	}
	for _, f := range []struct{ name, text string }{
		{"system", x.System}, {"init_lead", x.InitLead}, {"reinit_lead", x.ReinitLead}, {"view", x.View},
		{"criterion_ask", x.CriterionAsk}, {"criterion_first", x.CriterionFirst}, {"criterion_again", x.CriterionAgain},
		{"criterion_last", x.CriterionLast}, {"refined_ask", x.RefinedAsk}, {"structures_lead", x.StructuresLead},
		{"structures_one", x.StructuresOne}, {"structures_all", x.StructuresAll},
		{"structures_partial_one", x.StructuresPartialOne}, {"structures_partial_all", x.StructuresPartialAll},
		{"structures_again_one", x.StructuresAgainOne}, {"structures_again_all", x.StructuresAgainAll},
		{"structures_last", x.StructuresLast}, {"selected", x.Selected}, {"refined", x.Refined},
		{"guide_first", x.GuideFirst}, {"guide_next", x.GuideNext}, {"final_lead", x.FinalLead},
		{"value_one", x.ValueOne}, {"value_sides", x.ValueSides}, {"unknown", x.Unknown}, {"none", x.None},
		{"need_new", x.NeedNew}, {"yes", x.Yes}, {"no", x.No}, {"right_range", x.RightRange},
		{"left_range", x.LeftRange}, {"ordinal_rib", x.OrdinalRib}, {"beyond", x.Beyond},
		{"not_beyond", x.NotBeyond}, {"included", x.Included}, {"excluded", x.Excluded},
	} {
		if f.text == "" {
			return missing(f.name)
		}
	}
	switch {
	case len(x.Pictures) != pictureCount:
		return missing("pictures")
	case len(x.Parts) != len(Reading{}.Parts):
		return missing("parts")
	case len(x.Directions) != len(Directions()):
		return missing("directions")
	}
	return nil
}

func (x packOfJudge) check() error {
	if x.Lead == "" {
		return fmt.Errorf("cxreasonbench: prompt pack: judge.lead is missing")
	}
	for _, p := range JudgePrompts() {
		text := x.Prompts[p.String()]
		if text == "" {
			return fmt.Errorf("cxreasonbench: prompt pack: judge.prompts.%s is missing", p)
		}
		for _, w := range p.Words() {
			if !strings.Contains(text, "\n"+w) {
				return fmt.Errorf("cxreasonbench: prompt pack: judge.prompts.%s does not offer the verdict %s", p, w)
			}
		}
	}
	if len(x.Prompts) != len(JudgePrompts()) {
		return fmt.Errorf("cxreasonbench: prompt pack: judge.prompts has %d prompts, the judge has %d", len(x.Prompts), len(JudgePrompts()))
	}
	return nil
}

func (x packOfTask) check(t Task) error {
	for _, f := range []struct{ name, text string }{
		{"question", x.Question}, {"criterion", x.Criterion}, {"refined_criterion", x.RefinedCriterion},
		{"measure", x.Measure}, {"guide", x.Guide},
	} {
		if f.text == "" {
			return fmt.Errorf("cxreasonbench: prompt pack: tasks.%s.%s is missing", t, f.name)
		}
	}
	if len(x.Options) != 2 {
		return fmt.Errorf("cxreasonbench: prompt pack: tasks.%s.options: %d options, want 2", t, len(x.Options))
	}
	if ExpertDefined(t) != (x.Refined != "") {
		return fmt.Errorf("cxreasonbench: prompt pack: tasks.%s.refined: the seven tasks with a refined criterion have one, and no others", t)
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// fill replaces the placeholders of a template: pairs are names and values. A placeholder
// without a value is a fault of the program and panics: a pack with one is not read.
func fill(template string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		template = strings.ReplaceAll(template, "{"+pairs[i]+"}", pairs[i+1])
	}
	if rest := placeholder.FindString(template); rest != "" {
		panic(fmt.Sprintf("cxreasonbench: prompt pack: nothing fills %s in %q", rest, template))
	}
	return template
}
