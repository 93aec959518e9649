// Package mask holds binary masks of a picture as run lengths.
//
// A [Mask] is a set of pixels of a W x H grid. It stores, for every row, the maximal
// runs of set pixels in ascending order; nothing in this package builds a dense plane
// except [Mask.Dense], which exists for drawing and for comparing with other programs.
//
// Terms: a run is half-open, [X0, X1). A span is the first and last set column of a
// row, both inside, so that its width is last minus first. Components are 4-connected
// and numbered in raster order of their first pixel; where the largest one is asked
// for, the lowest number wins ties. "First" among pixels always means raster order:
// smallest y, then smallest x.
//
// Frame: x to the image right, y downwards, both from 0.
//
// Masks are immutable and may be shared between goroutines. Cutting out rows is a view
// that shares storage. Set operations require masks of one grid: a mismatch is a
// programming error and panics, because every reader of outside data checks sizes
// before it builds a mask.
//
//	m := mask.FromFunc(4, 1, func(x, y int) bool { return x > 0 })
//	x0, x1, ok := m.Span(0) // 1, 3, true
package mask
