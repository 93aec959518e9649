package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire"
)

// problem is what an endpoint says about a request that it did not answer. Servers agree on
// little: error may be an object or a text, fields may be missing, codes numbers.
type problem struct {
	found                      bool
	code, kind, param, message string
	// inner is Azure's more exact code, filters the harm categories that blocked a prompt.
	inner, filters string
}

func parseProblem(data []byte) problem {
	type fields struct {
		Code    any             `json:"code"`
		Type    any             `json:"type"`
		Param   any             `json:"param"`
		Message any             `json:"message"`
		Detail  any             `json:"detail"`
		Error   json.RawMessage `json:"error"`
		Inner   struct {
			Code    string          `json:"code"`
			Filters json.RawMessage `json:"content_filter_result"`
		} `json:"innererror"`
	}
	var doc fields
	if json.Unmarshal(data, &doc) != nil {
		return problem{}
	}
	if len(doc.Error) > 0 && string(doc.Error) != "null" {
		inner := fields{}
		if json.Unmarshal(doc.Error, &inner) != nil {
			var s string
			_ = json.Unmarshal(doc.Error, &s)
			inner = fields{Message: s}
		}
		doc = inner
	}
	p := problem{code: text(doc.Code), kind: text(doc.Type), param: text(doc.Param), message: text(doc.Message), inner: doc.Inner.Code}
	if p.message == "" {
		p.message = text(doc.Detail)
	}
	p.filters = categories(filterResults(doc.Inner.Filters))
	p.found = p.code != "" || p.kind != "" || p.message != ""
	return p
}

func text(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// status is the problem's own idea of an HTTP status, 0 when it has none.
func (p problem) status() int {
	n, err := strconv.Atoi(p.code)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

// codes that decide whatever the status says.
var (
	quotaCodes   = []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_user_quota"}
	filterCodes  = []string{"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation", "image_content_policy_violation"}
	invalidCodes = []string{
		"context_length_exceeded", "string_above_max_length", "image_parse_error", "invalid_image", "invalid_image_url", "invalid_image_format",
		"invalid_base64_image", "image_too_large", "image_too_small", "image_file_too_large", "unsupported_image_media_type", "empty_image_file", "request_too_large",
	}
	configCodes = []string{
		"unsupported_parameter", "unsupported_value", "unknown_parameter", "invalid_parameter", "model_not_found", "invalid_model", "model_not_supported",
		"DeploymentNotFound", "OperationNotSupported", "unsupported_api_version", "InvalidApiVersion", "invalid_api_version", "missing_required_parameter", "unsupported_country_region_territory",
	}
)

// messages of servers that give no code of their own. They are compared in lower case.
var (
	invalidMessages = []string{
		"maximum context length", "maximum model length", "context window", "too many tokens", "prompt is too long", "longer than the maximum",
		"cannot identify image", "failed to load image", "invalid image", "image file is truncated", "incorrect padding", "invalid base64", "could not process image",
	}
	configMessages = []string{
		"unsupported parameter", "unrecognized request argument", "unknown parameter", "extra inputs are not permitted", "is not supported with this model",
		"is not a multimodal model", "does not support image", "may be provided in one", "may be provided in a single", "chat template", "not supported by this model",
	}
)

// rejected classes a reply whose status is no success. The SDK has read its body.
func (c *Client) rejected(r lvlm.Request, res *http.Response) (lvlm.Reply, error) {
	data, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	_ = res.Body.Close()
	p := problem{}
	if err == nil {
		p = parseProblem(data)
	}
	return c.classify(r, res.StatusCode, p, wire.RetryAfter(res.Header, time.Now()))
}

// classify gives a rejection its class: an answer of a terminal outcome where the endpoint
// finds fault with this request, a *lvlm.CallError where it finds fault with anything else.
func (c *Client) classify(r lvlm.Request, status int, p problem, wait time.Duration) (lvlm.Reply, error) {
	detail := wire.Scrub(p.message, c.o.Key, r.Texts()...)
	item := func(o lvlm.Outcome, finish, detail string) (lvlm.Reply, error) {
		return lvlm.Reply{Answer: lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: o, Finish: finish, Detail: detail}}, nil
	}
	fail := func(class lvlm.Class) (lvlm.Reply, error) {
		return lvlm.Reply{}, &lvlm.CallError{Class: class, Status: status, Code: wire.Scrub(p.name(), c.o.Key, r.Texts()...), RetryAfter: wait, Detail: detail, Sent: true}
	}
	switch {
	case p.any(quotaCodes):
		return fail(lvlm.Quota)
	case status == 429:
		return fail(lvlm.Throttled)
	case p.any(filterCodes):
		block := "prompt withheld"
		if p.filters != "" {
			block += ": " + p.filters
		}
		return item(lvlm.SafetyBlock, "content_filter", block)
	case status >= 300 && status < 400:
		detail = "the endpoint redirects, which is not followed; write the final address into the card"
		return fail(lvlm.Configured)
	case status == 413:
		return item(lvlm.Invalid, "request_too_large", detail)
	case status == 400 || status == 422:
		if c.wrongSetting(p) {
			return fail(lvlm.Configured)
		}
		return item(lvlm.Invalid, wire.Scrub(p.name(), c.o.Key, r.Texts()...), detail)
	}
	return fail(wire.StatusClass(status))
}

// wrongSetting reports a 400 that every request would get: a parameter, a model, a limit of
// the server's configuration. What is left is about this request: its length, its pictures.
func (c *Client) wrongSetting(p problem) bool {
	message := strings.ToLower(p.message)
	mentions := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(message, s) })
	}
	switch {
	case p.any(invalidCodes):
		return false
	case p.any(configCodes):
		return true
	case mentions(invalidMessages):
		return false
	case mentions(configMessages):
		return true
	}
	// A parameter is a field of the body or a path that begins with one, for example
	// messages[3].content: what we put together per case is below messages.
	field, _, _ := strings.Cut(p.param, "[")
	field, _, _ = strings.Cut(field, ".")
	return field != "" && field != "messages"
}

func (p problem) any(codes []string) bool {
	return slices.Contains(codes, p.code) || slices.Contains(codes, p.kind) || slices.Contains(codes, p.inner)
}

// name is the most exact code there is.
func (p problem) name() string {
	for _, s := range []string{p.inner, p.code, p.kind} {
		if s != "" && s != "null" {
			return s
		}
	}
	return ""
}
