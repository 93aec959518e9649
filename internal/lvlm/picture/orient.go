package picture

import "image/color"

// orient applies EXIF orientation n, 2 to 8, as package cxr does to grey pictures.
func (p plane) orient(n int) plane {
	out := plane{w: p.w, h: p.h, c: p.c, pix: make([]uint8, len(p.pix))}
	if n >= 5 {
		out.w, out.h = p.h, p.w
	}
	for y := range out.h {
		for x := range out.w {
			sx, sy := x, y
			switch n {
			case 2:
				sx = p.w - 1 - x
			case 3:
				sx, sy = p.w-1-x, p.h-1-y
			case 4:
				sy = p.h - 1 - y
			case 5:
				sx, sy = y, x
			case 6:
				sx, sy = y, p.h-1-x
			case 7:
				sx, sy = p.w-1-y, p.h-1-x
			case 8:
				sx, sy = p.w-1-y, x
			}
			copy(out.pix[(y*out.w+x)*p.c:], p.pix[(sy*p.w+sx)*p.c:][:p.c])
		}
	}
	return out
}

// inverse is the orientation that undoes n: a quarter turn is undone by the other one.
func inverse(n int) int {
	switch n {
	case 6:
		return 8
	case 8:
		return 6
	}
	return n
}

func nrgba(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }
