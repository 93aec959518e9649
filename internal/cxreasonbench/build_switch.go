package cxreasonbench

// Switches of the generator. The released one is a program, not a text: what it does with
// constant generators, folder order and lost sentences is a switch each.
const (
	// BuildStreams: how many questions share a generator. The released program starts
	// the same generator anew for every case, so the right letter is nearly the same in
	// all cases.
	BuildStreams Switch = "build.streams"
	// BuildDeal: how the formats are dealt over the cases of a task: by position in the
	// case list, or by quota over a seeded permutation.
	BuildDeal Switch = "build.deal"
	// BuildDistractors: which overlays may be wrong options in Stage 2.
	BuildDistractors Switch = "build.distractors"
	// BuildGuidanceDistractors: whether Path 2 leaves out what Stage 2 leaves out.
	BuildGuidanceDistractors Switch = "build.guidance_distractors"
	// BuildPartial: which structures the first round of a partial format shows.
	BuildPartial Switch = "build.partial_structures"
	// BuildGuidanceOrder: in which order Path 2 asks for its structures. In picture order
	// the right letters always ascend.
	BuildGuidanceOrder Switch = "build.guidance_order"
	// BuildThresholds: whether the thresholds told are those that are scored.
	BuildThresholds Switch = "build.thresholds"
	// BuildGuidanceFinal: the last question of Path 2, of which the released program
	// loses parts for cardiomegaly and to which it adds an option for the trachea.
	BuildGuidanceFinal Switch = "build.guidance_final"
	// BuildNumbers: how range bounds are written.
	BuildNumbers Switch = "build.range_numbers"
	// BuildZeroWidth: what becomes of ranges that hold one number.
	BuildZeroWidth Switch = "build.zero_width"
	// BuildLimits: what becomes of values outside the limits of the ranges.
	BuildLimits Switch = "build.limits"
	// BuildInclusion: how far wrong options of the inclusion task are from the truth.
	BuildInclusion Switch = "build.inclusion_options"
	// BuildRibs: how ribs are written.
	BuildRibs Switch = "build.rib_options"
	// BuildView: whether the last question of Path 1 tells the view again.
	BuildView Switch = "build.final_view"
	// BuildMediastinum: what the picture of the mediastinum shows. The measurement uses
	// the upper mediastinum.
	BuildMediastinum Switch = "build.mediastinum_picture"
)

// Values of the generator's switches.
const (
	OnePerPath     = "one_per_path"
	OnePerQuestion = "one_per_question"
	ByPosition     = "official"
	ByQuota        = "quota"
	OfficialRule   = "official"
	CriterionParts = "criterion_parts"
	SamePool       = "same"
	WholePool      = "whole"
	FirstInOrder   = "first"
	RandomSubset   = "random"
	PictureOrder   = "picture"
	RandomOrder    = "random"
	ReleasedText   = "released"
	ScoredText     = "scored"
	FullText       = "full"
	AsTyped        = "as_typed"
	FixedDecimals  = "fixed"
	Kept           = "kept"
	Merged         = "merged"
	Clipped        = "clipped"
	Refused        = "refused"
	AnyDistance    = "any"
	NearTruth      = "near"
	BareNumber     = "number"
	Ordinal        = "ordinal"
	NotTold        = "not_told"
	Told           = "told"

	Cardiomediastinum = "cardiomediastinum"
	UpperMediastinum  = "upper_mediastinum"
)

// buildSettings are the generator's rows of the table of switches.
var buildSettings = []setting{
	{BuildStreams, OnePerPath, OnePerQuestion, []string{OnePerPath, OnePerQuestion}},
	{BuildDeal, ByPosition, ByQuota, []string{ByPosition, ByQuota}},
	{BuildDistractors, OfficialRule, CriterionParts, []string{OfficialRule, CriterionParts}},
	{BuildGuidanceDistractors, WholePool, SamePool, []string{WholePool, SamePool}},
	{BuildPartial, FirstInOrder, RandomSubset, []string{FirstInOrder, RandomSubset}},
	{BuildGuidanceOrder, PictureOrder, RandomOrder, []string{PictureOrder, RandomOrder}},
	{BuildThresholds, ReleasedText, ScoredText, []string{ReleasedText, ScoredText}},
	{BuildGuidanceFinal, ReleasedText, FullText, []string{ReleasedText, FullText}},
	{BuildNumbers, AsTyped, FixedDecimals, []string{AsTyped, FixedDecimals}},
	{BuildZeroWidth, Kept, Merged, []string{Kept, Merged}},
	{BuildLimits, Clipped, Refused, []string{Clipped, Refused}},
	{BuildInclusion, AnyDistance, NearTruth, []string{AnyDistance, NearTruth}},
	{BuildRibs, BareNumber, Ordinal, []string{BareNumber, Ordinal}},
	{BuildView, NotTold, Told, []string{NotTold, Told}},
	{BuildMediastinum, Cardiomediastinum, UpperMediastinum, []string{Cardiomediastinum, UpperMediastinum}},
}
