// Package chexstruct measures chest radiographs the way the CheXStruct pipeline of the
// CXReasonBench paper does: a global filter, and for each of twelve diagnostic tasks the
// landmarks, the measurement, the quality control and the label.
//
// It is pure: masks and picture facts in, a [Result] out. The only numbers it compares
// with are rows of a versioned threshold table ([Rules]); a preset chooses between what
// the paper says, what the authors' programs do, and a corrected reading, and single rows
// may be overridden. [Rules.RowsRead] lists exactly the rows that a task reads, so that a
// key over them changes when, and only when, the result may change.
//
// Terms. A mask lives on a grid of W x H pixels; picture, boxes and masks share one grid.
// Width and height of anything are differences of pixel indices, last minus first, unless
// "area" is said. LA, LW and LH are the component with the largest area, horizontal and
// vertical extent. The scale s = native width / W refers thresholds in pixels to the
// source radiograph; on native-size masks it is 1.
//
// Frame: x to the image right, y downwards; the patient's right is the image left. Names
// such as RightLung are the patient's.
//
// Absence is data: a missing structure, an undefined geometric step or a failed quality
// rule is a [Status] with a [Reason] or with the failed [Rule], never an error and never a
// guess. Errors are for callers: sizes that do not match, unknown rows, values of the
// wrong type.
//
//	rules, err := chexstruct.NewRules(chexstruct.Corrected, nil)
//	result, err := chexstruct.Assess(input, rules, nil)
//	result.Finding(chexstruct.Cardiomegaly).Label
package chexstruct
