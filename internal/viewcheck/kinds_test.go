package viewcheck

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/experiments"
	"cxrepro/internal/phantom"
	"cxrepro/internal/segment"
	"cxrepro/internal/xragent"
)

// bundled opens PhantomView as the program carries it.
func bundled(t testing.TB) *Checker {
	t.Helper()
	card, err := LoadCardFS(experiments.Files, "models/phantomview.yaml")
	require.NoError(t, err)
	v, err := New(card, Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, v.Close()) })
	return v
}

// TestGateWithholdsEveryKind runs view check, segmentation and gate, all real, over pictures
// of every kind. Whatever is no PA film is withheld, always; with the code that belongs to
// its kind in at least five of six pictures, since no head is right every time. PA films are
// measured in at least five of six.
func TestGateWithholdsEveryKind(t *testing.T) {
	v := bundled(t)
	card, err := segment.LoadCardFS(experiments.Files, "models/phantomseg.yaml")
	require.NoError(t, err)
	s, err := segment.New(card, segment.Options{Provider: "cpu", Library: library, Threads: 1})
	require.NoError(t, err)
	defer s.Close()
	g, err := xragent.DefaultGate(xragent.ProfileCalibrated)
	require.NoError(t, err)
	quality := []string{xragent.ReasonMissingClass, xragent.ReasonFewStructures, xragent.ReasonAreaBounds, xragent.ReasonFragmented,
		xragent.ReasonLaterality, xragent.ReasonHeartPosition, xragent.ReasonOverlap, xragent.ReasonImplausibleValue}
	for _, r := range []struct {
		kind  phantom.Kind
		codes []string
	}{
		{phantom.KindPA, []string{""}},
		{phantom.KindAP, []string{xragent.ReasonViewAP}},
		{phantom.KindLateral, []string{xragent.ReasonViewLateral}},
		{phantom.KindTurned90, []string{xragent.ReasonViewRotated}},
		{phantom.KindTurned180, []string{xragent.ReasonViewRotated}},
		{phantom.KindTurned270, []string{xragent.ReasonViewRotated}},
		{phantom.KindInverted, []string{xragent.ReasonViewInverted}},
		{phantom.KindSlice, []string{xragent.ReasonViewNotCXR}},
		{phantom.KindTwoPanel, []string{xragent.ReasonViewNotCXR}},
		{phantom.KindCropped, quality},
	} {
		const n = 6
		right := 0
		for i := range n {
			m, _, err := phantom.DrawKind(77, i, r.kind, 560)
			require.NoError(t, err)
			reading, err := v.Check(t.Context(), m)
			require.NoError(t, err)
			e := xragent.Evidence{View: xragent.ViewReading(reading)}
			if g.Needs(e.View) {
				e.Masks, err = s.Segment(t.Context(), m)
				require.NoError(t, err)
			}
			b, err := g.Bundle(e)
			require.NoError(t, err)
			if slices.Contains(r.codes, b.Reason) {
				right++
			} else {
				t.Logf("%s %d: withheld as %q, not %q", r.kind, i, b.Reason, r.codes)
			}
			if b.Exposed(xragent.CTR) != (b.Reason == "") || b.Exposed(xragent.CTR) && r.kind != phantom.KindPA {
				t.Errorf("%s %d: %+v", r.kind, i, b)
			}
		}
		if right < n-1 {
			t.Errorf("%s: %d of %d with the right code", r.kind, right, n)
		}
	}
}

// TestPhantomViewHeads measures PhantomView on held-out pictures, fewer than its card does:
// no head is right less often than the card's 0.98 with room for the smaller number.
func TestPhantomViewHeads(t *testing.T) {
	v := bundled(t)
	n := NewTally()
	for i := range 60 {
		m, truth, err := phantom.ViewSample(3, i)
		require.NoError(t, err)
		r, err := v.Check(t.Context(), m)
		require.NoError(t, err)
		bit := map[bool]int{true: 1}
		kind := NotCXR
		if truth.View != 0 {
			kind = map[string]Type{"PA": PA, "AP": AP, "LATERAL": Lateral}[truth.View.String()]
		}
		n.Add([4]int{int(kind), truth.Turns, bit[truth.Inverted], bit[truth.Mirrored]}, r.Decided())
	}
	for _, h := range n.Figures("sixty").Heads {
		require.GreaterOrEqual(t, h.Right, 0.93, "%+v", h)
	}
	for _, h := range v.card.Figures.Heads {
		require.GreaterOrEqual(t, h.Right, 0.98, "the card: head %s", h.Name)
	}
	model, err := v.card.Model()
	require.NoError(t, err)
	require.LessOrEqual(t, len(model), 2<<20)
}
