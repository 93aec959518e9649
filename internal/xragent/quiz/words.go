package quiz

import "slices"

// options are the answers of each family; an item shows all three in an order of its own.
var options = map[Family][3]string{
	Heart:  {"normal", "enlarged", "not measurable"},
	Crop:   {"vertical", "horizontal", "checkered"},
	Lookup: {"ring", "wedge", "band"},
	Plain:  {"white", "black", "striped"},
}

// quarters are the picture's quarters in reading order, as questions name them.
var quarters = [4]string{"upper left", "upper right", "lower left", "lower right"}

// conditions are invented: no book knows them.
var conditions = [...]string{"velmara", "ostrin", "quellis", "tavore", "brinax", "sedulon", "marvith", "ophelane"}

// Conditions lists the invented conditions.
func Conditions() []string { return slices.Clone(conditions[:]) }

// noteOf is what a book says of a condition in one item.
func noteOf(condition, sign string) string { return condition + " shows a " + sign + "." }

// quarterBox is a quarter in thousandths of the picture's sides.
func quarterBox(q int) [4]int {
	x, y := q%2*500, q/2*500
	return [4]int{x, y, x + 500, y + 500}
}
