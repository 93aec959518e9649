package bench

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/xragent"
)

// Benchmark is one of the three. The zero value is invalid.
type Benchmark uint8

// The benchmarks, in the order of tables.
const (
	ChestAgentBench Benchmark = iota + 1
	CheXbench
	SLAKE
)

var benchmarkNames = [...]string{ChestAgentBench: "chestagentbench", CheXbench: "chexbench", SLAKE: "slake_closed"}

var benchmarkTitles = [...]string{ChestAgentBench: "ChestAgentBench", CheXbench: "CheXbench", SLAKE: "SLAKE closed"}

// Benchmarks lists all three.
func Benchmarks() []Benchmark { return []Benchmark{ChestAgentBench, CheXbench, SLAKE} }

// Valid reports whether b is one of the three.
func (b Benchmark) Valid() bool { return b >= ChestAgentBench && b <= SLAKE }

// String returns the name used in specs, ids and reports.
func (b Benchmark) String() string {
	if !b.Valid() {
		return fmt.Sprintf("invalid benchmark %d", uint8(b))
	}
	return benchmarkNames[b]
}

// Title is the name as tables print it.
func (b Benchmark) Title() string {
	if !b.Valid() {
		return b.String()
	}
	return benchmarkTitles[b]
}

// Parse returns the benchmark of a name.
func Parse(name string) (Benchmark, error) {
	if k := slices.Index(benchmarkNames[:], name); k > 0 {
		return Benchmark(k), nil
	}
	return 0, fmt.Errorf("bench: no benchmark is called %q; there are %s", name, strings.Join(benchmarkNames[1:], ", "))
}

// MarshalText is the name.
func (b Benchmark) MarshalText() ([]byte, error) {
	if !b.Valid() {
		return nil, fmt.Errorf("bench: %s", b)
	}
	return []byte(b.String()), nil
}

// UnmarshalText is Parse.
func (b *Benchmark) UnmarshalText(text []byte) (err error) {
	*b, err = Parse(string(text))
	return err
}

// Of returns the benchmark that an item belongs to; ok is false for items of other sets.
func Of(item string) (b Benchmark, ok bool) {
	name, _, _ := strings.Cut(item, "/")
	b, err := Parse(name)
	return b, err == nil
}

// Names of the questions' sources in CheXbench.
const (
	SourceOpenI       = "openi"
	SourceRadReStruct = "rad_restruct"
	SourceSLAKE       = "slake"
)

// Reasoning is the label that every question of ChestAgentBench has and no column counts.
const Reasoning = "reasoning"

// capabilities are the labels of ChestAgentBench that have a column, in the order of tables.
var capabilities = []string{"detection", "classification", "localization", "comparison", "relationship", "diagnosis", "characterization"}

// Capabilities returns the seven labels with a column.
func Capabilities() []string { return slices.Clone(capabilities) }

// groups are the five sets of labels that questions of ChestAgentBench have, without "reasoning".
//
// Source: [official code] of the benchmark's generator.
var groups = [][]string{
	{"detection", "localization", "characterization"},
	{"detection", "classification", "relationship"},
	{"localization", "comparison", "relationship"},
	{"classification", "comparison", "diagnosis"},
	{"classification", "characterization", "diagnosis"},
}

// LabelGroup is one of the five sets of labels; its name joins them in the generator's order.
type LabelGroup struct {
	Name   string
	Labels []string
}

// Groups returns the five sets of labels that questions of ChestAgentBench have.
func Groups() []LabelGroup {
	var out []LabelGroup
	for _, g := range groups {
		out = append(out, LabelGroup{strings.Join(g, "_"), slices.Clone(g)})
	}
	return out
}

// Group names the set of labels of an item; empty for one of none.
func Group(item *xragent.Item) string {
	for _, g := range Groups() {
		if groupName(inOrder(g.Labels)) == groupName(inOrder(item.Labels)) {
			return g.Name
		}
	}
	return ""
}

// Column is one figure of a benchmark's score.
type Column struct {
	// Name is "all" or "macro" for the benchmark as a whole, else a label or a source.
	Name string
	// Macro is set for the unweighted mean of the other columns; the others are shares of the
	// questions that Counts says yes to.
	Macro bool
}

// All and Macro name the column of a benchmark as a whole.
const (
	All   = "all"
	Macro = "macro"
)

// Columns returns the columns of scores; the first is the benchmark as a whole.
//
// Source: [paper]: "all" is over all questions, no mean of the others; the overall value of
// CheXbench is the unweighted mean of its three sources.
func (b Benchmark) Columns() []Column {
	switch b {
	case ChestAgentBench:
		out := []Column{{Name: All}}
		for _, c := range capabilities {
			out = append(out, Column{Name: c})
		}
		return out
	case CheXbench:
		return []Column{{Name: Macro, Macro: true}, {Name: SourceOpenI}, {Name: SourceRadReStruct}, {Name: SourceSLAKE}}
	}
	return []Column{{Name: All}}
}

// Counts reports whether an item is counted in the column. A macro column counts none itself.
func (c Column) Counts(item *xragent.Item) bool {
	return !c.Macro && (c.Name == All || item.Source == c.Name || slices.Contains(item.Labels, c.Name))
}

// Expected are the published numbers of questions by column; the whole benchmark is "total".
//
// Source: [paper] App. B.1.
func (b Benchmark) Expected() []Expectation {
	switch b {
	case ChestAgentBench:
		return []Expectation{{Total, 2500}, {"cases", 675}, {"detection", 972}, {"classification", 1517}, {"localization", 983},
			{"comparison", 1026}, {"relationship", 997}, {"diagnosis", 1024}, {"characterization", 981}}
	case CheXbench:
		return []Expectation{{Total, 618}, {SourceOpenI, 380}, {SourceRadReStruct, 115}, {SourceSLAKE, 123},
			{PicturesOpenI, 363}, {PicturesRadReStruct, 94}, {PicturesUnion, 452}}
	case SLAKE:
		return []Expectation{{Total, 114}}
	}
	return nil
}

// Expectation is a published count.
type Expectation struct {
	What string `json:"what"`
	N    int    `json:"n"`
}

// Names of counts that are no columns.
const (
	Total               = "total"
	PicturesOpenI       = "pictures_openi"
	PicturesRadReStruct = "pictures_rad_restruct"
	PicturesUnion       = "pictures_openi_or_rad_restruct"
)
