package chexstruct

import "fmt"

// Rule is one quality rule. The zero value is invalid.
type Rule uint8

// The 65 rules of the threshold table, and one more that only the paper's reading of the
// mediastinum uses. Some belong to several tasks.
const (
	RuleMaskCount Rule = iota + 1
	RuleHeartPosition
	RuleGradient
	RuleOrientation

	RuleApexYDiff
	RuleApexPosition
	RuleBottomYDiff
	RuleBottomPosition
	RuleBottomDomeGap
	RuleSideWidth
	RuleSideLabel

	RuleLineAgreement
	RuleDiaphragmOverlap
	RuleRibExist
	RuleRibInLung
	RuleRibSpacing
	RuleRibIoU
	RuleRibOverlap
	RuleRibSplit
	RuleRibOrder

	RuleClavicleX
	RuleClavicleGap
	RuleClavicleYDiff
	RuleClavicleYPosition
	RuleMidlineOrder
	RuleMidlineResidual
	RuleMidlineXStd
	RuleDistancesNonneg

	RuleScapulaWidthRight
	RuleScapulaHeightRight
	RuleScapulaOverRight
	RuleLungWidthRight
	RuleLungHeightRight
	RuleScapulaWidthLeft
	RuleScapulaHeightLeft
	RuleScapulaOverLeft
	RuleLungWidthLeft
	RuleLungHeightLeft

	RuleHeartBox
	RuleLungBalance

	RuleMediBoxWidth
	RuleMediBoxX
	RuleMediYPosition
	RuleMediLungBalance

	RuleTracheaHeight
	RuleTracheaWidthMedian
	RuleTracheaWidthStd
	RuleTrachealMidlineResidual
	RuleTrachealMidlineXStd

	RuleCarinaTopXDiff
	RuleCarinaTopYDiff
	RuleCarinaMaskWidth
	RuleCarinaMaskHeight
	RuleCarinaPositionX
	RuleCarinaPositionY
	RuleCarinaAngleStd

	RuleKnobDescHeight
	RuleKnobXAlignment
	RuleKnobDescStartGap
	RuleKnobWidth

	RuleAscendingHeight
	RuleAscendingVerticalOffset
	RuleAscendingLineOrder

	RuleDescendingHeight
	RuleDescendingWidthStd

	// RuleMediBox judges the mediastinum's box as the heart's box is judged; preset
	// as_published only.
	RuleMediBox
)

var ruleText = [...]string{
	RuleMaskCount:     "global.mask_count",
	RuleHeartPosition: "global.heart_position",
	RuleGradient:      "global.gradient",
	RuleOrientation:   "global.orientation",

	RuleApexYDiff:      "inclusion.apex_y_diff",
	RuleApexPosition:   "inclusion.apex_position",
	RuleBottomYDiff:    "inclusion.bottom_y_diff",
	RuleBottomPosition: "inclusion.bottom_position",
	RuleBottomDomeGap:  "inclusion.bottom_dome_gap",
	RuleSideWidth:      "inclusion.side_width",
	RuleSideLabel:      "inclusion.side_label",

	RuleLineAgreement:    "inspiration.line_agreement",
	RuleDiaphragmOverlap: "inspiration.diaphragm_overlap",
	RuleRibExist:         "inspiration.rib_exist",
	RuleRibInLung:        "inspiration.rib_in_lung",
	RuleRibSpacing:       "inspiration.rib_spacing",
	RuleRibIoU:           "inspiration.rib_iou",
	RuleRibOverlap:       "inspiration.rib_overlap",
	RuleRibSplit:         "inspiration.rib_split",
	RuleRibOrder:         "inspiration.rib_order",

	RuleClavicleX:         "rotation.clavicle_x",
	RuleClavicleGap:       "rotation.clavicle_gap",
	RuleClavicleYDiff:     "rotation.clavicle_y_diff",
	RuleClavicleYPosition: "rotation.clavicle_y_position",
	RuleMidlineOrder:      "rotation.midline_order",
	RuleMidlineResidual:   "rotation.midline_residual",
	RuleMidlineXStd:       "rotation.midline_x_std",
	RuleDistancesNonneg:   "rotation.distances_nonneg",

	RuleScapulaWidthRight:  "projection.scapula_width_right",
	RuleScapulaHeightRight: "projection.scapula_height_right",
	RuleScapulaOverRight:   "projection.scapula_over_right",
	RuleLungWidthRight:     "projection.lung_width_right",
	RuleLungHeightRight:    "projection.lung_height_right",
	RuleScapulaWidthLeft:   "projection.scapula_width_left",
	RuleScapulaHeightLeft:  "projection.scapula_height_left",
	RuleScapulaOverLeft:    "projection.scapula_over_left",
	RuleLungWidthLeft:      "projection.lung_width_left",
	RuleLungHeightLeft:     "projection.lung_height_left",

	RuleHeartBox:    "cardiomegaly.heart_box",
	RuleLungBalance: "cardiomegaly.lung_balance",

	RuleMediBoxWidth:    "mediastinal_widening.medi_box_width",
	RuleMediBoxX:        "mediastinal_widening.medi_box_x",
	RuleMediYPosition:   "mediastinal_widening.medi_y_position",
	RuleMediLungBalance: "mediastinal_widening.lung_balance",
	RuleMediBox:         "mediastinal_widening.medi_box",

	RuleTracheaHeight:           "trachea.height",
	RuleTracheaWidthMedian:      "trachea.width_median",
	RuleTracheaWidthStd:         "trachea.width_std",
	RuleTrachealMidlineResidual: "trachea_deviation.midline_residual",
	RuleTrachealMidlineXStd:     "trachea_deviation.midline_x_std",

	RuleCarinaTopXDiff:   "carina_angle.top_x_diff",
	RuleCarinaTopYDiff:   "carina_angle.top_y_diff",
	RuleCarinaMaskWidth:  "carina_angle.mask_width",
	RuleCarinaMaskHeight: "carina_angle.mask_height",
	RuleCarinaPositionX:  "carina_angle.position_x",
	RuleCarinaPositionY:  "carina_angle.position_y",
	RuleCarinaAngleStd:   "carina_angle.angle_std",

	RuleKnobDescHeight:   "aortic_knob_enlargement.desc_height",
	RuleKnobXAlignment:   "aortic_knob_enlargement.x_alignment",
	RuleKnobDescStartGap: "aortic_knob_enlargement.desc_start_gap",
	RuleKnobWidth:        "aortic_knob_enlargement.knob_width",

	RuleAscendingHeight:         "ascending_aorta_enlargement.height",
	RuleAscendingVerticalOffset: "ascending_aorta_enlargement.vertical_offset",
	RuleAscendingLineOrder:      "ascending_aorta_enlargement.line_order",

	RuleDescendingHeight:   "descending_aorta.height",
	RuleDescendingWidthStd: "descending_aorta.width_std",
}

// QualityRules returns every rule.
func QualityRules() []Rule {
	list := make([]Rule, 0, RuleMediBox)
	for r := RuleMaskCount; r <= RuleMediBox; r++ {
		list = append(list, r)
	}
	return list
}

// Valid reports whether r is one of [QualityRules].
func (r Rule) Valid() bool { return r >= RuleMaskCount && r <= RuleMediBox }

// String returns the text form, for example "trachea.width_std".
func (r Rule) String() string {
	if !r.Valid() {
		return fmt.Sprintf("invalid rule %d", uint8(r))
	}
	return ruleText[r]
}

// ParseRule returns the rule with a text form; ok is false for any other text.
func ParseRule(text string) (r Rule, ok bool) {
	for _, r := range QualityRules() {
		if ruleText[r] == text {
			return r, true
		}
	}
	return 0, false
}

// MarshalText encodes a valid rule.
func (r Rule) MarshalText() ([]byte, error) {
	if !r.Valid() {
		return nil, fmt.Errorf("chexstruct: %s", r)
	}
	return []byte(ruleText[r]), nil
}

// UnmarshalText accepts exactly the text forms.
func (r *Rule) UnmarshalText(b []byte) error {
	v, ok := ParseRule(string(b))
	if !ok {
		return fmt.Errorf("chexstruct: no quality rule is called %q", b)
	}
	*r = v
	return nil
}
