package review

import (
	"fmt"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
)

// verdict is the outcome of a task on one case, in words.
type verdict struct {
	// Class is the stratum: the label, or the status of cases without one.
	Class string
	// Badge is the outcome in two or three words, Tone its colour class.
	Badge, Tone string
	// Measured is the measurement in one sentence, Limit what it is compared with, Why
	// the reason of a task that could not be measured.
	Measured, Limit, Why string
	Checks               []checkText
	Failed               int
}

// Tones of badges: the task's normal label, its other one (second where that is no
// finding), and the three without label.
const (
	toneNormal  = "normal"
	toneFinding = "finding"
	toneSecond  = "second"
	toneFailed  = "failed"
	toneOpen    = "open"
	toneAbsent  = "absent"
)

var labelText = map[chexstruct.Label]string{
	chexstruct.LabelIncluded: "included", chexstruct.LabelExcluded: "excluded", chexstruct.LabelGood: "good", chexstruct.LabelPoor: "poor",
	chexstruct.LabelNotRotated: "not rotated", chexstruct.LabelRotated: "rotated", chexstruct.LabelAP: "AP", chexstruct.LabelPA: "PA",
	chexstruct.LabelNormal: "normal", chexstruct.LabelEnlarged: "enlarged", chexstruct.LabelAbnormal: "abnormal",
	chexstruct.LabelNotDeviated: "not deviated", chexstruct.LabelDeviated: "deviated", chexstruct.LabelTortuous: "tortuous",
}

// stratumOf names the group of a finding: its label, or its status without one.
func stratumOf(f *chexstruct.Finding) string {
	if f.Status == chexstruct.StatusOK {
		return string(f.Label)
	}
	return f.Status.String()
}

// strataOf lists the groups of a task in the order of a page.
func strataOf(t chexstruct.Task) []string {
	var list []string
	for _, l := range chexstruct.Labels(t) {
		list = append(list, string(l))
	}
	for _, s := range []chexstruct.Status{chexstruct.StatusQCFailed, chexstruct.StatusUndecided, chexstruct.StatusNotEvaluable} {
		list = append(list, s.String())
	}
	return list
}

// stratumWords are the badge and the tone of a stratum of a task.
func stratumWords(t chexstruct.Task, stratum string) (badge, tone string) {
	switch stratum {
	case chexstruct.StatusQCFailed.String():
		return "QC failed", toneFailed
	case chexstruct.StatusUndecided.String():
		return "undecided", toneOpen
	case chexstruct.StatusNotEvaluable.String():
		return "not evaluable", toneAbsent
	}
	labels := chexstruct.Labels(t)
	if len(labels) > 0 && chexstruct.Label(stratum) == labels[0] {
		return labelText[chexstruct.Label(stratum)], toneNormal
	}
	if t == chexstruct.Projection {
		return labelText[chexstruct.Label(stratum)], toneSecond
	}
	return labelText[chexstruct.Label(stratum)], toneFinding
}

// verdict puts a finding in words.
func (l limits) verdict(f *chexstruct.Finding, view cxr.ViewPosition) verdict {
	v := verdict{Class: stratumOf(f), Checks: l.checks(f.Checks), Failed: len(f.Failed())}
	v.Badge, v.Tone = stratumWords(f.Task, v.Class)
	v.Measured, v.Limit = upperFirst(measuredText(f)), l.limit(f.Task, view)
	if v.Measured == "" && f.Status == chexstruct.StatusQCFailed {
		v.Measured = "No index: a rule failed before it was measured"
	}
	if f.Status == chexstruct.StatusNotEvaluable {
		v.Why = reasonText[f.Reason]
		if v.Why == "" {
			v.Why = string(f.Reason)
		}
	}
	return v
}

// ratioText writes "NAME 0.53: a 812 px over b 1530 px".
func ratioText(f *chexstruct.Finding, name, a, aName, b, bName string) string {
	x, okX := num(f, a)
	y, okY := num(f, b)
	if !okX || !okY {
		return ""
	}
	s := fmt.Sprintf("%s %s px over %s %s px", aName, figureText(x), bName, figureText(y))
	if v, ok := f.Rounded.Float(); ok {
		s = fmt.Sprintf("%s %.2f: %s", name, v, s)
	}
	return s
}

// measuredText is the measurement of a task in one sentence; empty when there is none.
func measuredText(f *chexstruct.Finding) string {
	switch f.Task {
	case chexstruct.Inclusion:
		return inclusionText(f)
	case chexstruct.Inspiration:
		if n, ok := f.Index.Float(); ok {
			return fmt.Sprintf("Rib %.0f is the lowest posterior rib above the diaphragm", n)
		}
	case chexstruct.Rotation:
		r, okR := num(f, "distance_right")
		l, okL := num(f, "distance_left")
		if okR && okL {
			s := fmt.Sprintf("right %s px, left %s px", figureText(r), figureText(l))
			if v, ok := f.Rounded.Float(); ok {
				s = fmt.Sprintf("Ratio %.2f: %s", v, s)
			}
			return s
		}
	case chexstruct.Projection:
		if f.Rounded.Len() == 2 {
			r, _ := f.Rounded.At(0).Float()
			l, _ := f.Rounded.At(1).Float()
			return fmt.Sprintf("Shoulder blade inside the lung: right %.2f, left %.2f", r, l)
		}
	case chexstruct.Cardiomegaly:
		return ratioText(f, "CTR", "heart_width", "heart", "lung_width", "thorax")
	case chexstruct.MediastinalWidening:
		return ratioText(f, "MCR", "mediastinum_width", "mediastinum", "lung_width", "thorax")
	case chexstruct.CarinaAngle:
		if v, ok := f.Rounded.Float(); ok {
			levels, _ := f.Measurement("angles")
			return fmt.Sprintf("Angle %.0f° (on the three levels %s)", v, degrees(levels))
		}
	case chexstruct.TracheaDeviation:
		return directionText(f)
	case chexstruct.AorticKnobEnlargement:
		return ratioText(f, "Ratio", "knob_width", "knob", "trachea_width", "trachea")
	case chexstruct.AscendingAortaEnlargement:
		if v, ok := f.Index.Float(); ok {
			return fmt.Sprintf("Share of the ascending aorta beyond the line: %s", figureText(v))
		}
	case chexstruct.DescendingAortaTortuous:
		if v, ok := f.Rounded.Float(); ok {
			return fmt.Sprintf("Mean curvature %.4f per native pixel", v)
		}
	case chexstruct.DescendingAortaEnlargement:
		return ratioText(f, "Ratio", "width", "aorta", "trachea_width", "trachea")
	}
	return ""
}

func degrees(v chexstruct.Value) string {
	var parts []string
	for i := range v.Len() {
		if d, ok := v.At(i).Float(); ok {
			parts = append(parts, fmt.Sprintf("%.0f°", d))
		}
	}
	return strings.Join(parts, ", ")
}

// directionText counts the votes of the nine points.
func directionText(f *chexstruct.Finding) string {
	direction, ok := f.Index.Text()
	if !ok {
		return ""
	}
	sides, _ := f.Measurement("sides")
	count := map[string]int{}
	for i := range sides.Len() {
		if s, ok := sides.At(i).Text(); ok {
			count[s]++
		}
	}
	words := map[string]string{"flat": "on the spine", "left": "to the left", "right": "to the right",
		"left&right": "first to the left, then to the right", "right&left": "first to the right, then to the left"}[direction]
	return fmt.Sprintf("Trachea %s: of %d points %d on it, %d to the left, %d to the right", words, sides.Len(), count["flat"], count["left"], count["right"])
}

// inclusionText says per lung which parts lie inside the picture, with their distances to
// the content border.
func inclusionText(f *chexstruct.Finding) string {
	var out []string
	for i, side := range sides {
		type part struct{ words, flag, value string }
		var parts []part
		same := true
		for _, p := range [][2]string{{"apex", "apex"}, {"side", "side"}, {"bottom", "base"}} {
			if v, ok := num(f, p[0]+"_ratio_"+side); ok {
				parts = append(parts, part{p[1], flagText[partFlag(f, p[0], i)], figureText(v)})
				same = same && parts[len(parts)-1].flag == parts[0].flag
			}
		}
		if len(parts) == 0 {
			continue
		}
		text := side + " lung"
		if same && parts[0].flag != "" {
			text += " " + parts[0].flag
		}
		list := make([]string, len(parts))
		for n, p := range parts {
			list[n] = p.words + " " + p.value
			if !same {
				list[n] = p.words + " " + p.flag + " " + p.value
			}
		}
		out = append(out, text+": "+strings.Join(list, ", "))
	}
	return upperFirst(strings.Join(out, "; "))
}

var flagText = map[chexstruct.Flag]string{chexstruct.FlagIncluded: "inside", chexstruct.FlagExcluded: "outside", chexstruct.FlagMixed: "unclear"}

// partFlag returns the flag of one part of one lung, 0 when there is none.
func partFlag(f *chexstruct.Finding, part string, side int) chexstruct.Flag {
	if f.Parts == nil {
		return 0
	}
	return map[string][2]chexstruct.Flag{"apex": f.Parts.Apex, "side": f.Parts.Side, "bottom": f.Parts.Bottom}[part][side]
}

// limit says what a task's measurement is compared with.
func (l limits) limit(t chexstruct.Task, view cxr.ViewPosition) string {
	byView := func(pa, ap, name string) string {
		word := "at least"
		if c, _ := l.rules.Limit("cardiomegaly.label.PA_comparison"); t == chexstruct.Cardiomegaly && c.Value == ">" {
			word = "more than"
		}
		switch view {
		case cxr.ViewPA:
			return fmt.Sprintf("enlarged: %s %s %s in a PA view", name, word, l.figure(pa))
		case cxr.ViewAP:
			return fmt.Sprintf("enlarged: %s at least %s in an AP view", name, l.figure(ap))
		}
		return fmt.Sprintf("enlarged: %s %s %s in PA, at least %s in AP views", name, word, l.figure(pa), l.figure(ap))
	}
	switch t {
	case chexstruct.Inclusion:
		return fmt.Sprintf("included: apices %s, sides %s, bases %s; a base %s is out, in between undecided", l.text("inclusion.label_apex.included_min"),
			l.text("inclusion.label_side.included_min"), l.text("inclusion.label_bottom.included_min"), l.text("inclusion.label_bottom.excluded_below"))
	case chexstruct.Inspiration:
		return "good: rib number " + l.text("inspiration.label.good_min")
	case chexstruct.Rotation:
		return "not rotated: shorter over longer " + l.text("rotation.label.not_rotated_min")
	case chexstruct.Projection:
		return fmt.Sprintf("AP: both sides %s; PA: neither; else undecided", l.text("projection.label.overlap_split"))
	case chexstruct.Cardiomegaly:
		return byView("cardiomegaly.label.PA_min", "cardiomegaly.label.AP_min", "CTR")
	case chexstruct.MediastinalWidening:
		return byView("mediastinal_widening.label.PA_min", "mediastinal_widening.label.AP_min", "MCR")
	case chexstruct.CarinaAngle:
		lo, hi := l.number("carina_angle.label.normal_range")
		return fmt.Sprintf("normal: %s° to %s°", figureText(lo), figureText(hi))
	case chexstruct.TracheaDeviation:
		return "not deviated: most points on the line"
	case chexstruct.AorticKnobEnlargement:
		return "enlarged: ratio " + l.text("aortic_knob_enlargement.label.enlarged_min")
	case chexstruct.AscendingAortaEnlargement:
		return fmt.Sprintf("normal: nothing beyond; enlarged: %s and below %s; else undecided", l.text("ascending_aorta_enlargement.label.enlarged_min"),
			l.figure("ascending_aorta_enlargement.label.implausible_min"))
	case chexstruct.DescendingAortaTortuous:
		return "tortuous: " + l.text("descending_aorta_tortuous.label.tortuous_min")
	case chexstruct.DescendingAortaEnlargement:
		return "enlarged: ratio " + l.text("descending_aorta_enlargement.label.enlarged_min")
	}
	return ""
}

// filterVerdict puts one step of the global filter in words.
func (l limits) filterVerdict(d *chexstruct.FilterDecision, r chexstruct.Rule) verdict {
	v := verdict{Class: strataPassed, Badge: "passed", Tone: toneNormal, Limit: "passes: " + l.must(r)}
	for _, c := range d.Checks {
		t := l.check(c)
		if c.Rule != r {
			v.Checks = append(v.Checks, t)
			continue
		}
		if c.Value.Kind() == chexstruct.KindNone {
			v.Measured = "not evaluated: an input is missing, so it passes"
		} else {
			v.Measured = upperFirst(t.What) + ": " + t.Value
		}
		if !c.Pass {
			v.Class, v.Badge, v.Tone = strataFailed, "failed", toneFailed
		}
	}
	return v
}

// Strata of the pages of the global filter.
const (
	strataFailed = "failed"
	strataPassed = "passed"
)

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
