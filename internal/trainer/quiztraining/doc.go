// Package quiztraining puts a training of the small policy together: drawn questions (package
// quiz), what a scripted teacher wrote about them, initial weights, and the two runs that read
// them, SFT and then GRPO in rounds that the platform rolls out. It starts nothing but the
// trainer's init; the Train workflow does the rest.
//
// Everything follows from [Options]: the same ones give the same contract.Training, byte by
// byte. Questions about the heart are left out, since the policy is asked without measurements.
//
// A small policy that proves the machinery and says nothing about the paper's numbers.
package quiztraining
