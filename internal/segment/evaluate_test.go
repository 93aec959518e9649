package segment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// rect is a mask of a 10 x 10 grid, columns x0..x1-1 of rows y0..y1-1.
func rect(x0, y0, x1, y1 int) mask.Mask {
	return mask.FromFunc(10, 10, func(x, y int) bool { return x >= x0 && x < x1 && y >= y0 && y < y1 })
}

func masksOf(t *testing.T, heart, lung mask.Mask) *anatomy.Masks {
	t.Helper()
	m, err := anatomy.NewMasks(10, 10, 10, 10, anatomy.SetOf(anatomy.Heart, anatomy.RightLung))
	require.NoError(t, err)
	require.NoError(t, m.Put(anatomy.Heart, heart))
	require.NoError(t, m.Put(anatomy.RightLung, lung))
	return m
}

func TestEvaluation(t *testing.T) {
	none := mask.Empty(10, 10)
	var e Evaluation
	// Heart: 4x4 against 4x4 shifted by 2: both 8 of 16+16, IoU 8/24, Dice 16/32.
	require.NoError(t, e.Add(masksOf(t, rect(0, 0, 4, 4), none), masksOf(t, rect(2, 0, 6, 4), none)))
	// Heart equal (4 pixels); right lung found where there is none.
	require.NoError(t, e.Add(masksOf(t, rect(0, 0, 2, 2), rect(0, 0, 1, 1)), masksOf(t, rect(0, 0, 2, 2), none)))
	// Heart missed.
	require.NoError(t, e.Add(masksOf(t, none, rect(0, 0, 2, 2)), masksOf(t, rect(0, 0, 2, 2), rect(0, 0, 2, 2))))
	require.Equal(t, 3, e.Cases())

	h := e.Row(anatomy.Heart)
	require.Equal(t, [4]int{3, 0, 1, 0}, [4]int{h.Cases, h.Absent, h.Missed, h.Invented})
	require.InDelta(t, (8.0/24+1+0)/3, h.IoU, 1e-12)
	require.InDelta(t, (0.5+1+0)/3, h.Dice, 1e-12)
	require.InDelta(t, 2*12.0/(20+24), h.F1, 1e-12) // found 16+4+0, true 16+4+4, both 8+4+0
	require.Equal(t, [2]float64{0, 0}, [2]float64{h.IoUMin, h.DiceMin})
	r := e.Row(anatomy.RightLung)
	require.Equal(t, [4]int{2, 1, 0, 1}, [4]int{r.Cases, r.Absent, r.Missed, r.Invented})
	require.InDelta(t, 0.5, r.Dice, 1e-12)
	require.Zero(t, e.Row(anatomy.LeftLung).Cases)

	rows := e.Rows("right lung")
	require.Len(t, rows, 2)
	require.Equal(t, "right lung", rows[0].Structure, "the order asked for")
	mean, least := MeanMin(rows)
	require.InDelta(t, 0.5, mean, 1e-12)
	require.InDelta(t, 0.5, least, 1e-12)

	other, err := anatomy.NewMasks(9, 10, 9, 10, anatomy.AllSet())
	require.NoError(t, err)
	require.ErrorContains(t, e.Add(other, masksOf(t, none, none)), "9 x 10")
	require.Equal(t, 3, e.Cases())
}
