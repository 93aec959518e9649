package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"cxrepro/experiments"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/responder"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/quiz"
)

// Papers that the demo reproduces.
const (
	paperCXReasonBench = "cxreasonbench"
	paperXRagent       = "xragent"
)

// agentDemo is the folder of the experiment, below the experiments.
const agentDemo = "xragent-demo"

// agentProfiles holds the responder's profiles of the agent.
const agentProfiles = agentDemo + "/profiles"

// demoAgent runs the two-turn agent on drawn questions with two simulated policies.
func (a *app) demoAgent(ctx context.Context, f demoFlags) error {
	dir := filepath.Join(a.StateDir(), "demo", "experiments")
	if err := writeExperiments(dir); err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	if f.nGiven {
		f.run.plan.sets = append(f.run.plan.sets, fmt.Sprintf("dataset.quiz.pictures=%d", f.n))
	}
	p, err := a.prepare(ctx, store, filepath.Join(dir, agentDemo, "spec.yaml"), f.run.plan)
	if err != nil {
		return err
	}
	items, err := quizItems(p.doc.Spec.Dataset.Quiz)
	if err != nil {
		return err
	}
	url, stop, err := serveQuiz(items)
	if err != nil {
		return err
	}
	if f.run.worker.served, err = agentEndpoints(url); err != nil {
		return errors.Join(err, stop())
	}
	o, err := a.runPlanned(ctx, store, p, f.run)
	if err := errors.Join(err, stop()); err != nil {
		return err
	}
	return a.printOutcome(ctx, o.store, o.receipt, o.summary)
}

// quizItems draws the questions of a spec.
func quizItems(q *experiments.Quiz) ([]xragent.Item, error) {
	if q == nil {
		return nil, errors.New("the demo's spec draws no quiz")
	}
	var items []xragent.Item
	for n := range q.Pictures {
		s, err := quiz.Draw(q.Seed, quiz.Split(q.Split), n)
		if err != nil {
			return nil, err
		}
		items = append(items, s.Items...)
	}
	return items, nil
}

// serveQuiz answers for the demo's policies on a free port of this machine.
func serveQuiz(items []xragent.Item) (url string, stop func() error, err error) {
	const name = agentProfiles + "/xragent.yaml"
	data, err := experiments.Files.ReadFile(name)
	if err != nil {
		return "", nil, err
	}
	profile, err := responder.ParseProfile(name, data)
	if err != nil {
		return "", nil, err
	}
	questions, err := responder.NewQuestions(items, nil)
	if err != nil {
		return "", nil, err
	}
	r, err := responder.New(responder.Options{Profile: profile, Questions: questions})
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		// Serve ends when stop does, or when the listener fails: requests fail then.
		_ = server.Serve(listener)
	}()
	return "http://" + listener.Addr().String() + "/v1", server.Close, nil
}

// agentEndpoints says that every card of the demo is answered at an address.
func agentEndpoints(url string) (*endpoint.Set, error) {
	const folder = agentDemo + "/models"
	files, err := experiments.Files.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	models := map[string]string{}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".yaml")
		models[name] = name
	}
	return &endpoint.Set{Endpoints: []endpoint.Card{{
		Name: "simulator", Adapter: "openai", URL: url, Models: models,
		Limits:      endpoint.Limits{Concurrency: 32, Timeout: time.Minute},
		Attestation: datause.Attestation{Local: true},
	}}}, nil
}
