package cxr

// orient returns the picture as EXIF orientation n, 1 to 8, wants it seen.
//
// Stored row 0 is, in this order of n: top, top, bottom, bottom, left, right, right, left;
// stored column 0: left, right, right, left, top, top, bottom, bottom.
// Source: EXIF 2.32, tag 0x0112.
func orient(m *Image, n int) *Image {
	if n <= 1 || n > 8 {
		return m
	}
	w, h := m.Width, m.Height
	ow, oh := w, h
	if n >= 5 {
		ow, oh = h, w
	}
	out := &Image{Width: ow, Height: oh, Pix: make([]uint8, ow*oh), Rules: m.Rules}
	// A stored pixel (x, y) lands at origin + x*dx + y*dy of the new plane.
	var origin, dx, dy int
	switch n {
	case 2:
		origin, dx, dy = ow-1, -1, ow
	case 3:
		origin, dx, dy = ow*oh-1, -1, -ow
	case 4:
		origin, dx, dy = (oh-1)*ow, 1, -ow
	case 5:
		origin, dx, dy = 0, ow, 1
	case 6:
		origin, dx, dy = ow-1, ow, -1
	case 7:
		origin, dx, dy = ow*oh-1, -ow, -1
	case 8:
		origin, dx, dy = (oh-1)*ow, -ow, 1
	}
	for y := range h {
		at := origin + y*dy
		for _, v := range m.Pix[y*w : (y+1)*w] {
			out.Pix[at] = v
			at += dx
		}
	}
	return out
}
