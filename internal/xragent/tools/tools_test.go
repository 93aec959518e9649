package tools

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
)

// drawn is a phantom with its true masks, and a store for pictures.
type drawn struct {
	*artifacts.Repository
	picture *phantom.Picture
	ref     artifacts.Ref
	fetched int // masks
}

func newDrawn(t *testing.T) *drawn {
	t.Helper()
	p, err := phantom.New(3, 1, phantom.Options{}).Picture(512, 512)
	require.NoError(t, err)
	png, err := cxr.EncodePNG(p.Image)
	require.NoError(t, err)
	d := &drawn{Repository: memstore.Open(), picture: p}
	d.ref, err = d.Put(t.Context(), png, "image/png")
	require.NoError(t, err)
	return d
}

func (d *drawn) Picture(context.Context, artifacts.Ref) (*cxr.Image, error) {
	return d.picture.Image, nil
}

func (d *drawn) Masks(context.Context, artifacts.Ref) (*anatomy.Masks, error) {
	d.fetched++
	return d.picture.Masks, nil
}

func (d *drawn) Keep(ctx context.Context, png []byte) (artifacts.Ref, error) {
	return d.Put(ctx, png, "image/png")
}

// spots finds a square at another size than the picture's, or nothing.
type spots struct{ asked []string }

func (s *spots) Find(_ context.Context, _ artifacts.Ref, target string) (mask.Mask, error) {
	s.asked = append(s.asked, target)
	switch target {
	case "nodule":
		return mask.FromFunc(64, 64, func(x, y int) bool { return x >= 16 && x < 24 && y >= 32 && y < 48 }), nil
	case "tumour":
		return mask.Empty(64, 64), nil
	}
	return mask.Mask{}, errors.New("the service is down")
}

func (d *drawn) run(t *testing.T, find Finder, c xragent.ToolCall, earlier ...xragent.Observation) xragent.Observation {
	t.Helper()
	o, err := Visual(t.Context(), d, find, []artifacts.Ref{d.ref}, c, earlier)
	require.NoError(t, err)
	require.Equal(t, c.Number, o.Call)
	require.Equal(t, c.Name, o.Name)
	again, err := Visual(t.Context(), d, find, []artifacts.Ref{d.ref}, c, earlier)
	require.NoError(t, err)
	require.Equal(t, o, again, "the same call gives the same observation")
	return o
}

func (d *drawn) shown(t *testing.T, o xragent.Observation) *cxr.Image {
	t.Helper()
	require.Len(t, o.Images, 1)
	data, err := d.Get(t.Context(), o.Images[0])
	require.NoError(t, err)
	m, err := cxr.Decode(data, cxr.Limits{})
	require.NoError(t, err)
	return m
}

// TestCrop holds boxes, regions, and boxes of earlier calls.
func TestCrop(t *testing.T) {
	d := newDrawn(t)
	o := d.run(t, nil, xragent.ToolCall{Number: 1, Name: xragent.ToolCrop, Box: &[4]int{100, 200, 300, 400}})
	require.Equal(t, [4]int{99, 199, 301, 401}, *o.Box)
	require.Equal(t, 448, d.shown(t, o).Width)
	require.Zero(t, d.fetched, "a box needs no masks")

	heart := d.run(t, nil, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "heart"})
	require.Equal(t, xragent.StatusOK, heart.Status)
	b, ok := d.picture.Masks.Mask(anatomy.Heart).Box()
	require.True(t, ok)
	require.Equal(t, xragent.Thousandths(b.X0, b.Y0, b.X1+1, b.Y1+1, 512, 512), *heart.Box)
	byName := d.run(t, nil, xragent.ToolCall{Number: 2, Name: xragent.ToolCrop, Region: "the Heart"})
	byCall := d.run(t, nil, xragent.ToolCall{Number: 2, Name: xragent.ToolCrop, After: 1}, heart)
	require.Equal(t, byName, byCall)
	lost := d.run(t, nil, xragent.ToolCall{Number: 2, Name: xragent.ToolCrop, Region: "elbow"})
	require.Equal(t, xragent.StatusUnsupported, lost.Status)
	require.Empty(t, lost.Images)
}

// TestParse holds the overlay: the tint lies where the structure does, and nowhere else.
func TestParse(t *testing.T) {
	d := newDrawn(t)
	o := d.run(t, nil, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "right lung"})
	require.Equal(t, xragent.StatusOK, o.Status)
	lung, m := d.picture.Masks.Mask(anatomy.RightLung), d.shown(t, o)
	require.Equal(t, [2]int{512, 512}, [2]int{m.Width, m.Height})
	changed, outside := 0, 0
	for y := range 512 {
		for x := range 512 {
			if m.Row(y)[x] == d.picture.Image.Row(y)[x] {
				continue
			}
			if changed++; !lung.At(x, y) {
				outside++
			}
		}
	}
	require.Greater(t, changed, lung.Area()/2)
	require.Less(t, outside, changed/20, "soft edges only")
}

// TestFinder holds that words go to the finder where no structure is called so, and only then.
func TestFinder(t *testing.T) {
	d, find := newDrawn(t), &spots{}
	d.run(t, find, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "heart"})
	require.Empty(t, find.asked)
	o := d.run(t, find, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "nodule"})
	require.Equal(t, xragent.StatusOK, o.Status)
	require.Equal(t, "nodule", o.Text)
	require.Equal(t, [4]int{250, 500, 375, 750}, *o.Box)
	require.Equal(t, 0.031, *o.Area)
	require.Len(t, o.Images, 1)
	crop := d.run(t, find, xragent.ToolCall{Number: 1, Name: xragent.ToolCrop, Region: "nodule"})
	require.Equal(t, [4]int{250, 500, 375, 750}, *crop.Box)
	require.Equal(t, xragent.StatusNotFound, d.run(t, find, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "tumour"}).Status)
	long := strings.Repeat("nodule ", 100)
	require.Equal(t, xragent.StatusUnsupported, d.run(t, find, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: long}).Status)
	require.NotContains(t, find.asked, long)
	_, err := Visual(t.Context(), d, find, []artifacts.Ref{d.ref}, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "x"}, nil)
	require.ErrorContains(t, err, "down", "a failing service is no observation")
	require.Equal(t, xragent.StatusUnsupported, d.run(t, nil, xragent.ToolCall{Number: 1, Name: xragent.ToolParse, Target: "nodule"}).Status)
	for _, c := range []xragent.ToolCall{{Name: xragent.ToolLookup}, {Name: xragent.ToolCrop, Image: 1}} {
		_, err := Visual(t.Context(), d, nil, []artifacts.Ref{d.ref}, c, nil)
		require.Error(t, err)
	}
}
