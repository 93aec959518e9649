package radcot

import (
	"fmt"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"cxrepro/internal/xragent"
)

// Balance tells how evenly the right letters lie over the places of questions with so many
// options.
type Balance struct {
	Options   int     `json:"options"`
	Questions int     `json:"questions"`
	Letters   []Count `json:"letters"`
	// ChiSquare is the sum of (observed - expected)^2/expected with Options-1 degrees of
	// freedom, P the chance of at least this under even places.
	ChiSquare float64 `json:"chi_square"`
	P         float64 `json:"p"`
}

// String is the balance in one line.
func (b Balance) String() string {
	parts := make([]string, len(b.Letters))
	for i, l := range b.Letters {
		parts[i] = fmt.Sprintf("%s %d", l.Name, l.N)
	}
	return fmt.Sprintf("%d questions of %d options: %s; chi-square %.3f, %d degrees of freedom, p %.3f",
		b.Questions, b.Options, strings.Join(parts, ", "), b.ChiSquare, b.Options-1, b.P)
}

// Balances counts the letters of lettered questions, apart by number of options. Source: even
// places and the test [ours].
func Balances(list []Example) []Balance {
	counts := map[int][]int{}
	for i := range list {
		q := list[i].Question
		if q == nil || q.Type != xragent.Lettered || len(q.Options) < 2 {
			continue
		}
		n := len(q.Options)
		if counts[n] == nil {
			counts[n] = make([]int, n)
		}
		counts[n][int(q.Key[0]-'A')]++
	}
	var out []Balance
	for n := 2; n <= 26; n++ {
		if counts[n] != nil {
			out = append(out, balance(counts[n]))
		}
	}
	return out
}

func balance(letters []int) Balance {
	b := Balance{Options: len(letters)}
	for i, n := range letters {
		b.Letters = append(b.Letters, Count{string(rune('A' + i)), n})
		b.Questions += n
	}
	expected := float64(b.Questions) / float64(b.Options)
	for _, n := range letters {
		d := float64(n) - expected
		b.ChiSquare += float64(d*d) / expected
	}
	b.P = distuv.ChiSquared{K: float64(b.Options - 1)}.Survival(b.ChiSquare)
	return b
}
