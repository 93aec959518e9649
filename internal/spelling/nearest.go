package spelling

import "slices"

// Nearest returns the n names with the smallest edit distance to a text, fewer where there are
// fewer. Of equal ones those that come first stay first.
func Nearest(text string, names []string, n int) []string {
	type scored struct {
		name     string
		distance int
	}
	list := make([]scored, len(names))
	for i, name := range names {
		list[i] = scored{name, distance(text, name)}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return a.distance - b.distance })
	out := make([]string, 0, n)
	for _, s := range list[:min(n, len(list))] {
		out = append(out, s.name)
	}
	return out
}

// distance is how many bytes have to be put in, taken out or replaced to make b of a.
func distance(a, b string) int {
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		diagonal := line[0]
		line[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = line[j+1]
			line[j+1] = min(cost, line[j+1]+1, line[j]+1)
		}
	}
	return line[len(b)]
}
