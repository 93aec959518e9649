package cxreasonbench

import (
	"testing"

	"cxrepro/internal/chexstruct"
)

// BenchmarkAnnotated draws an annotated picture from decoded pixels to PNG, the radiograph
// reduced anew each time.
func BenchmarkAnnotated(b *testing.B) {
	s := goldenScene(b, "syn-ova")
	for b.Loop() {
		s.bases = nil
		if _, err := s.DrawAnnotated(ProfileNative, chexstruct.Cardiomegaly); err != nil {
			b.Fatal(err)
		}
	}
}
