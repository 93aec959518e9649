// Package lvlm asks a vision-language model one question.
//
// A Request is everything that an answer depends on: which weights or which snapshot of a
// provider, how it decodes, every message, the pictures by the digest of the bytes that are
// sent, which draw it is, and which version of our own adapter code. Its key document is the
// identity of the call. Where the model runs, under which deployment name and how fast are
// not part of it; they are provenance.
//
// An Answer is what the model said, or a closed reason why it said nothing that could be
// used. A failure of the endpoint is never an Answer: it is a *CallError of a closed class.
//
// The package itself opens no connection; the adapters below it do.
package lvlm
