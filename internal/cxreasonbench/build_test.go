package cxreasonbench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

// made returns n cases of a task that passed every task, with readings spread over what the
// options can say, in both views.
func made(task Task, n int) []Source {
	r := rand.New(rand.NewPCG(7, uint64(task)))
	var all []Overlay
	for _, t := range Tasks() {
		all = append(all, ownOverlays(t)...)
	}
	list := make([]Source, n)
	for i := range list {
		s := Source{Task: task, Case: fmt.Sprintf("%s-%03d", task, i), Radiograph: "p10/p10000001/s50000001/x.jpg", View: cxr.ViewPA, Overlays: all}
		if i%2 == 1 {
			s.View = cxr.ViewAP
		}
		row, _ := RowOf(task)
		spread := row.High - row.Low
		switch task {
		case chexstruct.DescendingAortaTortuous:
			spread = 0.003
		case chexstruct.AscendingAortaEnlargement:
			spread = 0.3
		}
		s.Reading.Number = row.Low + r.Float64()*spread
		s.Reading.Right, s.Reading.Left = r.Float64(), r.Float64()
		s.Reading.Rib = minRib + r.IntN(maxRib-minRib+1)
		s.Reading.Direction = Directions()[r.IntN(len(Directions()))]
		s.Reading.Parts = partsCombinations()[r.IntN(32)]
		list[i] = s
	}
	return list
}

func ids(list []Source) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.Case)
	}
	return out
}

// buildAll builds the whole benchmark: n cases of each task.
func buildAll(t testing.TB, rules Rules, seed uint64, n int) []Item {
	t.Helper()
	var items []Item
	for _, task := range Tasks() {
		sources := made(task, n)
		deal, err := DealFormats(rules, seed, task, ids(sources))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range sources {
			built, err := BuildItems(rules, seed, Prompts(), s, deal[i])
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, built...)
		}
	}
	return items
}

// TestCounts holds the paper's number of question-answer pairs, and the reference's numbers of
// files and questions in every folder.
func TestCounts(t *testing.T) {
	want := load[map[string]map[string]int](t, "qa/counts.json")
	for _, preset := range Presets() {
		items := buildAll(t, rulesOf(t, preset, nil), 1, 100)
		var tally Tally
		tally.Count(items...)
		if tally != (Tally{Path1: 8044, Path2: 3600, RePath1: 7344, Path2Asked: 4600, Files: 16300}) {
			t.Errorf("%s: %+v", preset, tally)
		}
		if tally.Pairs() != 18988 || tally.Questions() != 19988 {
			t.Errorf("%s: %d pairs, %d questions", preset, tally.Pairs(), tally.Questions())
		}
		files, questions := map[string]int{}, map[string]int{}
		for _, it := range items {
			folder := strings.Split(it.File(), "/")
			key := strings.Join(folder[1:5], "/")
			files[key]++
			questions[key] += len(it.Questions)
		}
		if d := cmp.Diff(want["files"], files); d != "" {
			t.Errorf("%s: files (-want +got):\n%s", preset, d)
		}
		if d := cmp.Diff(want["questions"], questions); d != "" {
			t.Errorf("%s: questions (-want +got):\n%s", preset, d)
		}
	}
}

// TestLetters holds that no letter tells the answer under the corrected preset, and that the
// released preset shows the leak: in Stage 1 one letter is always right.
func TestLetters(t *testing.T) {
	// critical is the chi-square value that chance exceeds with p = 0.001, by degrees of freedom.
	critical := map[int]float64{3: 16.27, 4: 18.47}
	type place struct {
		path   Path
		stage  Stage
		format Format
		round  int
		size   int
	}
	count := func(preset Preset) map[place]map[string]int {
		counts := map[place]map[string]int{}
		for _, it := range buildAll(t, rulesOf(t, preset, nil), 3, 100) {
			if it.Stage != StageCriteria && it.Stage != StageStructures && it.Task != chexstruct.TracheaDeviation {
				continue
			}
			for _, q := range it.Questions {
				right := slices.DeleteFunc(slices.Clone(q.Accepted), func(l string) bool {
					o, _ := q.Option(l)
					return o.Means == MeansNeedNew
				})
				if len(right) == 0 || it.Stage == StageInit || it.Stage == StageFinal {
					continue
				}
				k := place{it.Path, it.Stage, it.Format, q.Key.Round, 4}
				if it.Stage == StageMeasurement {
					k.size = 5
				}
				if counts[k] == nil {
					counts[k] = map[string]int{}
				}
				for _, l := range right {
					counts[k][l]++
				}
			}
		}
		return counts
	}
	for k, letters := range count(Corrected) {
		total := 0
		for _, n := range letters {
			total += n
		}
		expected, chi := float64(total)/float64(k.size), 0.0
		for i := range k.size {
			d := float64(letters[letter(i)]) - expected
			chi += d * d / expected
		}
		if chi > critical[k.size-1] {
			t.Errorf("%v: letters %v, chi-square %.1f", k, letters, chi)
		}
	}
	for k, letters := range count(AsReleased) {
		if k.stage == StageCriteria && k.format == FormatBasic && len(letters) != 1 {
			t.Errorf("released %v: letters %v, want one letter throughout", k, letters)
		}
	}
}

// TestBuildIndependent holds that a case's questions depend on nothing but the case: not on
// the order of its overlays, and under the corrected preset not on the seed's other cases.
func TestBuildIndependent(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	s := made(chexstruct.Inspiration, 1)[0]
	deal, err := DealFormats(rules, 5, s.Task, []string{s.Case, "other"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := BuildItems(rules, 5, Prompts(), s, deal[0])
	if err != nil {
		t.Fatal(err)
	}
	turned := s
	turned.Overlays = slices.Clone(s.Overlays)
	slices.Reverse(turned.Overlays)
	again, err := DealFormats(rules, 5, s.Task, []string{"other", s.Case})
	if err != nil {
		t.Fatal(err)
	}
	got, err := BuildItems(rules, 5, Prompts(), turned, again[1])
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("order of overlays and cases matters:\n%s", d)
	}
	other, err := BuildItems(rules, 6, Prompts(), s, deal[0])
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(want, other) {
		t.Error("another seed gives the same questions")
	}
}

// TestRangesGrid holds over every value a task may have, to the asked precision: five options
// or more, ascending, apart, and exactly one holds the value; merged ranges are never empty.
func TestRangesGrid(t *testing.T) {
	degenerate := map[Task]int{}
	for _, preset := range Presets() {
		rules := rulesOf(t, preset, nil)
		for _, row := range rows {
			step := 1.0
			for range row.ValueDecimals {
				step /= 10
			}
			for i := 0; ; i++ {
				v := RoundNumpy(row.Low+float64(i)*step, row.ValueDecimals)
				if v > row.High {
					break
				}
				list, holds := Ranges(rules, row, v)
				if len(list) < optionCount || holds < 0 || !list[holds].Contains(v) {
					t.Fatalf("%s %s %v: %v, %d", preset, row.Task, v, list, holds)
				}
				for j, r := range list {
					if r.Contains(v) != (j == holds) {
						t.Errorf("%s %s: %v lies in %v too", preset, row.Task, v, r)
					}
					if j > 0 && list[j-1].High.Value >= r.Low.Value {
						t.Errorf("%s %s %v: %v and %v overlap", preset, row.Task, v, list[j-1], r)
					}
					if r.Low.Value == r.High.Value {
						if preset == Corrected {
							t.Errorf("%s %s %v: %v holds one number", preset, row.Task, v, r)
						}
						// A range five steps away is in no window.
						if j-holds < optionCount && holds-j < optionCount {
							degenerate[row.Task]++
						}
					}
				}
			}
		}
	}
	// The reference counts eight such values for each task that has any.
	want := map[Task]int{chexstruct.Cardiomegaly: 8, chexstruct.CarinaAngle: 8, chexstruct.Rotation: 8, chexstruct.Projection: 8,
		chexstruct.AorticKnobEnlargement: 8, chexstruct.DescendingAortaEnlargement: 8}
	if d := cmp.Diff(want, degenerate); d != "" {
		t.Errorf("ranges of one number (-want +got):\n%s", d)
	}
}

// TestDiagnosesTable holds the reference answers against the published table, in whole units
// of the asked precision. Bounds are inclusive; between them both answers count.
func TestDiagnosesTable(t *testing.T) {
	type limits struct {
		task          Task
		view          cxr.ViewPosition
		scale, to     int
		secondOnly    int // up to here only the second answer
		firstOnly     int // from here only the first
		firstIsLarger bool
	}
	for _, l := range []limits{
		{chexstruct.Cardiomegaly, cxr.ViewPA, 100, 100, 48, 52, true},
		{chexstruct.Cardiomegaly, cxr.ViewAP, 100, 100, 53, 57, true},
		{chexstruct.MediastinalWidening, cxr.ViewPA, 100, 100, 23, 27, true},
		{chexstruct.MediastinalWidening, cxr.ViewAP, 100, 100, 31, 35, true},
		{chexstruct.AorticKnobEnlargement, cxr.ViewPA, 100, 1000, 239, 261, true},
		{chexstruct.DescendingAortaEnlargement, cxr.ViewPA, 100, 1000, 239, 261, true},
		{chexstruct.DescendingAortaTortuous, cxr.ViewPA, 10000, 100, 7, 11, true},
		{chexstruct.Rotation, cxr.ViewPA, 100, 100, 30, 51, false},
	} {
		for n := range l.to + 1 {
			first, second := Diagnoses(l.task, l.view, Reading{Number: float64(n) / float64(l.scale)})
			wantFirst, wantSecond := n > l.secondOnly, n < l.firstOnly
			if !l.firstIsLarger {
				wantFirst, wantSecond = wantSecond, wantFirst
			}
			if first != wantFirst || second != wantSecond {
				t.Errorf("%s %s %d/%d: got %v %v, want %v %v", l.task, l.view, n, l.scale, first, second, wantFirst, wantSecond)
			}
		}
	}
	for n := range 181 {
		first, second := Diagnoses(chexstruct.CarinaAngle, cxr.ViewPA, Reading{Number: float64(n)})
		if first != (n >= 30 && n <= 90) || second != (n < 40 || n > 80) {
			t.Errorf("carina %d: %v %v", n, first, second)
		}
	}
	for r := range 101 {
		for _, l := range []int{5, 19, 20, 40, 41, 95} {
			first, second := Diagnoses(chexstruct.Projection, cxr.ViewPA, Reading{Right: float64(r) / 100, Left: float64(l) / 100})
			pa, ap := r <= 19 && l <= 19, r >= 41 && l >= 41
			if first != !ap || second != !pa {
				t.Errorf("projection %d %d: %v %v", r, l, first, second)
			}
		}
	}
}

// TestToldEqualsScored holds that under the corrected preset every last question tells the
// thresholds that are scored, in both paths, and offers two options.
func TestToldEqualsScored(t *testing.T) {
	want := map[Task][]string{
		chexstruct.Cardiomegaly: {"0.55", "0.50"}, chexstruct.MediastinalWidening: {"0.33", "0.25"},
		chexstruct.CarinaAngle: {"40", "80"}, chexstruct.Rotation: {"0.4"}, chexstruct.Projection: {"0.3"},
		chexstruct.AorticKnobEnlargement: {"2.5"}, chexstruct.DescendingAortaEnlargement: {"2.5"},
		chexstruct.DescendingAortaTortuous: {"0.0009"}, chexstruct.Inspiration: {"9"},
	}
	for _, it := range buildAll(t, rulesOf(t, Corrected, nil), 1, 3) {
		if it.Stage != StageFinal {
			continue
		}
		q := it.Questions[0]
		if got := anyNumber.FindAllString(q.Text, -1); !slices.Equal(got, want[it.Task]) {
			t.Errorf("%s tells %v, scored are %v", it.File(), got, want[it.Task])
		}
		if len(q.Options) != 2 || viewTold.MatchString(q.Text) != tellsView(it.Task) {
			t.Errorf("%s: %q", it.File(), q.Text)
		}
	}
}

// TestQuestionsWhole walks every question of both presets: no placeholder is left, nothing is
// empty, letters run on, the right options exist, and pictures are what the state machine expects.
func TestQuestionsWhole(t *testing.T) {
	leftOver := regexp.MustCompile(`[{}]|\.\.|  |\n\n`)
	for _, preset := range Presets() {
		for _, it := range buildAll(t, rulesOf(t, preset, nil), 9, 12) {
			for _, q := range it.Questions {
				if !q.Key.Valid() || len(q.Pictures) != q.Key.Images() {
					t.Errorf("%s: %s has %d pictures, want %d", it.File(), q.Key, len(q.Pictures), q.Key.Images())
				}
				if m := leftOver.FindString(q.Text); m != "" || q.Text == "" || q.Answer == "" {
					t.Errorf("%s: %q holds %q, answer %q", it.File(), q.Text, m, q.Answer)
				}
				bare := preset == AsReleased && it.Task == chexstruct.Cardiomegaly && it.Path == Path2 && it.Stage == StageFinal
				if bare {
					continue
				}
				if !q.Right(q.Accepted) && q.Rule == AllOf || q.Rule == OneOf && !q.Right(q.Accepted[:1]) {
					t.Errorf("%s: the reference %v is not right", it.File(), q.Accepted)
				}
				if q.Rule == OneOf && q.Right(q.Accepted) {
					t.Errorf("%s: both options together are right", it.File())
				}
				for i, o := range q.Options {
					if o.Letter != letter(i) || o.Text == "" || o.Means == "" || !strings.Contains(q.Text, "\n("+o.Letter+") "+o.Text) {
						t.Errorf("%s: option %+v of %q", it.File(), o, q.Text)
					}
				}
				for _, l := range q.Accepted {
					if o, ok := q.Option(l); !ok || !strings.Contains(q.Answer, "("+l+") "+o.Text) {
						t.Errorf("%s: letter %s of answer %q", it.File(), l, q.Answer)
					}
				}
			}
		}
	}
}

// TestIneligible holds that a case that the questions cannot be built for is refused with its
// reason, before anything is drawn.
func TestIneligible(t *testing.T) {
	corrected := rulesOf(t, Corrected, nil)
	for _, c := range []struct {
		name   string
		task   Task
		change func(s *Source)
		want   Ineligibility
	}{
		{"rib 12", chexstruct.Inspiration, func(s *Source) { s.Reading.Rib = 12 }, OutsideLimits},
		{"rib 4", chexstruct.Inspiration, func(s *Source) { s.Reading.Rib = 4 }, OutsideLimits},
		{"one angle", chexstruct.Inclusion, func(s *Source) { s.Reading.Parts = [6]bool{true, true, true, true, true, false} }, OneSidedAngle},
		{"direction", chexstruct.TracheaDeviation, func(s *Source) { s.Reading.Direction = "up" }, UnknownDirection},
		{"not a number", chexstruct.CarinaAngle, func(s *Source) { s.Reading.Number = nan() }, NotMeasured},
		{"below the ranges", chexstruct.Cardiomegaly, func(s *Source) { s.Reading.Number = 0.29 }, OutsideLimits},
		{"above the ranges", chexstruct.AorticKnobEnlargement, func(s *Source) { s.Reading.Number = 10.2 }, OutsideLimits},
		{"no view", chexstruct.MediastinalWidening, func(s *Source) { s.View = cxr.ViewLateral }, UnknownView},
		{"no own picture", chexstruct.Rotation, func(s *Source) { s.Overlays = s.Overlays[2:] }, MissingOverlay},
		{"one task only", chexstruct.Rotation, func(s *Source) { s.Overlays = ownOverlays(s.Task) }, FewDistractors},
	} {
		s := made(c.task, 1)[0]
		s.Overlays = slices.Clone(s.Overlays)
		if err := s.Check(corrected); err != nil {
			t.Errorf("%s: %v before the change", c.name, err)
		}
		c.change(&s)
		var got *IneligibleError
		if err := s.Check(corrected); !errors.As(err, &got) || got.Reason != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestSample holds the draw: independent of order, without the ineligible, balanced where
// asked, filled up where a class is short.
func TestSample(t *testing.T) {
	rules := rulesOf(t, Corrected, nil)
	pool := made(chexstruct.Inspiration, 60)
	for i := range pool {
		pool[i].Label = chexstruct.LabelPoor
		if i < 12 {
			pool[i].Label = chexstruct.LabelGood
		}
	}
	pool[59].Reading.Rib = 12
	good := func(list []Source) (n int) {
		for _, s := range list {
			if s.Label == chexstruct.LabelGood {
				n++
			}
		}
		return n
	}
	draw := func(mode SampleMode, list []Source, n int) []Source {
		drawn, left, err := Sample(rules, mode, 4, chexstruct.Inspiration, list, n)
		if err != nil || len(left) != 1 || left[0].Case != pool[59].Case {
			t.Fatalf("left %v, %v", left, err)
		}
		return drawn
	}
	turned := slices.Clone(pool)
	slices.Reverse(turned)
	for _, mode := range []SampleMode{SampleRandom, SampleBalanced} {
		if a, b := draw(mode, pool, 21), draw(mode, turned, 21); !slices.Equal(ids(a), ids(b)) {
			t.Errorf("%s: the order of candidates matters", mode)
		}
	}
	if n := good(draw(SampleBalanced, pool, 21)); n != 11 {
		t.Errorf("balanced: %d of 21 are good, want 11", n)
	}
	if d := draw(SampleBalanced, pool, 40); good(d) != 12 || len(d) != 40 {
		t.Errorf("balanced: %d cases, %d good; want 40, 12", len(d), good(d))
	}
	if d := draw(SampleRandom, pool, 100); len(d) != 59 {
		t.Errorf("%d cases, want all 59", len(d))
	}
}

// TestLargestRemainder holds quotas countable by hand.
func TestLargestRemainder(t *testing.T) {
	for _, c := range []struct {
		n            int
		shares, want []int
	}{
		{100, []int{34, 33, 33}, []int{34, 33, 33}},
		{10, []int{34, 33, 33}, []int{4, 3, 3}},
		{2, []int{34, 33, 33}, []int{1, 1, 0}},
		{7, []int{50, 50}, []int{4, 3}},
		{3, nil, []int{}},
		{3, []int{0, 0}, []int{0, 0}},
	} {
		if got := LargestRemainder(c.n, c.shares); !slices.Equal(got, c.want) {
			t.Errorf("%d over %v: got %v, want %v", c.n, c.shares, got, c.want)
		}
	}
	sum := 0
	for _, n := range Quotas(50) {
		sum += n
	}
	if sum != 50 {
		t.Errorf("quotas sum to %d", sum)
	}
}

// TestPackPinned holds the digest of the prompt pack: a change of any text must raise the
// version and be pinned here again.
func TestPackPinned(t *testing.T) {
	const version, digest = 2, "sha256:c3bb2e4d14dd418be2dbe11f821093137390186f200470b029c0b767b42b90c4"
	if p := Prompts(); p.Version() != version || p.Digest().String() != digest {
		t.Errorf("pack %d is %s; if the texts changed on purpose, raise the version and pin it", p.Version(), p.Digest())
	}
	data, err := os.ReadFile("prompts/pack.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, from, to string }{
		{"a task without a question", "question: \"Is the trachea", "question: \"\" #"},
		{"an unknown text", "system: |-", "sistem: |-"},
		{"a refined criterion too many", "told_released: \"A ratio above", "refined: x\n    told_released: \"A ratio above"},
		{"a structure without a name", "  carina: carina\n", ""},
		{"a judge without instruction", "    criteria: |-", "    kriteria: |-"},
		{"a verdict that is not offered", "Partial (X) - ", "Half (X) - "},
		{"a judge without lead", "  lead: |-", "  lead: \"\"\n  lid: |-"},
	} {
		changed := strings.Replace(string(data), c.from, c.to, 1)
		if changed == string(data) {
			t.Fatalf("%s: nothing to change", c.name)
		}
		if _, err := ParsePack([]byte(changed)); err == nil {
			t.Errorf("%s is accepted", c.name)
		}
	}
}

// TestJudgePrompts holds that every prompt is an instruction of its own that offers its verdicts, and
// that only those which compare answers tell how to find the choice.
func TestJudgePrompts(t *testing.T) {
	seen := map[string]JudgePrompt{}
	for _, p := range JudgePrompts() {
		text := Prompts().Judge(p)
		if other, twice := seen[text]; twice {
			t.Errorf("%s has the text of %s", p, other)
		}
		seen[text] = p
		for _, w := range p.Words() {
			if _, ok := ReadVerdict(rulesOf(t, Corrected, nil), p, w); !ok || !strings.Contains(text, "\n"+w) {
				t.Errorf("%s: verdict %s is not offered or not read", p, w)
			}
		}
		if compares := len(p.Words()) > 0; compares != strings.Contains(text, "FINAL ANSWER:") {
			t.Errorf("%s: compares answers is %t, and it says\n%s", p, compares, text)
		}
	}
	if Prompts().Judge(0) != "" {
		t.Error("no prompt has a text")
	}
}
