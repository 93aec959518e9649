// Package overlay draws masks, landmarks and words onto radiographs, for people who must
// judge a measurement and for questions that show one.
//
// A Canvas holds the picture reduced to a readable size. Everything drawn is given in
// source coordinates, pixels of the native radiograph with (0, 0) the centre of the
// top-left pixel, x to the image right and y downwards; the canvas scales. Line widths and
// letter sizes are pixels of the canvas, so they read the same on every radiograph.
//
// Strokes are smooth, words carry a dark halo, and every colour has one meaning through a
// Palette. The package is pure and deterministic: the same calls give the same bytes.
//
//	c, err := overlay.New(img, overlay.Size{MaxSide: 1024})
//	c.Tint(heart, overlay.Red, 0.25)
//	c.Segment(geom.Vec{X: 412, Y: 900}, geom.Vec{X: 1610, Y: 900}, overlay.Stroke{Colour: overlay.Red, Width: 2})
//	png, err := c.PNG()
package overlay
