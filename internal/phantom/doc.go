// Package phantom makes synthetic chest radiographs with known truth.
//
// A [Phantom] is one synthetic patient before a detector. Its anatomy is a set of smooth
// outlines in continuous coordinates; nothing about it depends on a raster. A [Picture]
// is the phantom at any pixel size: grey values and the true mask of each of the 34
// structures of [Structures].
//
// # Frames and units
//
// Patient frame: millimetres, y = 0 at the lung apices and growing downwards, x = 0 at the
// spine and growing towards the patient's left, z growing from the spine to the front.
// Film frame: millimetres from the top left corner of the film, x to the right, y down;
// the patient's left is on the picture's right. Pixel (x, y) of a W x H picture has its
// centre at ((x+0.5)*width/W, (y+0.5)*height/H). The two axes scale independently.
//
// # Model
//
// Bodies are stacks of axial ellipses (trunk, lungs, heart, vessels, airway) or hollow
// tubes (bones). For each pixel the path lengths through them are summed: soft tissue of
// the trunk, less the lung (thinned where heart, aorta, liver, vessels and opacities
// displace it), less airway and gas, plus bone. The sum times the attenuation per
// centimetre, with scatter, gives the line integral that film and detector show through a
// tone curve, local contrast, a point spread, noise and 8-bit quantisation. Rotation of
// the patient about the long axis moves every outline by its depth; rotation in the film
// plane turns all outlines. The heart, the mediastinum and the great vessels are drawn in
// true proportion to each other, so that the twelve chest measurements fall in the ranges
// seen in patients; findings (a large heart, a wide aorta, an effusion, ...) move single
// parameters out of their usual range.
//
// # Determinism
//
// (seed, index) decides everything, with a named stream of draws for each purpose. All
// arithmetic is free of fused multiply-add and of library functions that differ between
// processors: the same phantom has the same bytes on every machine. [AppearanceVersion]
// changes when they do.
//
// # Limits
//
// The package does not try to fool a radiologist: texture of real lung, soft-tissue folds
// and most pathology are absent. A lateral view and an axial slice are sketches without
// masks ([DrawKind]); photographs are not drawn.
package phantom
