package radcot

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"cxrepro/internal/dataset"
	"cxrepro/internal/xragent"
)

// binary reads the source that the spec names.
func (g *gathering) binary() error {
	switch g.spec.Binary {
	case BinarySlake:
		return g.slake(&g.pool.Binary, true)
	case BinaryOpenI:
		return g.openI()
	case BinaryItems:
		return g.items()
	}
	return g.radReStruct()
}

// openIPicture finds a picture of the collection by its name.
func openIPicture(fsys fs.FS, name string) (string, error) {
	for _, folder := range []string{"", "NLMCXR_png/", "images/"} {
		_, err := fs.Stat(fsys, folder+name+".png")
		if err == nil {
			return folder + name + ".png", nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return name + ".png", nil
}

// openI reads reports with findings; the first picture stands for the report, as its frontal
// view comes first there.
func (g *gathering) openI() error {
	if g.src.OpenI == nil {
		return missing("binary", "OpenI", "its folder, or another source in spec field binary")
	}
	use, err := dataUse(folder{g.src.OpenI, dataset.OpenI})
	if err != nil {
		return err
	}
	for r, err := range dataset.OpenIReports(g.src.OpenI) {
		if err != nil {
			return err
		}
		code := trivial(r.Findings, g.spec.Rules.FindingsWords)
		if code == "" && len(r.Images) == 0 {
			code = LeftNoPicture
		}
		if code != "" {
			g.leave(SourceOpenI, code)
			continue
		}
		file, err := openIPicture(g.src.OpenI, r.Images[0])
		if err != nil {
			return err
		}
		c := Candidate{Source: SourceOpenI, DataUse: use, Group: "openi/" + r.UID, Picture: xragent.ItemPicture{Path: file},
			Findings: r.Findings, Prior: speaksOfPrior(r.Findings)}
		if err := g.enter(&g.pool.Binary, g.src.OpenI, c); err != nil {
			return err
		}
	}
	return nil
}

// radReStruct reads the questions of the training split that are answered yes or no and need no
// earlier question.
func (g *gathering) radReStruct() error {
	switch {
	case g.src.RadReStruct == nil:
		return missing("binary", "Rad-ReStruct", "its folder data/radrestruct, or another source in spec field binary")
	case g.src.OpenI == nil:
		return missing("binary", "the pictures of OpenI", "their folder")
	}
	r, err := dataset.OpenRadReStruct(g.src.RadReStruct)
	if err != nil {
		return err
	}
	use, err := dataUse(folder{g.src.RadReStruct, dataset.RadReStructQA}, folder{g.src.OpenI, dataset.OpenI})
	if err != nil {
		return err
	}
	for q, err := range r.Questions(dataset.SplitTrain) {
		if err != nil {
			return err
		}
		switch {
		case !yesNoOptions(q):
			g.leave(SourceRadReStruct, LeftNotBinary)
			continue
		case q.Depth > 0:
			g.leave(SourceRadReStruct, LeftHistory)
			continue
		case len(q.Images) == 0:
			g.leave(SourceRadReStruct, LeftNoPicture)
			continue
		}
		file, err := openIPicture(g.src.OpenI, q.Images[0])
		if err != nil {
			return err
		}
		question, _ := closedQuestion(q.Question, q.Answers[0])
		c := Candidate{Source: SourceRadReStruct, DataUse: use, Group: "openi/" + dataset.OpenIReportOf(file),
			Picture: xragent.ItemPicture{Path: file}, Question: question}
		if err := g.enter(&g.pool.Binary, g.src.OpenI, c); err != nil {
			return err
		}
	}
	return nil
}

func yesNoOptions(q dataset.RadReStructQuestion) bool {
	if !q.Single || len(q.Answers) != 1 || len(q.Options) != 2 {
		return false
	}
	lower := []string{strings.ToLower(strings.TrimSpace(q.Options[0])), strings.ToLower(strings.TrimSpace(q.Options[1]))}
	slices.Sort(lower)
	return lower[0] == "no" && lower[1] == "yes"
}

// items takes the yes/no questions of a list.
func (g *gathering) items() error {
	if len(g.src.Items) == 0 {
		return missing("binary", "a list of items", "a file of items, or another source in spec field binary")
	}
	for _, i := range g.src.Items {
		if err := i.Validate(); err != nil {
			return err
		}
		if i.Question.Type != xragent.YesNo {
			g.leave(SourceItems, LeftNotBinary)
			continue
		}
		group := i.Study
		if group == "" {
			group = i.ID
		}
		question := i.Question
		c := Candidate{Source: SourceItems, DataUse: g.src.ItemsUse, Group: "items/" + i.Source + "/" + group, Picture: i.Pictures[0], Question: &question}
		if err := g.enter(&g.pool.Binary, g.src.ItemsFolder, c); err != nil {
			return err
		}
	}
	return nil
}
