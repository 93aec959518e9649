package differ

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"cxrepro/infra/bench/dense"
)

// read are the structures that the tasks read, in order.
var read = readNames()

func readNames() []string {
	out := []string{"right lung", "left lung", "right hemidiaphragm", "left hemidiaphragm", "clavicle right", "clavicle left",
		"scapula right", "scapula left", "heart", "upper mediastinum", "tracheal bifurcation", "trachea", "descending aorta",
		"aortic arch", "ascending aorta"}
	for i := 1; i <= 7; i++ {
		out = append(out, fmt.Sprintf("vertebrae T%d", i))
	}
	for _, nth := range []string{"1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th", "11th"} {
		out = append(out, fmt.Sprintf("posterior %s rib right", nth))
	}
	return out
}

// Make builds case i of a seed and says in words what was done to it.
func Make(bases []*dense.Case, seed, i uint64, sw dense.Switches) (c *dense.Case, story []string) {
	r := rand.New(rand.NewPCG(seed, i))
	base := bases[r.IntN(len(bases))]
	w, h := sides(r, base)
	if w == base.W && h == base.H {
		c = clone(base)
	} else {
		c = scaled(base, w, h)
	}
	story = append(story, fmt.Sprintf("%s at %dx%d", base.Name, w, h))
	m := &mutator{r, c, &story, sw}
	m.dress()
	for range r.IntN(6) {
		steps[r.IntN(len(steps))](m)
	}
	for range max(0, r.IntN(5)-2) {
		m.tune()
	}
	c.Name = fmt.Sprintf("%d_%d", seed, i)
	return c, story
}

type mutator struct {
	*rand.Rand
	c     *dense.Case
	story *[]string
	sw    dense.Switches
}

func (m *mutator) say(format string, args ...any) {
	*m.story = append(*m.story, fmt.Sprintf(format, args...))
}

// steps are the changes, each as likely as its number of entries.
var steps = []func(*mutator){
	(*mutator).erase, (*mutator).split, (*mutator).specks, (*mutator).move, (*mutator).move, (*mutator).swap, (*mutator).grow, (*mutator).shrink,
	(*mutator).clear, (*mutator).blob, (*mutator).noise, (*mutator).stretch, (*mutator).flip, (*mutator).copyOver, (*mutator).nibble, (*mutator).nibble,
	(*mutator).shiftAll, (*mutator).mirrorAll, (*mutator).crop, (*mutator).collimate, (*mutator).collimate, (*mutator).blackSpots, (*mutator).slim,
	(*mutator).swapRibs, (*mutator).moveRibs, (*mutator).notch, (*mutator).slope,
}

// dress varies what is not a mask.
func (m *mutator) dress() {
	switch m.IntN(12) {
	case 0:
		m.c.View = []string{"", "LATERAL", "OTHER"}[m.IntN(3)]
	case 1, 2, 3, 4:
		m.c.View = []string{"AP", "PA"}[m.IntN(2)]
	}
	switch m.IntN(6) {
	case 0:
		m.c.NativeWidth = []int{0, m.c.W, 1, 17, 1024, 3056}[m.IntN(6)]
	case 1:
		m.c.NativeWidth = m.c.W * (1 + m.IntN(5))
	}
	m.boxes()
	m.chexmask()
	m.say("view %q native %d boxes %v", m.c.View, m.c.NativeWidth, m.c.Boxes)
}

func (m *mutator) boxes() {
	for _, name := range []string{"cardiac silhouette", "upper mediastinum"} {
		mask := map[string]string{"cardiac silhouette": "heart", "upper mediastinum": "upper mediastinum"}[name]
		b := boxOf(m.c.Masks[mask])
		switch k := m.IntN(20); {
		case k == 0:
			delete(m.c.Boxes, name)
			continue
		case k < 8:
		case k < 12:
			for i := range b {
				b[i] += m.IntN(7) - 3
			}
		case k < 16:
			d := max(1, m.c.W/8)
			for i := range b {
				b[i] += m.IntN(2*d+1) - d
			}
		case k == 16:
			b = [4]int{b[0], b[1], b[0], b[1]}
		case k == 17:
			b = [4]int{m.IntN(m.c.W), m.IntN(m.c.H), m.IntN(m.c.W), m.IntN(m.c.H)}
		default:
			b = m.c.Boxes[name]
		}
		if b[2] < b[0] {
			b[0], b[2] = b[2], b[0]
		}
		if b[3] < b[1] {
			b[1], b[3] = b[3], b[1]
		}
		m.c.Boxes[name] = b
	}
}

func (m *mutator) chexmask() {
	lung := m.c.Masks["right lung"]
	if lung == nil || m.IntN(2) == 0 {
		return
	}
	p := &dense.Plane{W: m.c.W, H: m.c.H, Pix: append([]uint8(nil), lung.Pix...)}
	switch m.IntN(6) {
	case 0:
		p = dense.NewPlane(m.c.W, m.c.H)
	case 1:
		p = shifted(p, m.IntN(9)-4, m.IntN(9)-4)
	case 2:
		p = grown(p, 1+m.IntN(3))
	case 3:
		x0, y0, x1, y1 := m.rect()
		paint(p, x0, y0, x1, y1, 1)
	case 4:
		x0, y0, x1, y1 := m.rect()
		paint(p, x0, y0, x1, y1, 0)
	}
	m.c.CheXmask = p
	m.say("chexmask")
}

// structure picks a mask that some task reads.
func (m *mutator) structure() (string, *dense.Plane) {
	name := read[m.IntN(len(read))]
	if m.IntN(3) > 0 { // the first fifteen matter more often
		name = read[m.IntN(15)]
	}
	p := m.c.Masks[name]
	if p == nil {
		p = dense.NewPlane(m.c.W, m.c.H)
		m.c.Masks[name] = p
	}
	return name, p
}

// rect is a random rectangle, both ends included.
func (m *mutator) rect() (x0, y0, x1, y1 int) {
	x0, y0 = m.IntN(m.c.W), m.IntN(m.c.H)
	x1 = min(m.c.W-1, x0+m.IntN(1+m.c.W/3))
	y1 = min(m.c.H-1, y0+m.IntN(1+m.c.H/3))
	return
}

// near is a random rectangle around a mask's box.
func (m *mutator) near(p *dense.Plane) (x0, y0, x1, y1 int) {
	b := boxOf(p)
	x0, x1 = b[0]+m.IntN(b[2]-b[0]+1), b[0]+m.IntN(b[2]-b[0]+1)
	y0, y1 = b[1]+m.IntN(b[3]-b[1]+1), b[1]+m.IntN(b[3]-b[1]+1)
	return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
}

// Structures are the masks that the tasks read.
func Structures() []string { return slices.Clone(read) }
