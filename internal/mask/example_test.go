package mask_test

import (
	"fmt"

	"cxrepro/internal/mask"
)

// A mask answers questions about rows without ever becoming a plane.
func Example() {
	b := mask.NewBuilder(8, 2)
	b.Add(0, 1, 3)
	b.Add(0, 5, 7)
	b.Add(1, 1, 2)
	m := b.Mask()
	x0, x1, _ := m.Span(0)
	fmt.Println("span", x0, x1)
	fmt.Println("largest component", m.Largest().Area(), "of", m.Area(), "pixels")
	fmt.Println("column by column", m.Counts())
	// Output:
	// span 1 6
	// largest component 3 of 5 pixels
	// column by column [2 3 5 1 1 1 3]
}
