package dataset

import (
	"fmt"
	"math"
	"strconv"

	"cxrepro/internal/geom"
)

const (
	landmarkPoints = 120
	// maxCoordinate keeps the polygon's exact arithmetic within 64 bits.
	maxCoordinate = 1 << 17
)

// organLandmarks reads an organ's outline, in either published spelling: numbers separated
// by commas, or a printed array with brackets and line breaks. Whatever separates the
// numbers is passed over.
//
// Errors: other than 120 points, which a shortened printout ("...") also gives.
func organLandmarks(text string, o Organ) ([]geom.Point, error) {
	values := make([]int, 0, 2*landmarkPoints)
	for i := 0; i < len(text); {
		if !numberByte(text[i]) {
			i++
			continue
		}
		j := i
		for j < len(text) && (numberByte(text[j]) || text[j] == 'e' || text[j] == 'E') {
			j++
		}
		v, err := strconv.ParseFloat(text[i:j], 64)
		if err != nil || math.Abs(v) > maxCoordinate {
			return nil, fmt.Errorf("landmarks: %q is no coordinate", clip(text[i:j]))
		}
		if values = append(values, int(math.RoundToEven(v))); len(values) > 2*landmarkPoints {
			break
		}
		i = j
	}
	if len(values) != 2*landmarkPoints {
		return nil, fmt.Errorf("landmarks: %d numbers, want %d", len(values), 2*landmarkPoints)
	}
	f := organFacts[o]
	pts := make([]geom.Point, 0, f.end-f.first)
	for i := f.first; i < f.end; i++ {
		pts = append(pts, geom.Point{X: values[2*i], Y: values[2*i+1]})
	}
	return pts, nil
}

func numberByte(c byte) bool { return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' }
