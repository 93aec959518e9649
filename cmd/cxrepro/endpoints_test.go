package main

import (
	"errors"
	"strings"
	"testing"

	"cxrepro/experiments"
	"cxrepro/internal/lvlm/endpoint"
)

// TestNeedEndpoints holds that a mistyped model and a budget that cannot be kept are said before
// anything starts.
func TestNeedEndpoints(t *testing.T) {
	plan := &experiments.Plan{
		Spec:   experiments.Spec{Dataset: experiments.Dataset{DataUse: "synthetic"}, Evaluation: &experiments.Evaluation{}},
		Models: []experiments.ModelCard{{Name: "model-a", Adapter: "openai"}}, Judge: &experiments.ModelCard{Name: "judge", Adapter: "openai"},
	}
	cards := func(model, price string) *endpoint.Set {
		set, err := endpoint.Parse("endpoints.yaml", []byte("endpoints:\n- name: here\n  adapter: openai\n  url: http://127.0.0.1:1/v1\n  models: {"+model+": m, judge: j}\n"+
			"  limits: {concurrency: 1, timeout: 1s}\n  attestation: {local: true}\n"+price))
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	const price = "  price: {currency: USD, input: 0, output: 0}\n"
	for name, c := range map[string]struct {
		served *endpoint.Set
		budget int64
		want   string
	}{
		"sound":             {cards("model-a", price), 1, ""},
		"no price needed":   {cards("model-a", ""), 0, ""},
		"budget, no price":  {cards("model-a", ""), 1, "endpoint here, which serves model-a, states no price"},
		"mistyped":          {cards("modle-a", price), 0, "no endpoint serves model-a; served, and no model card of the spec: modle-a (endpoint here)"},
		"no endpoints file": {nil, 0, "no endpoint serves model-a, judge"},
	} {
		err := needEndpoints(plan, workerFlags{served: c.served}, c.budget)
		var usage *exitError
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.As(err, &usage) || usage.Code != exitUsage || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestNeedSegmenter: a run whose tools would ask words of a service is refused where there is
// none, or where such pictures may not go to it.
func TestNeedSegmenter(t *testing.T) {
	for name, c := range map[string]struct{ model, class, vouched, want string }{
		"sound":            {"words-1", "synthetic", "", ""},
		"sound and local":  {"words-1", "credentialed", "attestation: {local: true}", ""},
		"another version":  {"words-2", "synthetic", "", "agent.segmenter: no service serves words-2"},
		"nothing promised": {"words-1", "credentialed", "", "data of class credentialed may not be sent to segmenter here"},
	} {
		set, err := endpoint.Parse("endpoints.yaml", []byte("segmenters:\n- name: here\n  url: http://127.0.0.1:1/\n  model: words-1\n  timeout: 1s\n  "+c.vouched+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		plan := &experiments.Plan{Spec: experiments.Spec{Dataset: experiments.Dataset{DataUse: c.class}, Agent: &experiments.Agent{Segmenter: c.model}}}
		err = needEndpoints(plan, workerFlags{served: set}, 0)
		var usage *exitError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &usage) || usage.Code != exitUsage || !strings.HasPrefix(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err := needEndpoints(plan, workerFlags{onlyRecorded: true}, 0); err != nil {
			t.Errorf("%s, from the records: %v", name, err)
		}
	}
}

// TestRecordedAndEndpoints: --recorded leaves no room for a network.
func TestRecordedAndEndpoints(t *testing.T) {
	f := workerFlags{onlyRecorded: true, endpoints: "endpoints.yaml"}
	if err := f.readEndpoints(); err == nil || !strings.Contains(err.Error(), "--recorded and --endpoints contradict") {
		t.Errorf("got %v, want a refusal", err)
	}
}
