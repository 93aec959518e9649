package evaluation

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	_ "image/png" // pictures of a benchmark are PNG or JPEG
	"slices"

	"golang.org/x/image/draw"

	"cxrepro/artifacts"
	"cxrepro/internal/cxreasonbench"
)

// ReducedPicture is a picture as a page holds it.
type ReducedPicture struct {
	Data   string `json:"data"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

const (
	// sideStructure and sideWhole are the longer sides of pictures in a page: structures
	// stand four in a row, others must show their numbers.
	sideStructure = 448
	sideWhole     = 896
	// mostPixels bounds a picture that is decoded.
	mostPixels = 64 << 20
	quality    = 82
)

// errTooLarge: a picture is larger than any of a benchmark.
var errTooLarge = errors.New("picture is too large to be shown")

// Reduce decodes a PNG or JPEG picture and encodes it with a longer side of at most side.
func Reduce(data []byte, side int) (ReducedPicture, error) {
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return ReducedPicture{}, fmt.Errorf("picture: %w", err)
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > mostPixels/cfg.Height {
		return ReducedPicture{}, errTooLarge
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return ReducedPicture{}, fmt.Errorf("picture: %w", err)
	}
	w, h := fit(cfg.Width, cfg.Height, side)
	if w != cfg.Width || h != cfg.Height {
		var small draw.Image = image.NewRGBA(image.Rect(0, 0, w, h))
		if _, grey := img.(*image.Gray); grey {
			small = image.NewGray(image.Rect(0, 0, w, h))
		}
		draw.BiLinear.Scale(small, small.Bounds(), img, img.Bounds(), draw.Src, nil)
		img = small
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
		return ReducedPicture{}, err
	}
	mime, best := "image/jpeg", out.Bytes()
	if w == cfg.Width && h == cfg.Height && len(data) <= len(best) {
		mime, best = "image/"+format, data
	}
	return ReducedPicture{Data: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(best), Width: w, Height: h}, nil
}

func fit(w, h, side int) (int, int) {
	long := max(w, h)
	if long <= side {
		return w, h
	}
	return max(1, (w*side+long/2)/long), max(1, (h*side+long/2)/long)
}

// pictures reads and reduces the pictures, in turns over the tasks so that the limit falls on
// all of them alike.
func (c *collector) pictures(chosen map[cxreasonbench.Task][]int) error {
	var order []int
	for rank := range c.l.Cases {
		for _, t := range cxreasonbench.Tasks() {
			if rank < len(chosen[t]) {
				order = append(order, chosen[t][rank])
			}
		}
	}
	var rest []int
	for n := range c.refs {
		if !slices.Contains(order, n) {
			rest = append(rest, n)
		}
	}
	slices.Sort(rest)
	room := c.l.Bytes
	for _, n := range append(order, rest...) {
		for _, p := range cxreasonbench.Paths() {
			for _, stage := range cxreasonbench.Stages() {
				for round := range 4 {
					k := cxreasonbench.Key{Path: p, Stage: stage, Round: round}
					if err := c.questionPictures(n, k.String(), &room); err != nil {
						return fmt.Errorf("pictures of case %d: %w", n, err)
					}
				}
			}
		}
	}
	return nil
}

func (c *collector) questionPictures(n int, key string, room *int) error {
	q := c.out.Cases[n]
	if q == nil {
		return nil
	}
	pictures := q.Questions[key].Pictures
	for i, ref := range c.refs[n][key] {
		name, err := c.picture(ref, len(pictures) > 1, room)
		if err != nil {
			return err
		}
		pictures[i].Picture = name
	}
	return nil
}

// picture keeps a picture once and returns its name; empty where it is left out.
func (c *collector) picture(ref artifacts.Ref, several bool, room *int) (string, error) {
	if c.src.Picture == nil || ref.IsZero() {
		c.out.LeftOut++
		return "", nil
	}
	side, name := sideWhole, ref.Digest.Short()
	if several {
		side, name = sideStructure, name+"s"
	}
	if _, ok := c.out.Pictures[name]; ok {
		return name, nil
	}
	if *room <= 0 {
		c.out.LeftOut++
		return "", nil
	}
	data, err := c.src.Picture(c.ctx, ref)
	if err != nil {
		return "", err
	}
	p, err := Reduce(data, side)
	if errors.Is(err, errTooLarge) {
		c.out.LeftOut++
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if *room -= len(p.Data); *room < 0 {
		c.out.LeftOut++
		return "", nil
	}
	c.out.Pictures[name] = p
	return name, nil
}
