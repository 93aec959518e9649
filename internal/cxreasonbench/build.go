package cxreasonbench

import (
	"fmt"
	"math/rand/v2"
)

// BuildItems builds every question of a case: Path 1, Path 2 and the re-evaluated Path 1,
// each stage an item, in the order in which they are asked.
//
// Everything random depends on the seed and, with BuildStreams=one_per_question, on task,
// case, path and stage by name; so the questions of a case are the same in whatever order or
// company it is built. Distractors come out of sorted pools.
//
// Errors: *IneligibleError for a case that cannot be asked about in these formats; invalid
// rules or formats.
func BuildItems(rules Rules, seed uint64, pack *Pack, s Source, formats CaseFormats) ([]Item, error) {
	if !rules.Valid() {
		return nil, fmt.Errorf("cxreasonbench: build items: the rules are not set; make them with NewRules")
	}
	if err := s.checkReading(rules); err != nil {
		return nil, err
	}
	var items []Item
	for _, path := range Paths() {
		b := &builder{rules: rules, seed: seed, pack: pack, s: s, path: path}
		if rules.is(BuildStreams, OnePerPath) {
			b.shared = stream(seed, "build", path.String())
		}
		if path != Path2 {
			b.formats = formats.of(path)
			if err := b.checkFormats(); err != nil {
				return nil, err
			}
		}
		for _, stage := range itemStages(s.Task, path) {
			it, err := b.item(stage)
			if err != nil {
				return nil, err
			}
			items = append(items, it)
		}
	}
	return items, nil
}

// itemStages are the stages of a path for which a case has an item.
func itemStages(t Task, path Path) []Stage {
	var stages []Stage
	for _, s := range Stages() {
		k := Key{Path: path, Stage: s}
		if k.Valid() && (s != StageRefined || ExpertDefined(t)) {
			stages = append(stages, s)
		}
	}
	return stages
}

// builder builds the items of one path of one case.
type builder struct {
	rules   Rules
	seed    uint64
	pack    *Pack
	s       Source
	path    Path
	formats Formats
	// shared is the generator of the whole path, as released; nil for one each stage.
	shared *rand.Rand
}

func (b *builder) stream(stage Stage) *rand.Rand {
	if b.shared != nil {
		return b.shared
	}
	return stream(b.seed, "build", b.s.Task.String(), b.s.Case, b.path.String(), stage.String())
}

func (b *builder) texts() *packTexts { return &b.pack.file.Texts }

func (b *builder) task() packOfTask { return b.pack.task(b.s.Task) }

func (b *builder) several() bool { return len(facts(b.s.Task).structures) > 1 }

func (b *builder) checkFormats() error {
	f := b.formats
	if f.Criteria != FormatBasic && f.Criteria != FormatTwoRound {
		return fmt.Errorf("cxreasonbench: %s: case %s: %s: criteria cannot be asked as %s", b.s.Task, b.s.Case, b.path, f.Criteria)
	}
	if !f.Structures.Valid() || f.Structures == FormatTwoRound || (f.Structures == FormatPartial && !b.several()) {
		return fmt.Errorf("cxreasonbench: %s: case %s: %s: structures cannot be asked as %s", b.s.Task, b.s.Case, b.path, f.Structures)
	}
	return nil
}

func (b *builder) item(stage Stage) (Item, error) {
	it := Item{Task: b.s.Task, Case: b.s.Case, Path: b.path, Stage: stage, Format: FormatBasic}
	var err error
	switch stage {
	case StageInit:
		it.Questions = []Question{b.initial()}
	case StageCriteria:
		it.Format = b.formats.Criteria
		it.Questions = b.criteria(b.stream(stage))
	case StageRefined:
		it.Questions = []Question{b.refined()}
	case StageStructures:
		if b.path == Path2 {
			it.Questions, err = b.guidedStructures(b.stream(stage))
			break
		}
		it.Format = b.formats.Structures
		it.Questions, err = b.structures(b.stream(stage))
	case StageMeasurement:
		it.Questions = []Question{b.measurement(b.stream(stage))}
	case StageFinal:
		it.Questions = []Question{b.final()}
	}
	return it, err
}

// question starts a question of the builder's path.
func (b *builder) question(stage Stage, round int) Question {
	return Question{Key: Key{Path: b.path, Stage: stage, Round: round}, Rule: AllOf}
}
