package chexstruct

import "slices"

// Rows by the rules they belong to, first and last in the order of the table.
var (
	rowsInclusion  = rowSpan(rowApexMin, rowCPAOffset)
	rowsTrachea    = rowSpan(rowTracheaTrim, rowTracheaStd)
	rowsHeartBox   = rowSpan(rowBoxIoUHigh, rowBoxDistLow)
	rowsDescending = rowSpan(rowDescTrim, rowDescStd)
	rowsScale      = []row{rowNativeWidth}
)

func rowSpan(first, last row) []row {
	var list []row
	for id := first; id <= last; id++ {
		list = append(list, id)
	}
	return list
}

// rowsOf declares which rows a section reads, in whatever preset. Every section looks at
// the orientation of the lungs.
func (r *Rules) rowsOf(t Task) []row {
	list := []row{rowLungOrder, rowOrientationCheck}
	add := func(groups ...[]row) {
		for _, g := range groups {
			list = append(list, g...)
		}
	}
	switch t {
	case Global:
		add(rowSpan(rowMaskCount, rowGradientBounds))
	case Inclusion:
		add(rowsInclusion)
	case Inspiration:
		add(rowSpan(rowRibGood, rowRibSplit))
	case Rotation:
		add(rowsScale, rowSpan(rowNotRotated, rowMidlineOrder))
	case Projection:
		add(rowSpan(rowOverlapSplit, rowLungHeight))
	case Cardiomegaly:
		add(rowsInclusion, rowSpan(rowCTRPA, rowCTRComparison), rowsHeartBox, []row{rowCardiacBalance, rowEqualWidths})
	case MediastinalWidening:
		add(rowsInclusion, []row{rowMCRPA, rowMCRAP, rowMediBoxRule, rowMediBalance, rowEqualWidths})
		if r.values[rowMediBoxRule].text == choiceHeartBox {
			add(rowsHeartBox)
		} else {
			add([]row{rowMediBoxWidth, rowMediBoxX, rowMediY})
		}
	case CarinaAngle:
		add(rowSpan(rowCarinaNormal, rowCarinaStd))
	case TracheaDeviation:
		add(rowsScale, rowsTrachea, rowSpan(rowTracheaPoints, rowTracheaXStd))
	case AorticKnobEnlargement:
		add(rowsScale, rowsTrachea, rowSpan(rowKnobEnlarged, rowKnobWidth))
	case AscendingAortaEnlargement:
		add(rowsScale, rowsTrachea, rowsInclusion, rowsHeartBox, rowSpan(rowAscEnlarged, rowAscVertical))
	case DescendingAortaTortuous:
		add(rowsScale, rowsDescending, []row{rowTortuous, rowDerivative})
	case DescendingAortaEnlargement:
		add(rowsScale, rowsTrachea, rowsDescending, []row{rowDescEnlarged})
	case XRagent:
		add(rowSpan(rowGateView, rowShiftMarked))
	}
	return list
}

// RowsRead returns exactly the rows that can change a section's outcome under these
// rules, in the order of names: what belongs into a key, no more and no less. It is empty
// for an invalid section.
func (r *Rules) RowsRead(t Task) []RowValue {
	if !t.Valid() {
		return nil
	}
	var list []RowValue
	for _, id := range r.rowsOf(t) {
		list = append(list, r.rowValue(id))
	}
	slices.SortFunc(list, func(a, b RowValue) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}

// KeyParams returns [Rules.RowsRead] as a map from row name to value.
func (r *Rules) KeyParams(t Task) map[string]any {
	m := make(map[string]any)
	for _, v := range r.RowsRead(t) {
		m[v.Name] = v.Value
	}
	return m
}
