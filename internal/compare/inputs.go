package compare

import (
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// Inputs say what only one side has. Images are named by their digest's beginning and their
// case number on the side that has them, cases by task and number.
type Inputs struct {
	// SameImages: the manifests are equal. SameCases: the same is asked about the same cases;
	// manifests of benchmarks also tell the rules that they were made under.
	SameImages  bool     `json:"same_images"`
	Images      [2]int   `json:"images"`
	OnlyImagesA []string `json:"only_images_a,omitempty"`
	OnlyImagesB []string `json:"only_images_b,omitempty"`
	SameCases   bool     `json:"same_benchmark"`
	Cases       [2]int   `json:"cases"`
	OnlyCasesA  []string `json:"only_cases_a,omitempty"`
	OnlyCasesB  []string `json:"only_cases_b,omitempty"`
	// Changed are cases of both sides whose questions or pictures differ, with A's number.
	Changed []string `json:"changed_cases,omitempty"`
	// Of an agent: its questions, by A's number; changed ones ask something else.
	SameQuestions    bool     `json:"same_questions"`
	Questions        [2]int   `json:"questions"`
	OnlyQuestionsA   []string `json:"only_questions_a,omitempty"`
	OnlyQuestionsB   []string `json:"only_questions_b,omitempty"`
	ChangedQuestions []string `json:"changed_questions,omitempty"`
}

func (i Inputs) differ() bool {
	return len(i.OnlyImagesA)+len(i.OnlyImagesB)+len(i.OnlyCasesA)+len(i.OnlyCasesB)+len(i.OnlyQuestionsA)+len(i.OnlyQuestionsB) > 0
}

// images reads the windows of both sides and pairs their images.
func (c *comparison) images() error {
	in := &c.d.Inputs
	in.SameImages = c.a.Receipt.Manifest.Digest == c.b.Receipt.Manifest.Digest
	var have [2]map[artifacts.Digest]int
	for i, s := range []*Side{c.a, c.b} {
		have[i] = map[artifacts.Digest]int{}
		if s.Findings == nil {
			continue
		}
		err := s.Windows(c.ctx, func(w Window) error {
			c.windows[i] = append(c.windows[i], w)
			for _, e := range w.Entries {
				have[i][e.Image] = e.Case
			}
			return nil
		})
		if err != nil {
			return err
		}
		in.Images[i] = len(have[i])
	}
	in.OnlyImagesA = c.onlyImages(0, have[1])
	in.OnlyImagesB = c.onlyImages(1, have[0])
	return nil
}

// onlyImages names the images of a side that the other one lacks.
func (c *comparison) onlyImages(side int, other map[artifacts.Digest]int) (out []string) {
	for _, w := range c.windows[side] {
		for _, e := range w.Entries {
			if _, both := other[e.Image]; !both {
				out = append(out, imageName(e))
			}
		}
	}
	return out
}

func imageName(e contract.Entry) string { return fmt.Sprintf("image %d (%s)", e.Case, e.Image.Short()) }

// caseKey pairs cases: the identifier is not printed.
type caseKey struct {
	task cxreasonbench.Task
	id   string
}

// benchmark pairs the cases of both sides, and compares their questions.
func (c *comparison) benchmark() error {
	in := &c.d.Inputs
	var have [2]map[caseKey]int
	for i, s := range []*Side{c.a, c.b} {
		have[i] = map[caseKey]int{}
		if s.Benchmark == nil {
			continue
		}
		in.Cases[i] = len(s.Benchmark.Cases)
		for n, x := range s.Benchmark.Cases {
			have[i][caseKey{x.Task, x.ID}] = n
		}
	}
	if !c.both("the benchmark", c.a.Benchmark != nil, c.b.Benchmark != nil) {
		return nil
	}
	step := contract.StepBuildCase
	if c.a.Benchmark.Source != "build" {
		step = contract.StepImportCase
	}
	for n, x := range c.a.Benchmark.Cases {
		other, both := have[1][caseKey{x.Task, x.ID}]
		name := fmt.Sprintf("case %d (%s)", n, x.Task)
		if !both {
			in.OnlyCasesA = append(in.OnlyCasesA, name)
			continue
		}
		theirs := c.b.Benchmark.Cases[other].Doc
		s := c.step(step)
		s.Compared++
		if x.Doc.Digest == theirs.Digest {
			continue
		}
		s.ResultsDiffer++
		in.Changed = append(in.Changed, name)
		if err := c.partByResult(s, name, x.Doc.Digest, theirs.Digest, nil); err != nil {
			return err
		}
	}
	for n, x := range c.b.Benchmark.Cases {
		if _, both := have[0][caseKey{x.Task, x.ID}]; !both {
			in.OnlyCasesB = append(in.OnlyCasesB, fmt.Sprintf("case %d (%s)", n, x.Task))
		}
	}
	in.SameCases = len(in.OnlyCasesA)+len(in.OnlyCasesB)+len(in.Changed) == 0 && c.a.Benchmark.System == c.b.Benchmark.System
	if len(in.OnlyCasesA)+len(in.OnlyCasesB) > 0 {
		s := c.step(contract.StepDrawCases)
		s.Compared, s.ResultsDiffer = 1, 1
		c.part(Parted{Step: contract.StepDrawCases, Item: "the list of cases", Why: c.specWords("benchmark.", "switches.build", "preset", "thresholds.", "dataset.")})
	}
	return nil
}
