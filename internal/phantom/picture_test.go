package phantom

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// masksAt rasterises a phantom without drawing its picture.
func masksAt(t testing.TB, p *Phantom, w, h int) (*anatomy.Masks, [4]int) {
	t.Helper()
	c := &canvas{grid: grid{w, h, float64(w) / p.frame.width, float64(h) / p.frame.height}}
	field := p.field(c)
	m, err := p.body.masks(c, field)
	require.NoError(t, err)
	return m, field
}

// nativeSize is the size of a phantom's picture at the usual pitch.
func nativeSize(p *Phantom) (w, h int) { return SizingNative.pixels(p.Film()) }

func TestStructuresAreTheSegmentedOnes(t *testing.T) {
	list := Structures()
	require.Len(t, list, StructureCount)
	for i := 1; i < len(list); i++ {
		require.Less(t, list[i-1].ClassID(), list[i].ClassID(), "ascending class numbers")
	}
	require.Contains(t, list, anatomy.Cardiomediastinum)
	for _, s := range anatomy.TaskStructures() {
		require.Contains(t, list, s)
	}
}

// Over many phantoms: masks lie in the exposed field, and where the film is not cut every
// structure shows, lies on its side and in its order.
func TestMasksAreAnatomical(t *testing.T) {
	whole := 0
	for i := range 60 {
		p := New(11, i, Options{})
		w, h := nativeSize(p)
		m, field := masksAt(t, p, w/2, h/2)
		for _, s := range Structures() {
			k := m.Mask(s)
			require.NoError(t, k.Validate())
			if b, ok := k.Box(); ok {
				require.True(t, b.X0 >= field[0] && b.Y0 >= field[1] && b.X1 < field[2] && b.Y1 < field[3], "%s of %d leaves the field", s, i)
			}
		}
		if p.Cropped() != "" {
			continue
		}
		whole++
		for _, s := range Structures() {
			require.False(t, m.Mask(s).IsEmpty(), "%s of phantom %d is missing (%v)", s, i, p.Findings())
		}
		checkAnatomy(t, i, m)
	}
	require.Greater(t, whole, 40, "most films show the whole chest")
}

func checkAnatomy(t *testing.T, i int, m *anatomy.Masks) {
	t.Helper()
	x := func(s anatomy.Structure) float64 { c, _ := m.Mask(s).Centroid(); return c.X }
	y := func(s anatomy.Structure) float64 { c, _ := m.Mask(s).Centroid(); return c.Y }
	for _, pair := range [][2]anatomy.Structure{
		{anatomy.RightLung, anatomy.LeftLung}, {anatomy.RightClavicle, anatomy.LeftClavicle},
		{anatomy.RightScapula, anatomy.LeftScapula}, {anatomy.RightHemidiaphragm, anatomy.LeftHemidiaphragm},
		{anatomy.RightLung, anatomy.Heart}, {anatomy.AscendingAorta, anatomy.DescendingAorta},
	} {
		require.Less(t, x(pair[0]), x(pair[1]), "phantom %d: %s lies to the picture's left of %s", i, pair[0], pair[1])
	}
	for n := 1; n < 7; n++ {
		require.Less(t, y(anatomy.ThoracicVertebra(n)), y(anatomy.ThoracicVertebra(n+1)), "phantom %d: vertebra %d", i, n)
	}
	for n := 1; n < 11; n++ {
		require.Less(t, y(anatomy.RightPosteriorRib(n)), y(anatomy.RightPosteriorRib(n+1)), "phantom %d: rib %d", i, n)
	}
	require.Less(t, y(anatomy.Trachea), y(anatomy.TrachealBifurcation))
	require.Less(t, y(anatomy.UpperMediastinum), y(anatomy.Heart))
	for _, s := range []anatomy.Structure{anatomy.Heart, anatomy.UpperMediastinum, anatomy.AorticArch, anatomy.AscendingAorta} {
		require.Equal(t, m.Mask(s).Area(), m.Mask(s).AndArea(m.Mask(anatomy.Cardiomediastinum)), "phantom %d: %s inside the cardiomediastinum", i, s)
	}
}

// The masks of one phantom at two sizes are the same shapes.
func TestMasksScale(t *testing.T) {
	p := New(5, 3, Options{})
	small, _ := masksAt(t, p, 512, 512)
	large, _ := masksAt(t, p, 1024, 2048)
	for _, s := range Structures() {
		a, b := small.Mask(s), large.Mask(s)
		z, err := mask.NewResizer(512, 512, 1024, 2048)
		require.NoError(t, err)
		up, err := z.Resize(a)
		require.NoError(t, err)
		dice := 2 * float64(up.AndArea(b)) / float64(up.Area()+b.Area())
		require.Greater(t, dice, 0.93, "%s", s) // an edge pixel of 512 is 0.7 mm, ribs are 10 mm wide
	}
}

func TestPictureIsDeterministicAndSized(t *testing.T) {
	p := New(3, 4, Options{})
	a, err := p.Picture(200, 240)
	require.NoError(t, err)
	b, err := New(3, 4, Options{}).Picture(200, 240)
	require.NoError(t, err)
	require.Equal(t, a.Image.Pix, b.Image.Pix)
	require.Equal(t, 200*240, len(a.Image.Pix))
	for _, size := range [][2]int{{63, 100}, {100, 63}, {9000, 100}, {0, 0}} {
		_, err := p.Picture(size[0], size[1])
		require.ErrorContains(t, err, "give sides of 64 to 8192 pixels")
		_, err = p.Lateral(size[0], size[1])
		require.ErrorContains(t, err, "give sides of 64 to 8192 pixels")
	}
}

// What a chest film must look like in grey: dark lungs, bright heart and abdomen, black
// beside the patient.
func TestPictureLooksLikeAChest(t *testing.T) {
	for i := range 8 {
		p := New(21, i, Options{})
		pic, err := p.Picture(256, 300)
		require.NoError(t, err)
		lung := mean(pic.Image, pic.Masks.Mask(anatomy.RightLung).AndNot(pic.Masks.Mask(anatomy.RightHemidiaphragm)).AndNot(pic.Masks.Mask(anatomy.Cardiomediastinum)))
		heart := mean(pic.Image, pic.Masks.Mask(anatomy.Heart))
		require.Greater(t, heart, lung+35, "phantom %d: heart against lung", i)
		require.Less(t, lung, 150.0, "phantom %d: lungs are dark", i)
	}
}

func mean(im *cxr.Image, m mask.Mask) float64 {
	sum, n := 0, 0
	for y := range m.H {
		for _, r := range m.Row(y) {
			for _, v := range im.Row(y)[r.X0:r.X1] {
				sum += int(v)
				n++
			}
		}
	}
	return float64(sum) / float64(n)
}

func TestLateralIsNoFrontal(t *testing.T) {
	im, err := New(7, 7, Options{}).Lateral(160, 192)
	require.NoError(t, err)
	require.NoError(t, im.Check())
	bright := 0
	for _, v := range im.Pix {
		if v > 128 {
			bright++
		}
	}
	share := float64(bright) / float64(len(im.Pix))
	require.True(t, share > 0.15 && share < 0.8, "bright share %v", share)
}

func BenchmarkTrainingSample(b *testing.B) {
	for i := range b.N {
		if _, err := TrainingSample(1, i%16); err != nil {
			b.Fatal(err)
		}
	}
}
