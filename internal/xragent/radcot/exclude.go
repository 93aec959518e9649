package radcot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/dataset"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// Sizes of the exclusion lists. [paper]
const (
	ExcludedOpenI       = 363 // pictures of the benchmark's OpenI questions
	ExcludedRadReStruct = 94  // of its Rad-ReStruct questions, which are OpenI's pictures too
	ExcludedBoth        = 452 // of either
)

// ExclusionsFormat is Exclusions.Format.
const ExclusionsFormat = "cxrepro-radcot-exclusions-1"

// Exclusions are the evaluation pictures that no example may show: built once, stored, and
// enforced again when examples are written. Nothing of Eurorad may enter in any case.
type Exclusions struct {
	Format string `json:"format"`
	// Slake are the paths of the pictures of SLAKE's validation and test questions.
	Slake []string `json:"slake"`
	// OpenI are picture names without folder and ending; Reports the reports they belong to,
	// whose other pictures are siblings.
	OpenI   []string `json:"openi"`
	Reports []string `json:"reports"`
	// Files are evaluation pictures by content, where they were read.
	Files  []artifacts.Digest `json:"files,omitempty"`
	Waiver string             `json:"waiver,omitempty"`

	slake, openi, reports map[string]bool
	files                 map[artifacts.Digest]bool
}

// NewExclusions builds the lists: slake is SLAKE's folder, nil where nothing of it is used; items
// are the questions of CheXbench's axis 2, whose pictures come from OpenI, Rad-ReStruct and SLAKE.
//
// Errors: a picture of another form; sizes other than the paper's without a waiver.
func NewExclusions(slake fs.FS, items []xragent.Item, waiver string) (*Exclusions, error) {
	e := &Exclusions{Format: ExclusionsFormat, Waiver: strings.TrimSpace(waiver)}
	if slake != nil {
		for _, split := range []dataset.Split{dataset.SplitValidate, dataset.SplitTest} {
			for q, err := range dataset.SlakeRecords(slake, split) {
				if err != nil {
					return nil, fmt.Errorf("exclusions: %w", err)
				}
				e.Slake = append(e.Slake, q.Image)
			}
		}
	}
	by := map[string]map[string]bool{bench.SourceOpenI: {}, bench.SourceRadReStruct: {}}
	for i := range items {
		for _, p := range items[i].Pictures {
			if items[i].Source == bench.SourceSLAKE {
				e.Slake = append(e.Slake, slakePath(p.Path))
				continue
			}
			name := pictureName(p.Path)
			if dataset.OpenIReportOf(name) == "" || by[items[i].Source] == nil {
				return nil, fmt.Errorf("exclusions: item %s field pictures: is no picture of OpenI, Rad-ReStruct or SLAKE; hint: give the items of CheXbench as imported", items[i].ID)
			}
			by[items[i].Source][name] = true
			e.OpenI = append(e.OpenI, name)
		}
	}
	e.tidy()
	if e.Waiver != "" {
		return e, nil
	}
	var wrong []error
	for _, c := range []struct {
		what      string
		got, want int
	}{{bench.PicturesOpenI, len(by[bench.SourceOpenI]), ExcludedOpenI}, {bench.PicturesRadReStruct, len(by[bench.SourceRadReStruct]), ExcludedRadReStruct}, {bench.PicturesUnion, len(e.OpenI), ExcludedBoth}} {
		if c.got != c.want {
			wrong = append(wrong, fmt.Errorf("exclusions: %s: %d different pictures, the paper has %d; hint: use the published benchmark, or say why not in spec field waiver", c.what, c.got, c.want))
		}
	}
	return e, errors.Join(wrong...)
}

func pictureName(p string) string {
	base := path.Base(strings.TrimSpace(p))
	for _, end := range []string{".png", ".jpg", ".jpeg", ".dcm"} {
		base = strings.TrimSuffix(base, end)
	}
	return base
}

// tidy sorts the lists, drops repeats and fills the look-ups.
func (e *Exclusions) tidy() {
	e.Reports = nil
	for _, n := range e.OpenI {
		e.Reports = append(e.Reports, dataset.OpenIReportOf(n))
	}
	e.slake, e.openi, e.reports = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, l := range []struct {
		list *[]string
		has  map[string]bool
	}{{&e.Slake, e.slake}, {&e.OpenI, e.openi}, {&e.Reports, e.reports}} {
		slices.Sort(*l.list)
		*l.list = slices.Compact(*l.list)
		for _, n := range *l.list {
			l.has[n] = true
		}
	}
	e.files = map[artifacts.Digest]bool{}
	for _, d := range e.Files {
		e.files[d] = true
	}
}

// ReadExclusions reads a stored document.
func ReadExclusions(data []byte) (*Exclusions, error) {
	var e Exclusions
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("exclusions: %w", err)
	}
	if e.Format != ExclusionsFormat {
		return nil, fmt.Errorf("exclusions: format is %q, want %q", e.Format, ExclusionsFormat)
	}
	e.tidy()
	return &e, nil
}

// Excludes returns why a candidate must not become an example, or "".
func (e *Exclusions) Excludes(c *Candidate) Code {
	p := strings.ToLower(c.Picture.Path)
	switch name := pictureName(c.Picture.Path); {
	case strings.Contains(strings.ToLower(string(c.Source)+" "+c.Group), "eurorad"), strings.Contains(p, "eurorad"), strings.HasPrefix(p, "figures/"):
		return LeftEurorad
	case !c.Picture.Image.IsZero() && e.files[c.Picture.Image.Digest]:
		return LeftDigest
	case c.Source == SourceSlake || strings.Contains(p, "xmlab"):
		if e.slake[slakePath(c.Picture.Path)] {
			return LeftSlakeEval
		}
	case e.openi[name]:
		return LeftOpenI
	case e.reports[dataset.OpenIReportOf(name)]:
		return LeftSibling
	}
	return ""
}

// slakePath is a path from imgs/ on.
func slakePath(p string) string {
	if at := strings.LastIndex(p, "xmlab"); at >= 0 {
		return path.Join("imgs", p[at:])
	}
	return p
}

// Overlap counts the candidates that an exclusion names, by code; empty is what must come out.
func (e *Exclusions) Overlap(list []Candidate) []Count {
	t := tally{}
	for i := range list {
		if code := e.Excludes(&list[i]); code != "" {
			t[string(code)]++
		}
	}
	return t.list()
}
