package chexstruct

import "fmt"

// Preset chooses between readings of the method where paper and released programs differ.
// The zero value is invalid.
type Preset uint8

const (
	// AsPublished follows the paper's text.
	AsPublished Preset = iota + 1
	// AsReleased follows the authors' programs, faults included.
	AsReleased
	// Corrected is the default: the table as it stands.
	Corrected
)

var presetText = [...]string{AsPublished: "as_published", AsReleased: "as_released", Corrected: "corrected"}

// Presets returns every preset.
func Presets() []Preset { return []Preset{AsPublished, AsReleased, Corrected} }

// Valid reports whether p is one of [Presets].
func (p Preset) Valid() bool { return p >= AsPublished && p <= Corrected }

// String returns the text form, for example "as_released".
func (p Preset) String() string {
	if !p.Valid() {
		return fmt.Sprintf("invalid preset %d", uint8(p))
	}
	return presetText[p]
}

// ParsePreset returns the preset with a text form; ok is false for any other text.
func ParsePreset(text string) (p Preset, ok bool) {
	for _, p := range Presets() {
		if presetText[p] == text {
			return p, true
		}
	}
	return 0, false
}

// MarshalText encodes a valid preset.
func (p Preset) MarshalText() ([]byte, error) {
	if !p.Valid() {
		return nil, fmt.Errorf("chexstruct: %s", p)
	}
	return []byte(presetText[p]), nil
}

// UnmarshalText accepts exactly the text forms.
func (p *Preset) UnmarshalText(b []byte) error {
	v, ok := ParsePreset(string(b))
	if !ok {
		return fmt.Errorf("chexstruct: no preset is called %q; the presets are %v", b, Presets())
	}
	*p = v
	return nil
}

// Caveat says how far the preset is from what its name promises; empty for Corrected.
//
// Four deviations have one implementation in every preset: D1 vertebra centroids stand
// for contour notches, D4 the carina comes from row gaps, D6 the last content row ends
// the picture where no row is black, D7 strips are clipped at the image border.
func (p Preset) Caveat() string {
	switch p {
	case AsReleased:
		return "as_released except D1, D4, D6, D7"
	case AsPublished:
		return "as_published with the released program's figure where the paper states a rule without one; not computable: " +
			"upper limits of the carina mask's shape (the paper names extremes of the aspect ratio, no source gives a figure)"
	}
	return ""
}
