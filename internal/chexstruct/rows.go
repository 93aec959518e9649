package chexstruct

// row is one row of the threshold table, a limit or a switch between readings.
type row uint8

// The rows, in the order of the table.
const (
	// Global filter.
	rowNativeWidth row = iota + 1
	rowMaskCount
	rowAbdominalRatio
	rowSobelSize
	rowGradientMax
	rowGradientMin
	rowGradientBounds
	rowLungOrder
	rowOrientationCheck

	// Inclusion. Read by the three tasks that build on it, too.
	rowApexMin
	rowSideMin
	rowBottomMin
	rowBottomExcluded
	rowApexYDiff
	rowApexPosition
	rowWidthBothIn
	rowWidthBothOut
	rowWidthRightIn
	rowWidthLeftIn
	rowBottomYDiff
	rowBottomPosition
	rowBottomDomeGap
	rowCPAOffset

	// Inspiration.
	rowRibGood
	rowLateralFraction
	rowLineAgreement
	rowOverlapMin
	rowOverlapMax
	rowRibGap
	rowRibScope
	rowRibInLung
	rowRibOrder
	rowRibOrderCheck
	rowRibSpacing
	rowRibIoU
	rowRibOverlapNear
	rowRibOverlapMid
	rowRibSplit

	// Rotation.
	rowNotRotated
	rowClavicleX
	rowClavicleGap
	rowClavicleYDiff
	rowClavicleY
	rowMidlineResidual
	rowMidlineXStd
	rowDistancesNonneg
	rowMidlineOrder

	// Projection.
	rowOverlapSplit
	rowScapulaWidth
	rowScapulaHeight
	rowScapulaOver
	rowLungWidth
	rowLungHeight

	// Cardiomegaly. The heart box is read by the ascending aorta, too.
	rowCTRPA
	rowCTRAP
	rowCTRComparison
	rowBoxIoUHigh
	rowBoxDistHigh
	rowBoxIoULow
	rowBoxDistLow
	rowCardiacBalance
	rowEqualWidths

	// Mediastinal widening.
	rowMCRPA
	rowMCRAP
	rowMediBoxRule
	rowMediBoxWidth
	rowMediBoxX
	rowMediY
	rowMediBalance

	// Trachea, shared by four tasks.
	rowTracheaTrim
	rowTracheaHeight
	rowTracheaWidth
	rowTracheaStd

	// Trachea deviation.
	rowTracheaPoints
	rowTracheaMidline
	rowTracheaResidual
	rowTracheaXStd

	// Carina angle.
	rowCarinaNormal
	rowCarinaLevels
	rowCarinaTopX
	rowCarinaTopY
	rowCarinaWidth
	rowCarinaHeight
	rowCarinaX
	rowCarinaY
	rowCarinaStd

	// Aortic knob.
	rowKnobEnlarged
	rowKnobDescPart
	rowKnobDescHeight
	rowKnobX
	rowKnobGap
	rowKnobWidth

	// Ascending aorta.
	rowAscEnlarged
	rowAscImplausible
	rowAscHeight
	rowAscOffset
	rowAscLineOrder
	rowAscVertical

	// Descending aorta, both tasks.
	rowDescTrim
	rowDescHeight
	rowDescStd
	rowDescEnlarged
	rowTortuous
	rowDerivative

	// X-Ragent bundle, profile "table".
	rowGateView
	rowGateLung
	rowGateHeart
	rowGateCTR
	rowCTRMild
	rowCTRModerate
	rowCTRSevere
	rowAsymmetryMild
	rowAsymmetryMarked
	rowShiftMild
	rowShiftMarked

	rowCount = row(iota)
)

// rowSpec is what the program expects of a row; the embedded table must agree.
type rowSpec struct {
	name string
	kind rowKind
	op   rowOp
}

var rowSpecs = [rowCount + 1]rowSpec{
	rowNativeWidth:      {"global.scale.native_width_default", kindPositive, opParameter},
	rowMaskCount:        {"global.mask_count.mask_num_min", kindCount, opAtLeast},
	rowAbdominalRatio:   {"global.heart_position.abdominal_ratio_max", kindNumber, opBelow},
	rowSobelSize:        {"global.gradient.sobel_ksize", kindFixed, opParameter},
	rowGradientMax:      {"global.gradient.gradient_mean_max", kindNumber, opBelow},
	rowGradientMin:      {"global.gradient.gradient_mean_min", kindNumber, opAtLeast},
	rowGradientBounds:   {"global.gradient.bounds", kindChoice, opSelect},
	rowLungOrder:        {"global.orientation.lung_order", kindFixed, opIs},
	rowOrientationCheck: {"global.orientation.check", kindChoice, opSelect},
	rowApexMin:          {"inclusion.label_apex.included_min", kindNumber, opAtLeast},
	rowSideMin:          {"inclusion.label_side.included_min", kindNumber, opAtLeast},
	rowBottomMin:        {"inclusion.label_bottom.included_min", kindNumber, opAtLeast},
	rowBottomExcluded:   {"inclusion.label_bottom.excluded_below", kindNumber, opBelow},
	rowApexYDiff:        {"inclusion.apex_y_diff.max", kindNumber, opBelow},
	rowApexPosition:     {"inclusion.apex_position.max", kindNumber, opBelow},
	rowWidthBothIn:      {"inclusion.side_width.both_included_min", kindNumber, opAtLeast},
	rowWidthBothOut:     {"inclusion.side_width.both_excluded_min", kindNumber, opAtLeast},
	rowWidthRightIn:     {"inclusion.side_width.right_in_left_out_min", kindNumber, opAtLeast},
	rowWidthLeftIn:      {"inclusion.side_width.right_out_left_in_min", kindNumber, opAtLeast},
	rowBottomYDiff:      {"inclusion.bottom_y_diff.max", kindNumber, opBelow},
	rowBottomPosition:   {"inclusion.bottom_position.max", kindNumber, opBelow},
	rowBottomDomeGap:    {"inclusion.bottom_dome_gap.max", kindNumber, opBelow},
	rowCPAOffset:        {"inclusion.cpa_display.offset", kindNumber, opParameter},
	rowRibGood:          {"inspiration.label.good_min", kindNumber, opAtLeast},
	rowLateralFraction:  {"inspiration.mid_clavicular.lateral_fraction", kindFraction, opParameter},
	rowLineAgreement:    {"inspiration.line_agreement.max", kindNumber, opBelow},
	rowOverlapMin:       {"inspiration.diaphragm_overlap.min_exclusive", kindNumber, opAbove},
	rowOverlapMax:       {"inspiration.diaphragm_overlap.max", kindNumber, opBelow},
	rowRibGap:           {"inspiration.rib_gap.max", kindNumber, opAtMost},
	rowRibScope:         {"inspiration.rib_exist.scope", kindChoice, opSelect},
	rowRibInLung:        {"inspiration.rib_in_lung.min", kindNumber, opAtLeast},
	rowRibOrder:         {"inspiration.rib_order.min_exclusive", kindNumber, opAbove},
	rowRibOrderCheck:    {"inspiration.rib_order.check", kindChoice, opSelect},
	rowRibSpacing:       {"inspiration.rib_spacing.max_per_pair", kindPairs, opAtMost},
	rowRibIoU:           {"inspiration.rib_iou.max_per_pair", kindPairs, opAtMost},
	rowRibOverlapNear:   {"inspiration.rib_overlap_near.max_per_pair", kindPairs, opAtMost},
	rowRibOverlapMid:    {"inspiration.rib_overlap_mid.max_per_pair", kindPairs, opAtMost},
	rowRibSplit:         {"inspiration.rib_split.max_per_pair", kindPairs, opAtMost},
	rowNotRotated:       {"rotation.label.not_rotated_min", kindNumber, opAtLeast},
	rowClavicleX:        {"rotation.clavicle_x.range", kindRange, opHalfOpen},
	rowClavicleGap:      {"rotation.clavicle_gap.range", kindRange, opHalfOpen},
	rowClavicleYDiff:    {"rotation.clavicle_y_diff.max", kindNumber, opBelow},
	rowClavicleY:        {"rotation.clavicle_y_position.range", kindRange, opHalfOpen},
	rowMidlineResidual:  {"rotation.midline_residual.max", kindNumber, opBelow},
	rowMidlineXStd:      {"rotation.midline_x_std.max", kindNumber, opBelow},
	rowDistancesNonneg:  {"rotation.distances_nonneg.min", kindNumber, opAtLeast},
	rowMidlineOrder:     {"rotation.midline_order.order", kindFixed, opIs},
	rowOverlapSplit:     {"projection.label.overlap_split", kindNumber, opAtLeast},
	rowScapulaWidth:     {"projection.scapula_width.range", kindRange, opHalfOpen},
	rowScapulaHeight:    {"projection.scapula_height.range", kindRange, opHalfOpen},
	rowScapulaOver:      {"projection.scapula_over.limit", kindNumber, opNotBoth},
	rowLungWidth:        {"projection.lung_width.min", kindNumber, opAtLeast},
	rowLungHeight:       {"projection.lung_height.min", kindNumber, opAtLeast},
	rowCTRPA:            {"cardiomegaly.label.PA_min", kindNumber, opAtLeast},
	rowCTRAP:            {"cardiomegaly.label.AP_min", kindNumber, opAtLeast},
	rowCTRComparison:    {"cardiomegaly.label.PA_comparison", kindChoice, opSelect},
	rowBoxIoUHigh:       {"cardiomegaly.heart_box.iou_high", kindNumber, opAtLeast},
	rowBoxDistHigh:      {"cardiomegaly.heart_box.dist_high", kindNumber, opAtMost},
	rowBoxIoULow:        {"cardiomegaly.heart_box.iou_low", kindNumber, opAtLeast},
	rowBoxDistLow:       {"cardiomegaly.heart_box.dist_low", kindNumber, opAtMost},
	rowCardiacBalance:   {"cardiomegaly.lung_balance.min", kindNumber, opAtLeast},
	rowEqualWidths:      {"lung_balance.equal_widths.ratio", kindDigit, opSelect},
	rowMCRPA:            {"mediastinal_widening.label.PA_min", kindNumber, opAtLeast},
	rowMCRAP:            {"mediastinal_widening.label.AP_min", kindNumber, opAtLeast},
	rowMediBoxRule:      {"mediastinal_widening.medi_box.rule", kindChoice, opSelect},
	rowMediBoxWidth:     {"mediastinal_widening.medi_box_width.range", kindRange, opHalfOpen},
	rowMediBoxX:         {"mediastinal_widening.medi_box_x.max", kindNumber, opBelow},
	rowMediY:            {"mediastinal_widening.medi_y_position.range", kindRange, opHalfOpen},
	rowMediBalance:      {"mediastinal_widening.lung_balance.min", kindNumber, opAtLeast},
	rowTracheaTrim:      {"trachea.top_trim.fraction", kindFraction, opParameter},
	rowTracheaHeight:    {"trachea.height.min", kindNumber, opAtLeast},
	rowTracheaWidth:     {"trachea.width_median.range", kindRange, opClosed},
	rowTracheaStd:       {"trachea.width_std.max", kindNumber, opAtMost},
	rowTracheaPoints:    {"trachea_deviation.points.n", kindPoints, opParameter},
	rowTracheaMidline:   {"trachea_deviation.midline_points.min", kindPoints, opAtLeast},
	rowTracheaResidual:  {"trachea_deviation.midline_residual.max", kindNumber, opBelow},
	rowTracheaXStd:      {"trachea_deviation.midline_x_std.max", kindNumber, opBelow},
	rowCarinaNormal:     {"carina_angle.label.normal_range", kindRange, opClosed},
	rowCarinaLevels:     {"carina_angle.levels.percent", kindLevels, opParameter},
	rowCarinaTopX:       {"carina_angle.top_x_diff.max", kindNumber, opAtMost},
	rowCarinaTopY:       {"carina_angle.top_y_diff.min_exclusive", kindNumber, opAbove},
	rowCarinaWidth:      {"carina_angle.mask_width.min", kindNumber, opAtLeast},
	rowCarinaHeight:     {"carina_angle.mask_height.min", kindNumber, opAtLeast},
	rowCarinaX:          {"carina_angle.position_x.range", kindRange, opHalfOpen},
	rowCarinaY:          {"carina_angle.position_y.range", kindRange, opHalfOpen},
	rowCarinaStd:        {"carina_angle.angle_std.max", kindNumber, opAtMost},
	rowKnobEnlarged:     {"aortic_knob_enlargement.label.enlarged_min", kindNumber, opAtLeast},
	rowKnobDescPart:     {"aortic_knob_enlargement.desc_part.fraction", kindFraction, opParameter},
	rowKnobDescHeight:   {"aortic_knob_enlargement.desc_height.min", kindNumber, opAtLeast},
	rowKnobX:            {"aortic_knob_enlargement.x_alignment.min", kindNumber, opAtLeast},
	rowKnobGap:          {"aortic_knob_enlargement.desc_start_gap.max", kindNumber, opAtMost},
	rowKnobWidth:        {"aortic_knob_enlargement.knob_width.min_exclusive", kindNumber, opAbove},
	rowAscEnlarged:      {"ascending_aorta_enlargement.label.enlarged_min", kindNumber, opAtLeast},
	rowAscImplausible:   {"ascending_aorta_enlargement.label.implausible_min", kindNumber, opAtLeast},
	rowAscHeight:        {"ascending_aorta_enlargement.height.min", kindNumber, opAtLeast},
	rowAscOffset:        {"ascending_aorta_enlargement.vertical_offset.range", kindRange, opClosed},
	rowAscLineOrder:     {"ascending_aorta_enlargement.line_order.min", kindNumber, opAtLeast},
	rowAscVertical:      {"ascending_aorta_enlargement.vertical_line.beyond", kindDigit, opSelect},
	rowDescTrim:         {"descending_aorta.trim.fraction", kindFraction, opParameter},
	rowDescHeight:       {"descending_aorta.height.min", kindNumber, opAtLeast},
	rowDescStd:          {"descending_aorta.width_std.max", kindNumber, opAtMost},
	rowDescEnlarged:     {"descending_aorta_enlargement.label.enlarged_min", kindNumber, opAtLeast},
	rowTortuous:         {"descending_aorta_tortuous.label.tortuous_min", kindNumber, opAtLeast},
	rowDerivative:       {"descending_aorta_tortuous.derivative.mode", kindChoice, opSelect},
	rowGateView:         {"xragent.gate.view", kindChoice, opIs},
	rowGateLung:         {"xragent.gate.lung_area_min", kindNumber, opAtLeast},
	rowGateHeart:        {"xragent.gate.heart_area_min", kindNumber, opAtLeast},
	rowGateCTR:          {"xragent.gate.ctr_range", kindRange, opClosed},
	rowCTRMild:          {"xragent.ctr.enlarged_min", kindNumber, opAtLeast},
	rowCTRModerate:      {"xragent.ctr.moderate_min", kindNumber, opAtLeast},
	rowCTRSevere:        {"xragent.ctr.severe_min", kindNumber, opAtLeast},
	rowAsymmetryMild:    {"xragent.asymmetry.mild_min", kindNumber, opAtLeast},
	rowAsymmetryMarked:  {"xragent.asymmetry.marked_min", kindNumber, opAtLeast},
	rowShiftMild:        {"xragent.shift.mild_min", kindNumber, opAtLeast},
	rowShiftMarked:      {"xragent.shift.marked_min", kindNumber, opAtLeast},
}
