package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	sdk "github.com/openai/openai-go/v3"

	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire"
)

// read turns a reply with status 2xx into an answer.
func (c *Client) read(r lvlm.Request, got *sdk.ChatCompletion) (lvlm.Reply, error) {
	if len(got.Choices) == 0 {
		return c.choiceless(r, got)
	}
	choice := got.Choices[0]
	raw := choice.RawJSON()
	text := content(choice.Message)
	a := lvlm.Answer{Format: lvlm.AnswerFormat, Text: text, Finish: string(choice.FinishReason)}
	switch f := a.Finish; {
	case f == "abort" || f == "error":
		// The server gave up; what there is of a text is no reply.
		return lvlm.Reply{}, &lvlm.CallError{Class: lvlm.Transient, Status: 200, Code: f, Detail: "the endpoint gave up while answering", Sent: true}
	case f == "content_filter":
		a.Outcome, a.Detail = lvlm.SafetyBlock, "reply withheld"
		if names := filtered([]byte(raw)); names != "" {
			a.Detail += ": " + names
		}
	case choice.Message.Refusal != "":
		a.Outcome = lvlm.Refusal
		if text == "" {
			a.Text = choice.Message.Refusal
		}
	case f == "length":
		a.Outcome = lvlm.Truncated
	case strings.TrimSpace(text) == "":
		a.Outcome, a.Detail = lvlm.Empty, emptyDetail(raw)
	default:
		a.Outcome = lvlm.Answered
	}
	s := lvlm.Served{Model: got.Model, ID: got.ID, Usage: usage(got), Unfiltered: unfiltered([]byte(raw))}
	s.Fingerprint = fingerprint(got)
	return lvlm.Reply{Answer: a, Served: s}, nil
}

// choiceless reads a success without an answer: some servers report errors that way.
func (c *Client) choiceless(r lvlm.Request, got *sdk.ChatCompletion) (lvlm.Reply, error) {
	p := parseProblem([]byte(got.RawJSON()))
	if p.found {
		status := p.status()
		if status == 0 {
			status = 502 // an error nobody numbered
		}
		return c.classify(r, status, p, 0)
	}
	return lvlm.Reply{}, &lvlm.CallError{Class: lvlm.Transient, Status: 200, Detail: "the reply holds no choices", Sent: true}
}

// content is the message's text; servers that send it as a list of parts send texts.
func content(m sdk.ChatCompletionMessage) string {
	raw := m.JSON.Content.Raw()
	if !strings.HasPrefix(raw, "[") {
		return m.Content
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(raw), &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// emptyDetail says where a reply without text went, where that can be seen.
func emptyDetail(choice string) string {
	var doc struct {
		Message struct {
			Reasoning        string            `json:"reasoning"`
			ReasoningContent string            `json:"reasoning_content"`
			ToolCalls        []json.RawMessage `json:"tool_calls"`
		} `json:"message"`
	}
	_ = json.Unmarshal([]byte(choice), &doc)
	switch {
	case doc.Message.Reasoning != "" || doc.Message.ReasoningContent != "":
		return "the server's reasoning parser left no text"
	case len(doc.Message.ToolCalls) > 0:
		return "the reply is a tool call"
	}
	return ""
}

func usage(got *sdk.ChatCompletion) dialogue.Usage {
	u := got.Usage
	if !got.JSON.Usage.Valid() || u.PromptTokens == 0 && u.CompletionTokens == 0 {
		return dialogue.Usage{Unreported: 1}
	}
	return dialogue.Usage{Calls: 1, Prompt: u.PromptTokens, Cached: u.PromptTokensDetails.CachedTokens,
		Completion: u.CompletionTokens, Thinking: u.CompletionTokensDetails.ReasoningTokens}
}

func fingerprint(got *sdk.ChatCompletion) string {
	var doc struct {
		Fingerprint string `json:"system_fingerprint"`
	}
	_ = json.Unmarshal([]byte(got.RawJSON()), &doc)
	return doc.Fingerprint
}

// filterResult is Azure's word about one harm category.
type filterResult struct {
	Filtered bool   `json:"filtered"`
	Severity string `json:"severity"`
}

// filterResults reads an object of categories; what is no category is passed over.
func filterResults(raw json.RawMessage) map[string]filterResult {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(raw, &all)
	out := map[string]filterResult{}
	for name, r := range all {
		var f filterResult
		if json.Unmarshal(r, &f) == nil {
			out[name] = f
		}
	}
	return out
}

// filtered lists the harm categories that withheld a reply.
func filtered(choice []byte) string {
	var doc struct {
		Results json.RawMessage `json:"content_filter_results"`
	}
	_ = json.Unmarshal(choice, &doc)
	return categories(filterResults(doc.Results))
}

func categories(results map[string]filterResult) string {
	var names []string
	for name, f := range results {
		if f.Filtered {
			names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s", name, f.Severity)))
		}
	}
	sort.Strings(names)
	return wire.Scrub(strings.Join(slices.Compact(names), ", "), lvlm.Secret{})
}

// unfiltered reports Azure's mark of a content filter that was out of order.
func unfiltered(choice []byte) bool {
	var doc struct {
		Results struct {
			Error *struct {
				Code string `json:"code"`
			} `json:"error"`
		} `json:"content_filter_results"`
	}
	return json.Unmarshal(choice, &doc) == nil && doc.Results.Error != nil
}
