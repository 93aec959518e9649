package cxr

import "strconv"

// The named conversion rules. Their texts are stable: they are written into records and
// therefore into what later steps are computed from.
const (
	// RuleGrey8 keeps 8-bit grey samples as they are.
	RuleGrey8 = "grey8"
	// RuleGreyExpanded scales 1-, 2- and 4-bit grey to 0..255 by bit replication.
	RuleGreyExpanded = "grey_bits_expanded"
	// RuleMinMax16 maps the frame's minimum..maximum of 16-bit grey linearly to 0..255,
	// rounding halves up; a constant frame becomes 0.
	RuleMinMax16 = "minmax16"
	// RuleRGBToGrey is luma by ITU-R BT.601 in 16-bit fixed point:
	// (19595 R + 38470 G + 7471 B + 32768) >> 16. Equal channels keep their value.
	RuleRGBToGrey = "rgb_to_grey_bt601"
	// RulePalette replaces each index by its palette colour.
	RulePalette = "palette_expanded"
	// RuleAlphaOpaque drops an alpha channel that is opaque everywhere.
	RuleAlphaOpaque = "alpha_opaque"
	// RuleAlphaDropped drops an alpha channel that is not: the stored colour counts,
	// nothing is composited.
	RuleAlphaDropped = "alpha_dropped"
	// RuleYCbCr turns JPEG's YCbCr into RGB by the JFIF equations, chroma repeated.
	RuleYCbCr = "ycbcr_to_rgb"
	// RuleCMYK turns ink into RGB: R = (255-C)(255-K)/255, rounded, likewise G and B.
	RuleCMYK = "cmyk_to_rgb"
	// RuleAdobeInverted undoes Adobe's habit of storing 255 minus ink.
	RuleAdobeInverted = "cmyk_adobe_inverted"
	// RuleYCCK undoes Adobe's YCbCr coding of the three coloured inks.
	RuleYCCK = "ycck_to_cmyk"
	// RuleExifIgnored passes over an EXIF orientation outside 1..8.
	RuleExifIgnored = "exif_orient_invalid_ignored"
	// RuleTrailingIgnored passes over bytes after the picture's end mark.
	RuleTrailingIgnored = "trailing_data_ignored"
)

// RuleExif names the rule that applies EXIF orientation n, 2 to 8.
func RuleExif(n int) string { return "exif_orient_" + strconv.Itoa(n) }
