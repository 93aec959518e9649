package xragent

// statements maps every cue of the clause that belongs to the measurement.
func (c *reading) statements() []statement {
	var out []statement
	for i := range c.t {
		k := c.t[i].cue
		if k == 0 || c.past(i) || c.general(i) || c.instead(i) {
			continue
		}
		switch c.m {
		case CTR:
			out = append(out, c.heart(i, k)...)
		case LungAsymmetry:
			out = append(out, c.lungs(i, k)...)
		case ThoracicShift:
			out = append(out, c.midline(i, k)...)
		}
	}
	return out
}

// general reports that the cue at i belongs to a limit ("normal below 0.50"), not to the
// picture.
func (c *reading) general(i int) bool {
	if i > 0 && i+1 < len(c.t) && c.t[i-1].cue == cueNormal && c.t[i+1].number && limits[c.t[i].text] {
		return true
	}
	for j := i + 1; j < min(len(c.t), i+4); j++ {
		switch w := c.t[j].text; {
		case w == "limit" || w == "limits" || w == "range" || w == "threshold" || w == "value" || w == "values":
			return j == i+1
		case c.t[j].number:
			return c.t[i].cue == cueNormal && (limits[c.t[j-1].text] || c.t[j-1].text == "to")
		case w == ",":
			return false
		}
	}
	return false
}

// instead reports that the cue at i is what "rather than" or "instead of" rejects.
func (c *reading) instead(i int) bool {
	for j := max(1, i-4); j < i; j++ {
		if w := c.t[j].text; w == "than" && c.t[j-1].text == "rather" || w == "of" && c.t[j-1].text == "instead" {
			return true
		}

	}
	return false
}

// about reports that the cue at i speaks of subject s: the noun it stands before, else the
// subjects coordinated before it, else what "it" carries over.
func (c *reading) about(i int, s subject) bool {
	if n := c.noun(i); n != 0 {
		return n == s
	}
	found := false
	for j := i - 1; j >= 0; j-- {
		w := c.t[j].text
		if found && (c.t[j].verb || c.t[j].cue != 0 && c.t[j].subject == 0 || w == "of" || w == "than" || w == "by" || w == "in") {
			return false
		}
		if x := c.t[j].subject; x != 0 {
			if x == s {
				return true
			}
			found = true
		}
	}
	return !found && c.carry == s
}

// noun is the subject that the cue at i modifies: "enlarged cardiac shadow", "enlargement
// of the heart".
func (c *reading) noun(i int) subject {
	name := c.t[i].noun
	for j := i + 1; j < min(len(c.t), i+7); j++ {
		w := c.t[j].text
		if x := c.t[j].subject; x != 0 {
			return x
		}
		joins := w == "of" || w == "in" || w == "the" || w == "both" || w == "a" || w == "between"
		if joins && (name || c.t[i+1].text == "size") {
			continue
		}
		if joins || c.t[j].cue == cueDirection || w == "," || w == "and" || w == "or" || c.t[j].verb || w == "than" || w == "to" || w == "with" || w == "on" || w == "at" || w == "by" || w == "for" || w == "but" || c.t[j].number {
			return 0
		}
	}
	return 0
}

func (c *reading) heart(i int, k cue) []statement {
	large := k == cueLarge || k == cueCardiac
	normal := k == cueNormal || k == cueSmall
	if !large && !normal || k != cueCardiac && !c.about(i, subjectHeart) {
		return nil
	}
	if large != c.negated(i) {
		return []statement{{category: Enlarged}}
	}
	return []statement{{category: Normal}}
}

func (c *reading) lungs(i int, k cue) []statement {
	if k != cueLoss && !c.about(i, subjectLungs) && !(c.t[i].text == "asymmetry" && c.has("index")) {
		return nil
	}
	no := c.negated(i)
	switch k {
	case cueEqual, cueNormal:
		if k == cueNormal && (no || !c.has("size", "volume", "volumes")) {
			return nil // one lung of normal size, or not, names no side
		}
		return []statement{{Symmetric, no}}
	case cueUnequal:
		if no {
			return []statement{{category: Symmetric}}
		}
		if c.has("index") && c.t[i].text == "asymmetry" {
			return nil
		}
		return []statement{{Symmetric, true}}
	case cueLoss, cueSmall, cueLarge:
	default:
		return nil
	}
	both := c.has("both", "bilateral", "bilaterally", "either", "neither", "left or right", "right or left", "left or the right", "right or the left", "left or right lung")
	side := c.lungSide(i)
	if both || side == "" {
		if no {
			return []statement{{category: Symmetric}}
		}
		return nil
	}
	if k == cueLarge {
		side = opposite(side)
	}
	if side == "left" {
		return []statement{{LeftSmaller, no}}
	}
	return []statement{{RightSmaller, no}}
}

func opposite(side string) string {
	if side == "left" {
		return "right"
	}
	return "left"
}

// lungSide is the side that the cue at i speaks of: named after it ("on the left"), else
// the nearest before it that is not denied.
func (c *reading) lungSide(i int) string {
	verb := c.t[i].verb // "the left lung exceeds the right": its subject stands before
	for j := i + 1; j < min(len(c.t), i+8) && !verb; j++ {
		w := c.t[j].text
		if s := sideOf(w); s != "" {
			return s
		}
		if w == "than" || w == "," || w == "with" || w == "and" || c.t[j].cue != 0 {
			break
		}
	}
	for j := i - 1; j >= 0; j-- {
		s := sideOf(c.t[j].text)
		if s == "" {
			continue
		}
		denied, compared := false, false
		for k := max(0, j-3); k < j; k++ {
			denied = denied || c.t[k].text == "not" && k > 0 && c.t[k-1].text == ","
			compared = compared || c.t[k].text == "than" || c.t[k].text == "with" && k > 0 && c.t[k-1].text == "compared" || c.t[k].text == "unlike"
		}
		if !denied && !compared {
			return s
		}
	}
	for j := i + 1; j < min(len(c.t), i+4); j++ {
		if s := sideOf(c.t[j].text); s != "" && c.has("than") {
			return opposite(s) // "it is smaller than the left"
		}
	}
	return ""
}

func (c *reading) midline(i int, k cue) []statement {
	if k != cueMoved && k != cueCentral && k != cueDirection && k != cueNormal {
		return nil
	}
	shift := c.t[i].subject == subjectMidline // the noun itself
	if !shift && !c.about(i, subjectMidline) && !(k == cueMoved && c.object(i)) {
		return nil
	}
	no := c.negated(i)
	if k == cueNormal {
		if c.has("position", "located", "lies") || c.direction() != "" {
			return []statement{{Midline, no}}
		}
		return nil
	}
	if k == cueCentral {
		return []statement{{Midline, no}}
	}
	if c.has("xnormal") && !no { // called normal: the direction is no shift
		return nil
	}
	switch side := c.direction(); {
	case side == "both" || side == "" && no:
		return []statement{{category: Midline, denied: !no}}
	case side == "":
		if shift && !c.has("a", "there", "marked", "clear", "with") {
			return nil // the name of the measurement, not a finding
		}
		return []statement{{Midline, true}}
	case side == "left":
		return []statement{{ShiftedLeft, no}}
	default:
		return []statement{{ShiftedRight, no}}
	}
}

// object reports that a cue such as "pushes" is followed by trachea or mediastinum.
func (c *reading) object(i int) bool {
	for j := i + 1; j < min(len(c.t), i+6); j++ {
		if x := c.t[j].subject; x != 0 {
			return x == subjectMidline
		}
	}
	return false
}

// direction is the side that the clause names as a direction: left, right, both or none.
func (c *reading) direction() string {
	side, named := "", c.side
	for i, t := range c.t {
		s := ""
		switch t.text {
		case "xdirleft", "xdirright", "leftward", "leftwards", "rightward", "rightwards":
			s = sideOf(t.text)
		case "xdirsame":
			s = named
		case "xdirother":
			if named != "" {
				s = opposite(named)
			}
		case "left", "right":
			named = t.text
			if i+1 < len(c.t) && c.t[i+1].cue == cueMoved || i > 0 && c.t[i-1].cue == cueMoved || i > 0 && c.t[i-1].text == "or" && side != "" {
				s = t.text
			}
		}
		if s == "" {
			continue
		}
		if side != "" && side != s {
			return "both"
		}
		side = s
	}
	return side
}
