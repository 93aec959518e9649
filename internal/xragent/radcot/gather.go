package radcot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
	"cxrepro/internal/xragent"
)

// Sources are the folders that candidates come from; those of parts that draw nothing may be
// nil.
type Sources struct {
	// LLaVARad holds the annotations, MIMIC the pictures they name, Labels the studies' labels.
	LLaVARad, MIMIC fs.FS
	Labels          *dataset.Labels
	Slake           fs.FS
	// OpenI holds the reports and, there or in NLMCXR_png/, the pictures; RadReStruct the
	// questions about them.
	OpenI, RadReStruct fs.FS
	// Items are questions for binary: items; ItemsUse is their class, ItemsFolder has their
	// pictures, or is nil where nobody looks yet.
	Items       []xragent.Item
	ItemsUse    datause.Class
	ItemsFolder fs.FS
}

// Pool is what may be drawn, and what was left out.
type Pool struct {
	// Reports are studies with findings, for report, mcq and mcq_rl.
	Reports, Closed, Binary []Candidate
	Left                    tally
}

// gathering is one Gather.
type gathering struct {
	spec Spec
	src  Sources
	ex   *Exclusions
	pool *Pool
}

// Gather reads the sources that a spec needs and keeps what may become a candidate; everything
// else is counted under source and code.
//
// Errors: a source that is needed and not there; a broken record.
func Gather(spec Spec, src Sources, ex *Exclusions) (*Pool, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	g := &gathering{spec: spec, src: src, ex: ex, pool: &Pool{Left: tally{}}}
	a := spec.Amounts
	steps := []struct {
		on   bool
		read func() error
	}{
		{a.Report.Draw+a.Choice.Draw+a.ChoiceRL.Draw > 0, g.reports},
		{a.Closed.Draw > 0, func() error { return g.slake(&g.pool.Closed, false) }},
		{a.Binary.Draw > 0, g.binary},
	}
	for _, s := range steps {
		if !s.on {
			continue
		}
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	for _, list := range []*[]Candidate{&g.pool.Reports, &g.pool.Closed, &g.pool.Binary} {
		*list = g.settle(*list)
	}
	return g.pool, nil
}

func missing(part, source, what string) error {
	return fmt.Errorf("radcot: part %s needs %s, which is not there; hint: name %s, or draw 0 of the part", part, source, what)
}

// folder is a source with the data set whose layout it has.
type folder struct {
	fsys   fs.FS
	layout dataset.Known
}

// dataUse is the class of what is made from folders: a declaration counts, a folder without one
// is the data set of its layout.
func dataUse(folders ...folder) (datause.Class, error) {
	classes := make([]datause.Class, len(folders))
	for i, f := range folders {
		var err error
		if classes[i], err = dataset.DataUse(f.fsys, f.layout, "", 0); err != nil {
			return 0, err
		}
	}
	return datause.Strictest(classes...), nil
}

func (g *gathering) leave(s Source, code Code) { g.pool.Left[string(s)+"/"+string(code)]++ }

// enter adds a candidate unless its picture is missing or excluded.
func (g *gathering) enter(to *[]Candidate, fsys fs.FS, c Candidate) error {
	if code := g.ex.Excludes(&c); code != "" {
		g.leave(c.Source, code)
		return nil
	}
	if fsys != nil {
		switch _, err := fs.Stat(fsys, c.Picture.Path); {
		case errors.Is(err, fs.ErrNotExist):
			g.leave(c.Source, LeftNoPicture)
			return nil
		case err != nil:
			return fmt.Errorf("picture of %s: %w", c.Source, err)
		}
	}
	*to = append(*to, c)
	return nil
}

// settle orders a pool by content and keeps the first of what stands there twice: one report a
// study, one question a picture and text.
func (g *gathering) settle(list []Candidate) []Candidate {
	slices.SortFunc(list, func(a, b Candidate) int { return cmp.Compare(a.key(), b.key()) })
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(c Candidate) bool {
		k, code := c.Group, LeftSameStudy
		if c.Question != nil {
			k, code = c.key(), LeftRepeated
		}
		if seen[k] {
			g.leave(c.Source, code)
			return true
		}
		seen[k] = true
		return false
	})
}

// reports reads the LLaVA-Rad annotations.
func (g *gathering) reports() error {
	switch {
	case g.src.LLaVARad == nil:
		return missing("report", "the LLaVA-Rad annotations", "their folder")
	case g.src.MIMIC == nil:
		return missing("report", "MIMIC-CXR-JPG", "its folder")
	case g.src.Labels == nil:
		return missing("report", "a table of labels to stratify by", "the CheXpert table of MIMIC-CXR-JPG")
	}
	l, err := dataset.OpenLLaVARad(g.src.LLaVARad)
	if err != nil {
		return err
	}
	use, err := dataUse(folder{g.src.LLaVARad, dataset.LLaVARadTexts}, folder{g.src.MIMIC, dataset.MIMICCXRJPG})
	if err != nil {
		return err
	}
	for r, err := range l.Records() {
		if err != nil {
			return err
		}
		code := LeftView
		if r.View == "PA" {
			code = trivial(r.Findings, g.spec.Rules.FindingsWords)
		}
		labels, ok := g.src.Labels.Study(r.Subject, r.Study)
		if code == "" && !ok {
			code = LeftNoLabels
		}
		if code != "" {
			g.leave(SourceMIMIC, code)
			continue
		}
		c := Candidate{Source: SourceMIMIC, DataUse: use, Group: "mimic/" + r.Subject + "/" + r.Study,
			Picture: xragent.ItemPicture{Path: r.Image}, Findings: r.Findings, Prior: speaksOfPrior(r.Findings), Labels: LabelMarks(labels)}
		if err := g.enter(&g.pool.Reports, g.src.MIMIC, c); err != nil {
			return err
		}
	}
	return nil
}

// slake reads the closed chest questions of the training split; yesNo keeps yes and no only.
func (g *gathering) slake(to *[]Candidate, yesNo bool) error {
	if g.src.Slake == nil {
		return missing("closed", "SLAKE", "its folder")
	}
	use, err := dataUse(folder{g.src.Slake, dataset.SLAKE})
	if err != nil {
		return err
	}
	for q, err := range dataset.SlakeRecords(g.src.Slake, dataset.SplitTrain) {
		if err != nil {
			return err
		}
		if !q.ChestClosed() {
			g.leave(SourceSlake, LeftNotChest)
			continue
		}
		question, ok := closedQuestion(q.Question, q.Answer)
		if !ok || yesNo && question.Type != xragent.YesNo {
			g.leave(SourceSlake, LeftNotBinary)
			continue
		}
		c := Candidate{Source: SourceSlake, DataUse: use, Group: "slake/" + q.Image, Picture: xragent.ItemPicture{Path: q.Image}, Question: question}
		if err := g.enter(to, g.src.Slake, c); err != nil {
			return err
		}
	}
	return nil
}

// closedQuestion is a question of a published set: yes or no where that is its answer, else a
// closed one. ok is false where the answer is empty.
func closedQuestion(text, answer string) (*xragent.Question, bool) {
	q := &xragent.Question{Type: xragent.YesNo, Text: strings.TrimSpace(text), Key: strings.TrimSpace(answer)}
	if key, ok := xragent.ReadAnswer(*q, q.Key); ok {
		q.Key = key
		return q, true
	}
	q.Type = xragent.Closed
	return q, q.Validate() == nil
}
