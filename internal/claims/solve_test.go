package claims

import (
	"testing"
	"time"

	"cxrepro/internal/cxreasonbench"
)

// TestPaperRows: whole numbers explain every published row by itself.
func TestPaperRows(t *testing.T) {
	p, err := PaperFigures()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	contradictory := 0
	for _, m := range p.Models() {
		for _, s := range cxreasonbench.Samplings() {
			for _, task := range cxreasonbench.Tasks() {
				rows, err := PaperRows(m, s, task)
				if err != nil {
					t.Fatal(err)
				}
				for _, path := range cxreasonbench.Paths() {
					if len(rows.Alone[path]) == 0 {
						t.Errorf("%s %s %s %s: %s", m, s, task, path, rows.Contradiction[path])
					}
					if why := rows.Contradiction[path]; why != "" {
						contradictory++
						t.Logf("%s %s %s %s: %s", m, s, task, path, why)
					}
				}
			}
		}
	}
	t.Logf("%d contradictory, %s", contradictory, time.Since(start))
}
