// Package masktest draws small masks as text, for tests: '#' is set, '.' is not.
package masktest

import (
	"strings"
	"testing"

	"cxrepro/internal/mask"
)

// Parse returns the mask of a drawing, one line per row; blanks around lines are ignored.
func Parse(tb testing.TB, art string) mask.Mask {
	tb.Helper()
	rows := strings.Fields(art)
	if len(rows) == 0 {
		tb.Fatal("masktest: empty drawing")
	}
	for _, r := range rows {
		if len(r) != len(rows[0]) || strings.Trim(r, "#.") != "" {
			tb.Fatalf("masktest: row %q does not fit %d columns of # and .", r, len(rows[0]))
		}
	}
	return mask.FromFunc(len(rows[0]), len(rows), func(x, y int) bool { return rows[y][x] == '#' })
}

// Draw returns the drawing of a mask, one line per row.
func Draw(m mask.Mask) string {
	var s strings.Builder
	for y := range m.H {
		for x := range m.W {
			if m.At(x, y) {
				s.WriteByte('#')
			} else {
				s.WriteByte('.')
			}
		}
		s.WriteByte('\n')
	}
	return s.String()
}
