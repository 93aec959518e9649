package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/responder"
)

// simulator answers for the simulated models of the demo, over a real connection. It learns
// which benchmark it answers for when the reproduction has built it; requests wait until then.
type simulator struct {
	store   *artifacts.Repository
	profile *responder.Profile
	server  *http.Server
	url     string

	once  sync.Once
	ready chan struct{} // closed when what follows is set
	serve http.Handler
	err   error
}

// demoProfile says how the demo's models answer.
const demoProfile = profileFolder + "/demo.yaml"

// startSimulator listens on a free port of this machine.
func startSimulator(store *artifacts.Repository) (*simulator, error) {
	data, err := experiments.Files.ReadFile(demoProfile)
	if err != nil {
		return nil, err
	}
	s := &simulator{store: store, ready: make(chan struct{})}
	if s.profile, err = responder.ParseProfile(demoProfile, data); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.url = "http://" + listener.Addr().String() + "/v1"
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Serve ends when close does, or when the listener fails: requests fail then.
		_ = s.server.Serve(listener)
	}()
	return s, nil
}

func (s *simulator) close() error { return s.server.Close() }

// look takes the benchmark from the progress of the reproduction.
func (s *simulator) look(ctx context.Context, v view) {
	if v.Benchmark.IsZero() {
		return
	}
	s.once.Do(func() {
		defer close(s.ready)
		var m contract.Benchmark
		if s.err = readJSON(ctx, s.store, v.Benchmark, &m); s.err != nil {
			return
		}
		var b *responder.Benchmark
		if b, s.err = responder.ReadStored(ctx, m, s.store.Get); s.err == nil {
			s.serve, s.err = responder.New(responder.Options{Benchmark: b, Profile: s.profile})
		}
	})
}

// ServeHTTP answers once the benchmark is known.
func (s *simulator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-s.ready:
	case <-r.Context().Done():
		return
	}
	if s.err != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": s.err.Error()}})
		return
	}
	s.serve.ServeHTTP(w, r)
}

// endpoints are the demo's endpoint cards.
func (s *simulator) endpoints() (*endpoint.Set, error) {
	cards, err := simulatedCards()
	if err != nil {
		return nil, err
	}
	models := map[string]string{}
	for _, c := range cards {
		models[c] = c
	}
	models["simulated-judge"] = "judge"
	return &endpoint.Set{Endpoints: []endpoint.Card{{
		Name: "simulator", Adapter: "openai", URL: s.url, Models: models,
		Limits:      endpoint.Limits{Concurrency: 32, Timeout: time.Minute},
		Price:       &endpoint.Price{Currency: "USD", Input: 2, Output: 8},
		Attestation: datause.Attestation{Local: true},
	}}}, nil
}

// simulatedCards are the names of the model cards of the demo's experiment.
func simulatedCards() ([]string, error) {
	const folder = "cxreasonbench-demo/models"
	files, err := experiments.Files.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		data, err := experiments.Files.ReadFile(folder + "/" + f.Name())
		if err != nil {
			return nil, err
		}
		card, err := experiments.ParseModelCard(f.Name(), data)
		if err != nil {
			return nil, err
		}
		names = append(names, card.Name)
	}
	if len(names) == 0 {
		return nil, errors.New("no model cards in " + folder)
	}
	return names, nil
}

// watched passes everything it shows to somebody else, too.
type watched struct {
	display
	watch func(view)
}

func (w watched) show(v view) {
	w.watch(v)
	w.display.show(v)
}
