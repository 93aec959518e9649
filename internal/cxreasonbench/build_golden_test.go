package cxreasonbench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

// loadLines reads a reference file with one JSON value a line.
func loadLines[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var list []T
	scan := bufio.NewScanner(bytes.NewReader(data))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var v T
		if err := json.Unmarshal(scan.Bytes(), &v); err != nil {
			t.Fatalf("%s line %d: %v", name, len(list)+1, err)
		}
		list = append(list, v)
	}
	return list
}

type goldenCase struct {
	Input struct {
		Task     Task                `json:"task"`
		Index    int                 `json:"index"`
		ID       string              `json:"id"`
		Subject  int                 `json:"subject_id"`
		Study    int                 `json:"study_id"`
		View     cxr.ViewPosition    `json:"view"`
		Value    json.RawMessage     `json:"value"`
		Overlays map[string][]string `json:"overlays"`
	} `json:"input"`
	Path1 []string     `json:"distractors_path1"`
	Path2 []string     `json:"distractors_path2"`
	Files []goldenFile `json:"files"`
}

type goldenFile struct {
	File      string            `json:"file"`
	Format    string            `json:"format"`
	Types     map[string]string `json:"types"`
	Questions int               `json:"n_questions"`
	Options   *int              `json:"n_options"`
	Accepted  []string          `json:"accepted"`
	Answer    *string           `json:"answer"`
	View      *string           `json:"view_told"`
	Numbers   []string          `json:"thresholds_in_text"`
	Value     *string           `json:"value_report"`
	ImgPath   []string          `json:"img_path"`
	Rounds    []struct {
		Options []string `json:"options"`
		Images  []string `json:"images"`
		N       int      `json:"n_options"`
		Last    string   `json:"last"`
		Correct []string `json:"correct"`
	} `json:"rounds"`
	Images []string `json:"images"`
	Asked  []struct {
		Structure string   `json:"structure"`
		Correct   []string `json:"correct"`
	} `json:"asked"`
	Last        string `json:"last"`
	Measurement *struct {
		Letters []string          `json:"letters"`
		Options []json.RawMessage `json:"options"`
		Correct []string          `json:"correct"`
	} `json:"measurement"`
}

func goldenReading(t testing.TB, task Task, raw json.RawMessage) Reading {
	t.Helper()
	var r Reading
	read := func(v any) {
		if err := json.Unmarshal(raw, v); err != nil {
			t.Fatalf("%s: value %s: %v", task, raw, err)
		}
	}
	switch task {
	case chexstruct.Projection:
		var sides [2]float64
		read(&sides)
		r.Right, r.Left = sides[0], sides[1]
	case chexstruct.Inclusion:
		var parts [3][2]int
		read(&parts)
		for i := range r.Parts {
			r.Parts[i] = parts[i/2][i%2] == 1
		}
	case chexstruct.Inspiration:
		read(&r.Rib)
	case chexstruct.TracheaDeviation:
		read(&r.Direction)
	default:
		if string(raw) == `"NaN"` {
			r.Number = nan()
			break
		}
		read(&r.Number)
	}
	return r
}

func goldenSource(t testing.TB, c *goldenCase) Source {
	in := c.Input
	s := Source{Task: in.Task, Case: in.ID, View: in.View, Reading: goldenReading(t, in.Task, in.Value)}
	subject := fmt.Sprint(in.Subject)
	s.Radiograph = fmt.Sprintf("p%s/p%s/s%d/%s.jpg", subject[:2], subject, in.Study, in.ID)
	for name, structures := range in.Overlays {
		task, ok := chexstruct.ParseTask(name)
		if !ok {
			t.Fatalf("task %q", name)
		}
		for _, structure := range structures {
			s.Overlays = append(s.Overlays, Overlay{task, structure})
		}
	}
	return s
}

// goldenFormats deals by position for a list of a hundred cases with the case in its place.
func goldenFormats(t testing.TB, c *goldenCase) CaseFormats {
	t.Helper()
	list := make([]string, officialCases)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	deal, err := DealFormats(rulesOf(t, AsReleased, nil), 1, c.Input.Task, list)
	if err != nil {
		t.Fatal(err)
	}
	return deal[c.Input.Index]
}

func paths(list []Overlay, id string) []string {
	var p []string
	for _, o := range list {
		p = append(p, o.Path(id))
	}
	return p
}

// TestBuildGolden holds the structure of every question file of the reference cases: what is
// fixed must be equal, what is drawn must be legal.
func TestBuildGolden(t *testing.T) {
	rules := rulesOf(t, AsReleased, nil)
	cases := loadLines[goldenCase](t, "qa/cases.jsonl")
	if len(cases) == 0 {
		t.Fatal("no reference cases")
	}
	for i := range cases {
		c := &cases[i]
		s := goldenSource(t, c)
		for path, want := range map[Path][]string{Path1: c.Path1, RePath1: c.Path1, Path2: c.Path2} {
			slices.Sort(want)
			if d := cmp.Diff(want, paths(s.Distractors(rules, path), s.Case)); d != "" {
				t.Errorf("%s: distractors of %s (-want +got):\n%s", s.Case, path, d)
			}
		}
		items, err := BuildItems(rules, 42, Prompts(), s, goldenFormats(t, c))
		if err != nil {
			t.Errorf("%s: %v", s.Case, err)
			continue
		}
		byFile := map[string]*Item{}
		for i := range items {
			byFile[items[i].File()] = &items[i]
		}
		if len(byFile) != len(c.Files) || len(items) != len(c.Files) {
			t.Errorf("%s: %d items in %d files, want %d", s.Case, len(items), len(byFile), len(c.Files))
		}
		for _, f := range c.Files {
			it, ok := byFile[f.File]
			if !ok {
				t.Errorf("%s is missing", f.File)
				continue
			}
			checkFile(t, c, f, it)
		}
	}
}

// officialText is what the question file of an item holds.
type officialText struct {
	questions []string
	keys      map[string]string
	imgPath   []string
	option    string
}

func readOfficial(t testing.TB, it *Item) officialText {
	t.Helper()
	data, err := it.Official()
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	o := officialText{keys: map[string]string{}}
	for k, v := range raw {
		switch v := v.(type) {
		case string:
			o.keys[k] = "text"
		case []any:
			o.keys[k] = "list"
			if _, nested := v[0].([]any); nested {
				o.keys[k] = "list[list]"
			}
		}
	}
	switch q := raw["question"].(type) {
	case string:
		o.questions = []string{q}
	case []any:
		for _, s := range q {
			o.questions = append(o.questions, s.(string))
		}
	}
	if o.keys["img_path"] == "list" {
		for _, p := range raw["img_path"].([]any) {
			o.imgPath = append(o.imgPath, p.(string))
		}
	}
	o.option, _ = raw["option"].(string)
	return o
}

var (
	optionLine = regexp.MustCompile(`(?m)^\(([a-j])\) `)
	anyNumber  = regexp.MustCompile(`\d+(?:\.\d+)?`)
	viewTold   = regexp.MustCompile(`taken in (PA|AP) view`)
)

func checkFile(t *testing.T, c *goldenCase, f goldenFile, it *Item) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s", f.File, fmt.Sprintf(format, args...))
	}
	o := readOfficial(t, it)
	if d := cmp.Diff(f.Types, o.keys); d != "" {
		fail("key types (-want +got):\n%s", d)
	}
	if it.Format.String() != f.Format || len(it.Questions) != f.Questions || len(o.questions) != f.Questions {
		fail("format %s with %d questions, want %s with %d", it.Format, len(it.Questions), f.Format, f.Questions)
	}
	for i, q := range it.Questions {
		if n := len(optionLine.FindAllString(o.questions[i], -1)); n != len(q.Options) {
			fail("question %d writes %d options and has %d", i, n, len(q.Options))
		}
		for i, o := range q.Options {
			if o.Letter != letter(i) {
				fail("option %d has letter %s", i, o.Letter)
			}
		}
	}
	switch q := it.Questions[0]; {
	case it.Stage == StageCriteria:
		checkCriteria(t, c, f, it)
	case it.Stage == StageStructures && it.Path == Path2:
		checkGuided(t, c, f, it)
	case it.Stage == StageStructures:
		checkStructures(t, c, f, it)
	case it.Stage == StageMeasurement:
		checkMeasured(t, f, it)
		if d := cmp.Diff(f.ImgPath, o.imgPath); d != "" {
			fail("img_path (-want +got):\n%s", d)
		}
		if it.Path != Path2 && !strings.HasSuffix(o.option, q.Options[len(q.Options)-1].Text+", ") {
			fail("option is %q", o.option)
		}
	default:
		if len(q.Options) != *f.Options || !slices.Equal(q.Accepted, f.Accepted) {
			fail("%d options, accepted %v; want %d, %v", len(q.Options), q.Accepted, *f.Options, f.Accepted)
		}
		if f.Answer != nil && q.Answer != *f.Answer {
			fail("answer %q, want %q", q.Answer, *f.Answer)
		}
		if it.Stage == StageRefined {
			break
		}
		if len(f.Accepted) > 1 && q.Rule != OneOf {
			fail("%s of %v", q.Rule, q.Accepted)
		}
		if d := cmp.Diff(f.ImgPath, o.imgPath); d != "" {
			fail("img_path (-want +got):\n%s", d)
		}
		checkTold(t, f, q.Text)
	}
}

// checkTold checks what a diagnostic question tells: the view, the thresholds in order, and
// the form of the value.
func checkTold(t *testing.T, f goldenFile, text string) {
	t.Helper()
	var view, value *string
	if m := viewTold.FindStringSubmatch(text); m != nil {
		view = &m[1]
	}
	for form, mark := range map[string]string{"right_left": "Value: Right - [Value], Left - [Value]", "single": "Value: [Value]"} {
		if strings.Contains(text, mark) {
			value = &form
		}
	}
	if d := cmp.Diff(f.View, view); d != "" {
		t.Errorf("%s: view told (-want +got):\n%s", f.File, d)
	}
	if d := cmp.Diff(f.Value, value); d != "" {
		t.Errorf("%s: value asked (-want +got):\n%s", f.File, d)
	}
	if numbers := append([]string{}, anyNumber.FindAllString(text, -1)...); !slices.Equal(numbers, f.Numbers) {
		t.Errorf("%s: numbers told %v, want %v", f.File, numbers, f.Numbers)
	}
}

func meanings(q Question) []string {
	var list []string
	for _, o := range q.Options {
		list = append(list, o.Means)
	}
	return list
}

func checkCriteria(t *testing.T, c *goldenCase, f goldenFile, it *Item) {
	t.Helper()
	seen := map[string]bool{}
	for i, q := range it.Questions {
		want := f.Rounds[i]
		m := meanings(q)
		if len(m) != len(want.Options) || m[len(m)-1] != want.Options[len(want.Options)-1] {
			t.Errorf("%s: round %d offers %v, want as many as, and the last of, %v", f.File, i, m, want.Options)
		}
		target := "criterion:" + c.Input.Task.String()
		if slices.Contains(m, target) != slices.Contains(want.Options, target) {
			t.Errorf("%s: round %d: the right criterion is in the wrong round", f.File, i)
		}
		for _, x := range m[:len(m)-1] {
			if seen[x] {
				t.Errorf("%s: %s is offered twice", f.File, x)
			}
			seen[x] = true
			if _, ok := chexstruct.ParseTask(strings.TrimPrefix(x, "criterion:")); !ok {
				t.Errorf("%s: option %q", f.File, x)
			}
		}
		checkMeans(t, f.File, q, rightMeans(want.Options, want.Correct))
	}
}

// rightMeans are the meanings of the right letters of a reference question.
func rightMeans(options, letters []string) []string {
	var list []string
	for _, l := range letters {
		list = append(list, options[l[0]-'a'])
	}
	return list
}

// checkMeans checks that the accepted letters mean exactly what they should.
func checkMeans(t *testing.T, file string, q Question, want []string) {
	t.Helper()
	var got []string
	for _, l := range q.Accepted {
		o, _ := q.Option(l)
		got = append(got, o.Means)
	}
	if !slices.IsSorted(q.Accepted) {
		t.Errorf("%s: letters %v are out of order", file, q.Accepted)
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); d != "" {
		t.Errorf("%s: right options (-want +got):\n%s", file, d)
	}
}

// structureOf is the meaning of a picture path.
func structureOf(path string) string { return "structure:" + strings.Split(path, "/")[2] }

func checkStructures(t *testing.T, c *goldenCase, f goldenFile, it *Item) {
	t.Helper()
	seen := map[string]bool{}
	for i, q := range it.Questions {
		want := f.Rounds[i]
		if len(q.Options) != want.N || meanings(q)[want.N-1] != want.Last {
			t.Errorf("%s: round %d offers %v, want %d, the last %s", f.File, i, meanings(q), want.N, want.Last)
		}
		var means []string
		for _, p := range want.Images {
			means = append(means, structureOf(p))
		}
		checkMeans(t, f.File, q, rightMeans(append(means, want.Last), want.Correct))
		checkPictures(t, f.File, c, c.Path1, q, seen)
	}
}

func checkPictures(t *testing.T, file string, c *goldenCase, pool []string, q Question, seen map[string]bool) {
	t.Helper()
	if len(q.Pictures) != pictureCount {
		t.Errorf("%s: %d pictures", file, len(q.Pictures))
	}
	own := "/" + c.Input.Task.String() + "/"
	for i, p := range q.Pictures {
		if seen[p.Path] {
			t.Errorf("%s: %s is shown twice", file, p.Path)
		}
		seen[p.Path] = true
		if !slices.Contains(pool, p.Path) && !strings.HasPrefix(p.Path, own) {
			t.Errorf("%s: %s is no legal picture", file, p.Path)
		}
		if q.Options[i].Means != structureOf(p.Path) {
			t.Errorf("%s: option %d means %s, the picture is %s", file, i, q.Options[i].Means, p.Path)
		}
	}
}

func checkGuided(t *testing.T, c *goldenCase, f goldenFile, it *Item) {
	t.Helper()
	checkPictures(t, f.File, c, c.Path2, it.Questions[0], map[string]bool{})
	var want, got []string
	for _, a := range f.Asked {
		want = append(want, a.Structure)
	}
	last := -1
	for _, q := range it.Questions {
		m := meanings(q)
		if m[len(m)-1] != f.Last || len(m) != optionCount || len(q.Accepted) != 1 {
			t.Errorf("%s: offers %v, accepts %v", f.File, m, q.Accepted)
		}
		o, _ := q.Option(q.Accepted[0])
		name := strings.TrimPrefix(o.Means, "structure:")
		got = append(got, name)
		if !strings.Contains(q.Text, Prompts().StructureName(name)+"?") {
			t.Errorf("%s: %q does not ask for %s", f.File, q.Text, name)
		}
		if at := slices.Index(m, o.Means); at <= last {
			t.Errorf("%s: not asked in picture order", f.File)
		} else {
			last = at
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("%s: asked for %v, want %v", f.File, got, want)
	}
}

// goldenMeans is the meaning of a reference option of a measurement stage.
func goldenMeans(t testing.TB, task Task, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case float64:
		return fmt.Sprintf("rib:%v", v)
	case string:
		if task == chexstruct.TracheaDeviation {
			return "direction:" + v
		}
		return v
	case []any:
		switch len(v) {
		case 2:
			return fmt.Sprintf("range:%s..%s", v...)
		case 3:
			return fmt.Sprintf("%s:%s..%s", v...)
		}
		text := "parts:"
		for _, bit := range v {
			text += fmt.Sprint(bit)
		}
		return text
	}
	t.Fatalf("option %s", raw)
	return ""
}

func checkMeasured(t *testing.T, f goldenFile, it *Item) {
	t.Helper()
	q := it.Questions[0]
	if len(q.Options) != len(f.Measurement.Letters) {
		t.Errorf("%s: %d options, want %d", f.File, len(q.Options), len(f.Measurement.Letters))
	}
	var want []string
	for _, l := range f.Measurement.Correct {
		want = append(want, goldenMeans(t, it.Task, f.Measurement.Options[l[0]-'a']))
	}
	checkMeans(t, f.File, q, want)
	// Letters apart, the reference answer is the reference's.
	bare := func(s string) string { return regexp.MustCompile(`\([a-j]\) `).ReplaceAllString(s, "") }
	if bare(q.Answer) != bare(*f.Answer) {
		t.Errorf("%s: answer %q, want %q", f.File, q.Answer, *f.Answer)
	}
	seen := map[string]bool{}
	for _, m := range meanings(q) {
		if seen[m] {
			t.Errorf("%s: %s is offered twice", f.File, m)
		}
		seen[m] = true
	}
}
