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

// NewExclusions builds the lists: slake is SLAKE's folder, nil where nothing of it is used; openi
// and radReStruct are the names of the pictures of the two benchmark sources.
//
// Errors: a name of another form; sizes other than the paper's without a waiver.
func NewExclusions(slake fs.FS, openi, radReStruct []string, waiver string) (*Exclusions, error) {
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
	first, err := pictureNames("openi", openi)
	if err != nil {
		return nil, err
	}
	second, err := pictureNames("rad_restruct", radReStruct)
	if err != nil {
		return nil, err
	}
	e.OpenI = slices.Concat(first, second)
	e.tidy()
	if e.Waiver == "" {
		var wrong []error
		for _, c := range []struct {
			what      string
			got, want int
		}{{"openi", len(first), ExcludedOpenI}, {"rad_restruct", len(second), ExcludedRadReStruct}, {"openi and rad_restruct together", len(e.OpenI), ExcludedBoth}} {
			if c.got != c.want {
				wrong = append(wrong, fmt.Errorf("exclusions: %s: %d different pictures, the paper has %d; hint: use the published lists, or give a waiver with the reason", c.what, c.got, c.want))
			}
		}
		if len(wrong) > 0 {
			return nil, errors.Join(wrong...)
		}
	}
	return e, nil
}

// pictureNames returns the different names of a list of pictures, without folder and ending.
func pictureNames(list string, names []string) ([]string, error) {
	var out []string
	for i, n := range names {
		name := pictureName(n)
		if dataset.OpenIReportOf(name) == "" {
			return nil, fmt.Errorf("exclusions: %s line %d: is no picture name as CXR1_1_IM-0001-4001; hint: one name a line, as the benchmark has them", list, i+1)
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
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
