// Package tools runs the visual tools of the agent on pictures and masks: roi_crop and
// region_parse. One implementation serves rollouts, data construction, evaluation and the
// reward service.
//
// A result is an observation with its pictures, which are kept before it is returned. It
// depends on the call, the earlier results that it refers to, the picture and its masks, and
// on nothing else, so it can be recorded under a key of these.
//
// Targets that no structure is called are handed to a [Finder], where there is one: a
// segmenter that takes words. Without, they are unsupported.
//
// The package reads and writes through the interfaces of its caller.
package tools
