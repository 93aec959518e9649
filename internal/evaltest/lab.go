package evaltest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cxrepro/activities"
	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/endpoint"
	"cxrepro/internal/lvlm/openai"
	"cxrepro/internal/responder"
)

// JudgeCard is the name of the judge's card.
const JudgeCard = "judge"

// Options say what is evaluated. The zero value asks an oracle about two cases of two tasks.
type Options struct {
	Tasks []cxreasonbench.Task
	Cases int
	// Models answer; each is a card of its own.
	Models []responder.Model
	// Judge answers the judge's prompts; zero means that replies are read by the parser.
	Judge *responder.Model
	// Sampling and Preset are the spec's; Sets are further changes of it.
	Sampling []string
	Preset   string
	Sets     []string
	// Faults is a fault script, "" for none.
	Faults string
	// Latency is how long a reply takes.
	Latency  time.Duration
	Reversed bool
	// Change, if set, changes model cards before they are pinned.
	Change func(c *experiments.ModelCard)
}

// Lab is a small evaluation, ready to be run.
type Lab struct {
	Store     *artifacts.Repository
	Plan      artifacts.Ref
	Spec      *experiments.Spec
	Manifest  contract.Benchmark
	Benchmark contract.BenchmarkResult
	Responder *responder.Responder
	// URL is where the responder answers.
	URL string

	gates map[string]*limit.Gate
	// text is the spec as a file.
	text  string
	rules cxreasonbench.Rules
}

// New stores benchmark and plan, and starts the responder for as long as the test runs.
func New(t testing.TB, store *artifacts.Repository, o Options) *Lab {
	t.Helper()
	o.defaults()
	l := &Lab{Store: store, gates: map[string]*limit.Gate{}}
	preset, ok := cxreasonbench.ParsePreset(o.Preset)
	if !ok {
		t.Fatalf("no preset %q", o.Preset)
	}
	rules, err := cxreasonbench.NewRules(preset, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	ref, manifest, err := Benchmark(ctx, store, rules, o.Tasks, o.Cases, o.Reversed)
	if err != nil {
		t.Fatal(err)
	}
	l.Manifest, l.rules = *manifest, rules
	if err := l.plan(ctx, o); err != nil {
		t.Fatal(err)
	}
	l.Benchmark = contract.BenchmarkResult{
		Benchmark: ref, Cases: len(manifest.Cases), Tasks: contract.TasksOf(manifest.Cases),
		Reproduction: contract.ReproductionID(l.Plan.Digest, ref.Digest),
	}
	models := o.Models
	if o.Judge != nil {
		models = append(append([]responder.Model{}, models...), *o.Judge)
	}
	bench, err := responder.ReadStored(ctx, *manifest, func(ctx context.Context, r artifacts.Ref) ([]byte, error) { return store.Get(ctx, r) })
	if err != nil {
		t.Fatal(err)
	}
	ro := responder.Options{Benchmark: bench, Profile: &responder.Profile{Format: responder.ProfileFormat, Seed: 1, Models: models}, Latency: o.Latency}
	if o.Faults != "" {
		if ro.Faults, err = responder.ParseFaults("faults.yaml", []byte(o.Faults)); err != nil {
			t.Fatal(err)
		}
	}
	if l.Responder, err = responder.New(ro); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(l.Responder)
	t.Cleanup(server.Close)
	l.URL = server.URL + "/v1/"
	for _, m := range models {
		l.gates[m.Name] = limit.New(limit.Options{Limits: limit.Limits{Concurrency: 64}, Now: time.Now})
	}
	return l
}

func (o *Options) defaults() {
	if len(o.Tasks) == 0 {
		o.Tasks = cxreasonbench.Tasks()[:2]
	}
	if o.Cases == 0 {
		o.Cases = 2
	}
	if len(o.Models) == 0 {
		o.Models = []responder.Model{{Name: "oracle", Behaviour: responder.Oracle}}
	}
	if len(o.Sampling) == 0 {
		o.Sampling = []string{experiments.Greedy}
	}
	if o.Preset == "" {
		o.Preset = "corrected"
	}
}

// plan stores the plan of a spec that takes its benchmark as it is.
func (l *Lab) plan(ctx context.Context, o Options) error {
	var cards []experiments.ModelCard
	var paths []string
	for _, m := range o.Models {
		c, err := card(m.Name)
		if err != nil {
			return err
		}
		if o.Change != nil {
			o.Change(c)
		}
		cards, paths = append(cards, *c), append(paths, m.Name+".yaml")
	}
	pins := experiments.Pins{Models: cards}
	judge, scoring := "", experiments.ScoringParser
	if o.Judge != nil {
		c, err := card(o.Judge.Name)
		if err != nil {
			return err
		}
		if o.Change != nil {
			o.Change(c)
		}
		judge, scoring, pins.Judge = "\n  judge: "+o.Judge.Name+".yaml", experiments.ScoringJudge, c
	}
	l.text = fmt.Sprintf(`name: asked
paper: CXReasonBench
preset: %s
dataset: {name: made, layout: cxreasonbench, data_use: synthetic}
benchmark: {source: release, radiographs: made, counts: any}
evaluation:
  models: [%s]%s
  scoring: %s
  sampling: [%s]
  paths: [path1, path2]
  seed: 42
  bootstrap: 20
`, o.Preset, strings.Join(paths, ", "), judge, scoring, strings.Join(o.Sampling, ", "))
	var err error
	if l.Spec, err = experiments.Parse("asked.yaml", []byte(l.text), o.Sets...); err != nil {
		return err
	}
	pack := cxreasonbench.Prompts()
	if pins.Prompts, err = l.Store.Put(ctx, pack.Bytes(), "application/yaml"); err != nil {
		return err
	}
	p, err := experiments.Pin(l.Spec, pins)
	if err != nil {
		return err
	}
	data, err := p.Encode()
	if err != nil {
		return err
	}
	l.Plan, err = l.Store.Put(ctx, data, experiments.PlanMediaType)
	return err
}

// card is the model card of a simulated model.
func card(name string) (*experiments.ModelCard, error) {
	return experiments.ParseModelCard(name+".yaml", []byte(cardText(name)))
}

func cardText(name string) string {
	return fmt.Sprintf(`name: %s
title: %s (simulated)
adapter: openai
identity: {provider: responder, snapshot: %s}
pictures: original
greedy: {temperature: 0, top_p: 1, max_tokens: 512, seed: 0}
draws: {temperature: 0.7, top_p: 0.95, max_tokens: 512, seed: 0}
retries: 1
simulated: true
`, name, name, name)
}

// Endpoint is activities.Options.Endpoint.
func (l *Lab) Endpoint(name string) (*activities.AskEndpoint, error) {
	gate, ok := l.gates[name]
	if !ok {
		return nil, fmt.Errorf("no endpoint serves %s", name)
	}
	asker, err := openai.New(openai.Options{Endpoint: "responder", URL: l.URL, Model: name, Timeout: 10 * time.Second, Concurrency: 64})
	if err != nil {
		return nil, err
	}
	return &activities.AskEndpoint{
		Name: "responder", Asker: asker, Gate: gate, Attestation: datause.Attestation{Local: true}, Timeout: 10 * time.Second,
	}, nil
}

// Endpoints are the endpoint cards that a worker takes.
func (l *Lab) Endpoints() *endpoint.Set {
	models := map[string]string{}
	for name := range l.gates {
		models[name] = name
	}
	return &endpoint.Set{Endpoints: []endpoint.Card{{
		Name: "responder", Adapter: lvlm.OpenAI, URL: l.URL, Models: models,
		Limits:      endpoint.Limits{Concurrency: 16, Timeout: 10 * time.Second},
		Price:       &endpoint.Price{Currency: "USD", Input: 2, Output: 8},
		Attestation: datause.Attestation{Local: true},
	}}}
}

// Input is the input of a reproduction that begins with the benchmark.
func (l *Lab) Input(queue string, tuning contract.Tuning) contract.ReproductionInput {
	return contract.ReproductionInput{
		Common: contract.Common{
			Plan: l.Plan, Spec: contract.SpecID(l.Plan.Digest), Paper: l.Spec.Paper, DataUse: l.Spec.Dataset.DataUse,
			Queue: queue, Tuning: tuning, Benchmark: experiments.SourceRelease,
		},
		Reproduction: l.Benchmark.Reproduction, Launched: time.Now(), Benchmark: &l.Benchmark,
		Ingest: contract.IngestResult{Manifest: contract.ManifestResult{Manifest: l.Benchmark.Benchmark, Reproduction: l.Benchmark.Reproduction}},
	}
}
