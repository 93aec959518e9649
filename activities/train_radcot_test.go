package activities

import (
	"strings"
	"testing"

	"cxrepro/internal/datause"
)

// TestCovers: what is made from data of a class never goes on under a weaker or unknown one.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		plan string
		of   datause.Class
		ok   bool
	}{
		{"synthetic", datause.Synthetic, true},
		{"credentialed", datause.Synthetic, true},
		{"credentialed", datause.Credentialed, true},
		{"synthetic", datause.Credentialed, false},
		{"public", datause.Credentialed, false},
		{"anything", datause.Synthetic, false},
		{"credentialed", 0, false},
	} {
		err := covers(c.plan, c.of, "the examples")
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "data_use") {
			t.Errorf("plan %q over %s: %v", c.plan, c.of, err)
		}
	}
}
