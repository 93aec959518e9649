package segment

import "cxrepro/internal/cxr"

// Grid returns the picture as the model sees it before normalisation: squeezed onto the
// input grid by the card's resize rule.
//
// Errors: an inconsistent picture.
func (c *Card) Grid(m *cxr.Image) (*cxr.Image, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	out := cxr.NewImage(c.Input.Width, c.Input.Height)
	s := sampler{rule: c.Input.Resize, w: c.Input.Width, h: c.Input.Height}
	s.sample(m, out.Pix)
	return out, nil
}
