// Package rewardserver serves rewards and observations to trainers that generate by
// themselves (verl, TRL, ms-swift), over HTTP.
//
// Terms: a sample is one trajectory of a run, named by run, step and sample id; a group is the
// G samples of one item in one step, whose rewards are compared with each other; a reward
// setting is named by its digest.
//
// A reply is a function of the request and of what the service was started with: question
// set, measurements, agent, setting. No model is asked for a reward. What the service can know,
// it does not believe: question and key come from the question set, bundles from the
// measurements, and a request that says otherwise is refused, whole, with a code and the field.
// A faulty request never earns a reward of 0.
//
// Every sample is recorded with its reward before the reply is sent: one page a request (package
// contract, RewardPage), under a key of everything that was judged. A repeated request writes
// nothing. [Recorded] reads the samples of a run back, each once however requests were cut; one
// that was generated anew after a restart stands beside the first.
//
// Observations come from the agent that also serves evaluation and data construction.
//
//	s, err := rewardserver.New(rewardserver.Options{Questions: items, Measurements: m, Records: r})
//	http.Serve(listener, s.Handler(rewardserver.Access{Token: token}))
package rewardserver
