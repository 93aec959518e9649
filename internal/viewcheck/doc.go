// Package viewcheck tells what kind of picture a file holds before anything is measured in
// it: a PA, AP or lateral chest radiograph or something else, upright or turned, inverted,
// mirrored. One ONNX model with four heads reads the picture; a card describes it.
//
// The way of a picture: grey values -> [Prepare], the preprocessing of the OpenCXR image
// sorter step by step -> 256 x 256 in 0..1, three equal channels, channel last -> one
// inference -> a [Reading]. Any model with that input and the four heads side by side in
// one output of ten probabilities plugs in: the published sorter after its export
// (infra/phantomview/README.md), or PhantomView, which knows phantoms only.
//
// The package decides nothing: which reading opens the way to measurements is the gate's
// business (internal/xragent). Sides and turns are the picture's: a turn is clockwise from
// upright, mirrored means that the patient's right lies on the picture's right.
//
//	c, err := viewcheck.LoadCard("experiments/models/phantomview.yaml")
//	v, err := viewcheck.New(c, viewcheck.Options{Library: lib, Provider: "cpu"})
//	r, err := v.Check(ctx, picture)
package viewcheck
