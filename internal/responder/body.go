package responder

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// picture is a data URL of a request, still encoded: a slice of the body.
type picture struct{ base64 []byte }

// bytes decodes the picture.
func (p picture) bytes() ([]byte, error) {
	text := p.base64
	if bytes.IndexByte(text, '\\') >= 0 { // some encoders escape slashes
		text = bytes.ReplaceAll(text, []byte(`\/`), []byte("/"))
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	if err != nil {
		return nil, invalid("messages", "invalid_image", "a picture is not encoded in base64")
	}
	return out[:n], nil
}

// chatRequest are the fields of a request that the responder reads; it ignores others.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	N                   *int            `json:"n"`
	Seed                *int64          `json:"seed"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Stop                json.RawMessage `json:"stop"`
	Stream              bool            `json:"stream"`
}

type chatMessage struct {
	Role    string      `json:"role"`
	Content chatContent `json:"content"`
}

// chatContent is a text, or a list of parts, or nothing.
type chatContent struct {
	text string
	// pictures are data URLs by number in the order of the body; others are kept out.
	pictures []int
}

// mark stands in the reduced body where the body has a picture.
const mark = "cxrepro-picture:"

func (c *chatContent) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == 'n':
		return nil
	case b[0] == '"':
		return json.Unmarshal(b, &c.text)
	}
	var parts []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Refusal  string `json:"refusal"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	var texts []string
	for _, p := range parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "refusal":
			texts = append(texts, p.Refusal)
		case "image_url":
			number, found := strings.CutPrefix(p.ImageURL.URL, mark)
			n, err := strconv.Atoi(number)
			if !found || err != nil {
				return invalid("messages", "invalid_image_url", "pictures come as data URLs; the responder fetches nothing")
			}
			c.pictures = append(c.pictures, n)
		default:
			return invalid("messages", "invalid_value", fmt.Sprintf("parts are of type text or image_url, not %q", p.Type))
		}
	}
	c.text = strings.Join(texts, "\n")
	return nil
}

var (
	dataURL    = []byte(`"data:`)
	base64Mark = []byte(";base64,")
)

// decode reads a request. Pictures are skipped by their closing quotes, so that only texts go
// through the JSON decoder.
//
// Errors: *apiError of status 400.
func decode(body []byte) (*chatRequest, []picture, error) {
	var pictures []picture
	reduced := make([]byte, 0, min(len(body), 1<<15))
	rest := body
	for {
		i := bytes.Index(rest, dataURL)
		if i < 0 {
			reduced = append(reduced, rest...)
			break
		}
		escaped := i > 0 && rest[i-1] == '\\' // a quote within a text
		i += len(dataURL)
		head := rest[i:min(i+80, len(rest))]
		j := bytes.Index(head, base64Mark)
		quote := bytes.IndexByte(head, '"')
		if escaped || j < 0 || (quote >= 0 && quote < j) {
			reduced = append(reduced, rest[:i]...)
			rest = rest[i:]
			continue
		}
		start := i + j + len(base64Mark)
		end := bytes.IndexByte(rest[start:], '"')
		if end < 0 {
			return nil, nil, invalid("", "", "the body is no JSON: a text does not end")
		}
		reduced = append(reduced, rest[:i-len(dataURL)+1]...)
		reduced = append(reduced, mark...)
		reduced = strconv.AppendInt(reduced, int64(len(pictures)), 10)
		pictures = append(pictures, picture{rest[start : start+end]})
		rest = rest[start+end:]
	}
	var r chatRequest
	if err := json.Unmarshal(reduced, &r); err != nil {
		var api *apiError
		if errors.As(err, &api) {
			return nil, nil, api
		}
		return nil, nil, invalid("", "", "the body is no request: "+err.Error())
	}
	if err := r.check(len(pictures)); err != nil {
		return nil, nil, err
	}
	return &r, pictures, nil
}

func (r *chatRequest) check(pictures int) error {
	switch {
	case r.Model == "":
		return invalid("model", "missing_required_parameter", "model is missing")
	case len(r.Messages) == 0:
		return invalid("messages", "missing_required_parameter", "messages is missing or empty")
	case r.Stream:
		return invalid("stream", "unsupported_parameter", "the responder does not stream")
	case r.N != nil && (*r.N < 1 || *r.N > 16):
		return invalid("n", "invalid_value", "n must be from 1 to 16")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2):
		return invalid("temperature", "invalid_value", "temperature must be from 0 to 2")
	case r.TopP != nil && (*r.TopP < 0 || *r.TopP > 1):
		return invalid("top_p", "invalid_value", "top_p must be from 0 to 1")
	case r.limit() < 0:
		return invalid("max_tokens", "invalid_value", "max_tokens must be 1 or more")
	}
	for i, m := range r.Messages {
		switch m.Role {
		case "system", "developer", "user", "assistant":
		default:
			return invalid("messages", "invalid_value", fmt.Sprintf("messages[%d].role cannot be %q", i, m.Role))
		}
		for _, n := range m.Content.pictures {
			if n < 0 || n >= pictures {
				return invalid("messages", "invalid_image_url", "pictures come as data URLs; the responder fetches nothing")
			}
		}
		if len(m.Content.pictures) > 0 && m.Role != "user" {
			return invalid("messages", "invalid_value", fmt.Sprintf("messages[%d]: only a user shows pictures", i))
		}
	}
	if last := r.Messages[len(r.Messages)-1].Role; last != "user" {
		return invalid("messages", "invalid_value", "the last message must be a user's, not of role "+strconv.Quote(last))
	}
	return nil
}

// limit is the most tokens of a reply: 0 for no limit, negative for one that is invalid.
func (r *chatRequest) limit() int {
	limit := 0
	for _, p := range []*int{r.MaxTokens, r.MaxCompletionTokens} {
		if p == nil {
			continue
		}
		if *p < 1 {
			return -1
		}
		limit = *p
	}
	return limit
}

// stops are the texts that end a reply.
func (r *chatRequest) stops() []string {
	var one string
	var list []string
	switch {
	case len(r.Stop) == 0:
	case json.Unmarshal(r.Stop, &one) == nil && one != "":
		return []string{one}
	case json.Unmarshal(r.Stop, &list) == nil:
		return list
	}
	return nil
}

// system joins what the system says.
func (r *chatRequest) system() string {
	var texts []string
	for _, m := range r.Messages {
		if m.Role == "system" || m.Role == "developer" {
			texts = append(texts, m.Content.text)
		}
	}
	return strings.Join(texts, "\n")
}

// turns are what the user says, in order.
func (r *chatRequest) turns(pictures []picture) []turn {
	var list []turn
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		t := turn{text: m.Content.text}
		for _, n := range m.Content.pictures {
			t.pictures = append(t.pictures, pictures[n])
		}
		list = append(list, t)
	}
	return list
}

// draws reports whether replies are drawn, not the likeliest.
func (r *chatRequest) draws() bool { return r.Temperature != nil && *r.Temperature > 0 }
