package responder

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"cxrepro/internal/cxreasonbench"
)

// Options says what a responder is made of.
type Options struct {
	// Benchmark is what it answers for. Without one every request is told to come again
	// later, until [Responder.Answer] brings it.
	Benchmark *Benchmark
	// Questions is what it answers for as a policy of the agent. Without any, such requests are
	// told to come again later, until [Responder.Ask] brings them.
	Questions *Questions
	// Profile is required.
	Profile *Profile
	// Faults may be nil.
	Faults *Faults
	// Latency is how long every reply takes at least.
	Latency time.Duration
	// Credential, if set, must come with every request, as a bearer token or an Api-Key.
	Credential string
	// Instruction returns the judge's instructions; nil means those of the prompt pack.
	Instruction func(cxreasonbench.JudgePrompt) string
	// Watch, if set, is told of every request once it is over, by several goroutines.
	Watch func(Exchange)
}

// Exchange is one request and its reply.
type Exchange struct {
	Model string
	// Task and Case are of the dialogue that a model was asked in; Case is empty for a judge,
	// who is told of none, and for a request that was not understood.
	Task cxreasonbench.Task
	Case string
	// Came is when the request's header was read, Gone when its reply was written.
	Came, Gone time.Time
}

// Responder is the endpoint. It serves several goroutines.
type Responder struct {
	options   Options
	names     []string
	models    map[string]*model // without fates
	settled   atomic.Pointer[settled]
	questions atomic.Pointer[Questions]
	prompts   map[string]cxreasonbench.JudgePrompt
	agent     agentPrompts
	rules     []*armed
	faultSeed uint64
	limiter   *limiter
	count     *counter
	buffers   buffers
}

// settled is a benchmark with every model's fates in it.
type settled struct {
	bench  *Benchmark
	models map[string]*model
}

// model is a model with what is settled about every case.
type model struct {
	Model
	seed uint64
	// print identifies how it answers.
	print string
	fates map[cxreasonbench.Sampling][]fate
}

// New returns a responder.
//
// Errors: a profile that is missing; those of [Responder.Answer].
func New(o Options) (*Responder, error) {
	if o.Profile == nil {
		return nil, errors.New("responder: Options.Profile is required")
	}
	if o.Instruction == nil {
		o.Instruction = cxreasonbench.Prompts().Judge
	}
	s := &Responder{options: o, prompts: judgePrompts(o.Instruction), agent: newAgentPrompts(), count: newCounter(), models: map[string]*model{},
		buffers: make(buffers, 32)}
	for _, m := range o.Profile.Models {
		s.names = append(s.names, m.Name)
		one, err := newModel(m, o.Profile.Seed)
		if err != nil {
			return nil, err
		}
		s.models[m.Name] = one
	}
	s.Ask(o.Questions)
	limit := Limit{}
	if o.Faults != nil {
		s.faultSeed = o.Faults.Seed
		for _, r := range o.Faults.Rules {
			s.rules = append(s.rules, &armed{Rule: r})
		}
		if o.Faults.Limit != nil {
			limit = *o.Faults.Limit
		}
	}
	s.limiter = newLimiter(limit, time.Now)
	if o.Benchmark == nil {
		return s, nil
	}
	return s, s.Answer(o.Benchmark)
}

// Ask has the responder answer for question sets from now on.
func (s *Responder) Ask(q *Questions) { s.questions.Store(q) }

// Answer has the responder answer for a benchmark from now on: it settles how every model
// fares on every case.
//
// Errors: tables that say nothing of a task.
func (s *Responder) Answer(b *Benchmark) error {
	x := &settled{bench: b, models: map[string]*model{}}
	for _, m := range s.options.Profile.Models {
		one, err := settle(b, m, s.options.Profile.Seed)
		if err != nil {
			return err
		}
		x.models[m.Name] = one
	}
	s.settled.Store(x)
	return nil
}

// newModel returns a model for which nothing is settled.
func newModel(m Model, seed uint64) (*model, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("responder: model %s: %w", m.Name, err)
	}
	sum := named(seed, string(data))
	return &model{Model: m, seed: seed, print: "fp_" + hex.EncodeToString(sum[:5]), fates: map[cxreasonbench.Sampling][]fate{}}, nil
}

func settle(b *Benchmark, m Model, seed uint64) (*model, error) {
	x, err := newModel(m, seed)
	if err != nil || m.Behaviour != Exact && m.Behaviour != Rates {
		return x, err
	}
	for _, sampling := range cxreasonbench.Samplings() {
		if x.fates[sampling], err = fates(b, &x.Model, seed, sampling); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// Counts returns what the responder has seen.
func (s *Responder) Counts() Counts { return s.count.read() }

// Reset forgets what the responder has seen: counts, numbers and attempts of requests.
func (s *Responder) Reset() {
	s.count.reset()
	for _, r := range s.rules {
		r.happened.Store(0)
	}
}

// ServeHTTP serves POST .../chat/completions, GET .../models, GET /health, GET /counts and
// DELETE /counts. What stands before chat/completions and models does not matter, but an
// Azure deployment's path names the model.
func (s *Responder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions") && r.Method == http.MethodPost:
		s.complete(w, r)
	case path == "/health" && r.Method == http.MethodGet:
		w.WriteHeader(http.StatusOK)
	case path == "/counts" && r.Method == http.MethodGet:
		data, _ := json.Marshal(s.Counts())
		writeJSON(w, http.StatusOK, data)
	case path == "/counts" && r.Method == http.MethodDelete:
		s.Reset()
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && (strings.HasSuffix(path, "/models") || strings.Contains(path, "/models/")):
		s.list(w, r, path)
	case strings.HasSuffix(path, "/chat/completions"), path == "/counts", path == "/health":
		(&apiError{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", message: r.Method + " is not offered here"}).write(w)
	default:
		(&apiError{status: http.StatusNotFound, kind: "invalid_request_error", code: "unknown_url", message: "unknown request URL: " + r.Method + " " + r.URL.Path}).write(w)
	}
}

// list serves the models, or one of them.
func (s *Responder) list(w http.ResponseWriter, r *http.Request, path string) {
	if err := s.admitted(r); err != nil {
		err.write(w)
		return
	}
	entry := func(name string) map[string]any {
		return map[string]any{"id": name, "object": "model", "created": created, "owned_by": "simulated"}
	}
	if _, name, found := strings.Cut(path, "/models/"); found {
		if !slices.Contains(s.names, name) {
			s.unknownModel(name).write(w)
			return
		}
		data, _ := json.Marshal(entry(name))
		writeJSON(w, http.StatusOK, data)
		return
	}
	list := make([]any, len(s.names))
	for i, name := range s.names {
		list[i] = entry(name)
	}
	data, _ := json.Marshal(map[string]any{"object": "list", "data": list})
	writeJSON(w, http.StatusOK, data)
}

func (s *Responder) unknownModel(name string) *apiError {
	return &apiError{status: http.StatusNotFound, kind: "invalid_request_error", code: "model_not_found",
		message: fmt.Sprintf("the model %q does not exist; the models are %s", name, strings.Join(s.names, ", "))}
}

// admitted checks the credential, where one is asked for.
func (s *Responder) admitted(r *http.Request) *apiError {
	want := s.options.Credential
	if want == "" || r.Header.Get("Authorization") == "Bearer "+want || r.Header.Get("Api-Key") == want {
		return nil
	}
	return (&Rule{Do: Denied}).failure()
}

// fingerprint identifies a request by its content: everything that a reply may depend on.
func (r *chatRequest) fingerprint(pictures []picture) [32]byte {
	names := []string{r.Model}
	for _, v := range []*float64{r.Temperature, r.TopP} {
		if v != nil {
			names = append(names, fmt.Sprint(*v))
		}
		names = append(names, "")
	}
	seed := int64(-1)
	if r.Seed != nil {
		seed = *r.Seed
	}
	names = append(names, itoa(seed), itoa(int64(r.limit())), string(r.Stop))
	for _, m := range r.Messages {
		names = append(names, m.Role, m.Content.text)
		for _, n := range m.Content.pictures {
			var b [12]byte
			text := pictures[n].base64
			binary.BigEndian.PutUint64(b[:], uint64(len(text)))
			binary.BigEndian.PutUint32(b[8:], crc32.Checksum(text, castagnoli))
			names = append(names, hex.EncodeToString(b[:]))
		}
	}
	return named(0, names...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
