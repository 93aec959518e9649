package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"google.golang.org/genai"

	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire"
)

// withheld are the ends of a reply by which the service keeps it back.
var withheld = map[genai.FinishReason]bool{
	genai.FinishReasonSafety: true, genai.FinishReasonBlocklist: true, genai.FinishReasonProhibitedContent: true,
	genai.FinishReasonSPII: true, genai.FinishReasonImageSafety: true, genai.FinishReasonImageProhibitedContent: true,
}

// read turns a success into an answer: first whether the prompt was blocked, then how the
// reply ended, then its text.
func (c *Client) read(r lvlm.Request, t *try, got *genai.GenerateContentResponse) (lvlm.Reply, error) {
	s := lvlm.Served{Model: got.ModelVersion, ID: got.ResponseID, Usage: usage(got.UsageMetadata)}
	a := lvlm.Answer{Format: lvlm.AnswerFormat}
	if f := got.PromptFeedback; f != nil && f.BlockReason != "" && f.BlockReason != genai.BlockedReasonUnspecified {
		a.Outcome, a.Finish, a.Detail = lvlm.SafetyBlock, string(f.BlockReason), "prompt withheld"+ratings(f.SafetyRatings)
		return lvlm.Reply{Answer: a, Served: s}, nil
	}
	if len(got.Candidates) == 0 {
		if got.UsageMetadata == nil && got.ModelVersion == "" {
			return lvlm.Reply{}, &lvlm.CallError{Class: lvlm.Transient, Status: t.status, Detail: "the reply holds neither candidates nor a reason", Sent: true}
		}
		a.Outcome, a.Detail = lvlm.Empty, "no candidates"
		return lvlm.Reply{Answer: a, Served: s}, nil
	}
	first := got.Candidates[0]
	a.Text, a.Finish = text(first), string(first.FinishReason)
	some := strings.TrimSpace(a.Text) != ""
	switch f := first.FinishReason; {
	case withheld[f]:
		a.Outcome, a.Detail = lvlm.SafetyBlock, "reply withheld"+ratings(first.SafetyRatings)
	case f == genai.FinishReasonMaxTokens:
		a.Outcome = lvlm.Truncated
	case !some:
		a.Outcome, a.Detail = lvlm.Empty, wire.Scrub(first.FinishMessage, t.token, r.Texts()...)
	case f == genai.FinishReasonStop || f == "" || f == genai.FinishReasonUnspecified:
		a.Outcome = lvlm.Answered
	default:
		// Recitation, language and others end a reply where they are noticed.
		a.Outcome, a.Detail = lvlm.Truncated, wire.Scrub(first.FinishMessage, t.token, r.Texts()...)
	}
	return lvlm.Reply{Answer: a, Served: s}, nil
}

// text joins the texts of a candidate without its thoughts.
func text(c *genai.Candidate) string {
	if c.Content == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range c.Content.Parts {
		if p != nil && !p.Thought {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// ratings lists the categories that blocked.
func ratings(list []*genai.SafetyRating) string {
	var names []string
	for _, r := range list {
		if r != nil && r.Blocked {
			names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s", r.Category, r.Probability)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	sort.Strings(names)
	return ": " + wire.Scrub(strings.Join(names, ", "), lvlm.Secret{})
}

// usage counts hidden tokens as part of the completion, since they are paid for.
func usage(u *genai.GenerateContentResponseUsageMetadata) dialogue.Usage {
	if u == nil || u.PromptTokenCount == 0 && u.TotalTokenCount == 0 {
		return dialogue.Usage{Unreported: 1}
	}
	return dialogue.Usage{Calls: 1, Prompt: int64(u.PromptTokenCount), Cached: int64(u.CachedContentTokenCount),
		Completion: int64(u.CandidatesTokenCount) + int64(u.ThoughtsTokenCount), Thinking: int64(u.ThoughtsTokenCount)}
}

// failed classes what the SDK returns as an error.
func (c *Client) failed(ctx context.Context, r lvlm.Request, t *try, err error) (lvlm.Reply, error) {
	var token *tokenError
	if errors.As(err, &token) && ctx.Err() == nil {
		e := &lvlm.CallError{Class: lvlm.Denied, Detail: "the token service refuses the credentials"}
		if token.passes() {
			e.Class, e.Detail = lvlm.Transient, "the token service does not answer"
		}
		return lvlm.Reply{}, e
	}
	if errors.Is(err, errPictures) {
		return lvlm.Reply{}, errPictures
	}
	var api genai.APIError
	if errors.As(err, &api) {
		return c.rejected(r, t, api)
	}
	if t.status >= 300 {
		return lvlm.Reply{}, &lvlm.CallError{Class: wire.StatusClass(t.status), Status: t.status, RetryAfter: wire.RetryAfter(t.header, time.Now()), Detail: "the reply's body is cut", Sent: true}
	}
	e := wire.Failure(ctx, err, c.o.Timeout, t.watch.Sent())
	e.Status = t.status
	var syntax *json.SyntaxError
	if e.Cause == nil && t.status != 0 && errors.As(err, &syntax) && !strings.Contains(strings.ToLower(t.header.Get("Content-Type")), "json") {
		e.Class, e.Detail = lvlm.Configured, "the reply is no JSON; is the card's url the base of the API?"
	}
	return lvlm.Reply{}, e
}

// messages of 400s, in lower case: the service has one code for all of them.
var (
	// settingMessages are about what every request has.
	settingMessages = []string{"unknown name", "is not supported", "does not support", "thinking", "harmblockthreshold", "safety setting", "api key", "location", "publisher model"}
	// itemMessages are about this request, and win.
	itemMessages = []string{"token count", "exceeds the maximum number of tokens", "input image", "image is not valid", "unable to process input", "payload size", "inline data"}
)

// rejected classes an error document of the service.
func (c *Client) rejected(r lvlm.Request, t *try, api genai.APIError) (lvlm.Reply, error) {
	detail := wire.Scrub(api.Message, t.token, r.Texts()...)
	code := wire.Scrub(api.Status, t.token, r.Texts()...)
	status := t.status
	if status == 0 {
		status = api.Code
	}
	reason, wait := details(api.Details)
	if w := wire.RetryAfter(t.header, time.Now()); w > 0 {
		wait = w
	}
	fail := func(class lvlm.Class) (lvlm.Reply, error) {
		return lvlm.Reply{}, &lvlm.CallError{Class: class, Status: status, Code: code, RetryAfter: wait, Detail: detail, Sent: true}
	}
	switch {
	case reason == "BILLING_DISABLED":
		return fail(lvlm.Quota)
	case status >= 300 && status < 400:
		detail = "the endpoint redirects, which is not followed"
		return fail(lvlm.Configured)
	case status == 400 && api.Status != "FAILED_PRECONDITION" || status == 413:
		message := strings.ToLower(api.Message)
		if status == 400 && !mentions(message, itemMessages) && mentions(message, settingMessages) {
			return fail(lvlm.Configured)
		}
		return lvlm.Reply{Answer: lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: lvlm.Invalid, Finish: code, Detail: detail}}, nil
	}
	return fail(wire.StatusClass(status))
}

func mentions(message string, list []string) bool {
	for _, s := range list {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// details reads the reason of an error, and how long to wait, out of its typed details.
func details(list []map[string]any) (reason string, wait time.Duration) {
	for _, d := range list {
		if s, ok := d["reason"].(string); ok {
			reason = s
		}
		if s, ok := d["retryDelay"].(string); ok {
			if w, err := time.ParseDuration(s); err == nil && w > 0 {
				wait = w
			}
		}
	}
	return reason, wait
}
