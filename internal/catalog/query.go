package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cxrepro/artifacts"
)

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// atOnce is how many numbers one question names.
const atOnce = 500

// marks returns "?,?,?".
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// numbers returns the first column of a query.
func numbers(ctx context.Context, q querier, query string, ids []int64) (out []int64, err error) {
	err = each(ctx, q, func(n int64) error { out = append(out, n); return nil }, query, anys(ids)...)
	return out, err
}

// each calls fn with the first column of every row.
func each[T any](ctx context.Context, q querier, fn func(T) error, query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return err
		}
		if err := fn(v); err != nil {
			return err
		}
	}
	return rows.Err()
}

func anys(ids []int64) []any {
	out := make([]any, len(ids))
	for i, id := range ids {
		out[i] = id
	}
	return out
}

// Counts returns what the catalog holds.
func (c *Catalog) Counts(ctx context.Context) (Counts, error) {
	var n Counts
	err := c.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM steps WHERE removed = 0), (SELECT count(*) FROM steps WHERE removed <> 0),
		(SELECT count(*) FROM calls), (SELECT count(*) FROM parameters), (SELECT count(*) FROM (SELECT result AS id FROM steps UNION SELECT src FROM links UNION SELECT dst FROM links) AS all_of_them),
		(SELECT count(*) FROM links)`).Scan(&n.Steps, &n.Removed, &n.Calls, &n.Named, &n.Artifacts, &n.Links)
	return n, err
}

// Find returns the digests that begin with the given 8 or more hexadecimal digits, at most
// limit: keys, results, statements, materials and documents alike.
func (c *Catalog) Find(ctx context.Context, hex string, limit int) (out []artifacts.Digest, err error) {
	low, high, err := span(hex)
	if err != nil {
		return nil, err
	}
	err = each(ctx, c.db, func(b []byte) error {
		if d, err := digestOf(b); err != nil {
			return err
		} else if strings.HasPrefix(d.Hex(), hex) {
			out = append(out, d)
		}
		return nil
	}, `SELECT digest FROM digests WHERE id BETWEEN ? AND ? ORDER BY digest LIMIT ?`, low, high, limit)
	return out, err
}

// span returns the numbers between which digests with the given first digits lie.
func span(hex string) (low, high int64, err error) {
	if len(hex) < 8 || len(hex) > 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return 0, 0, fmt.Errorf("find %q: want 8 to 64 lower-case hexadecimal digits", hex)
	}
	head := hex[:min(len(hex), 16)]
	first, err := strconv.ParseUint(head+strings.Repeat("0", 16-len(head)), 16, 64)
	return int64(first), int64(first | (1<<(4*(16-len(head))) - 1)), err
}

func digestOf(b []byte) (d artifacts.Digest, err error) {
	if len(b) != len(d) {
		return d, fmt.Errorf("the catalog holds a digest of %d bytes", len(b))
	}
	copy(d[:], b)
	return d, nil
}

// Step is one key with what its statement says.
type Step struct {
	Key          artifacts.Key
	Result       artifacts.Ref
	Statement    artifacts.Digest
	Reproduction string
	Worker       string
	// Code names the program: a commit, or the digest of the binary.
	Code     string
	Fence    int
	Started  time.Time
	Finished time.Time
	// Removed is true when garbage collection removed the entry.
	Removed bool
}

const stepQuery = `SELECT k.digest, n.name, r.digest, s.size, m.name, t.digest, coalesce(p.name, ''), coalesce(w.name, ''), coalesce(c.name, ''), s.fence, s.started, s.finished, s.removed
	FROM steps s JOIN digests k ON k.id = s.key JOIN names n ON n.id = s.step JOIN digests r ON r.id = s.result JOIN names m ON m.id = s.media
	JOIN digests t ON t.id = s.statement LEFT JOIN names p ON p.id = s.reproduction LEFT JOIN names w ON w.id = s.worker LEFT JOIN names c ON c.id = s.code `

// Steps returns the keys that gave an artifact as their result.
func (c *Catalog) Steps(ctx context.Context, result artifacts.Digest) ([]Step, error) {
	return c.steps(ctx, stepQuery+`WHERE s.result = ? ORDER BY s.finished, s.key`, number(result))
}

func (c *Catalog) steps(ctx context.Context, query string, args ...any) (out []Step, err error) {
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s Step
		var key, result, statement []byte
		var started, finished int64
		if err := rows.Scan(&key, &s.Key.Step, &result, &s.Result.Size, &s.Result.MediaType, &statement, &s.Reproduction, &s.Worker, &s.Code, &s.Fence, &started, &finished, &s.Removed); err != nil {
			return nil, err
		}
		var kerr, rerr, serr error
		s.Key.Digest, kerr = digestOf(key)
		s.Result.Digest, rerr = digestOf(result)
		s.Statement, serr = digestOf(statement)
		if err := errors.Join(kerr, rerr, serr); err != nil {
			return nil, err
		}
		s.Started, s.Finished = time.Unix(0, started).UTC(), time.Unix(0, finished).UTC()
		out = append(out, s)
	}
	return out, rows.Err()
}

// Direction says which way links are followed. The zero value is invalid.
type Direction uint8

// Directions: Down to what something depends on, Up to what depends on it.
const (
	Down Direction = iota + 1
	Up
)

// order is that of the index that finds links in a direction.
func (d Direction) order() string {
	if d == Up {
		return "l.dst, l.name, l.src, l.via"
	}
	return "l.src, l.dst, l.via, l.name"
}

func (d Direction) columns() (from, to string) {
	if d == Up {
		return "dst", "src"
	}
	return "src", "dst"
}

// Link is one step of lineage: From depends on To. Key is the computation whose statement says
// so and Name the material's name there; both are empty where From is a document that refers
// to To.
type Link struct {
	From, To artifacts.Digest
	Key      artifacts.Digest
	Name     string
}

// Hop returns the links of an artifact in one direction, at most limit.
func (c *Catalog) Hop(ctx context.Context, d artifacts.Digest, way Direction, limit int) (out []Link, err error) {
	from, _ := way.columns()
	return c.links(ctx, `WHERE l.`+from+` = ? ORDER BY `+way.order()+` LIMIT ?`, number(d), limit)
}

func (c *Catalog) links(ctx context.Context, which string, args ...any) (out []Link, err error) {
	rows, err := c.db.QueryContext(ctx, `SELECT a.digest, b.digest, k.digest, coalesce(n.name, '') FROM links l JOIN digests a ON a.id = l.src JOIN digests b ON b.id = l.dst
		LEFT JOIN digests k ON k.id = l.via LEFT JOIN names n ON n.id = l.name `+which, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var l Link
		var a, b, k []byte
		if err := rows.Scan(&a, &b, &k, &l.Name); err != nil {
			return nil, err
		}
		var aerr, berr, kerr error
		l.From, aerr = digestOf(a)
		l.To, berr = digestOf(b)
		if k != nil {
			l.Key, kerr = digestOf(k)
		}
		if err := errors.Join(aerr, berr, kerr); err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, rows.Err()
}

// Reach is what a closure found.
type Reach struct {
	// Nodes are the artifacts found, the start left out, nearest first and by number within
	// one distance.
	Nodes []artifacts.Digest
	// Depth is the distance of the farthest of them.
	Depth int
	// More is true when there is more than the limits allowed.
	More bool
}

// Closure follows links from an artifact in one direction, at most so far (0: any distance) and
// to at most so many artifacts (0: any number).
func (c *Catalog) Closure(ctx context.Context, start artifacts.Digest, way Direction, depth, limit int) (Reach, error) {
	var r Reach
	seen := map[int64]bool{number(start): true}
	var found []int64
	level := []int64{number(start)}
	from, to := way.columns()
	for len(level) > 0 {
		var next []int64
		for chunk := range slices.Chunk(level, atOnce) {
			ids, err := numbers(ctx, c.db, `SELECT DISTINCT `+to+` FROM links WHERE `+from+` IN (`+marks(len(chunk))+`)`, chunk)
			if err != nil {
				return r, err
			}
			for _, id := range ids {
				if !seen[id] {
					seen[id] = true
					next = append(next, id)
				}
			}
		}
		if depth > 0 && r.Depth == depth {
			r.More = len(next) > 0
			break
		}
		slices.Sort(next)
		if limit > 0 && len(found)+len(next) > limit {
			next, r.More = next[:limit-len(found)], true
		}
		if len(next) > 0 {
			r.Depth++
		}
		found = append(found, next...)
		if r.More {
			break
		}
		level = next
	}
	var err error
	r.Nodes, err = c.digests(ctx, found)
	return r, err
}

// digests spells numbers out, in the same order.
func (c *Catalog) digests(ctx context.Context, ids []int64) ([]artifacts.Digest, error) {
	out := make([]artifacts.Digest, 0, len(ids))
	for chunk := range slices.Chunk(ids, atOnce) {
		spelled := make(map[int64]artifacts.Digest, len(chunk))
		err := each(ctx, c.db, func(b []byte) error {
			d, err := digestOf(b)
			spelled[number(d)] = d
			return err
		}, `SELECT digest FROM digests WHERE id IN (`+marks(len(chunk))+`)`, anys(chunk)...)
		if err != nil {
			return nil, err
		}
		for _, id := range chunk {
			out = append(out, spelled[id])
		}
	}
	return out, nil
}
