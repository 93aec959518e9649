package responder

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// apiError is an error that a client sees, in the protocol's form.
type apiError struct {
	status  int
	kind    string
	param   string
	code    string
	message string
	// after is how long the client is asked to wait.
	after time.Duration
	// filtered names the category of a content filter.
	filtered string
}

func (e *apiError) Error() string { return e.message }

// invalid is an error of status 400.
func invalid(param, code, message string) *apiError {
	return &apiError{status: http.StatusBadRequest, kind: "invalid_request_error", param: param, code: code, message: message}
}

// body encodes the error. Fields that are not set are null, as the protocol has it.
func (e *apiError) body() []byte {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	object := map[string]any{"message": e.message, "type": e.kind, "param": orNull(e.param), "code": orNull(e.code)}
	if e.filtered != "" {
		object["innererror"] = map[string]any{
			"code":                  "ResponsibleAIPolicyViolation",
			"content_filter_result": map[string]any{e.filtered: map[string]any{"filtered": true, "severity": "medium"}},
		}
	}
	data, _ := json.Marshal(map[string]any{"error": object})
	return data
}

func (e *apiError) write(w http.ResponseWriter) {
	h := w.Header()
	if e.after > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((e.after+time.Second-1)/time.Second), 10))
		h.Set("Retry-After-Ms", strconv.FormatInt(e.after.Milliseconds(), 10))
	}
	writeJSON(w, e.status, e.body())
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // a client that is gone does not miss it
}

// completion is a reply in the protocol's form.
type completion struct {
	ID          string   `json:"id"`
	Object      string   `json:"object"`
	Created     int64    `json:"created"`
	Model       string   `json:"model"`
	Choices     []choice `json:"choices"`
	Usage       usage    `json:"usage"`
	Fingerprint string   `json:"system_fingerprint"`
}

type choice struct {
	Index    int     `json:"index"`
	Message  message `json:"message"`
	Logprobs *string `json:"logprobs"`
	Finish   string  `json:"finish_reason"`
}

type message struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	// Details of the tokens before: those of a prefix that was asked before count as cached.
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// created is the time that every reply bears: replies depend on no clock.
const created = 1767225600

// Tokens are estimated: four bytes of text to one, and so many for a picture.
const (
	bytesPerToken    = 4
	tokensPerPicture = 765
	// cacheBlock is the unit in which a prefix is cached.
	cacheBlock = 128
)

func tokensOf(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// promptUsage estimates the tokens of a request. The messages before the last are a prefix
// that the dialogue has sent before.
func (r *chatRequest) promptUsage() (u usage) {
	for i, m := range r.Messages {
		if i == len(r.Messages)-1 && i > 1 {
			u.PromptDetails.Cached = u.Prompt / cacheBlock * cacheBlock
		}
		u.Prompt += 4 + tokensOf(m.Content.text) + tokensPerPicture*len(m.Content.pictures)
	}
	return u
}
