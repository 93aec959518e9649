// Package openai asks models over the chat-completions protocol: OpenAI, Azure OpenAI, vLLM
// and what is compatible, through the official SDK.
//
// The SDK carries requests and reads replies; it tries nothing twice and takes nothing from
// the environment. The body is written here: pictures are put into base64 while they are sent,
// and the same history gives the same bytes, so that an endpoint's prefix cache serves it.
//
// Every reply becomes an answer of a closed outcome, every failure a *lvlm.CallError of a
// closed class; docs/design/0007-adapters.md has the table. What the request leaves out is not
// sent; what it holds in Decoding.Extra stands at the top level of the body.
package openai
