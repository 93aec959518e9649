package xragent

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
)

// TestCropBoxes holds what part of a picture a box means and how large the crop is.
func TestCropBoxes(t *testing.T) {
	film := cxr.NewImage(2000, 1000)
	for i := range film.Pix {
		film.Pix[i] = 77
	}
	for _, r := range []struct {
		name   string
		box    [4]int
		margin float64
		used   [4]int
		w, h   int
	}{
		{"as it is", [4]int{0, 0, 400, 600}, 0, [4]int{0, 0, 400, 600}, 800, 600},
		{"the whole picture is made smaller", [4]int{0, 0, 1000, 1000}, 0, [4]int{0, 0, 1000, 1000}, 1024, 512},
		{"a small box is enlarged", [4]int{500, 500, 600, 600}, 0, [4]int{500, 500, 600, 600}, 448, 224},
		{"a tiny box is grown first", [4]int{500, 500, 501, 501}, 0, [4]int{493, 487, 508, 515}, 448, 448},
		{"grown at the corner", [4]int{999, 999, 1000, 1000}, 0, [4]int{986, 972, 1000, 1000}, 448, 448},
		{"nothing left of it", [4]int{0, 0, 0, 0}, 0, [4]int{0, 0, 14, 28}, 448, 448},
		{"a margin is cut to the picture", [4]int{0, 400, 200, 500}, 0.1, [4]int{0, 390, 220, 510}, 448, 122},
	} {
		m, used, err := Crop(film, r.box, CropOptions{Margin: r.margin})
		require.NoError(t, err)
		require.Equal(t, r.used, used, r.name)
		require.Equal(t, [2]int{r.w, r.h}, [2]int{m.Width, m.Height}, r.name)
		require.Equal(t, [2]uint8{77, 77}, [2]uint8{slices.Min(m.Pix), slices.Max(m.Pix)}, "%s: a plain picture stays plain", r.name)
	}
	small := cxr.NewImage(20, 10)
	m, used, err := Crop(small, [4]int{500, 500, 600, 600}, CropOptions{})
	require.NoError(t, err)
	require.Equal(t, [4]int{0, 0, 1000, 1000}, used, "a picture below the minimum is taken whole")
	require.Equal(t, 448, m.Width)
	_, _, err = Crop(small, used, CropOptions{Margin: -1})
	require.ErrorContains(t, err, "margin")
	_, _, err = Crop(&cxr.Image{Width: 3}, used, CropOptions{})
	require.Error(t, err)
}

// TestCropShowsWhatIsThere holds the resampling: a ramp stays a ramp, both ways, and a
// mirrored picture gives the mirrored crop.
func TestCropShowsWhatIsThere(t *testing.T) {
	ramp := cxr.NewImage(200, 40)
	for y := range ramp.Height {
		for x := range ramp.Row(y) {
			ramp.Row(y)[x] = uint8(20 + x)
		}
	}
	for _, w := range []int{70, 450} {
		m := lanczos(ramp, w, 40)
		for x := 8; x < w-8; x++ {
			want := 20 + (float64(x)+0.5)*200/float64(w) - 0.5
			require.InDelta(t, want, float64(m.At(x, 20)), 0.75, "width %d, column %d", w, x)
		}
		back := cxr.NewImage(200, 40)
		for y := range ramp.Height {
			for x := range ramp.Width {
				back.Pix[y*200+x] = ramp.At(199-x, y)
			}
		}
		n := lanczos(back, w, 40)
		for x := range w {
			require.InDelta(t, int(m.At(x, 3)), int(n.At(w-1-x, 3)), 1)
		}
	}
	dot := cxr.NewImage(9, 9)
	dot.Pix[40] = 200
	m := lanczos(dot, 90, 90)
	require.GreaterOrEqual(t, m.At(44, 44), uint8(195), "sharp where it lies")
	require.Zero(t, m.At(5, 5))
}

// TestResolveTarget holds the names under which a policy finds a structure.
func TestResolveTarget(t *testing.T) {
	all := anatomy.AllSet()
	for text, want := range map[string]anatomy.Structure{
		"right lung": anatomy.RightLung, "Right Lung": anatomy.RightLung, "lung right": anatomy.RightLung, " the  left lung. ": anatomy.LeftLung,
		"left clavicle": anatomy.LeftClavicle, "clavicle left": anatomy.LeftClavicle, "heart": anatomy.Heart, "121": anatomy.Heart, "rib cartilage": mustName(t, "rib_cartilage"),
	} {
		got, ok := ResolveTarget(text, all)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "nodule", "lungs of the patient", "159", "-1"} {
		_, ok := ResolveTarget(text, all)
		require.False(t, ok, text)
	}
	_, ok := ResolveTarget("heart", anatomy.SetOf(anatomy.RightLung))
	require.False(t, ok, "only what the source can produce")
}

func mustName(t *testing.T, name string) anatomy.Structure {
	s, ok := anatomy.ByName(name)
	require.True(t, ok)
	return s
}

// TestRegions holds what region_parse answers and where a crop goes.
func TestRegions(t *testing.T) {
	m, err := anatomy.NewMasks(100, 50, 100, 50, anatomy.SetOf(anatomy.Heart, anatomy.Trachea))
	require.NoError(t, err)
	require.NoError(t, m.Put(anatomy.Heart, mask.FromFunc(100, 50, func(x, y int) bool { return x >= 20 && x < 40 && y >= 10 && y < 20 })))
	o := Outline(ToolCall{Number: 2, Name: ToolParse, Target: "Heart"}, m)
	require.Equal(t, Observation{Call: 2, Name: ToolParse, Status: StatusOK, Text: "heart", Box: &[4]int{200, 200, 400, 400}, Area: ptr(0.04)}, o)
	require.Equal(t, StatusNotFound, Outline(ToolCall{Target: "trachea"}, m).Status)
	require.Equal(t, StatusUnsupported, Outline(ToolCall{Target: "nodule"}, m).Status)

	for _, r := range []struct {
		c      ToolCall
		box    [4]int
		status Status
	}{
		{ToolCall{Box: &[4]int{1, 2, 3, 4}}, [4]int{1, 2, 3, 4}, ""},
		{ToolCall{After: 2}, [4]int{200, 200, 400, 400}, ""},
		{ToolCall{After: 1}, [4]int{}, StatusNotFound},
		{ToolCall{Region: "heart"}, [4]int{200, 200, 400, 400}, ""},
		{ToolCall{Region: "trachea"}, [4]int{}, StatusNotFound},
		{ToolCall{Region: "pneumothorax"}, [4]int{}, StatusUnsupported},
	} {
		box, answer, ok := CropBox(r.c, []Observation{o}, m)
		require.Equal(t, r.status == "", ok, "%+v", r.c)
		if ok {
			require.Equal(t, r.box, box)
		} else {
			require.Equal(t, r.status, answer.Status)
		}
	}
	_, answer, ok := CropBox(ToolCall{Region: "heart"}, nil, nil)
	require.False(t, ok)
	require.Equal(t, StatusError, answer.Status)
}

func ptr[T any](v T) *T { return &v }
