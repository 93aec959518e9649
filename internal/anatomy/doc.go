// Package anatomy names the 159 anatomical structures of the CXAS segmentation model and
// holds a set of masks by structure.
//
// A [Structure] is the model's class number plus one, so that the zero value is invalid.
// Names are the official ones, verbatim: they mix styles ("rib_cartilage", "posterior
// 1st rib right", "right lung") and are the file names of the model's own output. Each
// structure is a trained channel of its own: "lung" is not the union of "right lung" and
// "left lung" and may disagree with it, and structures may overlap.
//
// Laterality is the patient's: the right lung lies in the left half of a frontal picture.
//
// [Masks] stores the masks on the grid of their source (512 x 512 for CXAS) together with
// the picture's native size, the resize rule between the two, and the set of structures
// that the source can produce at all. [Masks.Native] gives the masks at native size. An
// empty mask of a declared structure means "looked for, not found"; an undeclared structure
// was never looked for.
package anatomy
