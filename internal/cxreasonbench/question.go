package cxreasonbench

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/chexstruct"
)

// initial is the diagnostic question, with "I don't know" as the last option.
func (b *builder) initial() Question {
	x := b.texts()
	q := b.question(StageInit, 0)
	lead := fill(x.InitLead, "unknown", x.Unknown)
	if b.path == RePath1 {
		lead = x.ReinitLead
	}
	q.Pictures = []Picture{{Radiograph, b.s.Radiograph}}
	b.diagnose(&q, true)
	q.Text = paragraphs(lead, b.viewSentence(), b.task().Question, optionLines(q.Options))
	return q
}

// diagnose sets the diagnostic options and the reference answer.
func (b *builder) diagnose(q *Question, unknown bool) {
	first, second := Diagnoses(b.s.Task, b.s.View, b.s.Reading)
	options := b.task().Options
	q.Options = lettered([]Option{{Text: options[0], Means: MeansYes}, {Text: options[1], Means: MeansNo}})
	var right []Option
	if first {
		right = append(right, q.Options[0])
	}
	if second {
		right = append(right, q.Options[1])
	}
	if first && second {
		q.Rule = OneOf
	}
	q.answer(right, "")
	if unknown {
		q.Options = append(q.Options, Option{Letter: letter(2), Text: b.texts().Unknown, Means: MeansUnknown})
	}
}

// tellsView: the thresholds of these tasks depend on the view.
func tellsView(t Task) bool {
	return t == chexstruct.Cardiomegaly || t == chexstruct.MediastinalWidening
}

func (b *builder) viewSentence() string {
	if !tellsView(b.s.Task) {
		return ""
	}
	return fill(b.texts().View, "view", b.s.View.String())
}

// refined offers the refined criterion. Yes is the right answer.
func (b *builder) refined() Question {
	x := b.texts()
	q := b.question(StageRefined, 0)
	q.Options = lettered([]Option{{Text: x.Yes, Means: MeansYes}, {Text: x.No, Means: MeansNo}})
	q.answer(q.Options[:1], "")
	q.Text = paragraphs(b.task().Refined, fill(x.RefinedAsk, "no", x.No), optionLines(q.Options))
	return q
}

// criteria asks for the criterion: in one round, or in a first round without it and a second
// with it. The wrong ones are the criteria of the other tasks, none of them twice.
func (b *builder) criteria(r *rand.Rand) []Question {
	x := b.texts()
	var pool []Option
	for _, t := range sortedTasks() {
		if t != b.s.Task {
			pool = append(pool, b.criterion(t))
		}
	}
	target := b.criterion(b.s.Task)
	ask, round := x.CriterionAsk, 0
	var questions []Question
	if b.formats.Criteria == FormatTwoRound {
		var first []Option
		first, pool = draw(r, pool, optionCount-1)
		q := b.question(StageCriteria, 0)
		q.Options = lettered(append(first, b.needNew()))
		q.answer(q.Options[optionCount-1:], ".")
		q.Text = paragraphs(ask, fill(x.CriterionFirst, "need_new", x.NeedNew), optionLines(q.Options))
		questions = append(questions, q)
		ask, round = x.CriterionAgain, 1
	}
	wrong, _ := draw(r, pool, optionCount-2)
	q := b.question(StageCriteria, round)
	q.Options = lettered(append(shuffle(r, append(wrong, target)), b.none()))
	q.answer(q.meaning(target.Means), ".")
	q.Text = paragraphs(ask, fill(x.CriterionLast, "none", x.None), optionLines(q.Options))
	return append(questions, q)
}

func (b *builder) criterion(t Task) Option {
	return Option{Text: b.pack.criterion(t, b.path), Means: "criterion:" + t.String()}
}

func (b *builder) needNew() Option { return Option{Text: b.texts().NeedNew, Means: MeansNeedNew} }

func (b *builder) none() Option { return Option{Text: b.texts().None, Means: MeansNone} }

// sortedTasks are the tasks in the order of their names.
func sortedTasks() []Task {
	tasks := Tasks()
	slices.SortFunc(tasks, func(a, b Task) int { return strings.Compare(a.String(), b.String()) })
	return tasks
}

// structures asks for the pictures of the task's structures: in one round, or in two of which
// the first shows none or some of them. No distractor is shown twice.
func (b *builder) structures(r *rand.Rand) ([]Question, error) {
	targets, pool := b.s.targets(), b.s.Distractors(b.rules, b.path)
	first := []Overlay{}
	switch b.formats.Structures {
	case FormatBasic:
		return b.structureRounds(r, pool, [][]Overlay{targets})
	case FormatPartial:
		n := len(targets) / 2
		first = targets[:n]
		if b.rules.is(BuildPartial, RandomSubset) {
			first, targets = draw(r, targets, n)
			return b.structureRounds(r, pool, [][]Overlay{first, targets})
		}
		targets = targets[n:]
	}
	return b.structureRounds(r, pool, [][]Overlay{first, targets})
}

// structureRounds asks one round for each set of targets.
func (b *builder) structureRounds(r *rand.Rand, pool []Overlay, rounds [][]Overlay) ([]Question, error) {
	need := 0
	for _, targets := range rounds {
		need += pictureCount - len(targets)
	}
	if len(pool) < need {
		return nil, b.s.fail(FewDistractors, "%d structures of other tasks are drawn on the radiograph, %s of %s needs %d", len(pool), StageStructures, b.path, need)
	}
	var questions []Question
	for i, targets := range rounds {
		var wrong []Overlay
		wrong, pool = draw(r, pool, pictureCount-len(targets))
		q := b.question(StageStructures, i)
		shown := b.show(&q, shuffle(r, append(wrong, targets...)))
		last := b.none()
		if i < len(rounds)-1 {
			last = b.needNew()
		}
		q.Options = lettered(append(shown, last))
		var right []Option
		for _, o := range q.Options {
			target := slices.ContainsFunc(targets, func(t Overlay) bool { return o.Means == structureMeans(t) })
			if target || o.Means == MeansNeedNew {
				right = append(right, o)
			}
		}
		tail := ""
		if last.Means == MeansNeedNew {
			tail = "."
		}
		q.answer(right, tail)
		q.Text = paragraphs(b.structuresText(i, len(rounds)), optionLines(q.Options))
		questions = append(questions, q)
	}
	return questions, nil
}

// show puts the pictures into a question and returns an option for each.
func (b *builder) show(q *Question, overlays []Overlay) []Option {
	options := make([]Option, len(overlays))
	for i, o := range overlays {
		q.Pictures = append(q.Pictures, Picture{StructurePicture, o.Path(b.s.Case)})
		options[i] = Option{Text: b.texts().Pictures[i], Means: structureMeans(o)}
	}
	return options
}

func structureMeans(o Overlay) string { return "structure:" + o.Structure }

func (b *builder) structuresText(round, rounds int) string {
	x := b.texts()
	criterion := x.Selected
	if ExpertDefined(b.s.Task) {
		criterion = x.Refined
	}
	one := func(single, several string) string {
		if b.several() {
			return several
		}
		return single
	}
	last := fill(x.StructuresLast, "none", x.None)
	if round > 0 {
		return paragraphs(fill(one(x.StructuresAgainOne, x.StructuresAgainAll), "criterion", criterion), last)
	}
	if rounds > 1 {
		last = fill(one(x.StructuresPartialOne, x.StructuresPartialAll), "need_new", x.NeedNew)
	}
	return paragraphs(x.StructuresLead, fill(one(x.StructuresOne, x.StructuresAll), "criterion", criterion), last)
}

// guidedStructures asks for each structure by name, on the same four pictures.
func (b *builder) guidedStructures(r *rand.Rand) ([]Question, error) {
	x := b.texts()
	targets, pool := b.s.targets(), b.s.Distractors(b.rules, Path2)
	if need := pictureCount - len(targets); len(pool) < need {
		return nil, b.s.fail(FewDistractors, "%d structures of other tasks are drawn on the radiograph, Path 2 needs %d", len(pool), need)
	}
	wrong, _ := draw(r, pool, pictureCount-len(targets))
	pictures := shuffle(r, append(wrong, targets...))
	asked := targets
	if b.rules.is(BuildGuidanceOrder, PictureOrder) {
		asked = slices.DeleteFunc(slices.Clone(pictures), func(o Overlay) bool { return !slices.Contains(targets, o) })
	} else {
		asked = shuffle(r, asked)
	}
	var questions []Question
	for i, o := range asked {
		q := b.question(StageStructures, i)
		q.Options = lettered(append(b.show(&q, pictures), b.none()))
		text := x.GuideFirst
		if i > 0 {
			q.Pictures, text = nil, x.GuideNext
		}
		q.answer(q.meaning(structureMeans(o)), "")
		q.Text = paragraphs(fill(text, "structure", b.pack.StructureName(o.Structure)), optionLines(q.Options))
		questions = append(questions, q)
	}
	return questions, nil
}

// measurement asks for the range or the label.
func (b *builder) measurement(r *rand.Rand) Question {
	q := b.question(StageMeasurement, 0)
	text := b.task().Measure
	if b.path == Path2 {
		text = b.task().Guide
		q.Pictures = []Picture{{AnnotatedPicture, "/" + b.s.Task.String() + "/" + b.s.Case + ".png"}}
	}
	options, right := b.measures(r)
	q.Options = lettered(options)
	var chosen []Option
	for _, i := range right {
		chosen = append(chosen, q.Options[i])
	}
	q.answer(chosen, "")
	q.Text = paragraphs(text, optionLines(q.Options))
	return q
}

// final asks for the diagnosis again, now with the threshold, and for the value.
func (b *builder) final() Question {
	x := b.texts()
	q := b.question(StageFinal, 0)
	released := b.path == Path2 && b.rules.is(BuildGuidanceFinal, ReleasedText)
	b.diagnose(&q, released && b.s.Task == chexstruct.TracheaDeviation)
	view := ""
	if b.path == Path2 || b.rules.is(BuildView, Told) {
		view = b.viewSentence()
	}
	if released && b.s.Task == chexstruct.Cardiomegaly {
		// The released question has lost everything but this; the reference answer
		// still names letters.
		q.Text, q.Options = paragraphs(view, b.task().Question), nil
		return q
	}
	value := ""
	if KindOf(b.s.Task) == Measurement {
		value = x.ValueOne
		if b.s.Task == projection {
			value = x.ValueSides
		}
	}
	q.Text = paragraphs(view, x.FinalLead, b.task().Question, b.told(), optionLines(q.Options), value)
	return q
}

// told is the sentence with the threshold.
func (b *builder) told() string {
	t, x := &thresholds, b.task()
	pa, ap, limit := 0.0, 0.0, 0.0
	switch b.s.Task {
	case chexstruct.Cardiomegaly:
		pa, ap = t.cardiomegalyPA, t.cardiomegalyAP
	case chexstruct.MediastinalWidening:
		pa, ap = t.mediastinumPA, t.mediastinumAP
		if b.rules.is(BuildThresholds, ReleasedText) {
			pa = toldMediastinumPA
		}
	case chexstruct.Rotation:
		limit = t.rotation
	case chexstruct.Projection:
		limit = t.projection
	case chexstruct.AorticKnobEnlargement, chexstruct.DescendingAortaEnlargement:
		limit = t.vessel
	case chexstruct.DescendingAortaTortuous:
		limit = t.curvature
	case chexstruct.Inspiration:
		limit = float64(t.rib)
	}
	text := x.ToldReleased
	if x.Told != "" && b.rules.is(BuildThresholds, ScoredText) {
		text = x.Told
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return fill(text, "pa", strconv.FormatFloat(pa, 'f', 2, 64), "ap", strconv.FormatFloat(ap, 'f', 2, 64),
		"limit", number(limit), "low", number(t.carinaLow), "high", number(t.carinaHigh))
}

// toldMediastinumPA is the threshold that the released question tells; the reference answers
// go by 0.25.
const toldMediastinumPA = 0.28

// answer sets the accepted letters and the reference answer. end closes the text.
func (q *Question) answer(right []Option, end string) {
	texts := make([]string, len(right))
	q.Accepted = nil
	for i, o := range right {
		q.Accepted = append(q.Accepted, o.Letter)
		texts[i] = "(" + o.Letter + ") " + o.Text
	}
	q.Answer = strings.Join(texts, ", ") + end
}

// meaning returns the options with a meaning.
func (q *Question) meaning(means string) []Option {
	return slices.DeleteFunc(slices.Clone(q.Options), func(o Option) bool { return o.Means != means })
}

func letter(i int) string { return string(rune('a' + i)) }

func lettered(options []Option) []Option {
	list := slices.Clone(options)
	for i := range list {
		list[i].Letter = letter(i)
	}
	return list
}

// optionLines writes one option a line.
func optionLines(options []Option) string {
	lines := make([]string, len(options))
	for i, o := range options {
		lines[i] = "(" + o.Letter + ") " + o.Text
	}
	return strings.Join(lines, "\n")
}

// paragraphs joins the parts that are not empty.
func paragraphs(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}
