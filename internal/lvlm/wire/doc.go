// Package wire holds what the model adapters share about HTTP: a client that goes nowhere but
// to its endpoint, bodies whose pictures are not copied, how a failure on the way is classed, and
// what may be said about it.
//
// Redirects are not followed: a reply that points elsewhere must not take pictures there.
// Replies are bounded. Nothing is tried twice. Texts from outside pass Scrub before they
// become part of an error: it takes credentials out and drops what quotes the request. The other
// end of the wire, for tests, is package wiretest below.
package wire
