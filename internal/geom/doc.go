// Package geom holds plane geometry in image coordinates.
//
// Frame: x grows to the image right, y grows downwards, pixel (0, 0) is the top-left
// pixel and its coordinates name its centre. The patient's right is the image left.
//
// Extents follow one convention everywhere: the width of a [Box] is last minus first
// index, without the plus one that a pixel count would have. A box that covers one
// pixel has width 0. Anything called an area of a mask counts pixels instead.
//
// The package returns ok == false where a figure is geometrically undefined (a line
// through points of one height, an angle at a repeated point); it never returns NaN.
package geom
