package segment

import (
	"fmt"

	"cxrepro/internal/anatomy"
)

// Flag is a sign of trouble in finished masks. It never changes a mask; who reads it
// decides. The zero value is invalid.
type Flag uint8

// The flags.
const (
	// FlagNothingFound: no declared structure has a pixel.
	FlagNothingFound Flag = iota + 1
	// FlagMirrored: the right lung's centroid is not to the image left of the left
	// lung's, as if the picture were mirrored or sides were swapped.
	FlagMirrored
	// FlagHeartOutside: the heart's centroid is not between the outer edges of the lungs.
	FlagHeartOutside
	// FlagAreaUnlikely: a lung or the heart covers a share of the picture that no
	// frontal radiograph shows.
	FlagAreaUnlikely
)

var flagNames = [...]string{FlagNothingFound: "nothing_found", FlagMirrored: "mirrored",
	FlagHeartOutside: "heart_outside_lungs", FlagAreaUnlikely: "area_unlikely"}

// Flags lists every flag.
func Flags() []Flag {
	return []Flag{FlagNothingFound, FlagMirrored, FlagHeartOutside, FlagAreaUnlikely}
}

// String returns the stable text form.
func (f Flag) String() string {
	if f < 1 || int(f) >= len(flagNames) {
		return fmt.Sprintf("invalid flag %d", uint8(f))
	}
	return flagNames[f]
}

// MarshalText writes the text form.
func (f Flag) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// areaBounds are shares of the picture's area, generous on both ends. Source: [ours].
var areaBounds = []struct {
	structure anatomy.Structure
	low, high float64
}{
	{anatomy.RightLung, 0.01, 0.45}, {anatomy.LeftLung, 0.01, 0.45}, {anatomy.Heart, 0.005, 0.35},
}

// Report is what can be said of masks at a glance.
type Report struct {
	// Declared and Present count structures; Areas are pixels on the model's grid of
	// every declared structure in channel order, 0 where none was found.
	Declared int    `json:"declared"`
	Present  int    `json:"present"`
	Areas    []Area `json:"areas"`
	Flags    []Flag `json:"flags"`
	Grid     [2]int `json:"grid"`   // width, height
	Native   [2]int `json:"native"` // width, height
}

// Area is one structure's pixels on the grid.
type Area struct {
	Structure string  `json:"structure"`
	Pixels    int     `json:"pixels"`
	Share     float64 `json:"share"` // of the grid
}

// Check reports presence, areas and flags of finished masks, whatever their source.
func Check(m *anatomy.Masks) Report {
	r := Report{Declared: m.Declared.Len(), Present: m.Present().Len(), Grid: [2]int{m.GridW, m.GridH}, Native: [2]int{m.NativeW, m.NativeH}}
	total := float64(m.GridW) * float64(m.GridH)
	for _, s := range m.Declared.List() {
		n := m.Mask(s).Area()
		r.Areas = append(r.Areas, Area{Structure: s.Name(), Pixels: n, Share: float64(n) / total})
	}
	if r.Present == 0 {
		r.Flags = append(r.Flags, FlagNothingFound)
		return r
	}
	right, okR := m.Mask(anatomy.RightLung).Centroid()
	left, okL := m.Mask(anatomy.LeftLung).Centroid()
	if okR && okL && right.X >= left.X {
		r.Flags = append(r.Flags, FlagMirrored)
	}
	if heart, ok := m.Mask(anatomy.Heart).Centroid(); ok && okR && okL {
		rb, _ := m.Mask(anatomy.RightLung).Box()
		lb, _ := m.Mask(anatomy.LeftLung).Box()
		if heart.X < float64(min(rb.X0, lb.X0)) || heart.X > float64(max(rb.X1, lb.X1)) {
			r.Flags = append(r.Flags, FlagHeartOutside)
		}
	}
	for _, b := range areaBounds {
		share := float64(m.Mask(b.structure).Area()) / total
		if m.Present().Has(b.structure) && (share < b.low || share > b.high) {
			r.Flags = append(r.Flags, FlagAreaUnlikely)
			break
		}
	}
	return r
}
