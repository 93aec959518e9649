package segment

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// golden is what PyTorch computes; testdata/golden_torch.py made it.
type golden struct {
	Tables []struct {
		In, Out int
		Index   []int32
	}
	Inputs []struct {
		Width, Height int
		SHA256        string
	}
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden_torch.json")
	require.NoError(t, err)
	var g golden
	require.NoError(t, json.Unmarshal(data, &g))
	require.NotEmpty(t, g.Tables)
	require.NotEmpty(t, g.Inputs)
	return g
}

func TestNearestIndexIsTorchs(t *testing.T) {
	for _, tab := range readGolden(t).Tables {
		require.Equal(t, tab.Index, mask.NearestIndex(tab.In, tab.Out), "%d -> %d", tab.In, tab.Out)
	}
}

var cxasInput = Input{Width: 512, Height: 512, Channels: 3, Divisor: 255,
	Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}, Resize: ResizeNearest}

// The whole input tensor equals PyTorch's, bit for bit.
func TestInputIsTorchs(t *testing.T) {
	p := newPreprocessor(cxasInput)
	dst := make([]float32, 3*512*512)
	for _, in := range readGolden(t).Inputs {
		p.fill(picture(in.Width, in.Height), dst)
		require.Equal(t, in.SHA256, floatsDigest(dst), "%d x %d", in.Width, in.Height)
	}
}

func TestResizeRules(t *testing.T) {
	m := &cxr.Image{Width: 4, Height: 2, Pix: []uint8{
		0, 10, 20, 31,
		40, 50, 60, 71,
	}}
	sample := func(rule Resize, w, h int) []uint8 {
		dst := make([]uint8, w*h)
		s := sampler{rule: rule, w: w, h: h}
		s.sample(m, dst)
		return dst
	}
	// Nearest picks (0,0) and (2,0); the mean of the left 2x2 block is 25, of the right
	// one 45.5, which rounds up.
	require.Equal(t, []uint8{0, 20}, sample(ResizeNearest, 2, 1))
	require.Equal(t, []uint8{25, 46}, sample(ResizeArea, 2, 1))
	require.Equal(t, []uint8{25, 46}, sample(ResizeBilinear, 2, 1), "halving: the centre lies between the four")
	for _, r := range Resizes() {
		require.Equal(t, m.Pix, sample(r, 4, 2), "%s to the same size changes nothing", r)
	}
	// 4 -> 3 columns: the first covers pixel 0 and a third of pixel 1.
	require.Equal(t, uint8(3), sample(ResizeArea, 3, 2)[0], "(0*3 + 10*1)/4 = 2.5 rounds up")
	// Growing: area repeats pixels, bilinear runs between them.
	require.Equal(t, []uint8{0, 0, 10, 10}, sample(ResizeArea, 8, 2)[:4])
	require.Equal(t, []uint8{0, 3, 8, 13}, sample(ResizeBilinear, 8, 2)[:4])
}

// A constant picture stays constant under every rule, whatever the sizes.
func TestResizeConstant(t *testing.T) {
	for _, r := range Resizes() {
		for _, size := range [][4]int{{7, 5, 3, 2}, {3, 2, 7, 5}, {640, 1, 512, 3}, {511, 513, 64, 64}} {
			m := cxr.NewImage(size[0], size[1])
			for i := range m.Pix {
				m.Pix[i] = 201
			}
			dst := make([]uint8, size[2]*size[3])
			s := sampler{rule: r, w: size[2], h: size[3]}
			s.sample(m, dst)
			for _, v := range dst {
				require.Equal(t, uint8(201), v, "%s %v", r, size)
			}
		}
	}
}

// One preprocessor serves pictures of changing sizes.
func TestSamplerForgetsTheLastSize(t *testing.T) {
	a, b := picture(70, 90), picture(90, 70)
	fresh := func(m *cxr.Image) []uint8 {
		dst := make([]uint8, 64*64)
		s := sampler{rule: ResizeNearest, w: 64, h: 64}
		s.sample(m, dst)
		return dst
	}
	s := sampler{rule: ResizeNearest, w: 64, h: 64}
	dst := make([]uint8, 64*64)
	for _, m := range []*cxr.Image{a, b, a, b, b} {
		s.sample(m, dst)
		require.Equal(t, fresh(m), dst)
	}
}

func TestResizeText(t *testing.T) {
	for _, r := range Resizes() {
		text, err := r.MarshalText()
		require.NoError(t, err)
		var back Resize
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, r, back)
	}
	var r Resize
	require.ErrorContains(t, r.UnmarshalText([]byte("lanczos")), "nearest, area, bilinear")
	require.Error(t, r.UnmarshalText(nil))
	_, err := Resize(0).MarshalText()
	require.Error(t, err)
}
