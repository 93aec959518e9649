package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/auth"

	"cxrepro/artifacts"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/wire/wiretest"
)

// shows reports what of the request's secrets a value shows in any printed form.
func shows(v any) string {
	return wiretest.Shows(v, plantedToken, plantedToken[5:17], "planted-secret", "heart of this patient", "You read radiographs", "did you use for this first")
}

func candidate(parts, finish string, more ...string) string {
	return `{"candidates":[{"content":{"role":"model","parts":` + parts + `},"finishReason":"` + finish + `"` + strings.Join(more, "") + `}],"modelVersion":"m","usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":2,"totalTokenCount":12}}`
}

// TestOutcomes: prompt first, then the end, then the text.
func TestOutcomes(t *testing.T) {
	const blocked = `,"safetyRatings":[{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","probability":"HIGH","blocked":true},{"category":"HARM_CATEGORY_HARASSMENT","probability":"LOW"}]`
	a := func(o lvlm.Outcome, text, finish, detail string) lvlm.Answer {
		return lvlm.Answer{Format: lvlm.AnswerFormat, Outcome: o, Text: text, Finish: finish, Detail: detail}
	}
	cases := []struct {
		name, body string
		want       lvlm.Answer
	}{
		{"text", candidate(`[{"text":"(a) "},{"text":"Yes"}]`, "STOP"), a(lvlm.Answered, "(a) Yes", "STOP", "")},
		{"thoughts only", candidate(`[{"text":"hm","thought":true}]`, "STOP"), a(lvlm.Empty, "", "STOP", "")},
		{"thoughts used the limit", candidate(`[{"text":"hm","thought":true}]`, "MAX_TOKENS"), a(lvlm.Truncated, "", "MAX_TOKENS", "")},
		{"no parts at the limit", `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":510,"thoughtsTokenCount":500}}`, a(lvlm.Truncated, "", "MAX_TOKENS", "")},
		{"limit", candidate(`[{"text":"(a) Ye"}]`, "MAX_TOKENS"), a(lvlm.Truncated, "(a) Ye", "MAX_TOKENS", "")},
		{"no content", `{"candidates":[{"finishReason":"STOP"}],"modelVersion":"m","usageMetadata":{"promptTokenCount":10,"totalTokenCount":10}}`, a(lvlm.Empty, "", "STOP", "")},
		{"recitation", candidate(`[]`, "RECITATION", `,"finishMessage":"recited"`), a(lvlm.Empty, "", "RECITATION", "recited")},
		{"recitation in the middle", candidate(`[{"text":"(a) The"}]`, "RECITATION"), a(lvlm.Truncated, "(a) The", "RECITATION", "")},
		{"other", candidate(`[]`, "OTHER"), a(lvlm.Empty, "", "OTHER", "")},
		{"new word", candidate(`[{"text":"(a)"}]`, "SOMETHING_NEW"), a(lvlm.Truncated, "(a)", "SOMETHING_NEW", "")},
		{"prompt blocked", `{"promptFeedback":{"blockReason":"SAFETY"` + blocked + `},"modelVersion":"m"}`, a(lvlm.SafetyBlock, "", "SAFETY", "prompt withheld: HARM_CATEGORY_SEXUALLY_EXPLICIT HIGH")},
		{"prompt prohibited", `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, a(lvlm.SafetyBlock, "", "PROHIBITED_CONTENT", "prompt withheld")},
		{"reply blocked", candidate(`[]`, "SAFETY", blocked), a(lvlm.SafetyBlock, "", "SAFETY", "reply withheld: HARM_CATEGORY_SEXUALLY_EXPLICIT HIGH")},
		{"no candidates", `{"modelVersion":"m","usageMetadata":{"promptTokenCount":10,"totalTokenCount":10}}`, a(lvlm.Empty, "", "", "no candidates")},
	}
	for _, f := range []string{"BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"} {
		cases = append(cases, struct {
			name, body string
			want       lvlm.Answer
		}{f, candidate(`[{"text":"The"}]`, f), a(lvlm.SafetyBlock, "The", f, "reply withheld")})
	}
	for _, c := range cases {
		s := newService(t, respond(200, c.body))
		got, err := client(t, s, nil).Ask(context.Background(), request(), pictures.Open)
		if err != nil || got.Answer != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got.Answer, err, c.want)
		}
	}
}

func apiError(code int, status, message, details string) string {
	b, _ := json.Marshal(message)
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%q,"details":[%s]}}`, code, b, status, details)
}

// TestRejections: every status has one class, and nothing of the request shows.
func TestRejections(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		body    string
		header  []string
		class   lvlm.Class
		outcome lvlm.Outcome
		wait    time.Duration
	}{
		{name: "throttled", status: 429, body: apiError(429, "RESOURCE_EXHAUSTED", "Resource exhausted.", ``), class: lvlm.Throttled},
		{name: "throttled, a wait in the details", status: 429, body: apiError(429, "RESOURCE_EXHAUSTED", "x", `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"33s"}`), class: lvlm.Throttled, wait: 33 * time.Second},
		{name: "throttled, a header", status: 429, body: apiError(429, "RESOURCE_EXHAUSTED", "x", ``), header: []string{"Retry-After", "90"}, class: lvlm.Throttled, wait: 90 * time.Second},
		{name: "token refused", status: 401, body: apiError(401, "UNAUTHENTICATED", "bad token "+plantedToken, ``), class: lvlm.Denied},
		{name: "not allowed", status: 403, body: apiError(403, "PERMISSION_DENIED", "Permission denied on resource", ``), class: lvlm.Denied},
		{name: "billing off", status: 403, body: apiError(403, "PERMISSION_DENIED", "billing", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"BILLING_DISABLED"}`), class: lvlm.Quota},
		{name: "retired model", status: 404, body: apiError(404, "NOT_FOUND", "Publisher Model was not found", ``), class: lvlm.Configured},
		{name: "too long", status: 400, body: apiError(400, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ``), outcome: lvlm.Invalid},
		{name: "bad picture", status: 400, body: apiError(400, "INVALID_ARGUMENT", "Unable to process input image. Please retry", ``), outcome: lvlm.Invalid},
		{name: "too large", status: 413, body: `<html>`, outcome: lvlm.Invalid},
		{name: "invalid, nothing more", status: 400, body: apiError(400, "INVALID_ARGUMENT", "Request contains an invalid argument.", ``), outcome: lvlm.Invalid},
		{name: "unknown field", status: 400, body: apiError(400, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name "x"`, ``), class: lvlm.Configured},
		{name: "budget the model cannot have", status: 400, body: apiError(400, "INVALID_ARGUMENT", "Thinking budget 0 is invalid. This model only works in thinking mode.", ``), class: lvlm.Configured},
		{name: "where it is not served", status: 400, body: apiError(400, "FAILED_PRECONDITION", "User location is not supported", ``), class: lvlm.Configured},
		{name: "internal", status: 500, body: apiError(500, "INTERNAL", "failed on 'Is the heart of this patient enlarged'", ``), class: lvlm.Transient},
		{name: "unavailable", status: 503, body: apiError(503, "UNAVAILABLE", "overloaded", ``), class: lvlm.Transient},
		{name: "deadline", status: 504, body: apiError(504, "DEADLINE_EXCEEDED", "x", ``), class: lvlm.Transient},
		{name: "cancelled", status: 499, body: apiError(499, "CANCELLED", "x", ``), class: lvlm.Transient},
		{name: "gateway page", status: 502, body: `<html>You read radiographs. You read radiographs.</html>`, class: lvlm.Transient},
		{name: "elsewhere", status: 307, body: `{}`, header: []string{"Location", "http://127.0.0.1:1/"}, class: lvlm.Configured},
		{name: "half a document", status: 200, body: `{"candidates":[{"content":{"parts":[{"text":"(a) Ye`, class: lvlm.Transient},
		{name: "nothing in it", status: 200, body: `{}`, class: lvlm.Transient},
		{name: "nothing", status: 200, body: ``, class: lvlm.Transient},
		{name: "a page", status: 200, body: `<html>Sign in</html>`, header: []string{"Content-Type", "text/html"}, class: lvlm.Configured},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newService(t, respond(c.status, c.body, c.header...))
			got, err := client(t, s, nil).Ask(context.Background(), request(), pictures.Open)
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
			if text := shows(err) + shows(got); text != "" {
				t.Errorf("shows a secret or the prompt: %s", text)
			}
			var e *lvlm.CallError
			switch {
			case c.class == "" && (err != nil || got.Answer.Outcome != c.outcome):
				t.Errorf("%+v, %v, want outcome %s", got.Answer, err, c.outcome)
			case c.class != "" && (!errors.As(err, &e) || e.Class != c.class || e.RetryAfter != c.wait || !e.Sent || e.Status != c.status):
				t.Errorf("%+v, %#v, want class %s, wait %s", got.Answer, err, c.class, c.wait)
			}
		})
	}
}

// TestConnections: what breaks on the way is transient, one request each.
func TestConnections(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"closed":         wiretest.Raw(t, ""),
		"body cut":       wiretest.Raw(t, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"candidates\":"),
		"error body cut": wiretest.Raw(t, "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n{\"error\""),
		"stalls":         func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		s := newService(t, answer)
		_, err := client(t, s, func(o *Options) { o.Timeout = 400 * time.Millisecond }).Ask(context.Background(), request(), pictures.Open)
		var e *lvlm.CallError
		if !errors.As(err, &e) || e.Class != lvlm.Transient || !e.Sent || e.Cause != nil {
			t.Errorf("%s: %#v", name, err)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: %d requests, want one", name, n)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := newService(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := client(t, s, nil).Ask(ctx, request(), pictures.Open); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %#v", err)
	}
}

// TestTokens: no token, no request; whether a person must act depends on why.
func TestTokens(t *testing.T) {
	for status, want := range map[int]lvlm.Class{400: lvlm.Denied, 401: lvlm.Denied} {
		s := newService(t, respond(200, fine))
		s.tokenStatus.Store(int32(status))
		_, err := client(t, s, nil).Ask(context.Background(), request(), pictures.Open)
		var e *lvlm.CallError
		if !errors.As(err, &e) || e.Class != want || e.Sent || len(s.Requests()) != 0 {
			t.Errorf("%d: %#v after %d requests", status, err, len(s.Requests()))
		}
		if text := shows(err); text != "" {
			t.Errorf("shows %s", text)
		}
	}
	if !(&tokenError{errors.New("dial")}).passes() {
		t.Error("a token service that is away passes")
	}
	for status, want := range map[int]bool{400: false, 401: false, 403: false, 408: true, 429: true, 500: true, 503: true} {
		if got := (&tokenError{&auth.Error{Response: &http.Response{StatusCode: status}}}).passes(); got != want {
			t.Errorf("a token service that answers %d: passes %t", status, got)
		}
	}
}

// TestCredentials: files that are none are refused without showing what they hold.
func TestCredentials(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"none": "", "text": "planted-secret", "external": `{"type":"external_account","token_url":"http://planted-secret"}`, "half": `{"type":"service_account","private_key":"planted-secret"}`,
	} {
		path := filepath.Join(dir, name)
		if name != "none" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := Credentials(path)
		if err == nil {
			_, err = c.Token(context.Background())
			if err == nil {
				t.Errorf("%s: accepted", name)
			}
			continue // what the library says about half a file stays inside
		}
		var e *lvlm.CallError
		if !errors.As(err, &e) || e.Class != lvlm.Denied || strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRequestsThatAreNone: what cannot be sent is refused here.
func TestRequestsThatAreNone(t *testing.T) {
	s := newService(t, respond(200, fine))
	c := client(t, s, nil)
	chat := request()
	chat.Adapter = lvlm.ChatVersion
	extra := request()
	extra.Decoding.Extra = map[string]any{"min_p": 0}
	open := request()
	open.Transcript = dialogue.Transcript{}.Ask("q").Answered("a")
	damaged := request(pictures.Ref([]byte("a picture"), "image/png"))
	pictures[artifacts.Sum([]byte("a picture"))] = []byte("other bytes")
	for name, r := range map[string]lvlm.Request{"adapter": chat, "extra": extra, "transcript": open, "picture": damaged} {
		_, err := c.Ask(context.Background(), r, pictures.Open)
		if err == nil {
			t.Errorf("%s: sent", name)
		}
		// A picture that cannot be read is not the endpoint's doing.
		var of *lvlm.CallError
		if name == "picture" && (errors.As(err, &of) || !errors.Is(err, artifacts.ErrDigestMismatch)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
