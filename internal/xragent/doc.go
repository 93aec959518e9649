// Package xragent is the pure core of the X-Ragent reproduction: it reads two-turn
// trajectories, decides which contracts they kept, compares what the reasoning says with
// the verified measurements, and computes rewards, group-relative advantages and the
// similarity of a rationale to reference findings.
//
// Terms: a trajectory is two assistant turns around one observation message; a plan is
// the list of tool calls of turn 1; a bundle holds the three measurements (ctr,
// lung_asymmetry, thoracic_shift) or the reason why they were withheld; a category is the
// reading of a measurement that rewards compare with. Sides are the patient's.
//
// A malformed trajectory, an unreadable answer and a withheld bundle are results with
// codes, never errors. The package performs no input or output, reads no clock and draws
// no random numbers: the same trajectory and bundle give the same reward.
//
// Source: terms, gate and protocol [paper]; tags, formulas' weights, categories and word
// tables [ours], because the paper prints none of them.
//
//	r := xragent.Judge(trajectory, xragent.DefaultPhrases())
//	v := xragent.DefaultReward().Value(r.Terms())
package xragent
