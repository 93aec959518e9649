package dialogue

import (
	"math"
	"testing"
)

// TestUsageSaturates: sums beyond what a number holds stay the largest one.
func TestUsageSaturates(t *testing.T) {
	big := Usage{Calls: 1, Prompt: math.MaxInt64 - 1, Completion: 5}
	if sum := big.Add(Usage{Calls: 1, Prompt: 2, Completion: 6}); sum.Prompt != math.MaxInt64 || sum.Completion != 11 || sum.Calls != 2 || sum.Total() != math.MaxInt64 {
		t.Errorf("%+v, total %d", sum, sum.Total())
	}
}
