package dense

// projection is projection.
func (sc *scene) projection(f *Finding) (reason, string) {
	if sc.missing("scapula right", "scapula left", "right lung", "left lung") {
		return "missing_mask", ""
	}
	var ratio, rounded [2]float64
	for i, side := range []string{"right", "left"} {
		p, lung := sc.la("scapula "+side), sc.mask(side+" lung")
		e, _ := p.box()
		band, ok := lung.rows(e.y0, e.y1+1).box()
		if !ok {
			return "no_lung_in_band", ""
		}
		w, h := sc.shareW(e.width()), sc.shareH(e.height())
		f.check("projection.scapula_width_"+side, sc.within("projection.scapula_width.range", w), w)
		f.check("projection.scapula_height_"+side, sc.within("projection.scapula_height.range", h), h)
		f.check("projection.scapula_over_"+side, !(w >= sc.n("projection.scapula_over.limit") && h >= sc.n("projection.scapula_over.limit")), nil)
		w, h = sc.shareW(band.width()), sc.shareH(band.height())
		f.check("projection.lung_width_"+side, w >= sc.n("projection.lung_width.min"), w)
		f.check("projection.lung_height_"+side, h >= sc.n("projection.lung_height.min"), h)
		common, area := and(p, lung).Area(), p.Area()
		f.Measurements["overlap_"+side], f.Measurements["scapula_"+side] = common, area
		ratio[i] = float64(common) / float64(area)
		rounded[i] = round(ratio[i], 2)
	}
	f.Index, f.IndexRounded = ratio, rounded
	switch r, l := rounded[0] >= sc.n("projection.label.overlap_split"), rounded[1] >= sc.n("projection.label.overlap_split"); {
	case r && l:
		return "", "AP"
	case !r && !l:
		return "", "PA"
	}
	return "", ""
}
