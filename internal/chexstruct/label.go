package chexstruct

import "cxrepro/internal/cxr"

// label sets a finding's label from its index, or for the inclusion task from its parts: what
// was measured is not looked at again, so that other limits can be tried on a finding.
//
// Special cases: no index, a scapula on each side of the limit, a mixed base and an implausible
// ratio give no label.
func (c *assessment) label(f *Finding) {
	f.Label = ""
	rounded, has := f.Rounded.Float()
	switch {
	case f.Task == AscendingAortaEnlargement:
		c.labelAscending(f)
	case f.Task == Projection:
		c.labelProjection(f)
	case f.Task == Inclusion:
		f.labelParts()
	case f.Task == TracheaDeviation:
		if direction, ok := f.Index.Text(); ok {
			f.either(direction != sideFlat, LabelDeviated, LabelNotDeviated)
		}
	case !has:
	case f.Task == Cardiomegaly:
		f.either(c.cardiacEnlarged(c.in.View, rounded), LabelEnlarged, LabelNormal)
	case f.Task == MediastinalWidening:
		f.either(c.mediastinumWide(c.in.View, rounded), LabelEnlarged, LabelNormal)
	case f.Task == CarinaAngle:
		f.either(c.holds(rowCarinaNormal, rounded), LabelNormal, LabelAbnormal)
	case f.Task == AorticKnobEnlargement:
		f.either(c.holds(rowKnobEnlarged, rounded), LabelEnlarged, LabelNormal)
	case f.Task == DescendingAortaEnlargement:
		f.either(c.holds(rowDescEnlarged, rounded), LabelEnlarged, LabelNormal)
	case f.Task == DescendingAortaTortuous:
		f.either(c.holds(rowTortuous, rounded), LabelTortuous, LabelNormal)
	case f.Task == Inspiration:
		f.either(c.holds(rowRibGood, rounded), LabelGood, LabelPoor)
	case f.Task == Rotation:
		f.either(c.holds(rowNotRotated, rounded), LabelNotRotated, LabelRotated)
	}
}

func (f *Finding) either(first bool, a, b Label) {
	f.Label = b
	if first {
		f.Label = a
	}
}

// labelAscending labels by the share beyond the line.
func (c *assessment) labelAscending(f *Finding) {
	ratio, ok := f.Index.Float()
	if !ok {
		return
	}
	from, implausible := c.holds(rowAscEnlarged, ratio), c.holds(rowAscImplausible, ratio)
	switch {
	case ratio == 0:
		f.Label = LabelNormal
	case from && !implausible:
		f.Label = LabelEnlarged
	}
}

// labelProjection labels by both scapulae: AP when both reach the limit, PA when neither does.
func (c *assessment) labelProjection(f *Finding) {
	pair, ok := f.Rounded.Vec()
	if !ok {
		return
	}
	atR, atL := c.holds(rowOverlapSplit, pair.X), c.holds(rowOverlapSplit, pair.Y)
	switch {
	case atR && atL:
		f.Label = LabelAP
	case !atR && !atL:
		f.Label = LabelPA
	}
}

// labelParts labels by the six parts; one mixed base leaves the image undecided.
func (f *Finding) labelParts() {
	p := f.Parts
	if p == nil {
		return
	}
	all := true
	for _, flag := range []Flag{p.Apex[0], p.Apex[1], p.Side[0], p.Side[1], p.Bottom[0], p.Bottom[1]} {
		if flag == FlagMixed {
			return
		}
		all = all && flag == FlagIncluded
	}
	f.either(all, LabelIncluded, LabelExcluded)
}

// mediastinumWide compares the rounded ratio with the limit of the view.
func (c *assessment) mediastinumWide(view cxr.ViewPosition, rounded float64) bool {
	atPA, atAP := c.holds(rowMCRPA, rounded), c.holds(rowMCRAP, rounded)
	return view == cxr.ViewPA && atPA || view == cxr.ViewAP && atAP
}
