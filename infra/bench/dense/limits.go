package dense

// Switches are what the three presets choose, and the one override.
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
	MaskNumMin               int
}

// Preset returns the switches of as_published, as_released or corrected.
func Preset(name string) (Switches, bool) {
	switch name {
	case "corrected":
		return Switches{GradientMin: true, GradientMax: true, Orientation: true, RibOrder: true, EqualBalance: 1, VerticalLine: 1, MaskNumMin: 70}, true
	case "as_released":
		return Switches{GradientMax: true, IntTrunc: true, MaskNumMin: 70}, true
	case "as_published":
		return Switches{GradientMin: true, AllRibs: true, RibOrder: true, StrictPA: true, EqualBalance: 1, MediastinalBox: true, VerticalLine: 1, MaskNumMin: 70}, true
	}
	return Switches{}, false
}

// Limits of the threshold table, version 1.0.0. Percent limits of rib pairs are compared
// with truncated percentages.
const (
	nativeWidthDefault = 2544
	abdominalRatioMax  = 1.0
	gradientMeanMax    = 450
	gradientMeanMin    = 8

	apexIncluded      = 0.01
	sideIncluded      = 0.005
	bottomIncluded    = 0.09
	bottomExcluded    = 0.03
	apexYDiffMax      = 0.05
	apexPositionMax   = 0.6
	bottomYDiffMax    = 0.05
	bottomPositionMax = 0.4
	domeGapMax        = 0.25
	cpaOffset         = 0.06

	lateralFraction   = 0.4
	lineAgreementMax  = 0.15
	diaphragmOverMax  = 0.7
	ribGapMax         = 0.1
	ribInLungMin      = 0.7
	goodRib           = 9
	notRotatedMin     = 0.4
	clavicleYDiffMax  = 0.05
	midlineResidual   = 20
	midlineSpread     = 30
	overlapSplit      = 0.3
	scapulaOver       = 0.45
	lungBandMin       = 0.2
	heartIoUHigh      = 0.6
	heartDistHigh     = 0.15
	heartIoULow       = 0.5
	heartDistLow      = 0.2
	balanceMin        = 0.7
	mediBoxXMax       = 0.1
	tracheaTrim       = 0.25
	tracheaHeightMin  = 0.1
	tracheaSpreadMax  = 20
	enlargedRatio     = 2.5
	knobPart          = 0.3
	descTrim          = 0.05
	tortuousMin       = 0.0009
	angleStdMax       = 20
	ascendingMin      = 0.1
	ascendingTooLarge = 0.3
)

var (
	ribSpacing = [10]int{25, 30, 25, 25, 25, 25, 25, 25, 25, 25}
	ribIoU     = [10]int{50, 30, 20, 20, 20, 20, 20, 20, 20, 20}
	ribNear    = [10]int{60, 80, 40, 40, 40, 40, 40, 40, 40, 40}
	ribMid     = [10]int{100, 80, 80, 60, 60, 60, 60, 60, 60, 60}
	ribSplit   = [10]int{0, 0, 5, 5, 5, 5, 5, 5, 5, 5}
)

// within is lower bound included, upper excluded.
func within(v, lo, hi float64) bool { return lo <= v && v < hi }

// inside includes both bounds.
func inside(v, lo, hi float64) bool { return lo <= v && v <= hi }
