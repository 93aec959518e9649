package cxreasonbench

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cxrepro/artifacts"
)

// OfficialFile is one question file of a benchmark in the official layout, as it is read: Path
// and Stage are folder names, Pictures those shown with each question.
type OfficialFile struct {
	Task, Case, Path, Stage, Format string
	Questions, Answers              []string
	Pictures                        [][]string
}

// Importer makes items of official files. The files hold texts only: options are part of the
// question, letters stand in the reference answer, and which task a criterion belongs to is
// nowhere said. An importer learns the criteria from the questions whose answer they are.
type Importer struct {
	criteria map[string]string
}

// NewImporter returns an importer that knows the criteria of a prompt pack.
func NewImporter(p *Pack) *Importer {
	im := &Importer{criteria: map[string]string{}}
	for _, t := range Tasks() {
		for _, path := range []Path{Path1, RePath1} {
			im.criteria[plain(p.criterion(t, path))] = t.String()
		}
	}
	return im
}

// Learn notes the criterion that is the right answer of a Stage 1 file. Other files are let be.
func (im *Importer) Learn(f *OfficialFile) {
	path, stage, _ := placeOf(f)
	if stage != StageCriteria || path == Path2 || len(f.Questions) != len(f.Answers) {
		return
	}
	for i := range f.Questions {
		options := optionsIn(f.Questions[i])
		for _, l := range lettersIn(f.Answers[i]) {
			for _, o := range options {
				if o.Letter == l && common(o.Text) == "" {
					im.criteria[plain(o.Text)] = f.Task
				}
			}
		}
	}
}

// Learned identifies what the importer knows.
func (im *Importer) Learned() (artifacts.Digest, error) {
	data, err := artifacts.Canonical(im.criteria)
	return artifacts.Sum(data), err
}

// Item makes an item of a file: the same as the one that the file was written from, if it was
// written here.
//
// Errors name what is not understood, never a case.
func (im *Importer) Item(f *OfficialFile) (Item, error) {
	path, stage, ok := placeOf(f)
	fail := func(format string, args ...any) (Item, error) {
		return Item{}, fmt.Errorf("cxreasonbench: a file of %s/%s/%s: %s", f.Task, f.Path, f.Stage, fmt.Sprintf(format, args...))
	}
	it := Item{Case: f.Case, Path: path, Stage: stage}
	if err := it.Task.UnmarshalText([]byte(f.Task)); err != nil || !ok || !it.Task.Diagnostic() {
		return fail("there is no such stage")
	}
	if len(f.Questions) == 0 || len(f.Questions) != len(f.Answers) || len(f.Questions) != len(f.Pictures) {
		return fail("%d questions, %d answers, pictures of %d", len(f.Questions), len(f.Answers), len(f.Pictures))
	}
	for i := range f.Questions {
		q, err := im.question(&it, f, i)
		if err != nil {
			return fail("question %d: %v", i+1, err)
		}
		it.Questions = append(it.Questions, q)
	}
	if err := it.Format.UnmarshalText([]byte(f.Format)); err != nil {
		it.Format = it.guessFormat()
	}
	if path != Path2 && it.Format.Rounds() != len(it.Questions) {
		return fail("%d questions in format %s", len(it.Questions), it.Format)
	}
	return it, nil
}

// guessFormat tells the format of a folder with a name of its own.
func (it *Item) guessFormat() Format {
	switch {
	case len(it.Questions) == 1 || it.Path == Path2:
		return FormatBasic
	case it.Stage == StageCriteria:
		return FormatTwoRound
	case len(it.Questions[0].Accepted) > 1:
		return FormatPartial
	}
	return FormatNoneIncluded
}

// placeOf reads the folders of a file.
func placeOf(f *OfficialFile) (Path, Stage, bool) {
	for _, p := range Paths() {
		for _, s := range Stages() {
			if p.Folder() == f.Path && StageFolder(p, s) == f.Stage && f.Stage != "" && (Key{Path: p, Stage: s}).Valid() {
				return p, s, true
			}
		}
	}
	return 0, 0, false
}

func (im *Importer) question(it *Item, f *OfficialFile, i int) (Question, error) {
	q := Question{Key: Key{Path: it.Path, Stage: it.Stage}, Text: f.Questions[i], Answer: f.Answers[i], Rule: AllOf}
	if i > 0 {
		q.Key.Round = i
	}
	if !q.Key.Valid() {
		return q, fmt.Errorf("the stage has one question")
	}
	kind := StructurePicture
	switch {
	case it.Stage == StageInit:
		kind = Radiograph
	case it.Stage == StageMeasurement:
		kind = AnnotatedPicture
	}
	for _, p := range f.Pictures[i] {
		q.Pictures = append(q.Pictures, Picture{kind, p})
	}
	if len(q.Pictures) != q.Key.Images() {
		return q, fmt.Errorf("%d pictures, want %d", len(q.Pictures), q.Key.Images())
	}
	q.Accepted = lettersIn(q.Answer)
	q.Options = optionsIn(q.Text)
	if it.Stage != StageCriteria && it.Stage != StageStructures {
		q.tidyLast()
	}
	if (it.Stage == StageInit || it.Stage == StageFinal) && len(q.Accepted) > 1 {
		q.Rule = OneOf
	}
	if len(q.Accepted) == 0 {
		return q, fmt.Errorf("the answer names no letter")
	}
	if len(q.Options) == 0 {
		if it.Stage == StageFinal && it.Path == Path2 {
			return q, nil // the released question of one task has lost them
		}
		return q, fmt.Errorf("no options are found in it")
	}
	for _, l := range q.Accepted {
		if _, ok := q.Option(l); !ok {
			return q, fmt.Errorf("the answer (%s) is none of its %d options", l, len(q.Options))
		}
	}
	shown := f.Pictures[i]
	if it.Path == Path2 && it.Stage == StageStructures {
		shown = f.Pictures[0] // all are asked about the pictures of the first
	}
	for k := range q.Options {
		means, err := im.means(it, q.Options[k].Text, k, shown)
		if err != nil {
			return q, fmt.Errorf("option (%s): %w", q.Options[k].Letter, err)
		}
		q.Options[k].Means = means
	}
	return q, nil
}

var optionMark = regexp.MustCompile(`\(([a-j])\)\s*`)

// optionsIn finds the options in a question: the longest run of letters from (a) on, the last
// of several. A text that an option quotes, like "(b) No", does not count.
func optionsIn(text string) []Option {
	marks := optionMark.FindAllStringSubmatchIndex(text, -1)
	var best [][]int
	for i := range marks {
		run := marks[i:i]
		for _, m := range marks[i:] {
			if text[m[2]:m[3]] != letter(len(run)) {
				break
			}
			run = append(run, m)
		}
		if len(run) > 0 && len(run) >= len(best) {
			best = run
		}
	}
	var options []Option
	for i, m := range best {
		end := len(text)
		if i+1 < len(best) {
			end = best[i+1][0]
		} else if n := strings.IndexByte(text[m[1]:], '\n'); n >= 0 {
			end = m[1] + n
		}
		options = append(options, Option{Letter: letter(i), Text: trimOption(text[m[1]:end])})
	}
	if len(options) < 2 {
		return nil
	}
	return options
}

// trimOption takes off what joins options.
func trimOption(text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ", \t\r\n")
	return strings.TrimRight(strings.TrimSuffix(text, "."), " ")
}

// tidyLast takes off a sentence that follows the last option in its line.
func (q *Question) tidyLast() {
	if len(q.Options) == 0 {
		return
	}
	o := &q.Options[len(q.Options)-1]
	if i := strings.Index(o.Text, ". "); i > 0 {
		o.Text = o.Text[:i]
	}
}

// lettersIn returns the letters that an answer names, in their order.
func lettersIn(answer string) []string {
	var letters []string
	for _, m := range optionMark.FindAllStringSubmatch(answer, -1) {
		if !slices.Contains(letters, m[1]) {
			letters = append(letters, m[1])
		}
	}
	return letters
}

// plain is a sentence without what differs between two copies of it.
func plain(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(trimOption(text)), " "))
}

// common returns the meaning of an option that says nothing about the picture; empty for others.
func common(text string) string {
	text = strings.ReplaceAll(plain(text), "’", "'")
	for _, c := range []struct{ start, means string }{
		{"i don't know", MeansUnknown}, {"i do not know", MeansUnknown},
		{"none of the above", MeansNone}, {"need new option", MeansNeedNew},
	} {
		if strings.HasPrefix(text, c.start) {
			return c.means
		}
	}
	return ""
}

// means reads what option k of a question says.
func (im *Importer) means(it *Item, text string, k int, shown []string) (string, error) {
	if m := common(text); m != "" {
		return m, nil
	}
	switch it.Stage {
	case StageInit, StageRefined, StageFinal:
		if k > 1 {
			return "", fmt.Errorf("a third option that is not %q", "I don't know")
		}
		return []string{MeansYes, MeansNo}[k], nil
	case StageCriteria:
		if t, ok := im.criteria[plain(text)]; ok {
			return "criterion:" + t, nil
		}
		return "criterion:unknown", nil
	case StageStructures:
		if k >= len(shown) {
			return "", fmt.Errorf("no picture belongs to it")
		}
		o, ok := OverlayAt(shown[k])
		if !ok || o.Structure == "" {
			return "", fmt.Errorf("its picture's path is not /<task>/<structure>/<case>.png")
		}
		return structureMeans(o), nil
	}
	return measureMeans(it.Task, text)
}
