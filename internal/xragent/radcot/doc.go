// Package radcot decides which training examples exist: candidates out of published data sets,
// what a teacher is asked, whether its reply becomes an example, and the files that trainers
// read.
//
// Terms. A candidate is one picture with what may become an example; its part says what for:
// report (a rationale before reference findings), mcq and mcq_rl (questions written from hidden
// findings), closed and binary (questions of published sets). Parts other than report are
// routed: both turns are held by [xragent.Agent], the teacher in the place of the policy. A
// phase of a candidate is writing or routing, each with at most so many attempts. A verdict
// judges one reply; its codes are a closed set. The ledger has one entry per candidate, phase
// and attempt.
//
// Everything here is a function of values: the same sources, spec and replies give the same
// candidates, ledger and files, whatever the order of reading and asking. Identifiers of a
// data set stand in paths of pictures and groups only; numbers and messages hold none.
//
// The package asks nobody and reads no clock. It refuses sources that are not what their
// format says, exclusion lists of unexpected size, and examples that overlap with an exclusion.
//
//	pool, err := radcot.Gather(spec, sources, exclusions)
//	set, err := radcot.Draw(spec, pool)
//	step, err := radcot.NewBuilder(spec).Next(work) // ask, run tools, or done
package radcot
