// Package quiztraining puts a training of the small policy together: drawn questions (package
// quiz), what a scripted teacher wrote about them, initial weights, and the two runs that read
// them, SFT and then GRPO in rounds that the platform rolls out. It starts nothing but the
// trainer's init; the Train workflow does the rest.
//
// Everything follows from [Options]: the same ones give the same contract.Training, byte by
// byte. Where the arm does not measure, questions about the heart are left out; where it does, the
// records that the teacher writes from are those that rounds and evaluations show.
//
// The package also asks questions of a checkpoint in this process ([Evaluate]), for experiments;
// what is recorded call by call is the platform's way.
//
// A small policy that proves the machinery and says nothing about the paper's numbers.
package quiztraining
