package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cxrepro/experiments"
	"cxrepro/internal/datause"
	"cxrepro/internal/lvlm/endpoint"
)

// readEndpoints reads the file of endpoint cards that a flag names.
func (f *workerFlags) readEndpoints() error {
	if f.onlyRecorded && f.endpoints != "" {
		return usageError("leave one of them out", "--recorded and --endpoints contradict each other")
	}
	if f.endpoints == "" || f.served != nil {
		return nil
	}
	set, err := endpoint.Load(f.endpoints)
	if err != nil {
		return usageError("docs/endpoints.md describes the file; nothing was started", "--endpoints: %v", err)
	}
	f.served = set
	return nil
}

// needEndpoints refuses a run that would ask a model which this process cannot reach, may not
// send such data to, or cannot keep the budget of. The same is checked before every call; here
// nothing was begun yet.
func needEndpoints(p *experiments.Plan, f workerFlags, budget int64) error {
	if f.onlyRecorded {
		return nil
	}
	class, err := datause.Parse(p.Spec.Dataset.DataUse)
	if err != nil {
		return usageError("correct dataset.data_use", "%v", err)
	}
	var missing []string
	for _, card := range modelCards(p) {
		var e *endpoint.Card
		if f.served != nil {
			e, _ = f.served.For(card.Name)
		}
		if e == nil {
			missing = append(missing, card.Name)
			continue
		}
		if err := fitEndpoint(e, card, class, budget); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		return usageError("add --endpoints FILE with an endpoint for each (docs/endpoints.md), or --recorded to answer from what is recorded",
			"no endpoint serves %s%s", strings.Join(missing, ", "), strangers(p, f.served))
	}
	return needSegmenter(p, f.served, class)
}

// needSegmenter refuses a run whose tools would ask a text-prompted segmenter that this process
// cannot reach, or may not send such data to.
func needSegmenter(p *experiments.Plan, served *endpoint.Set, class datause.Class) error {
	if p.Spec.Agent == nil || p.Spec.Agent.Segmenter == "" {
		return nil
	}
	model := p.Spec.Agent.Segmenter
	var s *endpoint.Segmenter
	if served != nil {
		s, _ = served.Segmenter(model)
	}
	if s == nil {
		return usageError("add it under segmenters in the file of --endpoints (docs/endpoints.md), leave agent.segmenter out, or --recorded to answer from what is recorded",
			"agent.segmenter: no service serves %s", model)
	}
	return reachable("segmenter "+s.Name, s.CredentialEnv, s.Attestation, class)
}

// reachable refuses a place that lacks its credential, or that such data may not be sent to.
func reachable(name, credentialEnv string, vouched datause.Attestation, class datause.Class) error {
	if credentialEnv != "" && os.Getenv(credentialEnv) == "" {
		return usageError("export it in the shell that runs this command", "%s takes its credential from %s, which is not set", name, credentialEnv)
	}
	err := datause.AllowEndpoint(class, vouched, time.Now())
	var denied *datause.DeniedError
	if errors.As(err, &denied) {
		return usageError("state under attestation in the endpoint card what the operator vouches for, with date and reference, or choose an endpoint of your own",
			"data of class %s may not be sent to %s: %v", class, name, err)
	}
	return err
}

// fitEndpoint refuses an endpoint that cannot be asked as the card wants, or with such data or
// budget.
func fitEndpoint(e *endpoint.Card, card *experiments.ModelCard, class datause.Class, budget int64) error {
	if e.AdapterVersion() != card.AdapterVersion() {
		return usageError("name the endpoint that speaks it, or the card that fits", "endpoint %s speaks %s, and model card %s wants %s", e.Name, e.Adapter, card.Name, card.Adapter)
	}
	if budget > 0 && e.Price == nil {
		return usageError("state a price in its card, 0 where it costs nothing (docs/endpoints.md), or leave --budget out",
			"endpoint %s, which serves %s, states no price, so a budget cannot be kept", e.Name, card.Name)
	}
	return reachable("endpoint "+e.Name, e.CredentialEnv, e.Attestation, class)
}

// mayReceive refuses a plan one of whose cards is served where its data may not go.
func mayReceive(p *experiments.Plan, set *endpoint.Set) error {
	class, err := datause.Parse(p.Spec.Dataset.DataUse)
	if err != nil {
		return usageError("correct dataset.data_use", "%v", err)
	}
	for _, card := range modelCards(p) {
		if e, _ := set.For(card.Name); e != nil {
			// A plan sends nothing, so that it needs no credential.
			if err := reachable("endpoint "+e.Name, "", e.Attestation, class); err != nil {
				return err
			}
		}
	}
	return nil
}

// strangers names what endpoints serve that the plan does not ask: a missing model is often one
// of them, mistyped.
func strangers(p *experiments.Plan, served *endpoint.Set) string {
	if served == nil {
		return ""
	}
	var names []string
	cards := modelCards(p)
	for i := range served.Endpoints {
		for _, name := range served.Endpoints[i].Served() {
			if !slices.ContainsFunc(cards, func(c *experiments.ModelCard) bool { return c.Name == name }) {
				names = append(names, fmt.Sprintf("%s (endpoint %s)", name, served.Endpoints[i].Name))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; served, and no model card of the spec: " + strings.Join(names, ", ")
}

// modelCards are the models that a plan asks, the judge last.
func modelCards(p *experiments.Plan) []*experiments.ModelCard {
	if p.Spec.Evaluation == nil && p.Spec.Agent == nil {
		return nil
	}
	var out []*experiments.ModelCard
	for i := range p.Models {
		out = append(out, &p.Models[i])
	}
	if p.Judge != nil {
		out = append(out, p.Judge)
	}
	if p.Lookup != nil {
		out = append(out, p.Lookup)
	}
	return out
}

// recordedCards are the cards that a run with --recorded answers from the ledger alone.
func recordedCards(p *experiments.Plan, f workerFlags) []string {
	if !f.onlyRecorded {
		return nil
	}
	var out []string
	for _, c := range modelCards(p) {
		out = append(out, c.Name)
	}
	return out
}
