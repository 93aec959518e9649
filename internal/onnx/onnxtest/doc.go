// Package onnxtest writes small ONNX models, so that tests and benchmarks need no trained
// weights and no other program.
//
// Write takes a graph as nodes and weights and returns the file's bytes. Ellipses makes
// the double of a segmentation model: same input and output as the real one, one ellipse
// per class that reacts to the picture's brightness. Main is the TestMain of packages whose
// tests run the real ONNX Runtime.
package onnxtest
