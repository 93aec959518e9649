package evaluation

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// TestLaTeXFits: the whole report with every figure's origin is a document that LaTeX accepts,
// and nothing in it runs off an A4 page with margins of 2 cm.
func TestLaTeXFits(t *testing.T) {
	program, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("there is no pdflatex")
	}
	dir := t.TempDir()
	var b bytes.Buffer
	b.WriteString("\\documentclass{article}\n\\usepackage[a4paper,margin=2cm]{geometry}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs}\n\\usepackage{graphicx}\n\\usepackage{pdflscape}\n\\begin{document}\n")
	if err := build(t, evaluateAll(t, 6, mixed, "A", "B"), Options{Compare: true}).WriteLaTeX(&b, true); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\\end{document}\n")
	if err := os.WriteFile(filepath.Join(dir, "report.tex"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "report.tex")
	c.Dir = dir
	log, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, log[max(0, len(log)-2000):])
	}
	for _, m := range regexp.MustCompile(`(?:Overfull \\[hv]box \(|Float too large for page by )([0-9.]+)pt[^\n]*`).FindAllSubmatch(log, -1) {
		if points, err := strconv.ParseFloat(string(m[1]), 64); err != nil || points > 1 {
			t.Errorf("%s", m[0])
		}
	}
}
