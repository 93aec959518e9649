package phantom

import "cxrepro/internal/anatomy"

// StructureCount is how many structures a phantom has true masks of.
const StructureCount = 34

// Structures lists them in the order of the segmentation classes: the 33 that the chest
// measurements read, and the cardiomediastinum.
func Structures() []anatomy.Structure { return drawn.List() }

// StructureSet is [Structures] as a set.
func StructureSet() anatomy.Set { return drawn }

var drawn = anatomy.TaskSet().With(anatomy.Cardiomediastinum)
