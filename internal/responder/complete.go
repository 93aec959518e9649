package responder

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cxrepro/internal/xragent/radcot/fixture"
)

// bodyLimit is the largest request that is read.
const bodyLimit = 256 << 20

// complete serves one request for a completion.
func (s *Responder) complete(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	a := &about{number: s.count.enter()}
	defer s.count.leave()
	if err := s.serve(w, r, a); err != nil {
		s.count.status(err.status)
		err.write(w)
	}
	if s.options.Watch != nil {
		x := Exchange{Model: a.model, Came: came, Gone: time.Now()}
		if own := a.place.own; own != nil {
			x.Task, x.Case = own.task, own.id
		}
		s.options.Watch(x)
	}
}

// serve writes the reply, or returns the error to be written. It notes in a what it learns.
func (s *Responder) serve(w http.ResponseWriter, r *http.Request, a *about) *apiError {
	if err := s.admitted(r); err != nil {
		return err
	}
	m, request, err := s.read(w, r, a)
	if err != nil {
		return asAPI(err)
	}
	a.attempt = s.count.understood(a)
	use := request.promptUsage()
	if wait := s.limiter.admit(w.Header(), use.Prompt); wait > 0 {
		s.count.limited()
		e := (&Rule{Do: Throttle, After: wait}).failure()
		return e
	}
	defer s.limiter.release()
	reply, e := s.reply(m, request, a, use)
	if e != nil {
		return e
	}
	return s.send(w, r, a, reply)
}

// read reads a request and finds what it is about. Nothing refers to its body afterwards: that
// has megabytes, and a reply may take its time.
//
// Errors: *apiError; wrapping errUnknown.
func (s *Responder) read(w http.ResponseWriter, r *http.Request, a *about) (*model, *chatRequest, error) {
	buffer := s.buffers.take()
	defer s.buffers.give(buffer)
	if n := r.ContentLength; n > 0 && n <= bodyLimit {
		buffer.Grow(int(n) + bytes.MinRead)
	}
	if _, err := buffer.ReadFrom(http.MaxBytesReader(w, r.Body, bodyLimit)); err != nil {
		return nil, nil, unread(err)
	}
	request, pictures, err := decode(buffer.Bytes())
	if err != nil {
		return nil, nil, err
	}
	m := s.models[request.Model]
	if m == nil {
		if m = s.models[deployment(r.URL)]; m == nil {
			return nil, nil, s.unknownModel(request.Model)
		}
	}
	a.model, a.print = m.Name, request.fingerprint(pictures)
	m, err = s.understand(m, request, pictures, a)
	return m, request, err
}

// buffers are used again: as many as come in at a time, which are fewer than wait for replies.
type buffers chan *bytes.Buffer

func (b buffers) take() *bytes.Buffer {
	select {
	case buffer := <-b:
		buffer.Reset()
		return buffer
	default:
		return &bytes.Buffer{}
	}
}

func (b buffers) give(buffer *bytes.Buffer) {
	select {
	case b <- buffer:
	default:
	}
}

// understand finds what a request is about, and returns the model with what is settled about
// that.
//
// Errors: *apiError; wrapping errUnknown.
func (s *Responder) understand(m *model, request *chatRequest, pictures []picture, a *about) (_ *model, err error) {
	system := strings.TrimSpace(request.system())
	if m.Behaviour == Teacher {
		a.teacher, err = request.transcript(pictures)
		return m, err
	}
	if m.Behaviour == Agent || m.Behaviour == Lookup || s.agent.side(system) {
		q := s.questions.Load()
		if q == nil {
			return nil, noQuestions()
		}
		a.agent, err = s.agent.understand(q, request, pictures)
		return m, err
	}
	now := s.settled.Load()
	if now == nil {
		return nil, &apiError{status: http.StatusServiceUnavailable, kind: "server_error", code: "no_benchmark", message: "the responder has no benchmark yet", after: time.Second}
	}
	if a.prompt = s.prompts[system]; !a.prompt.Valid() {
		if m.Behaviour == Judge {
			return nil, invalid("messages", "", "the system message is none of the judge's instructions, and "+m.Name+" is a judge only")
		}
		a.place, err = now.bench.locate(request.turns(pictures))
	}
	return now.models[m.Name], err
}

// send writes a reply, unless a fault happens to it.
func (s *Responder) send(w http.ResponseWriter, r *http.Request, a *about, reply *completion) *apiError {
	rule := s.fault(a)
	if rule != nil {
		s.count.fault(rule.Do)
		if e := rule.failure(); e != nil {
			return e
		}
		if rule.Do == Stall && !rule.stall(r) {
			return nil
		}
		rule.spoil(reply)
		reply.measure()
	}
	if !wait(r, s.options.Latency) {
		return nil
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return &apiError{status: http.StatusInternalServerError, kind: "server_error", message: err.Error()}
	}
	if rule != nil && (rule.Do == Cut || rule.Do == Reset) {
		if err := breakOff(w, rule.Do, body); err != nil {
			return &apiError{status: http.StatusInternalServerError, kind: "server_error", message: err.Error()}
		}
		return nil
	}
	// Counted before it is written: a client that has the reply finds it in the counts.
	s.count.answered(a, reply.Usage)
	w.Header().Set("X-Request-Id", "req_"+hex.EncodeToString(a.print[:12]))
	w.Header().Set("Openai-Processing-Ms", itoa(s.options.Latency.Milliseconds()))
	writeJSON(w, http.StatusOK, body)
	return nil
}

// reply makes the reply to a request: one choice, or as many as are asked for.
func (s *Responder) reply(m *model, request *chatRequest, a *about, use usage) (*completion, *apiError) {
	id := hex.EncodeToString(a.print[:])
	c := &completion{ID: "chatcmpl-" + id[:28], Object: "chat.completion", Created: created, Model: request.Model,
		Usage: use, Fingerprint: m.print}
	choices := 1
	if request.N != nil {
		choices = *request.N
	}
	seed := int64(0)
	if request.Seed != nil {
		seed = *request.Seed
	}
	for i := range choices {
		var text string
		finish := "stop"
		if len(a.teacher.Messages) > 0 {
			turn := fixture.Reply(a.teacher, int(seed)+i)
			text, finish = turn.Text, turn.FinishReason
		} else if a.agent != nil {
			draw := -1
			if request.draws() {
				draw = int(seed) + i
			}
			var e *apiError
			if text, e = a.agent.reply(m, s.questions.Load(), draw); e != nil {
				return nil, e
			}
		} else if a.prompt.Valid() {
			last := request.Messages[len(request.Messages)-1].Content.text
			var ok bool
			if text, ok = judge(a.prompt, last); !ok {
				return nil, invalid("messages", "", "the message is not laid out as one to the judge: answers 1 and 2, or a response")
			}
			if m.Errs > 0 && named(m.seed, "errs", id).share() < m.Errs {
				text = mistaken(text)
			}
		} else {
			draw := -1
			if request.draws() {
				draw = int(((seed+int64(i))%3 + 3) % 3)
			}
			text = write(a.place, m.intend(a.place, draw), named(m.seed, "reply", id, itoa(int64(i))).rand())
		}
		x := choice{Index: i, Finish: finish, Message: message{Role: "assistant"}}
		for _, stop := range request.stops() {
			text, _, _ = strings.Cut(text, stop)
		}
		if limit := request.limit(); limit > 0 && tokensOf(text) > limit {
			text, x.Finish = text[:limit*bytesPerToken], "length"
		}
		x.Message.Content = &text
		c.Choices = append(c.Choices, x)
	}
	c.measure()
	return c, nil
}

// measure counts the tokens of the choices.
func (c *completion) measure() {
	c.Usage.Completion = 0
	for _, x := range c.Choices {
		if x.Message.Content != nil {
			c.Usage.Completion += tokensOf(*x.Message.Content)
		}
	}
	c.Usage.Total = c.Usage.Prompt + c.Usage.Completion
}

// deployment is the model that an Azure path names.
func deployment(u *url.URL) string {
	_, rest, _ := strings.Cut(u.Path, "/deployments/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func unread(err error) *apiError {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &apiError{status: http.StatusRequestEntityTooLarge, kind: "invalid_request_error", message: "the request is too large"}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return invalid("", "", "the request's body ends early")
	}
	return invalid("", "", "the request's body cannot be read")
}

// asAPI turns an error into one for the client.
func asAPI(err error) *apiError {
	var e *apiError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, errUnknown):
		return &apiError{status: http.StatusNotFound, kind: "invalid_request_error", param: "messages", code: errUnknown.Error(), message: err.Error()}
	}
	return &apiError{status: http.StatusInternalServerError, kind: "server_error", message: err.Error()}
}

var _ http.Handler = (*Responder)(nil)
