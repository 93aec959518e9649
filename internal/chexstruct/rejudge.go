package chexstruct

import (
	"reflect"

	"cxrepro/internal/cxr"
)

// checkedBy lists the rules that compare one stored value with one row and do nothing else with
// it.
var checkedBy = map[row][]Rule{
	rowMaskCount:       {RuleMaskCount},
	rowApexYDiff:       {RuleApexYDiff},
	rowBottomYDiff:     {RuleBottomYDiff},
	rowLineAgreement:   {RuleLineAgreement},
	rowRibInLung:       {RuleRibInLung},
	rowClavicleGap:     {RuleClavicleGap},
	rowClavicleYDiff:   {RuleClavicleYDiff},
	rowClavicleY:       {RuleClavicleYPosition},
	rowMidlineResidual: {RuleMidlineResidual},
	rowMidlineXStd:     {RuleMidlineXStd},
	rowScapulaWidth:    {scapulaRules[right][0], scapulaRules[left][0]},
	rowScapulaHeight:   {scapulaRules[right][1], scapulaRules[left][1]},
	rowLungWidth:       {scapulaRules[right][3], scapulaRules[left][3]},
	rowLungHeight:      {scapulaRules[right][4], scapulaRules[left][4]},
	rowCardiacBalance:  {RuleLungBalance},
	rowMediBalance:     {RuleMediLungBalance},
	rowMediBoxWidth:    {RuleMediBoxWidth},
	rowMediBoxX:        {RuleMediBoxX},
	rowMediY:           {RuleMediYPosition},
	rowCarinaTopX:      {RuleCarinaTopXDiff},
	rowCarinaTopY:      {RuleCarinaTopYDiff},
	rowCarinaWidth:     {RuleCarinaMaskWidth},
	rowCarinaHeight:    {RuleCarinaMaskHeight},
	rowCarinaX:         {RuleCarinaPositionX},
	rowCarinaY:         {RuleCarinaPositionY},
	rowCarinaStd:       {RuleCarinaAngleStd},
	rowTracheaHeight:   {RuleTracheaHeight},
	rowTracheaWidth:    {RuleTracheaWidthMedian},
	rowTracheaStd:      {RuleTracheaWidthStd},
	rowTracheaResidual: {RuleTrachealMidlineResidual},
	rowTracheaXStd:     {RuleTrachealMidlineXStd},
	rowKnobDescHeight:  {RuleKnobDescHeight},
	rowKnobX:           {RuleKnobXAlignment},
	rowKnobGap:         {RuleKnobDescStartGap},
	rowKnobWidth:       {RuleKnobWidth},
	rowAscHeight:       {RuleAscendingHeight},
	rowAscOffset:       {RuleAscendingVerticalOffset},
	rowDescHeight:      {RuleDescendingHeight},
	rowDescStd:         {RuleDescendingWidthStd},
}

// labelRows are the rows that a label follows from, beside the stored index.
var labelRows = map[row]bool{
	rowCTRPA: true, rowCTRAP: true, rowCTRComparison: true, rowMCRPA: true, rowMCRAP: true, rowCarinaNormal: true,
	rowKnobEnlarged: true, rowDescEnlarged: true, rowTortuous: true, rowRibGood: true, rowNotRotated: true,
	rowOverlapSplit: true, rowAscEnlarged: true, rowAscImplausible: true,
}

// Change is a row of a section that two rule sets hold differently.
type Change struct {
	Row      string
	Was, Now any
	// Stored says that findings hold what the row is compared with, so that no mask is needed to
	// apply it anew.
	Stored bool
}

// Changes lists the rows that a section reads and that differ, in the order of names. Rows that
// only one of the rule sets reads need masks.
func Changes(t Task, was, now *Rules) []Change {
	old, list := was.KeyParams(t), []Change{}
	for _, v := range now.RowsRead(t) {
		before, read := old[v.Name]
		delete(old, v.Name)
		if read && reflect.DeepEqual(before, v.Value) {
			continue
		}
		id := defaultTable().byName[v.Name]
		list = append(list, Change{Row: v.Name, Was: before, Now: v.Value, Stored: read && (labelRows[id] || checkedBy[id] != nil)})
	}
	for _, v := range was.RowsRead(t) {
		if _, gone := old[v.Name]; gone {
			list = append(list, Change{Row: v.Name, Was: v.Value})
		}
	}
	return list
}

// Rejudge returns what a finding becomes under rules that differ in limits only, without a mask:
// checks and label are made anew from what the finding holds. view is that of its picture, and
// changes are those of its task between the rules it was made under and now.
//
// ok is false where a differing row needs masks, or a value that it is compared with is absent.
// Landmarks are those of the finding.
func Rejudge(f Finding, view cxr.ViewPosition, changes []Change, now *Rules) (out Finding, ok bool) {
	c := newAssessment(&Input{View: view}, now)
	out = f
	if out.Checks, ok = c.recheck(f.Checks, changes); !ok {
		return f, false
	}
	if out.Status == StatusNotEvaluable {
		return out, true
	}
	c.label(&out)
	out.settle()
	return out, true
}

// RejudgeFilter is Rejudge for the global filter.
func RejudgeFilter(d FilterDecision, changes []Change, now *Rules) (out FilterDecision, ok bool) {
	out = d
	out.Checks, ok = newAssessment(&Input{}, now).recheck(d.Checks, changes)
	return out, ok
}

// recheck applies the rows that differ to stored values.
func (c *assessment) recheck(checks []Check, changes []Change) ([]Check, bool) {
	out := append([]Check(nil), checks...)
	for _, change := range changes {
		if !change.Stored {
			return nil, false
		}
		id := defaultTable().byName[change.Row]
		for i := range out {
			for _, rule := range checkedBy[id] {
				if out[i].Rule != rule {
					continue
				}
				v, has := out[i].Value.Float()
				if !has {
					return nil, false
				}
				out[i].Pass = c.holds(id, v)
			}
		}
	}
	return out, true
}
