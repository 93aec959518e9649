package responder

import (
	"bytes"
	"image"
	_ "image/jpeg" // radiographs are sent as JPEG or PNG
	_ "image/png"
	"sync"

	"cxrepro/artifacts"
)

// looks finds the cases that a picture is the radiograph of: by its digest, or, where a client
// has resized or encoded it anew, by what it looks like.
type looks struct {
	byDigest map[artifacts.Digest][]*known

	mu sync.Mutex
	// seen holds what pictures of other digests turned out to be.
	seen map[artifacts.Digest][]*known
	// small are the thumbnails of the radiographs, made when the first is needed.
	small []thumbnail
}

type thumbnail struct {
	image  artifacts.Digest
	pixels []uint8
}

// edge is the side of a thumbnail.
const edge = 48

// A picture is taken for a radiograph if their thumbnails differ by no more than this on
// average, in grey levels of 255, and by less than half of what the next radiograph differs.
const farthest = 4.0

// seenLimit bounds the memory of pictures that were looked at.
const seenLimit = 1 << 16

func newLooks(cases []*known) *looks {
	l := &looks{byDigest: map[artifacts.Digest][]*known{}, seen: map[artifacts.Digest][]*known{}}
	for _, k := range cases {
		l.byDigest[k.image] = append(l.byDigest[k.image], k)
	}
	return l
}

// find returns the cases of a picture, in the order of the benchmark; none for one that is no
// radiograph of it.
func (l *looks) find(data []byte) []*known {
	digest := artifacts.Sum(data)
	if list, ok := l.byDigest[digest]; ok {
		return list
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	list, ok := l.seen[digest]
	if !ok {
		list = l.compare(data)
		if len(l.seen) < seenLimit {
			l.seen[digest] = list
		}
	}
	return list
}

func (l *looks) compare(data []byte) []*known {
	pixels := shrink(data)
	if pixels == nil {
		return nil
	}
	l.prepare()
	var best artifacts.Digest
	first, second := 256.0, 256.0
	for _, t := range l.small {
		d := difference(t.pixels, pixels)
		switch {
		case d < first:
			best, first, second = t.image, d, first
		case d < second:
			second = d
		}
	}
	if first > farthest || first > second/2 {
		return nil
	}
	return l.byDigest[best]
}

// prepare makes the thumbnails. A radiograph that cannot be read has none.
func (l *looks) prepare() {
	if l.small != nil {
		return
	}
	l.small = []thumbnail{}
	for digest, cases := range l.byDigest {
		if cases[0].open == nil {
			continue
		}
		data, err := cases[0].open()
		if err != nil {
			continue
		}
		if p := shrink(data); p != nil {
			l.small = append(l.small, thumbnail{digest, p})
		}
	}
}

func difference(a, b []uint8) float64 {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		sum += max(d, -d)
	}
	return float64(sum) / float64(len(a))
}

// shrink averages a picture down to a thumbnail; nil for what is no picture.
func shrink(data []byte) []uint8 {
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil || m.Bounds().Dx() < edge || m.Bounds().Dy() < edge {
		return nil
	}
	box, grey := m.Bounds(), greyOf(m)
	out := make([]uint8, 0, edge*edge)
	for j := range edge {
		y0, y1 := j*box.Dy()/edge, (j+1)*box.Dy()/edge
		for i := range edge {
			x0, x1 := i*box.Dx()/edge, (i+1)*box.Dx()/edge
			sum := 0
			for y := y0; y < y1; y++ {
				for x := x0; x < x1; x++ {
					sum += int(grey(box.Min.X+x, box.Min.Y+y))
				}
			}
			out = append(out, uint8(sum/((y1-y0)*(x1-x0))))
		}
	}
	return out
}

// greyOf reads grey levels without conversion where a picture holds them.
func greyOf(m image.Image) func(x, y int) uint8 {
	switch p := m.(type) {
	case *image.Gray:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.YCbCr:
		return func(x, y int) uint8 { return p.Y[p.YOffset(x, y)] }
	}
	return func(x, y int) uint8 {
		r, g, b, _ := m.At(x, y).RGBA()
		return uint8((299*r + 587*g + 114*b) / 1000 >> 8)
	}
}
