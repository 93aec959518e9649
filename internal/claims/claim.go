package claims

import (
	"fmt"
	"slices"
	"sync"

	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report"
)

// Papers are the folders of experiments that hold claims.
const (
	CXReasonBench = "cxreasonbench"
	CheXStruct    = "chexstruct"
	XRagent       = "xragent"
)

// Claim is a published figure.
type Claim struct {
	// ID names it: the reference of the first cell that prints it, or a name of its own.
	ID string `json:"id"`
	// Paper is the folder of experiments that it belongs to, Source where it is printed.
	Paper  string `json:"paper"`
	Source string `json:"source"`
	// Cells are references of every cell that prints the figure.
	Cells []string `json:"cells,omitempty"`
	// Printed is the figure as printed, with the one in parentheses.
	Printed string `json:"printed"`
	// Formula makes the figure of counts, RefinedFormula the one in parentheses.
	Formula        string `json:"formula"`
	RefinedFormula string `json:"refined_formula,omitempty"`
	// Population says which cases the figure is over.
	Population string `json:"population"`
	// Rounding says how the figure was rounded, Tolerance how far a correct one may lie from the
	// printed one for that reason; 0 means equal as printed.
	Rounding  string  `json:"rounding"`
	Tolerance float64 `json:"tolerance"`
	// Derived says that the figure was computed from printed ones and is not printed itself.
	Derived bool `json:"-"`

	place cxreasonbench.Place
	// tables are the numbers of the tables that print it, none for a figure of no table.
	tables []int
}

// In reports whether a table of the paper prints the figure.
func (c Claim) In(table int) bool { return slices.Contains(c.tables, table) }

// Group names what the claim is listed with: the first table that prints it, or its source.
func (c Claim) Group() string {
	if len(c.tables) > 0 {
		title, err := cxreasonbench.TableTitle(c.tables[0])
		if err == nil {
			return title
		}
	}
	return c.Source
}

// Behind returns the whole numbers behind the figure.
func (c Claim) Behind() (Behind, error) {
	switch {
	case len(c.tables) > 0:
		return behindPlace(c.place)
	case c.Paper == XRagent:
		return behindAgent(c.ID)
	}
	return Behind{Why: "printed as a whole number, or no share"}, nil
}

// tieTolerance allows for the two ways in which a mean half way between two hundredths is
// rounded, which depends on the order of adding.
const tieTolerance = 0.01

// TableClaims returns the claims of the paper's tables with results of models: every printed
// figure once, with all tables that print it, in the order of tables 11 to 28. The list is shared
// and not to be changed.
var TableClaims = sync.OnceValues(func() ([]Claim, error) {
	p, err := PaperFigures()
	if err != nil {
		return nil, err
	}
	var list []Claim
	seen := map[cxreasonbench.Place]int{}
	cells := cxreasonbench.Cells(cxreasonbench.Unasked(p.Models()...))
	// The summaries 3, 4 and 8 to 10 repeat rows of the tables by groups.
	for _, repeats := range []bool{false, true} {
		for _, cell := range cells {
			at := cell.Place()
			f, printed := p.Figure(at)
			if n := cell.Ref.Table; !printed || cell.Ref.Kind != report.Printed || (n < firstWhole) != repeats {
				continue
			}
			if k, again := seen[at]; again {
				list[k].add(cell.Ref)
				continue
			}
			seen[at] = len(list)
			list = append(list, tableClaim(cell.Ref, at, f))
		}
	}
	return list, nil
})

// add notes another cell that prints the figure.
func (c *Claim) add(cell report.Ref) {
	c.Cells, c.tables = append(c.Cells, cell.String()), append(c.tables, cell.Table)
	c.Source += fmt.Sprintf(", Table %d", cell.Table)
}

// firstWhole is the first table that repeats no other.
const firstWhole = 11

func tableClaim(cell report.Ref, at cxreasonbench.Place, f cxreasonbench.PublishedFigure) Claim {
	c := Claim{
		ID: cell.String(), Paper: CXReasonBench, Source: fmt.Sprintf("Table %d", cell.Table), Cells: []string{cell.String()}, Printed: f.String(),
		Formula: cxreasonbench.FormulaAdjustedWilson, Population: population(at),
		Rounding: "two decimals, correctly rounded", place: at, tables: []int{cell.Table},
	}
	refined := cxreasonbench.FormulaRefined
	if at.Column == cxreasonbench.Depth {
		c.Formula, refined, c.Rounding = cxreasonbench.FormulaDepth, cxreasonbench.FormulaRefinedDepth, "two decimals, half to even"
	}
	if _, group := at.Group(); group {
		c.Formula, refined = cxreasonbench.FormulaMean, cxreasonbench.FormulaMean
		c.Rounding, c.Tolerance = "two decimals, half to even in binary; an exact tie may go either way", tieTolerance
	}
	if f.HasRefined {
		c.RefinedFormula = refined
	}
	return c
}

// population says which cases a figure is over: a query by model, sampling, path and task, and
// the cases of those that are its denominator.
func population(at cxreasonbench.Place) string {
	where := "task=" + at.Row
	if _, group := at.Group(); group {
		where = "mean over tasks of group=" + at.Row + " that have a value"
	}
	return fmt.Sprintf("model=%q sampling=%s path=%s %s: %s", at.Model, at.Sampling, at.Path, where, denominators[at.Path][at.Column])
}

// denominators are the cases that each column is over.
//
// Source: [official code], as the scores of cxreasonbench.
var denominators = map[cxreasonbench.Path]map[cxreasonbench.Column]string{
	cxreasonbench.Path1: {
		cxreasonbench.Stage1:      `cases that did not answer "I don't know"`,
		cxreasonbench.Stage2:      "cases right in Stage 1 that did not reject the refined criterion",
		cxreasonbench.Stage3:      "cases right in Stage 2",
		cxreasonbench.Stage4:      "cases right in Stage 3",
		cxreasonbench.Completion:  `cases that neither answered "I don't know" nor rejected the refined criterion`,
		cxreasonbench.Depth:       `cases that neither answered "I don't know" nor rejected the refined criterion`,
		cxreasonbench.Consistency: "cases right in Stage 3",
		cxreasonbench.Alignment:   "cases right in Stage 3",
	},
	cxreasonbench.Path2: {
		cxreasonbench.Stage1:      `cases that answered "I don't know" or rejected the refined criterion`,
		cxreasonbench.Stage2:      "cases right in Stage 1",
		cxreasonbench.Stage3:      "cases right in Stage 2",
		cxreasonbench.Completion:  `cases that answered "I don't know" or rejected the refined criterion`,
		cxreasonbench.Depth:       `cases that answered "I don't know" or rejected the refined criterion`,
		cxreasonbench.Consistency: "cases right in Stage 2",
	},
	cxreasonbench.RePath1: {
		cxreasonbench.Stage1:      "re-evaluations whose first answer was right",
		cxreasonbench.Stage2:      "re-evaluations right in Stage 1",
		cxreasonbench.Stage3:      "re-evaluations right in Stage 2",
		cxreasonbench.Stage4:      "re-evaluations right in Stage 3",
		cxreasonbench.Completion:  "re-evaluations whose first answer was right",
		cxreasonbench.Depth:       "re-evaluations whose first answer was right",
		cxreasonbench.Consistency: "re-evaluations right in Stage 3",
		cxreasonbench.Alignment:   "re-evaluations right in Stage 3",
	},
}
