// Package dense measures chest radiographs on full bitmaps, one byte a pixel.
//
// It is the second implementation of the twelve tasks, the global filter and the X-Ragent
// values: written from the specification alone, plainly, without looking at speed beyond
// what a careful programmer does anyway. It has two uses. As an oracle it is compared with
// the run-length implementation on many thousand deliberately bad cases; as a peer it says
// how much the run-length form gains.
//
// Frame: pixel (x, y), x to the image right from 0, y downwards from 0; the patient's
// right is the image left. Width and height of anything are last index minus first.
//
// It reads golden case files ([ReadCase]) and produces their result format ([Result]). It
// knows the three presets and lets single rows of the threshold table be replaced
// ([Switches]).
package dense
