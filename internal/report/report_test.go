package report

import (
	"bytes"
	"encoding/csv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *Table {
	t := &Table{
		Title: "Labels", Columns: []Column{{Name: "task"}, {Name: "label"}, {Name: "share", Right: true}, {Name: "comparison"}},
		Formulas: []Formula{{"share", "k images with the label, of n"}},
		Notes:    []string{"a note with | and <b>"},
	}
	normal := Share(12, 20, "share").Against(Published{K: 117514, N: 184292})
	none := Absent("no image is labelled").Against(Published{K: 3, N: 4})
	t.AddHead(Text("cardiomegaly"), Text("normal"), normal, Text(normal.Verdict.String()))
	t.Add(Text(""), Text("enlarged"), Share(1234, 5678, "share"), Text(""))
	t.AddHead(Text("carina_angle"), Text("normal"), none, Text(none.Verdict.String()))
	return t
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `Labels

task          label                         share  comparison
-----------------------------------------------------------------
cardiomegaly  normal            12 of 20 (60.0 %)  within noise
              enlarged    1,234 of 5,678 (21.7 %)
carina_angle  normal    n/a: no image is labelled  not computable

share: k images with the label, of n
a note with | and <b>
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("text differs (-want +got):\n%s", d)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| cardiomegaly | normal | 12 of 20 (60.0 %) | within noise |", "|---|---|---:|---|", `a note with \| and &lt;b>`, "| carina\\_angle |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if html := sample().HTML(); strings.Contains(html, "<b>") || !strings.Contains(html, "verdict-within-noise") {
		t.Errorf("HTML lets markup of a text through, or loses a verdict:\n%s", html)
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		csvHeader,
		{"cardiomegaly / normal", "share", "12 of 20 (60.0 %)", "12", "20", "share", "117514", "184292", "within noise"},
		{"cardiomegaly / enlarged", "share", "1,234 of 5,678 (21.7 %)", "1234", "5678", "share", "", "", ""},
		{"carina_angle / normal", "share", "n/a: no image is labelled", "", "", "", "3", "", "not computable"},
	}
	if d := cmp.Diff(want, rows); d != "" {
		t.Errorf("CSV differs (-want +got):\n%s", d)
	}
}

func TestCheck(t *testing.T) {
	if wrong := sample().Check(); len(wrong) > 0 {
		t.Errorf("a sound table: %v", wrong)
	}
	bad := &Table{Columns: []Column{{Name: "a"}}}
	bad.Add(Share(3, 2, "nowhere"), Text("too many"))
	if wrong := bad.Check(); len(wrong) != 3 {
		t.Errorf("a share above 1, an unexplained formula and a row too long gave %v", wrong)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name string
		ours Cell
		pub  Published
		want Verdict
	}{
		{"equal", Share(12, 20, ""), Published{12, 20}, Reproduced},
		{"same share of other cases", Share(12, 20, ""), Published{120, 200}, WithinNoise},
		{"near", Share(500, 1000, ""), Published{520, 1000}, WithinNoise},
		{"far", Share(500, 1000, ""), Published{560, 1000}, Off},
		{"nothing of ours", Share(0, 0, ""), Published{5, 10}, NotComputable},
		{"nothing published", Share(1, 2, ""), Published{0, 0}, NotComputable},
		{"absent", Absent("why"), Published{5, 10}, NotComputable},
		{"equal count", Count(7, ""), Published{K: 7}, Reproduced},
		{"other count", Count(7, ""), Published{K: 8}, Off},
		{"none of few is not exact", Share(0, 20, ""), Published{10, 100}, WithinNoise},
		{"none of many", Share(0, 2000, ""), Published{10, 100}, Off},
	} {
		if got := c.ours.Against(c.pub).Verdict; got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestInterval compares with drawing cases again and again, and holds bounds and order.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ k, n int }{{12, 20}, {1, 50}, {300, 400}, {49, 50}} {
		lo, hi := Interval(c.k, c.n)
		const draws = 4000
		below, above := 0, 0
		for range draws {
			k := 0
			for range c.n {
				if rng.IntN(c.n) < c.k {
					k++
				}
			}
			if s := float64(k) / float64(c.n); s < lo {
				below++
			} else if s > hi {
				above++
			}
		}
		// At most 2.5 % lie beyond either end; four standard errors of 4000 draws are 1 %.
		if below > draws*35/1000 || above > draws*35/1000 {
			t.Errorf("%d of %d: [%.3f, %.3f] leaves %d below and %d above of %d", c.k, c.n, lo, hi, below, above, draws)
		}
	}
	for n := 1; n <= 60; n++ {
		last := -1.0
		for k := 0; k <= n; k++ {
			lo, hi := Interval(k, n)
			p := float64(k) / float64(n)
			if lo < 0 || hi > 1 || lo > p || hi < p || k < n && lo < last {
				t.Fatalf("%d of %d: [%v, %v] after %v", k, n, lo, hi, last)
			}
			if lo == hi {
				t.Fatalf("%d of %d looks exact", k, n)
			}
			last = lo
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 235747: "235,747", -12345: "-12,345"} {
		if got := Number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestClip: one line of so many letters, nothing that a terminal would obey, digests cut.
func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		"a\n b\tc": "a b c", "0123456789": "0123456789", "0123456789x": "0123456...", "a\x1b[2J\u202e": "a\ufffd[2J\ufffd", "caf\u00e9 x": "caf\u00e9 x",
		"sha256:" + strings.Repeat("ab", 32): "sha256:...",
	} {
		if got := Clip(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Clip("x sha256:"+strings.Repeat("ab", 32), 40); got != "x sha256:abababababab" {
		t.Errorf("a digest: %q", got)
	}
}
