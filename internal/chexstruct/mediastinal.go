package chexstruct

import (
	"math"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
)

// mediastinum is the widest row of the upper mediastinum with the lungs on that row.
type mediastinum struct {
	part           mask.Mask
	y, x0, x1      int
	lungX0, lungX1 int // first column of the right lung, last of the left
}

func (m mediastinum) width() int    { return m.x1 - m.x0 }
func (m mediastinum) thoracic() int { return m.lungX1 - m.lungX0 }

// measureMediastinum finds the widest row of the widest component and the lungs there.
func (c *assessment) measureMediastinum() (m mediastinum, reason Reason) {
	m.part = c.mask(anatomy.UpperMediastinum).Widest()
	y0, y1, _ := m.part.RowBounds()
	best := -1
	for y := y0; y <= y1; y++ {
		if a, b, ok := m.part.Span(y); ok && b-a > best {
			best, m.y, m.x0, m.x1 = b-a, y, a, b
		}
	}
	first, _, okR := c.lung(right).Span(m.y)
	_, last, okL := c.lung(left).Span(m.y)
	if !okR || !okL {
		return m, ReasonNoLungAtLevel
	}
	m.lungX0, m.lungX1 = first, last
	if m.thoracic() <= 0 {
		return m, ReasonZeroWidth
	}
	return m, ""
}

// mediastinalWidening labels the upper mediastinum by its width over the thoracic width
// on the same row, rounded to two decimals: enlarged from 0.25 in PA and 0.33 in AP views.
//
// Source: [official code]; the question text says 0.28 for PA (conflict C2).
func (c *assessment) mediastinalWidening(f *Finding) Reason {
	if c.missing(anatomy.UpperMediastinum, anatomy.RightLung, anatomy.LeftLung) {
		return ReasonMissingMask
	}
	side := c.inclusionPiece()
	if r := side.sideReason(); r != "" {
		return r
	}
	f.checkSides(side)
	m, undefined := c.measureMediastinum()
	box, hasBox := c.in.Boxes[BoxUpperMediastinum]
	_, frontal := c.frontal()
	if undefined == "" {
		if hasBox {
			undefined = c.judgeMediastinum(f, m, box)
		}
		b := c.balance(side.inner[right]-m.lungX0, m.lungX1-side.inner[left])
		c.judge(f, RuleMediLungBalance, rowMediBalance, b)
		f.measure("y", Int(m.y))
		f.measure("mediastinum_xmin", Int(m.x0))
		f.measure("mediastinum_xmax", Int(m.x1))
		f.measure("mediastinum_width", Int(m.width()))
		f.measure("lung_xmin", Int(m.lungX0))
		f.measure("lung_xmax", Int(m.lungX1))
		f.measure("lung_width", Int(m.thoracic()))
	}
	switch {
	case !hasBox:
		return ReasonMissingBox
	case !frontal:
		return ReasonView
	case undefined != "":
		return undefined
	}
	index := float64(m.width()) / float64(m.thoracic())
	f.Index, f.Rounded = Number(index), Number(RoundDecimal(index, 2))
	return ""
}

// judgeMediastinum compares the mask with the reference box: by width, x and height as
// the released program does, or as the heart is compared, as the paper says (conflict C4).
func (c *assessment) judgeMediastinum(f *Finding, m mediastinum, box geom.Box) Reason {
	if c.choice(rowMediBoxRule) == choiceHeartBox {
		found, _ := m.part.Box()
		pass, iou, d, ok := c.boxAgreement(found, box)
		if !ok {
			return ReasonZeroWidth
		}
		f.check(RuleMediBox, pass, Pair(iou, d))
		return ""
	}
	if box.Width() == 0 {
		return ReasonZeroWidth
	}
	c.judge(f, RuleMediBoxWidth, rowMediBoxWidth, float64(m.width())/float64(box.Width()))
	// Twice the middles are whole numbers, so the difference is exact.
	off := math.Abs(float64(box.X0+box.X1-m.x0-m.x1)) / 2
	c.judge(f, RuleMediBoxX, rowMediBoxX, off/float64(m.thoracic()))
	b := rowBorder(c.in.Facts.NonZero, (m.x0+m.x1)/2, m.y)
	if b.total() == 0 {
		return ReasonNoContent
	}
	c.judge(f, RuleMediYPosition, rowMediY, b.low(m.y))
	return ""
}
