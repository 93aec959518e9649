package responder

import (
	"bytes"
	"hash/maphash"
	"image"
	_ "image/jpeg" // radiographs are sent as JPEG or PNG
	_ "image/png"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
)

// looks finds the cases that a picture is the radiograph of: by its digest, or, where a client
// has resized or encoded it anew, by what it looks like.
type looks struct {
	byDigest map[artifacts.Digest][]*known
	// small are the thumbnails of the radiographs, each made once, when it is first needed;
	// nil for a radiograph that cannot be read.
	small map[artifacts.Digest]func() []uint8

	mu sync.Mutex // guards what follows
	// read holds the digests of pictures by their text in base64: a dialogue shows the same ones
	// with every turn.
	read map[spelling]artifacts.Digest
	// seen holds what pictures of other digests turned out to be.
	seen map[sighted][]*known
}

// spelling identifies the base64 of a picture in this process.
type spelling struct {
	size int
	hash uint64
}

// sighted is a picture that was looked at beside a question.
type sighted struct {
	picture artifacts.Digest
	text    int
}

// edge is the side of a thumbnail.
const edge = 48

// A picture is taken for a radiograph if their thumbnails differ by no more than this on
// average, in grey levels of 255, and by less than half of what the next radiograph differs.
// A radiograph reduced to 1,024 pixels differs by 0.5 from itself and by 14 from others.
const farthest = 4.0

// seenLimit bounds the memory of pictures that were looked at.
const seenLimit = 1 << 16

func newLooks(cases []*known) *looks {
	l := &looks{byDigest: map[artifacts.Digest][]*known{}, small: map[artifacts.Digest]func() []uint8{},
		read: map[spelling]artifacts.Digest{}, seen: map[sighted][]*known{}}
	for _, k := range cases {
		l.byDigest[k.image] = append(l.byDigest[k.image], k)
		if k.open == nil || l.small[k.image] != nil {
			continue
		}
		l.small[k.image] = sync.OnceValue(func() []uint8 {
			data, err := k.open()
			if err != nil {
				return nil
			}
			return shrink(data)
		})
	}
	return l
}

// find returns the cases of a picture that is shown with a question, in the order of the
// benchmark; none for one that is no radiograph of it. asked are the cases that the question
// is asked about.
//
// Errors: *apiError for what is no base64.
func (l *looks) find(p picture, text int, asked []*known) ([]*known, error) {
	digest, err := l.digest(p)
	if err != nil {
		return nil, err
	}
	if list, ok := l.byDigest[digest]; ok {
		return list, nil
	}
	name := sighted{digest, text}
	l.mu.Lock()
	list, ok := l.seen[name]
	l.mu.Unlock()
	if ok {
		return list, nil
	}
	data, err := p.bytes()
	if err != nil {
		return nil, err
	}
	list = l.compare(data, asked)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) < seenLimit {
		l.seen[name] = list
	}
	return list, nil
}

// digest returns the digest of a picture's bytes, which are decoded where the same text was not
// decoded before.
func (l *looks) digest(p picture) (artifacts.Digest, error) {
	name := spelling{len(p.base64), maphash.Bytes(spelled, p.base64)}
	l.mu.Lock()
	digest, ok := l.read[name]
	l.mu.Unlock()
	if ok {
		return digest, nil
	}
	data, err := p.bytes()
	if err != nil {
		return digest, err
	}
	digest = artifacts.Sum(data)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.read) < seenLimit {
		l.read[name] = digest
	}
	return digest, nil
}

var spelled = maphash.MakeSeed()

func (l *looks) compare(data []byte, asked []*known) []*known {
	pixels := shrink(data)
	if pixels == nil {
		return nil
	}
	l.prepare(asked)
	var best artifacts.Digest
	first, second := 256.0, 256.0
	for _, k := range asked {
		thumbnail := l.small[k.image]
		if thumbnail == nil || k.image == best || thumbnail() == nil {
			continue
		}
		switch d := difference(thumbnail(), pixels); {
		case d < first:
			best, first, second = k.image, d, first
		case d < second:
			second = d
		}
	}
	if first > farthest || first > second/2 {
		return nil
	}
	return l.byDigest[best]
}

// prepare makes the thumbnails of the cases, several at a time.
func (l *looks) prepare(cases []*known) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, k := range cases {
		if thumbnail := l.small[k.image]; thumbnail != nil {
			g.Go(func() error { thumbnail(); return nil })
		}
	}
	_ = g.Wait() // they return none
}

func difference(a, b []uint8) float64 {
	sum := 0
	for i := range a {
		d := int(a[i]) - int(b[i])
		sum += max(d, -d)
	}
	return float64(sum) / float64(len(a))
}

// most pixels of a picture that is looked at.
const mostPixels = 1 << 27

// samples are taken along each side of a cell of the thumbnail.
const samples = 12

// shrink averages a picture down to a thumbnail; nil for what is no picture.
func shrink(data []byte) []uint8 {
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width < edge || c.Height < edge || c.Width > mostPixels/c.Height {
		return nil
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	box, grey := m.Bounds(), greyOf(m)
	out := make([]uint8, 0, edge*edge)
	for j := range edge {
		y0, y1 := j*box.Dy()/edge, (j+1)*box.Dy()/edge
		for i := range edge {
			x0, x1 := i*box.Dx()/edge, (i+1)*box.Dx()/edge
			sum, n := 0, 0
			for y := y0; y < y1; y += max((y1-y0)/samples, 1) {
				for x := x0; x < x1; x += max((x1-x0)/samples, 1) {
					sum += int(grey(box.Min.X+x, box.Min.Y+y))
					n++
				}
			}
			out = append(out, uint8(sum/n))
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
