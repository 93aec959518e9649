// Package onnx runs one ONNX model with fixed shapes on one execution provider. It is
// the only package that uses cgo.
//
// Terms: the library is the ONNX Runtime shared library; it is loaded once per process
// and stays loaded until Shutdown. A session is one copy of a model with its own input
// and output buffers; it serves one goroutine at a time. A provider is what computes:
// the CPU or CUDA.
//
// What the package promises:
//
//   - The provider asked for is the provider used. A session on CUDA runs a probe
//     inference with profiling on and reads from the profile where each node ran; a node
//     that fell back to the CPU refuses the session. Nothing ever changes the provider
//     silently.
//   - A library that is too old for the binding is refused before anything of it runs,
//     with its version and the version needed. All errors of opening are permanent:
//     asking again gives the same answer.
//   - Thread numbers are set explicitly, from the CPU quota that the process really has
//     (Quota), never from the machine's core count; threads do not spin while idle.
//   - Shapes are fixed, buffers are allocated once, and the memory arena's policy is
//     set: memory stays flat over any number of inferences.
//
// The package knows nothing of pictures or structures; package segment does.
package onnx
