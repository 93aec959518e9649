package chexstruct

import "cxrepro/internal/anatomy"

var scapulaOf = [2]anatomy.Structure{right: anatomy.RightScapula, left: anatomy.LeftScapula}

// scapulaRows are the threshold rows' rules of one side, in order.
var scapulaRules = [2][5]Rule{
	right: {RuleScapulaWidthRight, RuleScapulaHeightRight, RuleScapulaOverRight, RuleLungWidthRight, RuleLungHeightRight},
	left:  {RuleScapulaWidthLeft, RuleScapulaHeightLeft, RuleScapulaOverLeft, RuleLungWidthLeft, RuleLungHeightLeft},
}

// projection tells AP from PA by the share of each scapula that overlaps its lung,
// rounded to two decimals: AP when both reach 0.30, PA when neither does.
//
// Source: [paper] for the index and the rules, [official code] for the figures.
func (c *assessment) projection(f *Finding) Reason {
	if c.missing(scapulaOf[right], scapulaOf[left], lungOf[right], lungOf[left]) {
		return ReasonMissingMask
	}
	var index, rounded [2]float64
	for side, name := range [2]string{right: "right", left: "left"} {
		scapula := c.mask(scapulaOf[side]).Largest()
		lung := c.mask(lungOf[side])
		box, _ := scapula.Box()
		rules := scapulaRules[side]
		width, height := float64(box.Width())/c.w(), float64(box.Height())/c.h()
		c.judge(f, rules[0], rowScapulaWidth, width)
		c.judge(f, rules[1], rowScapulaHeight, height)
		limit := c.number(rowScapulaOver)
		f.check(rules[2], !(width >= limit && height >= limit), None())
		band, ok := lung.Rows(box.Y0, box.Y1).Box()
		if !ok {
			return ReasonNoLungInBand
		}
		c.judge(f, rules[3], rowLungWidth, float64(band.Width())/c.w())
		c.judge(f, rules[4], rowLungHeight, float64(band.Height())/c.h())
		overlap, area := scapula.AndArea(lung), scapula.Area()
		f.measure("overlap_"+name, Int(overlap))
		f.measure("scapula_"+name, Int(area))
		index[side] = float64(overlap) / float64(area)
		rounded[side] = RoundDecimal(index[side], 2)
	}
	f.Index, f.Rounded = Pair(index[right], index[left]), Pair(rounded[right], rounded[left])
	return ""
}
