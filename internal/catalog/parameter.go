package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"cxrepro/artifacts"
)

// Names of links to what a key says beside its inputs. A threshold row or a switch, the decoding
// of a call, a model that is known by no weights: each is an artifact of its own, the canonical
// text {"name","value"}, which lies in no store. The system message and the question of a call
// are known by the digest of their text.
const (
	LinkParameter = "parameter"
	LinkModel     = "model"
	LinkPrompt    = "prompt"
	LinkQuestion  = "question"
)

// Bounds of what is taken of one key.
const (
	mostParameters   = 256
	longestParameter = 4096
)

// Parameter is a name with a value that keys depend on. Value is canonical JSON.
type Parameter struct {
	Digest artifacts.Digest `json:"digest"`
	Name   string           `json:"name"`
	Value  string           `json:"value"`
	// Keys counts the keys that depend on it.
	Keys int64 `json:"keys"`
}

// NewParameter returns a parameter with its digest.
//
// Errors: a value that has no canonical text.
func NewParameter(name string, value any) (Parameter, error) {
	text, err := artifacts.Canonical(value)
	if err != nil {
		return Parameter{}, err
	}
	p := Parameter{Name: name, Value: string(text)}
	whole, err := artifacts.Canonical(map[string]any{"name": name, "value": json.RawMessage(text)})
	p.Digest = artifacts.Sum(whole)
	return p, err
}

// params is what a catalog reads of a key document's parameters: rows and switches one by one,
// the decoding and the model of a call as a whole. Others (positions, addresses of pictures,
// sizes) are as many as there are keys, and say what other links say.
type params struct {
	rows, switches  map[string]json.RawMessage
	decoding, model json.RawMessage
	// weights is the digest by which the model is known; zero where it is another name.
	weights artifacts.Digest
	draw    int
}

// UnmarshalJSON never fails: steps may give the same names to other things.
func (p *params) UnmarshalJSON(data []byte) error {
	var raw struct {
		Rows, Switches, Decoding, Model, Draw json.RawMessage
	}
	if json.Unmarshal(data, &raw) != nil {
		return nil
	}
	read := func(from json.RawMessage, into any) bool { return len(from) > 0 && json.Unmarshal(from, into) == nil }
	read(raw.Rows, &p.rows)
	read(raw.Switches, &p.switches)
	read(raw.Draw, &p.draw)
	p.decoding = raw.Decoding
	var m struct {
		Weights artifacts.Digest `json:"weights"`
	}
	if read(raw.Model, &m) {
		p.model, p.weights = raw.Model, m.Weights
	}
	return nil
}

// parameters links a result to the parameters of its key.
func (b *batch) parameters(key, result int64, p *params) {
	taken := 0
	add := func(link string, name string, value json.RawMessage) {
		if taken == mostParameters || len(value) == 0 || len(value) > longestParameter {
			return
		}
		// A key document is canonical, so its values are; one that is not belongs to no key.
		if v, err := NewParameter(name, value); err == nil {
			taken++
			b.link(result, v.Digest, key, link)
			b.name(name)
			b.known[v.Digest] = v
		}
	}
	each := func(prefix string, values map[string]json.RawMessage) {
		names := make([]string, 0, len(values))
		for name := range values {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			add(LinkParameter, prefix+name, values[name])
		}
	}
	each("", p.rows)
	each("switches.", p.switches)
	add(LinkParameter, "decoding", p.decoding)
	if !p.weights.IsZero() {
		b.link(result, p.weights, key, LinkModel)
	} else {
		add(LinkModel, "model", p.model)
	}
}

// input is one input of a key document.
type input struct {
	Name   string           `json:"name"`
	Digest artifacts.Digest `json:"digest"`
}

// messages links the answer of a call to its system message and to its question, the last
// message of the user. Inputs are named by place and side, as 03.user.
func (b *batch) messages(key, result int64, inputs []input) {
	last := input{}
	for _, in := range inputs {
		place, side, ok := strings.Cut(in.Name, ".")
		switch {
		case !ok || place == "" || strings.Trim(place, "0123456789") != "":
		case side == "system":
			b.link(result, in.Digest, key, LinkPrompt)
		case side == "user" && later(in.Name, last.Name):
			last = in
		}
	}
	if last.Name != "" {
		b.link(result, last.Digest, key, LinkQuestion)
	}
}

// later compares places that may have more digits than two.
func later(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

// Parameters returns the values that a parameter has in the store, by value.
func (c *Catalog) Parameters(ctx context.Context, name string) ([]Parameter, error) {
	return c.parameterRows(ctx, `WHERE p.name = ?`, nameNumber(name))
}

// ParameterNames lists the names of all parameters.
func (c *Catalog) ParameterNames(ctx context.Context) (names []string, err error) {
	err = each(ctx, c.db, func(name string) error { names = append(names, name); return nil },
		`SELECT DISTINCT n.name FROM parameters p JOIN names n ON n.id = p.name ORDER BY n.name`)
	return names, err
}

func (c *Catalog) parameterRows(ctx context.Context, where string, args ...any) (out []Parameter, err error) {
	err = c.rows(ctx, func(rows *sql.Rows) error {
		var p Parameter
		var digest []byte
		if err := rows.Scan(&digest, &p.Name, &p.Value, &p.Keys); err != nil {
			return err
		}
		var err error
		p.Digest, err = digestOf(digest)
		out = append(out, p)
		return err
	}, `SELECT d.digest, n.name, p.value, (SELECT count(*) FROM links l WHERE l.dst = p.id) FROM parameters p
		JOIN digests d ON d.id = p.id JOIN names n ON n.id = p.name `+where+` ORDER BY n.name, p.value`, args...)
	return out, err
}
