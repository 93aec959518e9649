package catalog

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
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

// side is whose message an input of a call is, where its name says a place and a side.
func side(name []byte) (side string, ok bool) {
	place, rest, ok := strings.Cut(string(name), ".")
	return rest, ok && place != "" && strings.Trim(place, "0123456789") == ""
}

// later compares places that may have more digits than two.
func later(a, b []byte) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return bytes.Compare(a, b) > 0
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
