package overlay

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"slices"
)

// LayerPNG encodes a canvas that holds drawings alone, as a picture of at most 256 colours
// with transparency: a fraction of the bytes and of the time of PNG. The most frequent
// colours are exact; the others, which are the softened rims of strokes, take the nearest
// of these.
func (c *Canvas) LayerPNG() ([]byte, error) {
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := e.Encode(&b, c.indexed()); err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	return b.Bytes(), nil
}

// indexed maps the canvas to a palette.
func (c *Canvas) indexed() *image.Paletted {
	places, palette := choose(c.colours())
	p := image.NewPaletted(c.rgba.Rect, palette)
	var last uint32
	var place uint8
	for i := range p.Pix {
		px := binary.LittleEndian.Uint32(c.rgba.Pix[4*i:])
		if px == 0 {
			continue
		}
		if px != last {
			last, place = px, places[px]
		}
		p.Pix[i] = place
	}
	return p
}

// tally is a premultiplied colour, as four bytes, and its number of pixels.
type tally struct {
	colour uint32
	pixels int
}

// colours counts the colours of the canvas, the most frequent first.
func (c *Canvas) colours() []tally {
	counts := map[uint32]int{}
	run := 0
	var last uint32
	for i := 0; i < len(c.rgba.Pix); i += 4 {
		px := binary.LittleEndian.Uint32(c.rgba.Pix[i:])
		if px != last {
			counts[last] += run
			last, run = px, 0
		}
		run++
	}
	counts[last] += run
	delete(counts, 0)
	list := make([]tally, 0, len(counts))
	for colour, n := range counts {
		list = append(list, tally{colour, n})
	}
	slices.SortFunc(list, func(a, b tally) int {
		if a.pixels != b.pixels {
			return b.pixels - a.pixels
		}
		return cmp.Compare(a.colour, b.colour)
	})
	return list
}

// choose gives every colour its place in a palette of 256, of which the first is
// transparent.
func choose(list []tally) (places map[uint32]uint8, palette color.Palette) {
	places = make(map[uint32]uint8, len(list))
	palette = color.Palette{color.NRGBA{}}
	kept := list[:min(len(list), 255)]
	for _, t := range kept {
		places[t.colour] = uint8(len(palette))
		palette = append(palette, color.NRGBAModel.Convert(rgbaOf(t.colour)))
	}
	for _, t := range list[len(kept):] {
		best, least := 0, distance(t.colour, 0)
		for i, k := range kept {
			if d := distance(t.colour, k.colour); d < least {
				best, least = i+1, d
			}
		}
		places[t.colour] = uint8(best)
	}
	return places, palette
}

func rgbaOf(px uint32) color.RGBA {
	return color.RGBA{R: uint8(px), G: uint8(px >> 8), B: uint8(px >> 16), A: uint8(px >> 24)}
}

// distance is the squared distance of two premultiplied colours.
func distance(a, b uint32) int {
	sum := 0
	for s := 0; s < 32; s += 8 {
		d := int(a>>s&255) - int(b>>s&255)
		sum += d * d
	}
	return sum
}
