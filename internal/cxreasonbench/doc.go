// Package cxreasonbench is the CXReasonBench benchmark: its questions, its dialogues, its
// judge's verdicts, its scores and the tables of its paper.
//
// Terms. A case is one radiograph under one diagnostic task. A path is a way through the
// stages: Path 1 asks for the reasoning directly, Path 2 guides a model that answered "I
// don't know", and the re-evaluated Path 1 asks again on another case of the same task.
// A round is one question of a stage that may have two. A draw is one of several replies
// to the same question; the kept draw enters the history. A score is what the judge makes
// of a draw: right, wrong, I don't know, none of the above.
//
// It is pure: it never asks a model, never opens a file by itself and never draws from an
// unseeded generator. [Next] says what to ask; an activity asks.
//
// Presets. AsReleased does what the authors' programs do, faults included; Corrected, the
// default, mends the faults that change numbers for reasons that are not the model's. Every
// difference is a named [Switch], and every result names preset and overrides.
//
// Absence is data: a proportion of nothing is not zero but a Figure without a value and with a
// reason, and it never enters a mean.
//
//	rules, err := cxreasonbench.NewRules(cxreasonbench.Corrected, nil)
//	state, step, err := cxreasonbench.Start(rules, task, caseID, shape, 1)
//	state, step, err = cxreasonbench.Next(state, cxreasonbench.Outcome{Draws: draws})
package cxreasonbench
