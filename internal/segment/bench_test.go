package segment

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/cxr"
	"cxrepro/internal/mask"
	"cxrepro/internal/onnx/onnxtest"
)

// Sizes of the published model and of a usual radiograph.
const (
	benchGrid               = 512
	benchWidth, benchHeight = 2544, 3056
)

// benchLogits is the published model's output for one picture: 159 smooth planes.
func benchLogits() []float32 {
	out := make([]float32, anatomy.Count*benchGrid*benchGrid)
	for c, e := range body(benchGrid) {
		for y := range benchGrid {
			for x := range benchGrid {
				out[(c*benchGrid+y)*benchGrid+x] = e.Logit(x, y)
			}
		}
	}
	return out
}

// runsOnly is our way from logits to native runs.
func runsOnly(logits []float32) ([]mask.Mask, error) {
	z, err := mask.NewResizer(benchGrid, benchGrid, benchWidth, benchHeight)
	if err != nil {
		return nil, err
	}
	out := make([]mask.Mask, anatomy.Count)
	for c := range out {
		m, _ := positiveRuns(logits[c*benchGrid*benchGrid:(c+1)*benchGrid*benchGrid], benchGrid, benchGrid)
		if out[c], err = z.Resize(m); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// planeByPlane is the peer, as a plain program does it: threshold each plane, resize it
// to a boolean plane of the picture's size, then find its runs.
func planeByPlane(logits []float32) []mask.Mask {
	cols, rows := mask.NearestIndex(benchGrid, benchWidth), mask.NearestIndex(benchGrid, benchHeight)
	out := make([]mask.Mask, anatomy.Count)
	small := make([]bool, benchGrid*benchGrid)
	native := make([]bool, benchWidth*benchHeight)
	for c := range out {
		for i, v := range logits[c*benchGrid*benchGrid : (c+1)*benchGrid*benchGrid] {
			small[i] = v > 0
		}
		for y, sy := range rows {
			src, dst := small[int(sy)*benchGrid:(int(sy)+1)*benchGrid], native[y*benchWidth:(y+1)*benchWidth]
			for x, sx := range cols {
				dst[x] = src[sx]
			}
		}
		b := mask.NewBuilder(benchWidth, benchHeight)
		for y := range benchHeight {
			start := -1
			for x, in := range native[y*benchWidth : (y+1)*benchWidth] {
				if in && start < 0 {
					start = x
				} else if !in && start >= 0 {
					b.Add(y, start, x)
					start = -1
				}
			}
			if start >= 0 {
				b.Add(y, start, benchWidth)
			}
		}
		out[c] = b.Mask()
	}
	return out
}

// BenchmarkLogitsToRuns compares the two ways on 159 x 512 x 512 logits and a picture of
// 2544 x 3056, on one core, and checks that they agree.
func BenchmarkLogitsToRuns(b *testing.B) {
	logits := benchLogits()
	start := time.Now()
	peer := planeByPlane(logits)
	peerTime := time.Since(start)
	ours, err := runsOnly(logits)
	require.NoError(b, err)
	for c := range peer {
		require.True(b, ours[c].Equal(peer[c]))
	}
	for b.Loop() {
		if _, err := runsOnly(logits); err != nil {
			b.Fatal(err)
		}
	}
	each := b.Elapsed() / time.Duration(b.N)
	b.ReportMetric(float64(peerTime.Milliseconds()), "peer-ms/op")
	b.ReportMetric(float64(peerTime)/float64(each), "ratio")
}

// BenchmarkSegmentPath compares the whole path from file bytes to masks with a bare loop
// of the same decoding, preprocessing and inference, which keeps no masks.
func BenchmarkSegmentPath(b *testing.B) {
	ctx := context.Background()
	data, err := cxr.EncodeJPEG(picture(benchWidth, benchHeight), 90)
	require.NoError(b, err)
	s, err := New(loadBody(b, benchGrid, onnxtest.Options{Gain: 0.01, Work: 8}), Options{Provider: "cpu", Library: library})
	require.NoError(b, err)
	defer s.Close()
	bare := func() {
		m, err := cxr.Decode(data, cxr.Limits{})
		require.NoError(b, err)
		s.pre.fill(m, s.session.Input())
		require.NoError(b, s.session.Run(ctx))
	}
	full := func() {
		m, err := cxr.Decode(data, cxr.Limits{})
		require.NoError(b, err)
		found, err := s.Segment(ctx, m)
		require.NoError(b, err)
		_ = found.Encode()
	}
	bare()
	full()
	var bareTime, fullTime time.Duration
	for b.Loop() { // taken in turns, so that a busy neighbour slows both
		t0 := time.Now()
		bare()
		t1 := time.Now()
		full()
		bareTime += t1.Sub(t0)
		fullTime += time.Since(t1)
	}
	b.ReportMetric(float64(fullTime.Milliseconds())/float64(b.N), "full-ms/op")
	b.ReportMetric(float64(bareTime)/float64(fullTime), "bare/full")
}

// BenchmarkPreprocess is picture to input tensor alone.
func BenchmarkPreprocess(b *testing.B) {
	m := picture(benchWidth, benchHeight)
	for _, r := range Resizes() {
		b.Run(r.String(), func(b *testing.B) {
			in := cxasInput
			in.Resize = r
			p := newPreprocessor(in)
			dst := make([]float32, 3*512*512)
			for b.Loop() {
				p.fill(m, dst)
			}
		})
	}
}
