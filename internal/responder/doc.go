// Package responder is a simulated model endpoint: it speaks the chat-completions protocol
// and answers the questions of one benchmark, and the judge's prompts about them, by a
// profile. Demo and rehearsals run against it, and so do the tests of everything that talks
// to a model.
//
// A reply is a function of the request's body, the profile and the benchmark, and of nothing
// else: no clock, no order of requests, no memory. Faults are the exception on purpose: a
// fault script may speak of the nth request or of the first attempts of a request.
//
// How a request is understood: its system message is one of the judge's instructions, or it
// is a dialogue. In a dialogue the texts of the user's turns are looked up in the benchmark,
// and the radiograph of the first turn says which case it is; a second radiograph is the case
// of the re-evaluation. Nothing is guessed: an unknown question is an error of status 404.
//
// How a profile decides: for every case of the benchmark it is settled beforehand at which
// stage of which path it ends, from the probabilities of succeeding at a stage for those that
// are asked there. Behaviour rates draws each by itself, behaviour exact ranks the cases that
// reach a stage in a named pseudo-random order and lets exactly the right number pass.
//
// It is no model. Whatever is made with it must say that it is simulated.
//
//	bench, err := responder.ReadFolder(os.DirFS("B"), nil)
//	profile, err := responder.ParseProfile("profile.yaml", data)
//	r, err := responder.New(responder.Options{Benchmark: bench, Profile: profile})
//	http.Serve(listener, r)
package responder
