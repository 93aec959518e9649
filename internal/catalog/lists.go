package catalog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"cxrepro/artifacts"
)

// Reproduction is what one reproduction computed itself; what it reused is another's.
type Reproduction struct {
	Name    string    `json:"reproduction"`
	Steps   int64     `json:"steps"`
	Calls   int64     `json:"calls"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
}

// Reproductions lists the reproductions whose statements are in the store, the latest first.
func (c *Catalog) Reproductions(ctx context.Context) (out []Reproduction, err error) {
	err = c.rows(ctx, func(rows *sql.Rows) error {
		var r Reproduction
		var from, to int64
		if err := rows.Scan(&r.Name, &r.Steps, &r.Calls, &from, &to); err != nil {
			return err
		}
		r.Started, r.Ended = time.Unix(0, from).UTC(), time.Unix(0, to).UTC()
		out = append(out, r)
		return nil
	}, `SELECT n.name, count(*), count(c.key), min(s.started), max(s.finished) FROM steps s JOIN names n ON n.id = s.reproduction
		LEFT JOIN calls c ON c.key = s.key GROUP BY n.name ORDER BY 5 DESC, 1`)
	return out, err
}

// CallSum sums the calls of one model with one outcome; cost is in millionths of the currency.
type CallSum struct {
	Model      string `json:"model"`
	Kind       string `json:"kind"`
	Outcome    string `json:"outcome"`
	Calls      int64  `json:"calls"`
	Sent       int64  `json:"requests"`
	Prompt     int64  `json:"prompt_tokens"`
	Completion int64  `json:"completion_tokens"`
	Cost       int64  `json:"cost_micros"`
	Currency   string `json:"currency,omitempty"`
}

// Calls sums the calls in the store by model, kind, outcome and currency.
func (c *Catalog) Calls(ctx context.Context) (out []CallSum, err error) {
	err = c.rows(ctx, func(rows *sql.Rows) error {
		var s CallSum
		err := rows.Scan(&s.Model, &s.Kind, &s.Outcome, &s.Currency, &s.Calls, &s.Sent, &s.Prompt, &s.Completion, &s.Cost)
		out = append(out, s)
		return err
	}, `SELECT coalesce(m.name, ''), coalesce(k.name, ''), coalesce(o.name, ''), coalesce(u.name, ''), count(*), sum(c.sent), sum(c.prompt), sum(c.completion), sum(c.cost)
		FROM calls c LEFT JOIN names m ON m.id = c.model LEFT JOIN names k ON k.id = c.kind LEFT JOIN names o ON o.id = c.outcome LEFT JOIN names u ON u.id = c.currency
		GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`)
	return out, err
}

// Used is something that steps used under one name: a checkpoint as "model", a data set as
// "manifest".
type Used struct {
	Digest artifacts.Digest `json:"digest"`
	Name   string           `json:"name"`
	Keys   int64            `json:"keys"`
}

// Materials lists what was used under a name, the most used first, at most limit.
func (c *Catalog) Materials(ctx context.Context, name string, limit int) (out []Used, err error) {
	err = c.rows(ctx, func(rows *sql.Rows) error {
		u := Used{Name: name}
		var digest []byte
		if err := rows.Scan(&digest, &u.Keys); err != nil {
			return err
		}
		u.Digest, err = digestOf(digest)
		out = append(out, u)
		return err
	}, `SELECT d.digest, count(DISTINCT l.via) FROM links l JOIN digests d ON d.id = l.dst WHERE l.name = ? AND l.via <> 0 GROUP BY d.id ORDER BY 2 DESC, 1 LIMIT ?`,
		nameNumber(name), limit)
	return out, err
}

func (c *Catalog) rows(ctx context.Context, fn func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Use counts what one reproduction computed itself with something.
type Use struct {
	Reproduction string `json:"reproduction"`
	Keys         int64  `json:"keys"`
}

// UsesOf counts by reproduction the keys that used a digest under a name, such as the calls of a
// checkpoint's weights under "model", in the order of the reproductions' names.
func (c *Catalog) UsesOf(ctx context.Context, d artifacts.Digest, name string) (out []Use, err error) {
	err = c.rows(ctx, func(rows *sql.Rows) error {
		var u Use
		err := rows.Scan(&u.Reproduction, &u.Keys)
		out = append(out, u)
		return err
	}, `SELECT coalesce(n.name, ''), count(DISTINCT l.via) FROM links l JOIN steps s ON s.key = l.via LEFT JOIN names n ON n.id = s.reproduction
		WHERE l.dst = ? AND l.name = ? GROUP BY 1 ORDER BY 1`, number(d), nameNumber(name))
	return out, err
}
