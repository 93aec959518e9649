// Package gemini asks Gemini models on Vertex AI through the official SDK.
//
// The backend, the API version and the address are always stated: left out, variables of the
// environment could lead to the consumer API, or elsewhere. The history is ours: each request
// carries the whole transcript, since the SDK's chats drop turns whose reply was empty.
// Nothing is tried twice.
//
// Every reply becomes an answer of a closed outcome, every failure a *lvlm.CallError of a
// closed class; docs/design/0007-adapters.md has the table. Decoding.Extra may hold safety
// (the threshold of the four adjustable harm categories), top_k and media_resolution.
package gemini
