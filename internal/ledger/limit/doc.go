// Package limit holds back requests to one endpoint: how many a minute, how many tokens a
// minute, how many at a time, and none at all while the endpoint asks to wait.
//
// A [Gate] belongs to one endpoint and credential, and everything that this process sends
// there goes through it. When the endpoint throttles, everybody waits for as long as it said,
// or for a growing time where it said nothing, and fewer requests are let through at a time;
// requests that come back well open the gate again step by step. A burst of refusals counts
// once: only a request that was sent after the last one can close the gate further.
//
// A request comes in two steps. Once admitted it may be made ready, and once it entered it may be
// sent: a few more are admitted than may be in flight, so that the place of a request whose
// reply was read goes to one that has nothing left to do but to be sent. Who waits longest is
// next.
//
// A gate may be bound to a lease: beyond the lease's end it lets nothing through.
package limit
