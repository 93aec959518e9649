package cxreasonbench

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"cxrepro/internal/chexstruct"
)

// measures returns the options of the measurement stage without letters, and which of them
// are right: one, or for projection one for each side.
func (b *builder) measures(r *rand.Rand) (options []Option, right []int) {
	x, reading := b.texts(), b.s.Reading
	switch b.s.Task {
	case chexstruct.Inclusion:
		return b.partsOptions(r)
	case chexstruct.Inspiration:
		n := maxRib - minRib + 1
		from, to := window(r, n, reading.Rib-minRib)
		for rib := minRib + from; rib < minRib+to; rib++ {
			text := strconv.Itoa(rib)
			if b.rules.is(BuildRibs, Ordinal) {
				text = fill(x.OrdinalRib, "rib", text)
			}
			options = append(options, Option{Text: text, Means: "rib:" + strconv.Itoa(rib)})
		}
		return options, []int{reading.Rib - minRib - from}
	case chexstruct.TracheaDeviation:
		for i, d := range Directions() {
			options = append(options, Option{Text: x.Directions[i], Means: "direction:" + string(d)})
		}
		options = shuffle(r, options)
		return options, []int{indexOfMeaning(options, "direction:"+string(reading.Direction))}
	case chexstruct.AscendingAortaEnlargement:
		options = []Option{{Text: x.Beyond, Means: "beyond"}, {Text: x.NotBeyond, Means: "not_beyond"}}
		if reading.Number >= thresholds.ascending {
			return options, []int{0}
		}
		return options, []int{1}
	case chexstruct.Projection:
		rightSide, at := b.rangeOptions(r, reading.Right, x.RightRange, "right:")
		leftSide, atLeft := b.rangeOptions(r, reading.Left, x.LeftRange, "left:")
		return append(rightSide, leftSide...), []int{at, len(rightSide) + atLeft}
	}
	options, at := b.rangeOptions(r, reading.Number, "{range}", "range:")
	return options, []int{at}
}

// rangeOptions returns a window of ranges and the index of the one that holds the value.
func (b *builder) rangeOptions(r *rand.Rand, value float64, text, means string) ([]Option, int) {
	row, _ := RowOf(b.s.Task)
	list, holds := Ranges(b.rules, row, value)
	from, to := window(r, len(list), holds)
	var options []Option
	for _, g := range list[from:to] {
		options = append(options, Option{Text: fill(text, "range", g.String()), Means: means + g.means()})
	}
	return options, holds - from
}

func indexOfMeaning(options []Option, means string) int {
	return slices.IndexFunc(options, func(o Option) bool { return o.Means == means })
}

// partsCombinations are the inclusion labels that an option may state: any apices, any rib
// edges, and the costophrenic angles both or neither.
func partsCombinations() [][6]bool {
	var list [][6]bool
	for n := range 32 {
		bit := func(i int) bool { return n>>i&1 == 1 }
		list = append(list, [6]bool{bit(0), bit(1), bit(2), bit(3), bit(4), bit(4)})
	}
	return list
}

// partsDistance counts in how many of apex right, apex left, edge right, edge left and
// angles two labels differ.
func partsDistance(a, b [6]bool) (n int) {
	for i := range a[:5] {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// nearDistance is how far wrong options are from the truth at most, where they are near.
const nearDistance = 2

func (b *builder) partsOptions(r *rand.Rand) ([]Option, []int) {
	truth := b.s.Reading.Parts
	pool := slices.DeleteFunc(partsCombinations(), func(p [6]bool) bool {
		d := partsDistance(p, truth)
		return d == 0 || (d > nearDistance && b.rules.is(BuildInclusion, NearTruth))
	})
	wrong, _ := draw(r, pool, optionCount-1)
	var options []Option
	for _, p := range shuffle(r, append(wrong, truth)) {
		options = append(options, b.partsOption(p))
	}
	return options, []int{indexOfMeaning(options, b.partsOption(truth).Means)}
}

func (b *builder) partsOption(p [6]bool) Option {
	x := b.texts()
	texts, means := make([]string, len(p)), "parts:"
	for i, in := range p {
		word, bit := x.Excluded, "0"
		if in {
			word, bit = x.Included, "1"
		}
		texts[i] = x.Parts[i] + ": " + word
		means += bit
	}
	return Option{Text: strings.Join(texts, ", "), Means: means}
}
