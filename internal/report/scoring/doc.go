// Package scoring counts finished dialogues: the scores of every case, what became of draws that
// were no answers, how judge and parser agree, and how values were told.
//
// It reads the documents that an evaluation leaves behind and nothing else, so what it counts
// is a function of the recorded answers. The order of pages and dialogues does not matter.
//
//	e := scoring.New(ref)
//	err := e.Add(page)
//	s := e.Summary(model, sampling, scoring.Bootstrap{Draws: 1000, Seed: 7})
package scoring
