// Package worker runs workflows and activities of a reproduction in this process: it wires
// store, data folders, model and Temporal together, and stops them in order.
//
// A worker serves two task queues: <queue>-cpu with workflows and everything that needs no
// accelerator, and <queue>-gpu with segmentation, whose slots are model sessions. Either
// can be left out. A worker that is stopped finishes the image in hand, commits it and
// hands the rest of its chunks to others.
package worker
