package onnx

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// placement tells which provider ran which nodes of a probe inference.
type placement struct {
	nodes map[string]int      // provider -> number of nodes
	ops   map[string][]string // provider -> operators, sorted, without repeats
}

// hostOps may run on the CPU beside another provider: they handle shapes, not pictures,
// and the runtime puts them there on purpose.
var hostOps = map[string]bool{
	"Shape": true, "Size": true, "Gather": true, "Slice": true, "Squeeze": true, "Unsqueeze": true, "Concat": true,
	"Cast": true, "Constant": true, "ConstantOfShape": true, "Range": true,
}

// parsePlacement reads a runtime profile: a JSON list of events, where an event of
// category Node with a provider is one execution of one node.
func parsePlacement(profile []byte) (placement, error) {
	var events []struct {
		Cat  string `json:"cat"`
		Name string `json:"name"`
		Args struct {
			Provider string `json:"provider"`
			Op       string `json:"op_name"`
		} `json:"args"`
	}
	if err := json.Unmarshal(profile, &events); err != nil {
		return placement{}, fmt.Errorf("onnx: read the probe's profile: %w", err)
	}
	p := placement{nodes: map[string]int{}, ops: map[string][]string{}}
	seen := map[string]bool{}
	for _, e := range events {
		if e.Cat != "Node" || e.Args.Provider == "" || !strings.HasSuffix(e.Name, "_kernel_time") {
			continue
		}
		p.nodes[e.Args.Provider]++
		if k := e.Args.Provider + "\x00" + e.Args.Op; !seen[k] {
			seen[k] = true
			p.ops[e.Args.Provider] = append(p.ops[e.Args.Provider], e.Args.Op)
		}
	}
	for _, ops := range p.ops {
		sort.Strings(ops)
	}
	return p, nil
}

// check tells whether the provider asked for computed the inference.
//
// Errors: *ProviderError.
func (p placement) check(asked Provider) error {
	want := runtimeNames[asked]
	if p.nodes[want] == 0 {
		return &ProviderError{Asked: asked, Why: "no node of the model ran on it", Placed: p.nodes}
	}
	providers := make([]string, 0, len(p.ops))
	for name := range p.ops {
		providers = append(providers, name)
	}
	sort.Strings(providers)
	for _, name := range providers {
		if name == want {
			continue
		}
		for _, op := range p.ops[name] {
			if !hostOps[op] {
				return &ProviderError{Asked: asked, Why: fmt.Sprintf("operator %s ran on %s", op, name), Placed: p.nodes}
			}
		}
	}
	return nil
}
