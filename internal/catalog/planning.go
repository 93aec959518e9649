package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"cxrepro/artifacts"
)

// Entry is what the catalog says of a key that has an entry in the index.
type Entry struct {
	Result artifacts.Ref
	// Reproduction computed it.
	Reproduction string
}

// Shelf answers many questions about keys that have an entry: it spells out the names that
// entries share once. It serves one goroutine.
type Shelf struct {
	c     *Catalog
	names map[int64]string
}

// NewShelf returns a shelf of the catalog.
func (c *Catalog) NewShelf() *Shelf { return &Shelf{c: c, names: map[int64]string{0: ""}} }

const entryQuery = `SELECT k.digest, s.result, s.size, s.media, s.reproduction FROM steps s JOIN digests k ON k.id = s.key `

// Present returns those of the keys that have an entry, by key. Many keys at once are cheaper
// than the same keys a few at a time: they are looked up in the order in which they lie.
func (s *Shelf) Present(ctx context.Context, keys []artifacts.Digest) (map[artifacts.Digest]Entry, error) {
	asked := make(map[artifacts.Digest]bool, len(keys))
	for _, k := range keys {
		asked[k] = true
	}
	var rows []shelved
	for chunk := range slices.Chunk(numbersOf(keys), atOnce) {
		err := s.read(ctx, func(r shelved) {
			if asked[r.key] {
				rows = append(rows, r)
			}
		}, entryQuery+`WHERE s.removed = 0 AND s.key IN (`+marks(len(chunk))+`)`, anys(chunk)...)
		if err != nil {
			return nil, err
		}
	}
	return s.entries(ctx, rows)
}

// All returns every key of a step that has an entry.
func (s *Shelf) All(ctx context.Context, step string) (map[artifacts.Digest]Entry, error) {
	var rows []shelved
	err := s.read(ctx, func(r shelved) { rows = append(rows, r) }, entryQuery+`WHERE s.removed = 0 AND s.step = ?`, nameNumber(step))
	if err != nil {
		return nil, err
	}
	return s.entries(ctx, rows)
}

// shelved is a row of a key with what is not spelled out yet.
type shelved struct {
	key                 artifacts.Digest
	result, size        int64
	media, reproduction int64
}

func (s *Shelf) read(ctx context.Context, fn func(shelved), query string, args ...any) error {
	return s.c.rows(ctx, func(r *sql.Rows) error {
		var one shelved
		var key sql.RawBytes
		err := r.Scan(&key, &one.result, &one.size, &one.media, &one.reproduction)
		if err == nil {
			one.key, err = digestOf(key)
		}
		if err == nil {
			fn(one)
		}
		return err
	}, query, args...)
}

// entries spells rows out, results in the order of their numbers.
func (s *Shelf) entries(ctx context.Context, rows []shelved) (map[artifacts.Digest]Entry, error) {
	slices.SortFunc(rows, func(x, y shelved) int { return cmp.Compare(x.result, y.result) })
	out := make(map[artifacts.Digest]Entry, len(rows))
	for chunk := range slices.Chunk(rows, atOnce) {
		ids := make([]int64, len(chunk))
		for i, r := range chunk {
			ids[i] = r.result
		}
		ids = slices.Compact(ids)
		digests := make(map[int64]artifacts.Digest, len(ids))
		err := s.c.rows(ctx, func(r *sql.Rows) error {
			var id int64
			var digest sql.RawBytes
			err := r.Scan(&id, &digest)
			if err == nil {
				digests[id], err = digestOf(digest)
			}
			return err
		}, `SELECT id, digest FROM digests WHERE id IN (`+marks(len(ids))+`)`, anys(ids)...)
		if err != nil {
			return nil, err
		}
		for _, r := range chunk {
			e := Entry{Result: artifacts.Ref{Digest: digests[r.result], Size: r.size}}
			if e.Result.MediaType, err = s.name(ctx, r.media); err == nil {
				e.Reproduction, err = s.name(ctx, r.reproduction)
			}
			if err != nil {
				return nil, err
			}
			out[r.key] = e
		}
	}
	return out, nil
}

func (s *Shelf) name(ctx context.Context, id int64) (string, error) {
	if n, ok := s.names[id]; ok {
		return n, nil
	}
	var n string
	err := s.c.db.QueryRowContext(ctx, `SELECT name FROM names WHERE id = ?`, id).Scan(&n)
	if err == nil {
		s.names[id] = n
	}
	return n, err
}

// Users counts the keys of a step, with an entry or without, that used a material.
func (c *Catalog) Users(ctx context.Context, material artifacts.Digest, step string) (n int, err error) {
	err = c.db.QueryRowContext(ctx, `SELECT count(DISTINCT l.via) FROM links l JOIN steps s ON s.key = l.via WHERE l.dst = ? AND s.step = ?`,
		number(material), nameNumber(step)).Scan(&n)
	return n, err
}

// Near returns keys of a step that are like one that has no entry: those that share most
// materials, and the latest, at most limit of each.
func (c *Catalog) Near(ctx context.Context, step string, materials []artifacts.Digest, limit int) ([]Step, error) {
	mine := make([]int64, len(materials))
	for i, m := range materials {
		mine[i] = number(m)
	}
	found, err := c.sharing(ctx, Step{Key: artifacts.Key{Step: step}, Started: time.Unix(0, 1<<62)}, mine, limit)
	if err != nil {
		return nil, err
	}
	latest, err := c.steps(ctx, stepQuery+`WHERE s.step = ? AND s.removed = 0 ORDER BY s.finished DESC, s.key LIMIT ?`, nameNumber(step), limit)
	for _, s := range latest {
		if !slices.ContainsFunc(found, func(f Step) bool { return f.Key == s.Key }) {
			found = append(found, s)
		}
	}
	return found, err
}

// Spread is the smallest, the mean and the largest of recorded values.
type Spread struct {
	Low, Mean, High float64
}

// Times is how long the keys of a step took.
type Times struct {
	Keys    int64
	Seconds Spread
}

// Durations returns how long the keys of every step took, as their statements say.
func (c *Catalog) Durations(ctx context.Context) (map[string]Times, error) {
	out := map[string]Times{}
	err := c.rows(ctx, func(r *sql.Rows) error {
		var step string
		var t Times
		if err := r.Scan(&step, &t.Keys, &t.Seconds.Low, &t.Seconds.Mean, &t.Seconds.High); err != nil {
			return err
		}
		out[step] = t
		return nil
	}, `SELECT n.name, count(*), min(s.finished - s.started) / 1e9, avg(s.finished - s.started) / 1e9, max(s.finished - s.started) / 1e9
		FROM steps s JOIN names n ON n.id = s.step WHERE s.started > 0 AND s.finished >= s.started GROUP BY n.name`)
	return out, err
}

// CallCost is what recorded calls of one model card took, each with every attempt. Cost is in
// millionths of the currency.
type CallCost struct {
	Model, Kind, Currency            string
	Calls                            int64
	Prompt, Completion, Cost, Second Spread
}

// CallCosts sums recorded calls that were sent by model card, kind and currency.
func (c *Catalog) CallCosts(ctx context.Context) (out []CallCost, err error) {
	err = c.rows(ctx, func(r *sql.Rows) error {
		var k CallCost
		p, o, m, s := &k.Prompt, &k.Completion, &k.Cost, &k.Second
		if err := r.Scan(&k.Model, &k.Kind, &k.Currency, &k.Calls, &p.Low, &p.Mean, &p.High, &o.Low, &o.Mean, &o.High, &m.Low, &m.Mean, &m.High, &s.Low, &s.Mean, &s.High); err != nil {
			return err
		}
		out = append(out, k)
		return nil
	}, `SELECT coalesce(m.name, ''), coalesce(k.name, ''), coalesce(u.name, ''), count(*), min(c.prompt), avg(c.prompt), max(c.prompt),
		min(c.completion), avg(c.completion), max(c.completion), min(c.cost), avg(c.cost), max(c.cost),
		min(s.finished - s.started) / 1e9, avg(s.finished - s.started) / 1e9, max(s.finished - s.started) / 1e9
		FROM calls c JOIN steps s ON s.key = c.key LEFT JOIN names m ON m.id = c.model LEFT JOIN names k ON k.id = c.kind LEFT JOIN names u ON u.id = c.currency
		WHERE c.sent > 0 AND s.finished >= s.started GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`)
	return out, err
}
