package cxr

import (
	"math"
	"math/rand/v2"
	"testing"
)

// nativeFrame is a smooth chest-like pattern with noise at MIMIC-CXR-JPG's usual size.
func nativeFrame() *Image {
	m := NewImage(2544, 3056)
	r := rand.New(rand.NewPCG(1, 2))
	for y := range m.Height {
		row := m.Row(y)
		for x := range row {
			v := 130 + 60*math.Sin(float64(x)/300)*math.Cos(float64(y)/400) + 6*r.NormFloat64()
			row[x] = uint8(max(0, min(255, v)))
		}
	}
	return m
}

func BenchmarkDecodeNativeJPEG(b *testing.B) {
	data, err := EncodeJPEG(nativeFrame(), 95)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkDecode(b, data)
}

func BenchmarkDecodeNativePNG(b *testing.B) {
	data, err := EncodePNG(nativeFrame())
	if err != nil {
		b.Fatal(err)
	}
	benchmarkDecode(b, data)
}

func benchmarkDecode(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
