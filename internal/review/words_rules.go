package review

import (
	"strings"

	"cxrepro/internal/chexstruct"
)

// ruleWords says in words what a quality rule judges.
type ruleWords struct {
	// What is the judged quantity, with its unit.
	What string
	// Rows are the rows of the threshold table that judge it; Must replaces their words
	// where they do not speak for themselves. A %s in Must takes the rows' figures in order.
	Rows []string
	Must string
	// Parts name the two figures of a rule that judges a pair.
	Parts [2]string
}

var sides = [2]string{"right", "left"}

// ruleText has an entry for every rule.
var ruleText = map[chexstruct.Rule]ruleWords{
	chexstruct.RuleMaskCount:     {What: "structures found, of 97", Rows: []string{"global.mask_count.mask_num_min"}},
	chexstruct.RuleHeartPosition: {What: "space below the heart over space above its lowest row", Rows: []string{"global.heart_position.abdominal_ratio_max"}},
	chexstruct.RuleGradient:      {What: "mean edge strength", Rows: []string{"global.gradient.gradient_mean_min", "global.gradient.gradient_mean_max"}},
	chexstruct.RuleOrientation:   {What: "left lung's middle minus right lung's, in pixels", Must: "more than 0"},

	chexstruct.RuleApexYDiff:      {What: "height difference of the two apices, of the image height", Rows: []string{"inclusion.apex_y_diff.max"}},
	chexstruct.RuleApexPosition:   {What: "mean distance of the apices to the upper border, of the content height", Rows: []string{"inclusion.apex_position.max"}},
	chexstruct.RuleBottomYDiff:    {What: "height difference of the two lung bases, of the image height", Rows: []string{"inclusion.bottom_y_diff.max"}},
	chexstruct.RuleBottomPosition: {What: "mean distance of the bases to the lower border, of the content height", Rows: []string{"inclusion.bottom_position.max"}},
	chexstruct.RuleBottomDomeGap:  {What: "lung below the base point, of the image height", Rows: []string{"inclusion.bottom_dome_gap.max"}, Parts: sides},
	chexstruct.RuleSideWidth: {What: "smaller over larger lung width between side point and inner edge",
		Rows: []string{"inclusion.side_width.both_included_min", "inclusion.side_width.both_excluded_min", "inclusion.side_width.right_in_left_out_min", "inclusion.side_width.right_out_left_in_min"},
		Must: "at least %s with both sides included, %s with both excluded, %s with only the right and %s with only the left one included"},
	chexstruct.RuleSideLabel: {What: "lung sides inside the picture (1 = inside)", Must: "both inside", Parts: sides},

	chexstruct.RuleLineAgreement:    {What: "distance of the line with and without the second lung contour, of the image width", Rows: []string{"inspiration.line_agreement.max"}},
	chexstruct.RuleDiaphragmOverlap: {What: "rows common to lung and diaphragm on the line, of the lung's", Rows: []string{"inspiration.diaphragm_overlap.min_exclusive", "inspiration.diaphragm_overlap.max"}},
	chexstruct.RuleRibExist:         {What: "ribs found", Must: "all ribs that are checked"},
	chexstruct.RuleRibInLung:        {What: "share of the checked ribs that reach into the lung", Rows: []string{"inspiration.rib_in_lung.min"}},
	chexstruct.RuleRibSpacing:       {What: "space between neighbouring ribs", Must: "within the limit of every pair"},
	chexstruct.RuleRibIoU:           {What: "overlap (IoU) of neighbouring ribs", Must: "within the limit of every pair"},
	chexstruct.RuleRibOverlap:       {What: "overlap of near ribs, of the smaller one", Must: "within the limit of every pair"},
	chexstruct.RuleRibSplit:         {What: "one rib cut into two masks", Must: "not found"},
	chexstruct.RuleRibOrder:         {What: "order of the ribs' medial ends", Must: "strictly downwards"},

	chexstruct.RuleClavicleX:         {What: "medial end across the lung: 0 at its lateral, 1 at its medial edge", Rows: []string{"rotation.clavicle_x.range"}, Parts: sides},
	chexstruct.RuleClavicleGap:       {What: "gap between the medial ends, of the image width", Rows: []string{"rotation.clavicle_gap.range"}},
	chexstruct.RuleClavicleYDiff:     {What: "height difference of the medial ends, of the image height", Rows: []string{"rotation.clavicle_y_diff.max"}},
	chexstruct.RuleClavicleYPosition: {What: "mean height of the medial ends, of the image height from the top", Rows: []string{"rotation.clavicle_y_position.range"}},
	chexstruct.RuleMidlineOrder:      {What: "order of the vertebrae T1 to T7", Must: "downwards"},
	chexstruct.RuleMidlineResidual:   {What: "largest distance of a vertebra to the chord of the outer ones, in native pixels", Rows: []string{"rotation.midline_residual.max"}},
	chexstruct.RuleMidlineXStd:       {What: "standard deviation of the vertebrae's columns, in native pixels", Rows: []string{"rotation.midline_x_std.max"}},
	chexstruct.RuleDistancesNonneg:   {What: "distances to the spine, in pixels", Rows: []string{"rotation.distances_nonneg.min"}, Parts: sides},

	chexstruct.RuleScapulaWidthRight:  {What: "width of the right shoulder blade, of the image width", Rows: []string{"projection.scapula_width.range"}},
	chexstruct.RuleScapulaHeightRight: {What: "height of the right shoulder blade, of the image height", Rows: []string{"projection.scapula_height.range"}},
	chexstruct.RuleScapulaOverRight:   {What: "width and height of the right shoulder blade together", Rows: []string{"projection.scapula_over.limit"}},
	chexstruct.RuleLungWidthRight:     {What: "width of the right lung beside its shoulder blade, of the image width", Rows: []string{"projection.lung_width.min"}},
	chexstruct.RuleLungHeightRight:    {What: "height of the right lung beside its shoulder blade, of the image height", Rows: []string{"projection.lung_height.min"}},
	chexstruct.RuleScapulaWidthLeft:   {What: "width of the left shoulder blade, of the image width", Rows: []string{"projection.scapula_width.range"}},
	chexstruct.RuleScapulaHeightLeft:  {What: "height of the left shoulder blade, of the image height", Rows: []string{"projection.scapula_height.range"}},
	chexstruct.RuleScapulaOverLeft:    {What: "width and height of the left shoulder blade together", Rows: []string{"projection.scapula_over.limit"}},
	chexstruct.RuleLungWidthLeft:      {What: "width of the left lung beside its shoulder blade, of the image width", Rows: []string{"projection.lung_width.min"}},
	chexstruct.RuleLungHeightLeft:     {What: "height of the left lung beside its shoulder blade, of the image height", Rows: []string{"projection.lung_height.min"}},

	chexstruct.RuleHeartBox: {What: "heart against the given box: overlap (IoU), distance of the centres", Parts: [2]string{"IoU", "distance"},
		Rows: []string{"cardiomegaly.heart_box.iou_high", "cardiomegaly.heart_box.dist_high", "cardiomegaly.heart_box.iou_low", "cardiomegaly.heart_box.dist_low"},
		Must: "overlap at least %s with distance at most %s, or overlap at least %s with distance at most %s"},
	chexstruct.RuleLungBalance: {What: "smaller over larger lung half beside the heart", Rows: []string{"cardiomegaly.lung_balance.min"}},

	chexstruct.RuleMediBoxWidth:    {What: "width over the given box's width", Rows: []string{"mediastinal_widening.medi_box_width.range"}},
	chexstruct.RuleMediBoxX:        {What: "distance of the middles of mask and given box, of the thoracic width", Rows: []string{"mediastinal_widening.medi_box_x.max"}},
	chexstruct.RuleMediYPosition:   {What: "distance of the row to the upper border, of the content height", Rows: []string{"mediastinal_widening.medi_y_position.range"}},
	chexstruct.RuleMediLungBalance: {What: "smaller over larger lung half on the row", Rows: []string{"mediastinal_widening.lung_balance.min"}},
	chexstruct.RuleMediBox: {What: "mediastinum against the given box: overlap (IoU), distance of the centres", Parts: [2]string{"IoU", "distance"},
		Rows: []string{"cardiomegaly.heart_box.iou_high", "cardiomegaly.heart_box.dist_high", "cardiomegaly.heart_box.iou_low", "cardiomegaly.heart_box.dist_low"},
		Must: "overlap at least %s with distance at most %s, or overlap at least %s with distance at most %s"},

	chexstruct.RuleTracheaHeight:           {What: "height of the trachea that is measured, of the image height", Rows: []string{"trachea.height.min"}},
	chexstruct.RuleTracheaWidthMedian:      {What: "median width of the trachea, of the image width", Rows: []string{"trachea.width_median.range"}},
	chexstruct.RuleTracheaWidthStd:         {What: "standard deviation of the trachea's width, in native pixels", Rows: []string{"trachea.width_std.max"}},
	chexstruct.RuleTrachealMidlineResidual: {What: "largest distance of a vertebra to the chord of the outer ones, in native pixels", Rows: []string{"trachea_deviation.midline_residual.max"}},
	chexstruct.RuleTrachealMidlineXStd:     {What: "standard deviation of the vertebrae's columns, in native pixels", Rows: []string{"trachea_deviation.midline_x_std.max"}},

	chexstruct.RuleCarinaTopXDiff:   {What: "carina beside the bifurcation's top, of the image width", Rows: []string{"carina_angle.top_x_diff.max"}},
	chexstruct.RuleCarinaTopYDiff:   {What: "carina below the bifurcation's top, of the image height", Rows: []string{"carina_angle.top_y_diff.min_exclusive"}},
	chexstruct.RuleCarinaMaskWidth:  {What: "width of the bifurcation, of the image width", Rows: []string{"carina_angle.mask_width.min"}},
	chexstruct.RuleCarinaMaskHeight: {What: "height of the bifurcation, of the image height", Rows: []string{"carina_angle.mask_height.min"}},
	chexstruct.RuleCarinaPositionX:  {What: "carina across the bifurcation, of its width", Rows: []string{"carina_angle.position_x.range"}},
	chexstruct.RuleCarinaPositionY:  {What: "carina down the bifurcation, of its height", Rows: []string{"carina_angle.position_y.range"}},
	chexstruct.RuleCarinaAngleStd:   {What: "standard deviation of the angle on the three levels, in degrees", Rows: []string{"carina_angle.angle_std.max"}},

	chexstruct.RuleKnobDescHeight:   {What: "height of the upper descending aorta, of the image height", Rows: []string{"aortic_knob_enlargement.desc_height.min"}},
	chexstruct.RuleKnobXAlignment:   {What: "arch's outer edge minus the descending aorta's, of the image width", Rows: []string{"aortic_knob_enlargement.x_alignment.min"}},
	chexstruct.RuleKnobDescStartGap: {What: "descending aorta's start below the trachea's end, of the image height", Rows: []string{"aortic_knob_enlargement.desc_start_gap.max"}},
	chexstruct.RuleKnobWidth:        {What: "width of the knob, in pixels", Rows: []string{"aortic_knob_enlargement.knob_width.min_exclusive"}},

	chexstruct.RuleAscendingHeight:         {What: "height of the ascending aorta, of the image height", Rows: []string{"ascending_aorta_enlargement.height.min"}},
	chexstruct.RuleAscendingVerticalOffset: {What: "ascending aorta's top below the trachea's end, of the image height", Rows: []string{"ascending_aorta_enlargement.vertical_offset.range"}},
	chexstruct.RuleAscendingLineOrder:      {What: "trachea's end minus the heart's right border, in pixels", Rows: []string{"ascending_aorta_enlargement.line_order.min"}},

	chexstruct.RuleDescendingHeight:   {What: "height of the descending aorta that is measured, of the image height", Rows: []string{"descending_aorta.height.min"}},
	chexstruct.RuleDescendingWidthStd: {What: "standard deviation of the six widths, of the image width", Rows: []string{"descending_aorta.width_std.max"}},
}

// must says what a rule demands under the rules, such as "at most 20".
func (l limits) must(r chexstruct.Rule) string {
	w := ruleText[r]
	if r == chexstruct.RuleGradient {
		return l.gradient()
	}
	if w.Must == "" {
		parts := make([]string, len(w.Rows))
		for i, row := range w.Rows {
			parts[i] = l.text(row)
		}
		return strings.Join(parts, " and ")
	}
	text := w.Must
	for _, row := range w.Rows {
		text = strings.Replace(text, "%s", l.figure(row), 1)
	}
	return text
}

// gradient names the bounds that count under the rules.
func (l limits) gradient() string {
	lo, hi := l.text("global.gradient.gradient_mean_min"), l.text("global.gradient.gradient_mean_max")
	bounds, _ := l.rules.Limit("global.gradient.bounds")
	switch bounds.Value {
	case "min_only":
		return lo
	case "max_only":
		return hi
	}
	return lo + " and " + hi
}

// checkText is one rule on one case, in words.
type checkText struct {
	Rule, What, Value, Must string
	Pass                    bool
}

func (l limits) check(c chexstruct.Check) checkText {
	w := ruleText[c.Rule]
	t := checkText{Rule: c.Rule.String(), What: w.What, Must: l.must(c.Rule), Pass: c.Pass, Value: valueText(c.Value)}
	if w.Parts[0] != "" && c.Value.Len() == 2 {
		t.Value = w.Parts[0] + " " + valueText(c.Value.At(0)) + ", " + w.Parts[1] + " " + valueText(c.Value.At(1))
	}
	if c.Rule == chexstruct.RuleHeartBox && c.Value.Kind() == chexstruct.KindNone {
		t.What = "heart box of cardiomegaly and the side rules of inclusion, together"
		t.Must = "all hold"
	}
	return t
}

// checks puts every rule of a finding in words, failed ones first.
func (l limits) checks(list []chexstruct.Check) []checkText {
	var out []checkText
	for _, pass := range []bool{false, true} {
		for _, c := range list {
			if c.Pass == pass {
				out = append(out, l.check(c))
			}
		}
	}
	return out
}

var reasonText = map[chexstruct.Reason]string{
	chexstruct.ReasonMissingMask:         "a structure that the task needs was not found",
	chexstruct.ReasonMissingImage:        "there is no picture to find the content border on",
	chexstruct.ReasonMissingBox:          "the data set gives no reference box for this case",
	chexstruct.ReasonView:                "the view is neither PA nor AP, so there is no limit to compare with",
	chexstruct.ReasonOrientation:         "right and left lung lie on the wrong sides",
	chexstruct.ReasonNoContent:           "the picture has no content around the point",
	chexstruct.ReasonZeroWidth:           "a width to divide by is zero",
	chexstruct.ReasonApexEmpty:           "no lung lies on the picture's content, so there is no apex",
	chexstruct.ReasonSideEmpty:           "no lung lies beside the diaphragm, so there is no side point",
	chexstruct.ReasonBaseEmpty:           "no lung lies above the diaphragm, so there is no base point",
	chexstruct.ReasonNoMidClavicularRow:  "the right lung has no row to take the mid-clavicular line from",
	chexstruct.ReasonNoDiaphragmOnLine:   "lung or diaphragm does not reach the mid-clavicular line",
	chexstruct.ReasonNoRibOnLine:         "no rib and diaphragm meet the mid-clavicular line",
	chexstruct.ReasonNoRibAbove:          "no rib lies above the diaphragm on the line",
	chexstruct.ReasonRibGap:              "the last rib on the line ends too far above the diaphragm to be the answer",
	chexstruct.ReasonClavicleVertical:    "a clavicle is one column wide",
	chexstruct.ReasonMissingVertebra:     "a vertebra beside the clavicle ends was not found",
	chexstruct.ReasonNoLungInBand:        "there is no lung beside a shoulder blade",
	chexstruct.ReasonNoLungBelowHeartTop: "a lung lies wholly above the heart's top",
	chexstruct.ReasonNoLungAtLevel:       "a lung does not reach the mediastinum's widest row",
	chexstruct.ReasonNoNotch:             "the bifurcation has no notch between two branches",
	chexstruct.ReasonNoCarina:            "the point above the notch is not part of the bifurcation",
	chexstruct.ReasonCarinaRows:          "a level below the carina has no single gap around it",
	chexstruct.ReasonTracheaEmpty:        "no trachea lies above the bifurcation",
	chexstruct.ReasonMidlinePoints:       "fewer than three consecutive vertebrae lie beside the trachea",
	chexstruct.ReasonDescAboveTrachea:    "the descending aorta ends above the trachea's end",
	chexstruct.ReasonDescPartEmpty:       "the upper part of the descending aorta is empty",
	chexstruct.ReasonNoArchOverDesc:      "no arch lies over the descending aorta",
	chexstruct.ReasonNoTracheaAtArch:     "no trachea lies beside the arch",
	chexstruct.ReasonNoHeartOverlap:      "the descending aorta does not overlap the heart",
	chexstruct.ReasonDescEmpty:           "no descending aorta lies above the overlap with the heart",
	chexstruct.ReasonDescShort:           "the descending aorta has fewer than five rows to measure",
	chexstruct.ReasonDescGap:             "the descending aorta has a gap at a measured row",
	chexstruct.ReasonMaskQuality:         "a lung or the heart covers too little",
	chexstruct.ReasonImplausibleValue:    "the cardiothoracic ratio is implausible",
}
