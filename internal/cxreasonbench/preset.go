package cxreasonbench

import "fmt"

// Preset chooses between the released programs as they are and a corrected reading. The zero
// value is invalid.
type Preset uint8

const (
	// AsReleased follows the authors' programs, faults included.
	AsReleased Preset = iota + 1
	// Corrected is the default.
	Corrected
)

var presetText = [...]string{AsReleased: "as_released", Corrected: "corrected"}

// Presets returns every preset.
func Presets() []Preset { return []Preset{AsReleased, Corrected} }

// Valid reports whether p is one of [Presets].
func (p Preset) Valid() bool { return p >= AsReleased && p <= Corrected }

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
		return nil, fmt.Errorf("cxreasonbench: %s", p)
	}
	return []byte(presetText[p]), nil
}

// UnmarshalText accepts exactly the text forms.
func (p *Preset) UnmarshalText(b []byte) error {
	v, ok := ParsePreset(string(b))
	if !ok {
		return fmt.Errorf("cxreasonbench: no preset is called %q; the presets are %v", b, Presets())
	}
	*p = v
	return nil
}
