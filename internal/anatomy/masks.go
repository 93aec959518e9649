package anatomy

import (
	"fmt"

	"cxrepro/internal/mask"
)

// Masks is a set of masks of one picture, at most one per structure.
//
// Fill it with [Masks.Put] and then treat it as immutable: readers share it freely.
type Masks struct {
	// GridW and GridH are the size of every mask.
	GridW, GridH int
	// NativeW and NativeH are the size of the source picture.
	NativeW, NativeH int
	// Resize names the rule by which native masks come from the grid; [mask.RuleNearest]
	// is the only one known.
	Resize string
	// Declared is what the source can produce at all.
	Declared Set

	masks [Count + 1]mask.Mask
}

// NewMasks returns an empty set of masks on a grid.
//
// Errors: a size below 1.
func NewMasks(gridW, gridH, nativeW, nativeH int, declared Set) (*Masks, error) {
	if gridW < 1 || gridH < 1 || nativeW < 1 || nativeH < 1 {
		return nil, fmt.Errorf("anatomy: grid %dx%d, native %dx%d: every side must be at least 1", gridW, gridH, nativeW, nativeH)
	}
	return &Masks{GridW: gridW, GridH: gridH, NativeW: nativeW, NativeH: nativeH, Resize: mask.RuleNearest, Declared: declared}, nil
}

// Put stores the mask of a structure, replacing an earlier one.
//
// Errors: an invalid or undeclared structure, or a mask that is not on the grid.
func (m *Masks) Put(s Structure, k mask.Mask) error {
	if !s.Valid() {
		return fmt.Errorf("anatomy: %s", s.Name())
	}
	if !m.Declared.Has(s) {
		return fmt.Errorf("anatomy: mask of %q, which the source does not declare", s.Name())
	}
	if k.W != m.GridW || k.H != m.GridH {
		return fmt.Errorf("anatomy: mask of %q is %dx%d, the grid is %dx%d", s.Name(), k.W, k.H, m.GridW, m.GridH)
	}
	m.masks[s] = k.Trim()
	return nil
}

// Mask returns the mask of a structure on the grid: empty when it was not found, was
// not declared, or s is invalid.
func (m *Masks) Mask(s Structure) mask.Mask {
	if !s.Valid() || m.masks[s].W == 0 {
		return mask.Empty(m.GridW, m.GridH)
	}
	return m.masks[s]
}

// Present returns the structures with a non-empty mask.
func (m *Masks) Present() Set {
	var t Set
	for i := range m.masks {
		if !m.masks[i].IsEmpty() {
			t = t.With(Structure(i))
		}
	}
	return t
}

// Native returns the masks at the picture's native size, mapped on runs by the nearest
// rule. It returns m itself when the grid is the native size already.
//
// Errors: an unknown resize rule.
func (m *Masks) Native() (*Masks, error) {
	if m.Resize != mask.RuleNearest {
		return nil, fmt.Errorf("anatomy: native masks: unknown resize rule %q, known is %q", m.Resize, mask.RuleNearest)
	}
	if m.GridW == m.NativeW && m.GridH == m.NativeH {
		return m, nil
	}
	z, err := mask.NewResizer(m.GridW, m.GridH, m.NativeW, m.NativeH)
	if err != nil {
		return nil, fmt.Errorf("anatomy: native masks: %w", err)
	}
	n := &Masks{GridW: m.NativeW, GridH: m.NativeH, NativeW: m.NativeW, NativeH: m.NativeH, Resize: m.Resize, Declared: m.Declared}
	for i := range m.masks {
		if m.masks[i].IsEmpty() {
			continue
		}
		if n.masks[i], err = z.Resize(m.masks[i]); err != nil {
			return nil, fmt.Errorf("anatomy: native mask of %q: %w", Structure(i).Name(), err)
		}
	}
	return n, nil
}
