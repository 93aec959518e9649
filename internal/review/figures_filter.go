package review

import (
	"fmt"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/geom"
	"cxrepro/internal/overlay"
)

// filterFigures draw what each step of the global filter looks at.
var filterFigures = map[chexstruct.Rule]func(k *sketch, d *chexstruct.FilterDecision){
	chexstruct.RuleMaskCount:     drawMaskCount,
	chexstruct.RuleHeartPosition: drawHeartPosition,
	chexstruct.RuleGradient:      func(*sketch, *chexstruct.FilterDecision) {},
	chexstruct.RuleOrientation:   drawOrientation,
}

// filterRules are the steps of the global filter in their order.
var filterRules = []chexstruct.Rule{chexstruct.RuleMaskCount, chexstruct.RuleHeartPosition, chexstruct.RuleGradient, chexstruct.RuleOrientation}

// drawMaskCount shows every structure that counts.
func drawMaskCount(k *sketch, _ *chexstruct.FilterDecision) {
	for _, s := range k.in.Masks.Present().And(anatomy.FilterSet()).List() {
		k.Outline(k.mask(s), overlay.Stroke{Colour: contour, Width: 2})
	}
}

// drawHeartPosition shows the space above the heart's lowest row and the space below it.
func drawHeartPosition(k *sketch, d *chexstruct.FilterDecision) {
	k.outline(anatomy.Heart)
	bottom, okB := d.Landmark("heart_bottom")
	content, okC := d.Landmark("content_rows")
	if !okB || !okC {
		return
	}
	p, first, last := bottom.Points[0], content.Points[0], content.Points[1]
	for _, q := range []geom.Vec{first, p, last} {
		k.rule(geom.Vec{X: 0, Y: q.Y}, geom.Vec{X: float64(k.in.Masks.GridW - 1), Y: q.Y})
	}
	k.bar(first, p, yardstick, "", 0)
	k.tag(middle(first, p), overlay.Left, fmt.Sprintf("above %.0f px", p.Y-first.Y), yardstick)
	k.bar(p, last, measured, "", 0)
	k.tag(middle(p, last), overlay.Left, fmt.Sprintf("below %.0f px", last.Y-p.Y), measured)
}

// drawOrientation shows on which side each lung's mask lies.
func drawOrientation(k *sketch, d *chexstruct.FilterDecision) {
	k.outline(anatomy.RightLung, anatomy.LeftLung)
	l, ok := d.Landmark("lung_centres")
	if !ok {
		return
	}
	for i, name := range []string{"mask of the right lung", "mask of the left lung"} {
		k.dot(l.Points[i], measured)
		k.tag(l.Points[i], []overlay.Side{overlay.Above, overlay.Below}[i], name, measured)
	}
}
