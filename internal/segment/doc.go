// Package segment turns a radiograph into the masks of its anatomical structures by one
// ONNX model, described by a model card.
//
// A card (LoadCard) names the model file and its digest, how a picture becomes the
// model's input, and which structure each output channel stands for. Any model with one
// picture in and one plane per structure out plugs in that way; nothing here is bound to
// one network.
//
// The way of a picture: 8-bit grey -> the model's grid by the card's resize rule ->
// (p/divisor - mean)/std per channel in float32 -> inference -> per channel the runs of
// positive logits on the model's grid. Masks stay on that grid; their view at the
// picture's own size is derived from the runs (anatomy.Masks.Native) and never needs a
// plane of that size.
//
// Frame: x to the image right, y downwards, (0,0) the top-left pixel. The picture is
// squeezed to the grid: the aspect ratio is not kept, nothing is padded.
//
// What the package refuses: a model whose digest, input, output or channel number is not
// the card's, logits that are not finite, and any provider but the one asked for. It
// filters nothing: no smoothing, no hole filling, no choice of components; the published
// pipeline has none, and quality control has its own place.
//
// Check looks at finished masks for signs of trouble (mirrored, heart outside the lungs);
// it reports and changes nothing.
package segment
