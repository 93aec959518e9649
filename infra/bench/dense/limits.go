package dense

import "math"

// Switches are what the three presets choose, and limits that replace the table's.
type Switches struct {
	GradientMin, GradientMax bool // which bound of the gradient mean applies
	Orientation              bool
	AllRibs                  bool // rib_exist looks at all eleven
	RibOrder                 bool
	StrictPA                 bool // cardiomegaly PA: > instead of >=
	EqualBalance             float64
	MediastinalBox           bool // the heart's box rule on the upper mediastinum's box
	IntTrunc                 bool
	VerticalLine             float64 // ascending ratio with dx = 0 and all of the aorta beyond
	// Over replaces limits by row name: one number, two for a range, ten for rib pairs.
	Over map[string][]float64
}

// Preset returns the switches of as_published, as_released or corrected.
func Preset(name string) (Switches, bool) {
	switch name {
	case "corrected":
		return Switches{GradientMin: true, GradientMax: true, Orientation: true, RibOrder: true, EqualBalance: 1, VerticalLine: 1}, true
	case "as_released":
		return Switches{GradientMax: true, IntTrunc: true}, true
	case "as_published":
		return Switches{GradientMin: true, AllRibs: true, RibOrder: true, StrictPA: true, EqualBalance: 1, MediastinalBox: true, VerticalLine: 1}, true
	}
	return Switches{}, false
}

// Limits are the rows of the threshold table, version 1.0.0, that are compared with.
var Limits = map[string][]float64{
	"inclusion.label_apex.included_min":                 {0.01},
	"inclusion.label_side.included_min":                 {0.005},
	"inclusion.label_bottom.included_min":               {0.09},
	"inclusion.label_bottom.excluded_below":             {0.03},
	"inclusion.apex_y_diff.max":                         {0.05},
	"inclusion.apex_position.max":                       {0.6},
	"inclusion.side_width.both_included_min":            {0.7},
	"inclusion.side_width.both_excluded_min":            {0.6},
	"inclusion.side_width.right_in_left_out_min":        {0.7},
	"inclusion.side_width.right_out_left_in_min":        {0.7},
	"inclusion.bottom_y_diff.max":                       {0.05},
	"inclusion.bottom_position.max":                     {0.4},
	"inclusion.bottom_dome_gap.max":                     {0.25},
	"inclusion.cpa_display.offset":                      {0.06},
	"inspiration.label.good_min":                        {9},
	"inspiration.mid_clavicular.lateral_fraction":       {0.4},
	"inspiration.line_agreement.max":                    {0.15},
	"inspiration.diaphragm_overlap.min_exclusive":       {0},
	"inspiration.diaphragm_overlap.max":                 {0.7},
	"inspiration.rib_gap.max":                           {0.1},
	"inspiration.rib_in_lung.min":                       {0.7},
	"inspiration.rib_order.min_exclusive":               {0},
	"inspiration.rib_spacing.max_per_pair":              {0.25, 0.3, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25},
	"inspiration.rib_iou.max_per_pair":                  {0.5, 0.3, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2},
	"inspiration.rib_overlap_near.max_per_pair":         {0.6, 0.8, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4},
	"inspiration.rib_overlap_mid.max_per_pair":          {1, 0.8, 0.8, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6},
	"inspiration.rib_split.max_per_pair":                {0, 0, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05},
	"rotation.label.not_rotated_min":                    {0.4},
	"rotation.clavicle_x.range":                         {0.8, 2},
	"rotation.clavicle_gap.range":                       {-0.1, 0.3},
	"rotation.clavicle_y_diff.max":                      {0.05},
	"rotation.clavicle_y_position.range":                {0.05, 0.5},
	"rotation.midline_residual.max":                     {20},
	"rotation.midline_x_std.max":                        {30},
	"rotation.distances_nonneg.min":                     {0},
	"projection.label.overlap_split":                    {0.3},
	"projection.scapula_width.range":                    {0.2, 0.5},
	"projection.scapula_height.range":                   {0.3, 0.5},
	"projection.scapula_over.limit":                     {0.45},
	"projection.lung_width.min":                         {0.2},
	"projection.lung_height.min":                        {0.2},
	"cardiomegaly.label.PA_min":                         {0.5},
	"cardiomegaly.label.AP_min":                         {0.55},
	"cardiomegaly.heart_box.iou_high":                   {0.6},
	"cardiomegaly.heart_box.dist_high":                  {0.15},
	"cardiomegaly.heart_box.iou_low":                    {0.5},
	"cardiomegaly.heart_box.dist_low":                   {0.2},
	"cardiomegaly.lung_balance.min":                     {0.7},
	"mediastinal_widening.label.PA_min":                 {0.25},
	"mediastinal_widening.label.AP_min":                 {0.33},
	"mediastinal_widening.medi_box_width.range":         {0.5, 1},
	"mediastinal_widening.medi_box_x.max":               {0.1},
	"mediastinal_widening.medi_y_position.range":        {0, 0.5},
	"mediastinal_widening.lung_balance.min":             {0.7},
	"trachea.top_trim.fraction":                         {0.25},
	"trachea.height.min":                                {0.1},
	"trachea.width_median.range":                        {0.03, 0.08},
	"trachea.width_std.max":                             {20},
	"trachea_deviation.midline_points.min":              {3},
	"trachea_deviation.midline_residual.max":            {20},
	"trachea_deviation.midline_x_std.max":               {30},
	"carina_angle.label.normal_range":                   {40, 80},
	"carina_angle.top_x_diff.max":                       {0.03},
	"carina_angle.top_y_diff.min_exclusive":             {0},
	"carina_angle.mask_width.min":                       {0.175},
	"carina_angle.mask_height.min":                      {0.075},
	"carina_angle.position_x.range":                     {0.25, 0.6},
	"carina_angle.position_y.range":                     {0.1, 0.65},
	"carina_angle.angle_std.max":                        {20},
	"aortic_knob_enlargement.label.enlarged_min":        {2.5},
	"aortic_knob_enlargement.desc_part.fraction":        {0.3},
	"aortic_knob_enlargement.desc_height.min":           {0.07},
	"aortic_knob_enlargement.x_alignment.min":           {-0.02},
	"aortic_knob_enlargement.desc_start_gap.max":        {0.09},
	"aortic_knob_enlargement.knob_width.min_exclusive":  {0},
	"ascending_aorta_enlargement.label.enlarged_min":    {0.1},
	"ascending_aorta_enlargement.label.implausible_min": {0.3},
	"ascending_aorta_enlargement.height.min":            {0.15},
	"ascending_aorta_enlargement.vertical_offset.range": {-0.025, 0.075},
	"ascending_aorta_enlargement.line_order.min":        {0},
	"descending_aorta.trim.fraction":                    {0.05},
	"descending_aorta.height.min":                       {0.2},
	"descending_aorta.width_std.max":                    {0.01},
	"descending_aorta_enlargement.label.enlarged_min":   {2.5},
	"descending_aorta_tortuous.label.tortuous_min":      {0.0009},
	"global.scale.native_width_default":                 {2544},
	"global.mask_count.mask_num_min":                    {70},
	"global.heart_position.abdominal_ratio_max":         {1},
	"global.gradient.gradient_mean_max":                 {450},
	"global.gradient.gradient_mean_min":                 {8},
	"xragent.gate.lung_area_min":                        {0.02},
	"xragent.gate.heart_area_min":                       {0.01},
	"xragent.gate.ctr_range":                            {0.2, 0.95},
	"xragent.ctr.enlarged_min":                          {0.5},
	"xragent.ctr.moderate_min":                          {0.55},
	"xragent.ctr.severe_min":                            {0.6},
	"xragent.asymmetry.mild_min":                        {0.15},
	"xragent.asymmetry.marked_min":                      {0.25},
	"xragent.shift.mild_min":                            {0.03},
	"xragent.shift.marked_min":                          {0.06},
}

func (sw *Switches) row(name string) []float64 {
	if v, ok := sw.Over[name]; ok {
		return v
	}
	v, ok := Limits[name]
	if !ok {
		panic("dense: no row " + name)
	}
	return v
}

// n is a row of one number.
func (sw *Switches) n(name string) float64 { return sw.row(name)[0] }

// within is lower bound included, upper excluded.
func (sw *Switches) within(name string, v float64) bool {
	r := sw.row(name)
	return r[0] <= v && v < r[1]
}

// inside includes both bounds.
func (sw *Switches) inside(name string, v float64) bool {
	r := sw.row(name)
	return r[0] <= v && v <= r[1]
}

// atMost compares a truncated percentage with the limit of a rib pair.
func (sw *Switches) atMost(name string, pair, percent int) bool {
	return float64(percent) <= math.Round(sw.row(name)[pair]*1e8)/1e6
}
