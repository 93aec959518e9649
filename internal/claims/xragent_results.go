package claims

import (
	"encoding/json"
	"fmt"

	"cxrepro/internal/xragent/analysis"
	"cxrepro/internal/xragent/tables"
)

// ResultsOf turns figures that outcomes of X-Ragent gave into what claims are checked against.
func ResultsOf(figures map[string]analysis.Figure) AgentResults {
	out := AgentResults{}
	for id, f := range figures {
		r := AgentResult{K: f.Counted.K, N: f.Counted.N, Open: f.Open, Why: f.Why}
		if f.Known {
			r.Value = &f.Value
		}
		if f.HasInterval {
			r.Interval = &[2]float64{f.Low, f.High}
		}
		if n := f.Repeated; n != nil {
			r.Flips = &Flips{Pairs: n.Pairs, Questions: n.Questions, Split: n.Split}
		}
		out[id] = r
	}
	return out
}

// Figure implements tables.Beside: what the paper prints, and the verdict on ours.
func (c *Checked) Figure(id string) (tables.Comparison, bool) {
	for _, list := range [][]Result{c.Results, c.Others} {
		for i := range list {
			if list[i].Claim.ID == XRagent+"/"+id {
				r := &list[i]
				return tables.Comparison{Printed: r.Claim.Printed, Derived: r.Claim.Derived, Verdict: r.Verdict, Why: r.Why}, true
			}
		}
	}
	return tables.Comparison{}, false
}

// Constants implements tables.Beside: the settings that the paper prints.
func (c *Checked) Constants() ([]tables.Setting, error) {
	var f struct {
		Constants []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
			Where string          `json:"where"`
		} `json:"constants"`
	}
	if err := read("xragent/claims/figures.json", &f); err != nil {
		return nil, err
	}
	var out []tables.Setting
	for _, k := range f.Constants {
		var text string
		if json.Unmarshal(k.Value, &text) != nil {
			text = string(k.Value)
		}
		out = append(out, tables.Setting{Name: k.Name, Value: text, Where: k.Where})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("claims: xragent/claims/figures.json: constants is empty")
	}
	return out, nil
}

var _ tables.Beside = (*Checked)(nil)
