package phantom

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxr"
)

// The bytes of every further kind of picture: PhantomView was trained on them. They change
// only together with AppearanceVersion. The pins of the old pictures (pin_test.go,
// dataset_test.go) were made before these kinds existed.
func TestPinnedKinds(t *testing.T) {
	want := map[Kind]string{
		KindPA: "f8f842d96d5cbecf", KindAP: "e57d4381d876dcbd", KindLateral: "e8f72e9802c7b351", KindTurned90: "57c9dbd7aea3834f", KindTurned180: "6e8f2ea52d587342", KindTurned270: "0470a10e47c5e440",
		KindInverted: "6f6037efc6adc000", KindMirrored: "f9589ea00f43e727", KindCropped: "58e1195b375a98e1", KindSlice: "73bb2fe82e16746d", KindTwoPanel: "77c1f789530074d3",
	}
	require.Len(t, want, len(Kinds()))
	for _, k := range Kinds() {
		im, _, err := DrawKind(42, 3, k, 160)
		require.NoError(t, err)
		require.NoError(t, im.Check())
		if got := short(im.Pix); got != want[k] {
			t.Errorf("%s: %s, want %s", k, got, want[k])
		}
	}
	im, truth, err := ViewSample(42, 3)
	require.NoError(t, err)
	require.Equal(t, "bd4857eff055bfee", short(im.Pix))
	require.Equal(t, ViewTruth{}, truth)
}

// A kind is what its name says of the PA film it is made of.
func TestKindsComeFromOneFilm(t *testing.T) {
	draw := func(k Kind) *cxr.Image {
		im, _, err := DrawKind(5, 1, k, 128)
		require.NoError(t, err)
		return im
	}
	film := draw(KindPA)
	require.Equal(t, film.Pix, turned(draw(KindTurned90), 3).Pix)
	require.Equal(t, film.Pix, turned(draw(KindTurned180), 2).Pix)
	require.Equal(t, film.Pix, turned(draw(KindTurned270), 1).Pix)
	back := draw(KindMirrored)
	mirror(back)
	require.Equal(t, film.Pix, back.Pix)
	back = draw(KindInverted)
	invert(back)
	require.Equal(t, film.Pix, back.Pix)
	require.NotEqual(t, film.Pix, draw(KindAP).Pix)
	// clockwise: what was at the top lies at the right
	im := cxr.NewImage(2, 3)
	im.Pix[0] = 9
	require.Equal(t, uint8(9), turned(im, 1).At(2, 0))
}

// Training pictures hold every reading of every head.
func TestViewSamplesCoverEveryReading(t *testing.T) {
	seen := map[any]int{}
	for i := range 120 {
		im, truth, err := ViewSample(8, i)
		require.NoError(t, err)
		require.NoError(t, im.Check())
		seen[truth.View]++
		if truth.View == 0 {
			require.Equal(t, ViewTruth{}, truth, "no chest film: nothing else is said")
			continue
		}
		seen[truth.Turns]++
		seen[[2]bool{truth.Inverted, truth.Mirrored}]++
	}
	for _, v := range []any{cxr.ViewPA, cxr.ViewAP, cxr.ViewLateral, cxr.ViewPosition(0), 0, 1, 2, 3,
		[2]bool{}, [2]bool{true, false}, [2]bool{false, true}} {
		require.GreaterOrEqual(t, seen[v], 5, "%v", v)
	}
}

func TestKindsRefuse(t *testing.T) {
	for _, k := range []Kind{0, KindTwoPanel + 1} {
		_, _, err := DrawKind(1, 1, k, 200)
		require.ErrorContains(t, err, "invalid kind")
	}
	_, _, err := DrawKind(1, 1, KindPA, MaxSide+1)
	require.ErrorContains(t, err, "give sides of 64 to 8192 pixels")
	k, ok := ParseKind("two_panel")
	require.True(t, ok && k == KindTwoPanel)
	_, ok = ParseKind("PA")
	require.False(t, ok)
	require.True(t, slices.Contains(Kinds(), KindSlice))
}
