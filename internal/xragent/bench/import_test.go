package bench

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// files is a fixture in memory.
type files fstest.MapFS

func (f files) WriteFile(name string, data []byte) error {
	if _, twice := f[name]; twice {
		return errors.New(name + " was written twice")
	}
	f[name] = &fstest.MapFile{Data: data}
	return nil
}

func (f files) fs() fs.FS { return fstest.MapFS(f) }

// full are the three benchmarks at full size, drawn once for all tests.
var full = func() func(t *testing.T, b Benchmark) files {
	made := map[Benchmark]files{}
	return func(t *testing.T, b Benchmark) files {
		t.Helper()
		if made[b] == nil {
			f := files{}
			if err := Fixture(b, FixtureOptions{Seed: 7, Long: 160}, f); err != nil {
				t.Fatal(err)
			}
			made[b] = f
		}
		return maps.Clone(made[b])
	}
}()

// TestFullSize: each fixture imports with every published count checked.
//
// Numbers: the paper's App. B.1 and B.2; the groups are the only numbers that give the columns.
func TestFullSize(t *testing.T) {
	want := map[Benchmark]map[string]int{
		ChestAgentBench: {"total": 2500, "cases": 675, "detection": 972, "classification": 1517, "localization": 983, "comparison": 1026,
			"relationship": 997, "diagnosis": 1024, "characterization": 981},
		CheXbench: {"total": 618, "openi": 380, "rad_restruct": 115, "slake": 123, "pictures_openi": 363, "pictures_rad_restruct": 94, "pictures_openi_or_rad_restruct": 452},
		SLAKE:     {"total": 114},
	}
	for _, b := range Benchmarks() {
		set, err := Import(b, full(t, b).fs(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, c := range set.Report.Counted {
			got[c.What] = c.N
		}
		if !maps.Equal(got, want[b]) {
			t.Errorf("%s: %v, want %v", b, got, want[b])
		}
		for i := range set.Items {
			if err := set.Items[i].Validate(); err != nil {
				t.Error(err)
			}
			if of, ok := Of(set.Items[i].ID); !ok || of != b {
				t.Errorf("%s belongs to %s", set.Items[i].ID, of)
			}
		}
	}
	set, err := Import(ChestAgentBench, full(t, ChestAgentBench).fs(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, g := range set.Report.Groups {
		sum += g.N
	}
	if len(set.Report.Groups) != 5 || sum != 2500 {
		t.Errorf("groups %v", set.Report.Groups)
	}
}

// TestColumnSums: every question of ChestAgentBench counts in three columns, of CheXbench in one,
// and all of them in the benchmark as a whole.
func TestColumnSums(t *testing.T) {
	for b, per := range map[Benchmark]int{ChestAgentBench: 3, CheXbench: 1, SLAKE: 0} {
		set, err := Import(b, full(t, b).fs(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		columns := b.Columns()
		for i := range set.Items {
			n := 0
			for _, c := range columns[1:] {
				if c.Counts(&set.Items[i]) {
					n++
				}
			}
			if n != per {
				t.Fatalf("%s counts in %d columns, want %d", set.Items[i].ID, n, per)
			}
			if whole := columns[0].Counts(&set.Items[i]); whole == columns[0].Macro {
				t.Fatalf("%s counts in %s: %v", set.Items[i].ID, columns[0].Name, whole)
			}
		}
	}
}

// TestFixtureIsStable: equal seeds give equal bytes, another seed others.
func TestFixtureIsStable(t *testing.T) {
	make := func(seed uint64) files {
		f := files{}
		if err := Fixture(CheXbench, FixtureOptions{Seed: seed, Questions: 40, Long: 160}, f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b, other := make(3), make(3), make(4)
	if !slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))) {
		t.Error("other files")
	}
	for name := range a {
		if !bytes.Equal(a[name].Data, b[name].Data) {
			t.Errorf("%s differs", name)
		}
	}
	if bytes.Equal(a[chexQuestions].Data, other[chexQuestions].Data) {
		t.Error("the seed changes nothing")
	}
	if _, err := Import(CheXbench, a.fs(), Options{Counts: CountsAny}); err != nil {
		t.Error(err)
	}
}

// edit changes one file; a change that does not apply fails the test.
func edit(t *testing.T, f files, name, old, new string) {
	t.Helper()
	data := string(f[name].Data)
	changed := strings.Replace(data, old, new, 1)
	if changed == data {
		t.Fatalf("%s lacks %q", name, old)
	}
	f[name] = &fstest.MapFile{Data: []byte(changed)}
}

func drop(name string) func(*testing.T, files) {
	return func(t *testing.T, f files) {
		if f[name] == nil {
			t.Fatalf("no %s", name)
		}
		delete(f, name)
	}
}

func change(name, old, new string) func(*testing.T, files) {
	return func(t *testing.T, f files) { edit(t, f, name, old, new) }
}

// without drops the first line of a file of lines.
func without(name string) func(*testing.T, files) {
	return func(t *testing.T, f files) {
		_, rest, _ := strings.Cut(string(f[name].Data), "\n")
		f[name] = &fstest.MapFile{Data: []byte(rest)}
	}
}

// TestEveryCodeIsReached: each thing that can be wrong is refused with its own code, and with file,
// row, field and a way out.
func TestEveryCodeIsReached(t *testing.T) {
	seen := map[Code]bool{}
	for _, c := range []struct {
		name string
		b    Benchmark
		do   func(*testing.T, files)
		code Code
		want string
	}{
		{"no questions", ChestAgentBench, drop(cabQuestions), FileMissing, "metadata.jsonl: file_missing"},
		{"no JSON", ChestAgentBench, change(cabQuestions, "{", "["), FileMalformed, "metadata.jsonl:1: file_malformed"},
		{"no answer", ChestAgentBench, change(cabQuestions, `"answer":`, `"reply":`), FieldMissing, "metadata.jsonl:1: answer: field_missing"},
		{"a number as images", ChestAgentBench, change(cabQuestions, `"images":[`, `"images":[7,`), FieldType, "metadata.jsonl:1: images: field_type"},
		{"path that leads out", ChestAgentBench, change(cabQuestions, `"images":["figures/`, `"images":["../../`), FieldType, "is no path below the release"},
		{"five options", ChestAgentBench, change(cabQuestions, `\nF) `, ` and `), OptionsWrong, `metadata.jsonl:1: question: options_wrong: options marked "ABCDE", want ABCDEF`},
		{"options out of order", ChestAgentBench, change(cabQuestions, `\nB) `, `\nC) `), OptionsWrong, `marked "ACCDEF"`},
		{"key G", ChestAgentBench, change(cabQuestions, `"answer":"`, `"answer":"G) `), KeyWrong, "metadata.jsonl:1: answer: key_wrong"},
		{"key that is a word", ChestAgentBench, change(cabQuestions, `"answer":"`, `"answer":"Answer `), KeyWrong, "does not begin with a letter"},
		{"three labels", ChestAgentBench, change(cabQuestions, `"categories":"reasoning,`, `"categories":"`), LabelsWrong, "metadata.jsonl:1: categories: labels_wrong"},
		{"label twice", ChestAgentBench, change(cabQuestions, `"categories":"reasoning,`, `"categories":"reasoning,reasoning,`), LabelsWrong, "5 labels"},
		{"picture gone", ChestAgentBench, drop("figures/1000/figure_1.jpg"), PictureMissing, "figures/1000/figure_1.jpg is not there"},
		{"no picture", ChestAgentBench, change(cabQuestions, `"images":["figures/1000/figure_1.jpg"]`, `"images":[]`), PictureMissing, "names no picture"},
		{"one question less", ChestAgentBench, without(cabQuestions), TotalWrong, "total: total_wrong: 2499 questions, 2500 were published"},
		{"a question twice", ChestAgentBench, change(cabQuestions, `"question_id":"1001_0"`, `"question_id":"1000_0"`), DuplicateID, "metadata.jsonl:2: duplicate_id"},
		{"no task", CheXbench, change(chexQuestions, "Fine-Grained Reasoning", "Fine Art"), FieldMissing, "Fine-Grained Reasoning: field_missing"},
		{"three options", CheXbench, change(chexQuestions, `"option_2":NaN`, `"option_2":"Both"`), OptionsWrong, "3 options, want two"},
		{"key 2", CheXbench, change(chexQuestions, `"answer":1`, `"answer":2`), KeyWrong, "option 2 of 2"},
		{"other source", CheXbench, change(chexQuestions, `"data_source":"SLAKE"`, `"data_source":"VQA-RAD"`), SourceUnknown, "data_source: source_unknown"},
		{"OpenI in the other task", CheXbench, change(chexQuestions, `"data_source":"SLAKE"`, `"data_source":"OpenI"`), SourceUnknown, "rad_restruct, slake"},
		{"one picture less", CheXbench, change(chexQuestions, "CXR20_1_IM-0020-1001.png", "CXR19_1_IM-0019-1001.png"), PicturesWrong, "362 different pictures, 363 were published"},
		{"another source of one", CheXbench, change(chexQuestions, `"data_source":"SLAKE"`, `"data_source":"Rad-ReStruct"`), PictureMissing, "names no picture of rad_restruct"},
		{"not a list", SLAKE, func(_ *testing.T, f files) { f[slakeQuestions] = &fstest.MapFile{Data: []byte("{}")} }, FileMalformed, "want a list of questions"},
		{"one not about lungs", SLAKE, change(slakeQuestions, `"location":"Lung"`, `"location":"Heart"`), TotalWrong, "113 questions, 114 were published; of 228 rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := full(t, c.b)
			c.do(t, f)
			_, err := Import(c.b, f.fs(), Options{})
			var e *ImportError
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v\nwant it to contain %s", err, c.want)
			}
			if !slices.ContainsFunc(e.Problems, func(p Problem) bool { return p.Code == c.code }) {
				t.Errorf("no problem has code %s: %v", c.code, e.Problems)
			}
			for _, p := range e.Problems {
				if p.File == "" || p.Detail == "" || p.Hint() == "" {
					t.Errorf("%+v lacks file, detail or hint", p)
				}
				seen[p.Code] = true
			}
		})
	}
	t.Run("group and column", func(t *testing.T) {
		f := full(t, ChestAgentBench)
		edit(t, f, cabQuestions, "reasoning,detection,localization,characterization", "reasoning,detection,classification,characterization")
		seen[wantCode(t, f, GroupUnknown)] = true
		f = full(t, ChestAgentBench)
		edit(t, f, cabQuestions, "reasoning,detection,localization,characterization", "reasoning,detection,classification,relationship")
		seen[wantCode(t, f, CountWrong)] = true
	})
	for _, code := range Codes() {
		if !seen[code] {
			t.Errorf("nothing here reaches %s", code)
		}
		if hints[code] == "" {
			t.Errorf("%s has no hint", code)
		}
	}
}

func wantCode(t *testing.T, f files, code Code) Code {
	t.Helper()
	_, err := Import(ChestAgentBench, f.fs(), Options{})
	var e *ImportError
	if !errors.As(err, &e) || e.Problems[0].Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return e.Problems[0].Code
}

// TestCountsAny: a subset imports, and the report says how it differs; what is wrong with a row is
// refused as ever.
func TestCountsAny(t *testing.T) {
	f := full(t, ChestAgentBench)
	without(cabQuestions)(t, f)
	set, err := Import(ChestAgentBench, f.fs(), Options{Counts: CountsAny})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Items) != 2499 || !slices.ContainsFunc(set.Report.Notes, func(s string) bool { return strings.Contains(s, "2499 questions, 2500 were published") }) {
		t.Errorf("%d items, notes %v", len(set.Items), set.Report.Notes)
	}
	edit(t, f, cabQuestions, `\nF) `, ` and `)
	if _, err := Import(ChestAgentBench, f.fs(), Options{Counts: CountsAny}); err == nil {
		t.Error("five options were taken")
	}
	if _, err := Import(ChestAgentBench, f.fs(), Options{Counts: "most"}); err == nil {
		t.Error("counts: most was taken")
	}
}

// TestShapes: labels, case, answer and pictures in every form in which copies of the release hold
// them give the same item.
func TestShapes(t *testing.T) {
	const head = `{"question_id":"q1","question":"What is seen?\nA) one\nB) two\nC) three\nD) four\nE) five\nF) six",`
	for _, rest := range []string{
		`"answer":"B","categories":["reasoning","detection","localization","characterization"],"case_id":17,"images":["figures/17/figure_1a.jpg"]}`,
		`"answer":"B) two","categories":"Detection, Localization, Characterization, Reasoning","case_id":"17","images":"17/figure_1a.jpg"}`,
		`"answer":"b.","metadata":{"categories":["characterization","reasoning","localization","detection"],"case_id":"17"},"images":[["figures/17/figure_1a.jpg"]]}`,
		`"answer":"B","categories":"[\"reasoning\",\"detection\",\"localization\",\"characterization\"]","images":"[\"./figures/17/figure_1a.jpg\"]"}`,
	} {
		f := files{cabQuestions: {Data: []byte(head + rest + "\n")}, "figures/17/figure_1a.jpg": {Data: []byte("x")}}
		set, err := Import(ChestAgentBench, f.fs(), Options{Counts: CountsAny})
		if err != nil {
			t.Errorf("%s: %v", rest, err)
			continue
		}
		it := set.Items[0]
		if it.Question.Key != "B" || it.Study != "eurorad/17" || it.Pictures[0].Path != "figures/17/figure_1a.jpg" || len(it.Question.Options) != 6 ||
			it.Question.Text != "What is seen?" || !slices.Equal(it.Labels, []string{"detection", "localization", "characterization"}) {
			t.Errorf("%s: %+v", rest, it)
		}
	}
}

// TestNaN: what Python writes for a missing number is read as missing, and texts stay as they are.
func TestNaN(t *testing.T) {
	in := `{"a": NaN, "b": [-Infinity,Infinity], "c": "is: NaN, \" NaN"}`
	want := `{"a": null, "b": [null,null], "c": "is: NaN, \" NaN"}`
	if got := string(withoutNaN([]byte(in))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzChestAgentBench: no file of questions makes the import panic, and what it takes is whole.
func FuzzChestAgentBench(f *testing.F) {
	f.Add([]byte(`{"question_id":"q","question":"s\nA) a\nB) b\nC) c\nD) d\nE) e\nF) f","answer":"A","categories":"reasoning","images":"1/x.jpg"}`))
	f.Add([]byte("[]\n{\"images\":[[[\"[\"]]]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := Import(ChestAgentBench, files{cabQuestions: {Data: data}}.fs(), Options{Counts: CountsAny})
		if err == nil {
			for i := range set.Items {
				if err := set.Items[i].Validate(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
