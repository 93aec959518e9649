// Package dialogue holds conversations with a vision-language model: messages made of text
// and pictures, transcripts, and token usage.
//
// A Transcript is everything that is sent for one reply: one system message at most, then
// turns of user and assistant in order. There is no server state; each request sends the
// whole transcript again, pictures at their original turns, replies verbatim. Ask puts the
// text first, then its pictures; a message may hold them in any order, and it is sent as it is.
//
// Pictures are references by digest, never bytes: a transcript stays small, and its canonical
// encoding is part of the identity of a call. The package loads nothing.
//
//	t := dialogue.Transcript{}.System("...").Ask("Which image shows the heart?", refs...).Answered("(b)")
package dialogue
