package catalog

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"cxrepro/artifacts"
)

// Artifact is what a catalog knows of a digest beside its links.
type Artifact struct {
	// Ref has size and media type where a key or a document says so.
	Ref artifacts.Ref
	// Steps are the keys that gave it.
	Steps []Step
	// Parameter is set where it is one; it lies in no store.
	Parameter *Parameter
	// Used are names under which steps used it, where no step gave it and it is no parameter.
	Used []string
}

// Describe returns what is known of some artifacts, in the same order.
func (c *Catalog) Describe(ctx context.Context, ds []artifacts.Digest) ([]Artifact, error) {
	out := make([]Artifact, len(ds))
	places := map[int64][]int{}
	for i, d := range ds {
		out[i].Ref.Digest = d
		places[number(d)] = append(places[number(d)], i)
	}
	for chunk := range slices.Chunk(numbersOf(ds), atOnce) {
		in, args := `IN (`+marks(len(chunk))+`)`, anys(chunk)
		steps, err := c.steps(ctx, stepQuery+`WHERE s.result `+in+` ORDER BY s.finished, s.key`, args...)
		if err != nil {
			return nil, err
		}
		for _, s := range steps {
			for _, i := range places[number(s.Result.Digest)] {
				out[i].Steps, out[i].Ref = append(out[i].Steps, s), s.Result
			}
		}
		err = c.rows(ctx, func(rows *sql.Rows) error {
			var id, size int64
			var media string
			err := rows.Scan(&id, &size, &media)
			for _, i := range places[id] {
				if out[i].Ref.MediaType == "" {
					out[i].Ref.Size, out[i].Ref.MediaType = size, media
				}
			}
			return err
		}, `SELECT b.id, b.size, n.name FROM blobs b JOIN names n ON n.id = b.media WHERE b.id `+in, args...)
		if err != nil {
			return nil, err
		}
		params, err := c.parameterRows(ctx, `WHERE p.id `+in, args...)
		if err != nil {
			return nil, err
		}
		for _, p := range params {
			for _, i := range places[number(p.Digest)] {
				out[i].Parameter = &p
			}
		}
	}
	for i := range out {
		if err := c.used(ctx, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// mostNames is how many names of one artifact are told.
const mostNames = 16

// used finds the names. A checkpoint may be used by very many keys, so the index is asked for
// one name after the other.
func (c *Catalog) used(ctx context.Context, a *Artifact) error {
	if len(a.Steps) > 0 || a.Parameter != nil {
		return nil
	}
	for after := int64(math.MinInt64); len(a.Used) < mostNames; {
		var next sql.NullInt64
		if err := c.db.QueryRowContext(ctx, `SELECT min(name) FROM links WHERE dst = ? AND name > ?`, number(a.Ref.Digest), after).Scan(&next); err != nil {
			return err
		}
		if !next.Valid {
			break
		}
		after = next.Int64
		if err := each(ctx, c.db, func(name string) error { a.Used = append(a.Used, name); return nil }, `SELECT name FROM names WHERE id = ?`, after); err != nil {
			return err
		}
	}
	slices.Sort(a.Used)
	return nil
}

// numbersOf returns the numbers of digests, each once, in ascending order.
func numbersOf(ds []artifacts.Digest) []int64 {
	ids := make([]int64, len(ds))
	for i, d := range ds {
		ids[i] = number(d)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Hops returns the links of some artifacts in one direction, at most limit in all; more is true
// when there are others.
func (c *Catalog) Hops(ctx context.Context, ds []artifacts.Digest, way Direction, limit int) (out []Link, more bool, err error) {
	from, _ := way.columns()
	for chunk := range slices.Chunk(numbersOf(ds), atOnce) {
		found, err := c.links(ctx, `WHERE l.`+from+` IN (`+marks(len(chunk))+`) ORDER BY `+way.order()+` LIMIT ?`, append(anys(chunk), limit-len(out)+1)...)
		if err != nil {
			return nil, false, err
		}
		out = append(out, found...)
		if len(out) > limit {
			return out[:limit], true, nil
		}
	}
	return out, false, nil
}

// Via returns what the statements of some keys link their results to.
func (c *Catalog) Via(ctx context.Context, keys []artifacts.Digest) (out []Link, err error) {
	for chunk := range slices.Chunk(numbersOf(keys), atOnce) {
		found, err := c.links(ctx, `WHERE l.via IN (`+marks(len(chunk))+`) ORDER BY l.via, l.dst, l.name`, anys(chunk)...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// StepsOf returns the steps of some keys, by number.
func (c *Catalog) StepsOf(ctx context.Context, keys []artifacts.Digest) (out []Step, err error) {
	for chunk := range slices.Chunk(numbersOf(keys), atOnce) {
		found, err := c.steps(ctx, stepQuery+`WHERE s.key IN (`+marks(len(chunk))+`) ORDER BY s.key`, anys(chunk)...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// Call is a model call as its statement tells it.
type Call struct {
	Step    Step
	Kind    string
	Model   string
	Outcome string
	Draw    int
}

// CallsOf returns the calls among some keys, by number.
func (c *Catalog) CallsOf(ctx context.Context, keys []artifacts.Digest) (out []Call, err error) {
	steps, err := c.StepsOf(ctx, keys)
	if err != nil {
		return nil, err
	}
	byKey := map[int64]Step{}
	for _, s := range steps {
		byKey[number(s.Key.Digest)] = s
	}
	for chunk := range slices.Chunk(numbersOf(keys), atOnce) {
		err := c.rows(ctx, func(rows *sql.Rows) error {
			var key int64
			var call Call
			err := rows.Scan(&key, &call.Kind, &call.Model, &call.Outcome, &call.Draw)
			call.Step = byKey[key]
			out = append(out, call)
			return err
		}, `SELECT c.key, coalesce(k.name, ''), coalesce(m.name, ''), coalesce(o.name, ''), c.draw FROM calls c LEFT JOIN names k ON k.id = c.kind
			LEFT JOIN names m ON m.id = c.model LEFT JOIN names o ON o.id = c.outcome WHERE c.key IN (`+marks(len(chunk))+`) ORDER BY c.key`, anys(chunk)...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Cards lists the names of the model cards that calls were made with, each with the models that
// answered for it: their weights, or what they are known by.
func (c *Catalog) Cards(ctx context.Context) (cards map[string][]artifacts.Digest, err error) {
	cards = map[string][]artifacts.Digest{}
	err = c.rows(ctx, func(rows *sql.Rows) error {
		var name string
		var digest []byte
		if err := rows.Scan(&name, &digest); err != nil {
			return err
		}
		d, err := digestOf(digest)
		cards[name] = append(cards[name], d)
		return err
	}, `SELECT n.name, d.digest FROM (SELECT DISTINCT c.model AS card, l.dst AS id FROM calls c JOIN links l ON l.via = c.key WHERE l.name = ?) x
		JOIN names n ON n.id = x.card JOIN digests d ON d.id = x.id ORDER BY n.name, d.digest`, nameNumber(LinkModel))
	return cards, err
}
