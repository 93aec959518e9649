// Package quiz draws questions on phantoms for which tools matter, and plays an imperfect
// teacher on them. Question sets of it serve the demonstration and the small trainer: what
// they show is that the machinery works, and nothing about any published figure.
//
// One picture, a phantom with two marks, carries one question of each [Family]:
//
//   - heart: the size of the heart, which the measurement bundle tells. Of a picture that is
//     no upright PA film the bundle is withheld, and "not measurable" is right.
//   - crop: the direction of a fine pattern in one quarter of the picture. Its mean is the
//     same whatever its direction, so it vanishes at the input size of a small policy
//     ([PolicySide]) and shows in a crop (roi_crop).
//   - lookup: the sign of an invented condition. It stands in the item's notes alone, which
//     an evidence_lookup returns, and changes from item to item.
//   - plain: a square in a corner that everybody sees. Any tool only costs.
//
// A quarter of the pictures are no upright PA films. Options are lettered in an order drawn
// for each item, so every letter is right equally often.
//
// # Determinism
//
// (seed, split, number) decides a picture and its items, with a named stream for each
// purpose. Splits draw from different rows of phantoms: no id, picture or patient is in two.
//
// The package reads and writes nothing: [Draw] returns pictures as PNG and items that name
// them by digest.
package quiz
