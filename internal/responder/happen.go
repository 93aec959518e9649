package responder

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// failure returns the error that a fault of the endpoint gives; nil for any other fault.
func (r *Rule) failure() *apiError {
	e := map[Fault]apiError{
		Throttle:       {status: 429, kind: "requests", code: "rate_limit_exceeded", message: "too many requests; try again later"},
		ServerError:    {status: 500, kind: "server_error", message: "the server had an error while processing the request"},
		OutOfQuota:     {status: 402, kind: "insufficient_quota", code: "insufficient_quota", message: "the account has nothing left to spend"},
		Denied:         {status: 401, kind: "invalid_request_error", code: "invalid_api_key", message: "the credential is not valid"},
		TooLong:        {status: 400, kind: "invalid_request_error", param: "messages", code: "context_length_exceeded", message: "the messages are longer than the model's context"},
		PromptFiltered: {status: 400, kind: "invalid_request_error", param: "prompt", code: "content_filter", message: "the prompt was filtered", filtered: "violence"},
	}
	x, ok := e[r.Do]
	if !ok {
		return nil
	}
	if r.Status != 0 {
		x.status = r.Status
	}
	if r.Code != "" {
		x.code = r.Code
	}
	x.after = r.After
	return &x
}

// Texts of faults. None holds an answer, nor a verdict word.
const (
	garbageText = "Both statements concern the picture, and there is something to be said for either."
	refusalText = "I'm sorry, but I cannot help with the interpretation of medical images."
)

// spoil changes a reply the way a fault of the reply does.
func (r *Rule) spoil(c *completion) {
	for i := range c.Choices {
		x := &c.Choices[i]
		text := *x.Message.Content
		switch r.Do {
		case Empty:
			text = ""
		case Truncated:
			text, x.Finish = text[:min(r.Keep, len(text))], "length"
		case Refusal:
			decline := r.or(refusalText)
			x.Message.Content, x.Message.Refusal = nil, &decline
			continue
		case RefusalText:
			text = r.or(refusalText)
		case Filtered:
			text, x.Finish = text[:min(r.Keep, len(text))], "content_filter"
			if text == "" {
				x.Message.Content = nil
				continue
			}
		case Garbage:
			text = r.or(garbageText)
		}
		x.Message.Content = &text
	}
}

func (r *Rule) or(text string) string {
	if r.Text != "" {
		return r.Text
	}
	return text
}

// stall waits as long as the rule says; false when the client left before.
func (r *Rule) stall(req *http.Request) bool {
	if r.For == 0 {
		<-req.Context().Done()
		return false
	}
	return wait(req, r.For)
}

// wait reports whether the client is still there after a time.
func wait(req *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-req.Context().Done():
		return false
	}
}

// breakOff ends the connection: reset before a reply, or in the middle of its body.
//
// Errors: a connection that cannot be taken over, as of HTTP/2.
func breakOff(w http.ResponseWriter, do Fault, body []byte) error {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return errors.New("responder: this connection cannot be broken off: " + err.Error())
	}
	defer conn.Close()
	if do == Reset {
		if tcp, ok := conn.(*net.TCPConn); ok {
			return tcp.SetLinger(0) // close then sends a reset
		}
		return nil
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	if _, err := buffered.WriteString(head + string(body[:len(body)/2])); err != nil {
		return err
	}
	return buffered.Flush()
}
