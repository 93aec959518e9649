package spelling

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{"trachea.width", "carina.angle", "carina.angel", "aorta"}
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"carina.angle", 1, []string{"carina.angle"}},
		{"carina.angl", 2, []string{"carina.angle", "carina.angel"}},
		{"aorta", 9, []string{"aorta", "carina.angle", "carina.angel", "trachea.width"}},
		{"x", 0, nil},
	} {
		if got := Nearest(c.text, names, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%q, %d: got %q, want %q", c.text, c.n, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
