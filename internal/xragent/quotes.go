package xragent

// misquotes reports that the clause quotes a number for the measurement that lies beyond
// the tolerance. Numbers are compared in hundredths, bounds included; limits, earlier
// values and numbers of other subjects are not quotes.
func (c *reading) misquotes(value float64) bool {
	for i, t := range c.t {
		if !t.number || c.owner(i) != of(c.m) || c.limit(i) || c.past(i) {
			continue
		}
		got, want := t.cents, hundredths(value)
		if c.m != CTR && c.inWords() {
			got, want = abs(got), abs(want)
		}
		if abs(got-want) > c.m.tolerance() {
			return true
		}
	}
	return false
}

// inWords reports that the clause names a side or a direction.
func (c *reading) inWords() bool {
	for _, t := range c.t {
		if sideOf(t.text) != "" || t.text == "xdirsame" || t.text == "xdirother" {
			return true
		}
	}
	return false
}

// owner is the subject of the number at i: the nearest before it, else the first after it.
func (c *reading) owner(i int) subject {
	for j := i - 1; j >= 0; j-- {
		if c.t[j].cue == cueCardiac {
			return subjectHeart
		}
		if x := c.t[j].subject; x != 0 {
			return x
		}
	}
	for j := i + 1; j < len(c.t); j++ {
		if x := c.t[j].subject; x != 0 {
			return x
		}
	}
	return c.carry
}

var limits = classes(map[string]bool{
	"limit limits threshold cutoff above below exceeds exceed exceeding over under than beyond < > between within range bound bounds criterion": true,
})

// limit reports that the number at i is a limit.
func (c *reading) limit(i int) bool {
	for j := i - 1; j >= max(0, i-3); j-- {
		w := c.t[j].text
		if w == "," || c.t[j].number || w == "ctr" || w == "ratio" || w == "index" {
			break
		}
		if limits[w] {
			return true
		}
	}
	for j := i + 1; j <= min(len(c.t)-1, i+2); j++ {
		w := c.t[j].text
		if w == "limit" || w == "threshold" || w == "cutoff" || w == "cm" || w == "mm" || w == "criterion" {
			return true
		}
		if w == "," {
			break
		}
	}
	return false
}
