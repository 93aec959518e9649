package segment

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/onnx"
	"cxrepro/internal/onnx/onnxtest"
)

const small = 64

// want is the mask that the test model's arithmetic must give for a uniform picture.
func want(e onnxtest.Ellipse, size int) mask.Mask {
	return mask.FromFunc(size, size, func(x, y int) bool { return e.Logit(x, y) > 0 })
}

func TestSegment(t *testing.T) {
	for _, o := range []onnxtest.Options{{Batch: true}, {Masks: true}} {
		card := loadBody(t, small, o)
		s, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
		require.NoError(t, err)
		found, err := s.Segment(context.Background(), picture(101, 77))
		require.NoError(t, err)
		require.Equal(t, [4]int{small, small, 101, 77}, [4]int{found.GridW, found.GridH, found.NativeW, found.NativeH})
		require.Equal(t, anatomy.AllSet(), found.Declared)
		for i, e := range body(small) {
			require.True(t, found.Mask(anatomy.Structure(i+1)).Equal(want(e, small)), anatomy.Structure(i+1).Name())
		}
		require.Empty(t, Check(found).Flags)
		require.Equal(t, anatomy.Count, Check(found).Present)
		native, err := found.Native()
		require.NoError(t, err)
		require.Equal(t, 101, native.Mask(anatomy.Heart).W)
		require.NoError(t, s.Close())
		_, err = s.Segment(context.Background(), picture(101, 77))
		require.ErrorIs(t, err, onnx.ErrClosed)
	}
}

// The picture reaches the model through the card's arithmetic: the brighter, the larger.
func TestPictureMatters(t *testing.T) {
	card := loadBody(t, small, onnxtest.Options{Gain: 0.1})
	s, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	defer s.Close()
	area := func(grey uint8) int {
		m := cxr.NewImage(50, 50)
		for i := range m.Pix {
			m.Pix[i] = grey
		}
		found, err := s.Segment(context.Background(), m)
		require.NoError(t, err)
		got := found.Mask(anatomy.Heart)
		mean := (float64(grey)/255-0.485)/0.229 + (float64(grey)/255-0.456)/0.224 + (float64(grey)/255-0.406)/0.225
		e := body(small)[anatomy.Heart.ClassID()]
		for y := range small {
			for x := range small {
				logit := float64(e.Logit(x, y)) + 0.1*mean/3
				if math.Abs(logit) > 1e-4 { // further from zero than float32 sums can differ
					require.Equal(t, logit > 0, got.At(x, y), "grey %d at %d,%d", grey, x, y)
				}
			}
		}
		return got.Area()
	}
	require.Less(t, area(0), area(128))
	require.Less(t, area(128), area(255))
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	model := onnxtest.Ellipses(body(small)[:7], onnxtest.Options{Size: small, Channels: 3})
	card, err := LoadCard(writeCard(t, cardText(model, small), model))
	require.NoError(t, err)
	_, err = New(card, Options{Provider: "cpu", Library: library})
	var che *ChannelError
	require.ErrorAs(t, err, &che)
	require.Equal(t, ChannelError{Card: 159, Model: 7}, *che)
	require.True(t, Permanent(err))

	card = loadBody(t, small, onnxtest.Options{})
	_, err = New(card, Options{Provider: "cuda", Library: library})
	var pe *onnx.ProviderError
	require.ErrorAs(t, err, &pe)
	require.True(t, Permanent(err))
	_, err = New(card, Options{Library: library})
	require.ErrorContains(t, err, "provider")
	_, err = New(card, Options{Provider: "cpu", Library: "/nowhere/libonnxruntime.so"})
	var le *onnx.LibraryError
	require.ErrorAs(t, err, &le)

	s, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	defer s.Close()
	_, err = s.Segment(ctx, &cxr.Image{Width: 3, Height: 3, Pix: make([]uint8, 8)})
	require.ErrorContains(t, err, "samples")
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = s.Segment(cancelled, picture(9, 9))
	require.ErrorIs(t, err, context.Canceled)
}

// A model that gives NaN is refused by its trial run, with the channel's name.
func TestNaNModel(t *testing.T) {
	ellipses := body(small)
	ellipses[anatomy.Heart.ClassID()].A = 0 // 0/0 in the middle column
	ellipses[anatomy.Heart.ClassID()].CX = 10
	model := onnxtest.Ellipses(ellipses, onnxtest.Options{Size: small, Channels: 3})
	card, err := LoadCard(writeCard(t, cardText(model, small), model))
	require.NoError(t, err)
	_, err = New(card, Options{Provider: "cpu", Library: library})
	var nf *NotFiniteError
	require.ErrorAs(t, err, &nf)
	require.Equal(t, "heart", nf.Name)
	require.True(t, Permanent(err))
}

// A channel without a structure is computed and dropped.
func TestUnnamedChannel(t *testing.T) {
	model := onnxtest.Ellipses(body(small), onnxtest.Options{Size: small, Channels: 3})
	card, err := LoadCard(writeCard(t, strings.Replace(cardText(model, small), "- heart\n", "- \"-\"\n", 1), model))
	require.NoError(t, err)
	s, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	defer s.Close()
	found, err := s.Segment(context.Background(), picture(30, 30))
	require.NoError(t, err)
	require.False(t, found.Declared.Has(anatomy.Heart))
	require.Equal(t, 158, found.Declared.Len())
	require.Equal(t, 158, found.Present().Len())
}

// Many callers share few sessions; every picture gets the masks it would get alone.
func TestPool(t *testing.T) {
	card := loadBody(t, small, onnxtest.Options{Gain: 0.05})
	p, err := NewPool(card, Options{Provider: "cpu", Library: library}, 2)
	require.NoError(t, err)
	one, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	defer one.Close()
	require.Equal(t, one.Identity(), p.Identity())
	require.Equal(t, onnx.ThreadsFor(2), p.Runtime().Threads)
	pictures := make([]*cxr.Image, 12)
	got := make([][]byte, len(pictures))
	var wg sync.WaitGroup
	for i := range pictures {
		pictures[i] = picture(40+7*i, 90-3*i)
		wg.Go(func() {
			if m, err := p.Segment(context.Background(), pictures[i]); err == nil {
				got[i] = m.Encode()
			}
		})
	}
	wg.Wait()
	for i, m := range pictures {
		alone, err := one.Segment(context.Background(), m)
		require.NoError(t, err)
		require.Equal(t, alone.Encode(), got[i])
	}
	require.NoError(t, p.Close())
	_, err = NewPool(card, Options{Provider: "cpu", Library: library}, 0)
	require.Error(t, err)
	_, err = NewPool(card, Options{Provider: "cuda", Library: library}, 2)
	require.Error(t, err)
}

func TestCheckFlags(t *testing.T) {
	disc := func(cx, cy, r int) mask.Mask {
		return mask.FromFunc(100, 100, func(x, y int) bool { return (x-cx)*(x-cx)+(y-cy)*(y-cy) <= r*r })
	}
	tests := []struct {
		name               string
		right, left, heart mask.Mask
		want               []Flag
	}{
		{"fine", disc(30, 50, 15), disc(70, 50, 15), disc(55, 60, 10), nil},
		{"mirrored", disc(70, 50, 15), disc(30, 50, 15), disc(45, 60, 10), []Flag{FlagMirrored}},
		{"heart elsewhere", disc(20, 50, 15), disc(60, 50, 15), disc(90, 60, 8), []Flag{FlagHeartOutside}},
		{"tiny lung", disc(30, 50, 2), disc(70, 50, 15), disc(55, 60, 10), []Flag{FlagAreaUnlikely}},
		{"huge heart", disc(30, 50, 15), disc(70, 50, 15), disc(50, 50, 40), []Flag{FlagAreaUnlikely}},
		{"no lungs", mask.Empty(100, 100), mask.Empty(100, 100), disc(50, 50, 10), nil},
		{"nothing", mask.Empty(100, 100), mask.Empty(100, 100), mask.Empty(100, 100), []Flag{FlagNothingFound}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := anatomy.NewMasks(100, 100, 300, 200, anatomy.SetOf(anatomy.RightLung, anatomy.LeftLung, anatomy.Heart))
			require.NoError(t, err)
			require.NoError(t, m.Put(anatomy.RightLung, tt.right))
			require.NoError(t, m.Put(anatomy.LeftLung, tt.left))
			require.NoError(t, m.Put(anatomy.Heart, tt.heart))
			r := Check(m)
			require.Equal(t, tt.want, r.Flags)
			require.Len(t, r.Areas, 3)
			require.Equal(t, 3, r.Declared)
		})
	}
	seen := map[string]bool{}
	for _, f := range Flags() {
		require.NotContains(t, f.String(), "invalid")
		require.False(t, seen[f.String()])
		seen[f.String()] = true
	}
	require.Contains(t, Flag(0).String(), "invalid")
}
