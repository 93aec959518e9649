package quiz

import "cxrepro/internal/cxr"

// Mark is a small pattern that is put on a picture.
type Mark struct {
	// Look is the number of its option in its family.
	Look int
	// Quarter is where it lies, in reading order.
	Quarter int
	dx, dy  int // of a fine pattern: pixels from the middle of the picture
}

const (
	markSide  = 32 // pixels
	fineStep  = 4  // half a period of the fine pattern, pixels
	fineSwing = 28 // grey levels above and below the ground
	plainStep = 8  // half a period of a striped square, pixels
	inset     = 16 // of a plain square from the picture's edges, pixels
	rim       = 8  // grey around a plain square, pixels
)

// drawFine puts the fine pattern on the picture: its ground is held away from black and
// white, then raised and lowered by the same amount. It fills a cell of a grid of 32 pixels,
// one patch of a small policy's crop. Over 8 x 8 pixels, which are one pixel
// of a small policy's input, every look has the same mean.
func (k Mark) drawFine(m *cxr.Image) {
	x0, y0 := Side/2+k.dx, Side/2+k.dy
	if k.Quarter%2 == 0 {
		x0 = Side/2 - k.dx - markSide
	}
	if k.Quarter/2 == 0 {
		y0 = Side/2 - k.dy - markSide
	}
	for y := y0; y < y0+markSide; y++ {
		row := m.Row(y)
		for x := x0; x < x0+markSide; x++ {
			ground := min(max(int(row[x]), fineSwing), 255-fineSwing)
			if [3]int{x, y, x + y/fineStep*fineStep}[k.Look]/fineStep%2 == 0 {
				ground += fineSwing
			} else {
				ground -= fineSwing
			}
			row[x] = uint8(ground)
		}
	}
}

// drawPlain puts a white, black or striped square with a grey rim near a corner.
func (k Mark) drawPlain(m *cxr.Image) {
	place := func(far bool) int {
		if far {
			return Side - inset - markSide
		}
		return inset
	}
	x0, y0 := place(k.Quarter%2 == 1), place(k.Quarter/2 == 1)
	for y := y0 - rim; y < y0+markSide+rim; y++ {
		row := m.Row(y)
		for x := x0 - rim; x < x0+markSide+rim; x++ {
			row[x] = 128
			if inside(x-x0) && inside(y-y0) {
				row[x] = [3]uint8{255, 0, uint8(255 * ((x - x0) / plainStep % 2))}[k.Look]
			}
		}
	}
}

func inside(v int) bool { return v >= 0 && v < markSide }
