package bench

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// ImportVersion changes whenever the same files may give other items.
const ImportVersion = 1

// CountsAny takes a subset or a fixture of any size.
const CountsAny = "any"

// Options of an import. The zero value checks every published count.
type Options struct {
	// Counts is empty or CountsAny.
	Counts string
}

// Validate refuses a value that nothing knows.
func (o Options) Validate() error {
	if o.Counts != "" && o.Counts != CountsAny {
		return fmt.Errorf("bench: counts %q is not one of %s", o.Counts, CountsAny)
	}
	return nil
}

// Set is an imported benchmark.
type Set struct {
	Benchmark Benchmark
	Items     []xragent.Item
	Report    Report
}

// Report says what was imported.
type Report struct {
	Benchmark Benchmark `json:"benchmark"`
	// Files are the files of questions that were read.
	Files []string `json:"files"`
	// Counted holds a line for each published count; empty expectations were not published.
	Counted []Counted `json:"counted"`
	// Groups counts questions by their set of labels, of ChestAgentBench.
	Groups []Counted `json:"groups,omitempty"`
	// Keys counts the letters, or words, that are right.
	Keys []Counted `json:"keys"`
	// Pictures is the number of different pictures, Shown that of pictures over all questions.
	Pictures int `json:"pictures"`
	Shown    int `json:"shown"`
	// Notes tell what a reader of results should know, for example how a total came about.
	Notes []string `json:"notes,omitempty"`
}

// Counted is a number of ours beside the published one.
type Counted struct {
	What      string `json:"what"`
	N         int    `json:"n"`
	Published *int   `json:"published,omitempty"`
}

// Differs reports a published count that is another.
func (c Counted) Differs() bool { return c.Published != nil && *c.Published != c.N }

// Import reads a benchmark from the folder that holds its release.
//
// Errors: *ImportError with every problem of the files; a value of o that nothing knows.
func Import(b Benchmark, fsys fs.FS, o Options) (*Set, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	read := map[Benchmark]func(*importing){ChestAgentBench: readChestAgentBench, CheXbench: readCheXbench, SLAKE: readSLAKE}[b]
	if read == nil {
		return nil, fmt.Errorf("bench: %s", b)
	}
	in := &importing{fsys: fsys, set: &Set{Benchmark: b, Report: Report{Benchmark: b}}, ids: map[string]int{}, there: map[string]bool{}, counts: map[string]int{}}
	read(in)
	if len(in.problems.list) == 0 {
		in.count(o)
	}
	if len(in.problems.list) > 0 {
		return nil, &ImportError{Benchmark: b, Problems: in.problems.list}
	}
	return in.set, nil
}

// importing is an import on its way.
type importing struct {
	problems
	fsys  fs.FS
	set   *Set
	ids   map[string]int
	there map[string]bool
	// counts are published counts that no column gives: cases, different pictures.
	counts map[string]int
	totals string // how a total came about, for its problem
}

// open names the file that problems belong to and reads it.
func (in *importing) open(name string) []byte {
	in.file = name
	data, err := fs.ReadFile(in.fsys, name)
	if err != nil {
		in.add(FileMissing, 0, "", "%v", err)
		return nil
	}
	in.set.Report.Files = append(in.set.Report.Files, name)
	return data
}

// put takes an item of a row; what is wrong with it is a problem.
func (in *importing) put(row int, item xragent.Item) {
	if at, twice := in.ids[item.ID]; twice {
		in.add(DuplicateID, row, "", "%s stands in row %d already", item.ID, at)
		return
	}
	in.ids[item.ID] = row
	if len(item.Pictures) == 0 {
		in.add(PictureMissing, row, "", "the row names no picture")
		return
	}
	for _, p := range item.Pictures {
		if !in.exists(p.Path) {
			in.add(PictureMissing, row, "", "%s is not there", p.Path)
		}
	}
	if _, ok := xragent.ReadAnswer(item.Question, item.Question.Key); !ok {
		in.add(KeyWrong, row, "", "key %q is no answer to the question", item.Question.Key)
		return
	}
	in.set.Items = append(in.set.Items, item)
}

// exists looks a file up once.
func (in *importing) exists(name string) bool {
	there, known := in.there[name]
	if !known {
		info, err := fs.Stat(in.fsys, name)
		there = err == nil && info.Mode().IsRegular()
		in.there[name] = there
	}
	return there
}

// count fills the report and checks it against the published counts.
func (in *importing) count(o Options) {
	s := in.set
	counts := maps.Clone(in.counts)
	counts[Total] = len(s.Items)
	pictures, keys, sets := map[string]bool{}, map[string]int{}, map[string]int{}
	for i := range s.Items {
		item := &s.Items[i]
		for _, c := range s.Benchmark.Columns() {
			if c.Name != All && c.Counts(item) {
				counts[c.Name]++
			}
		}
		for _, p := range item.Pictures {
			pictures[p.Path] = true
			s.Report.Shown++
		}
		keys[item.Question.Key]++
		if s.Benchmark == ChestAgentBench {
			sets[Group(item)]++
		}
	}
	s.Report.Pictures = len(pictures)
	s.Report.Keys, s.Report.Groups = sorted(keys), sorted(sets)
	for _, e := range s.Benchmark.Expected() {
		s.Report.Counted = append(s.Report.Counted, Counted{e.What, counts[e.What], &e.N})
	}
	for _, c := range s.Report.Counted {
		if !c.Differs() {
			continue
		}
		detail := fmt.Sprintf("%d questions, %d were published", c.N, *c.Published)
		if c.What == Total && in.totals != "" {
			detail += "; " + in.totals
		}
		code := CountWrong
		switch c.What {
		case Total:
			code = TotalWrong
		case PicturesOpenI, PicturesRadReStruct, PicturesUnion:
			code, detail = PicturesWrong, fmt.Sprintf("%d different pictures, %d were published", c.N, *c.Published)
		case "cases":
			detail = fmt.Sprintf("%d cases, %d were published", c.N, *c.Published)
		}
		if o.Counts == CountsAny {
			s.Report.Notes = append(s.Report.Notes, c.What+": "+detail)
			continue
		}
		in.add(code, 0, c.What, "%s", detail)
	}
}

func sorted(counts map[string]int) []Counted {
	var out []Counted
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, Counted{What: what, N: counts[what]})
	}
	return out
}

// safe turns a path of a release into one below its folder; ok is false for one that leads out.
func safe(name string) (string, bool) {
	name = path.Clean(strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(name), "\\", "/"), "./"))
	return name, fs.ValidPath(name) && name != "."
}
