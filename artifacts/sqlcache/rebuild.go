package sqlcache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

// Reindex throws everything away and rebuilds it from the store. Progress, which may be
// nil, hears of the entries read so far, now and then.
func (c *Cache) Reindex(ctx context.Context, store *artifacts.Repository, progress func(entries int64)) (Counts, error) {
	return c.rebuild(ctx, store, progress, true)
}

// Refresh reads entries that the cache does not know, or that changed, and forgets those
// that are gone.
func (c *Cache) Refresh(ctx context.Context, store *artifacts.Repository, progress func(entries int64)) (Counts, error) {
	return c.rebuild(ctx, store, progress, false)
}

func (c *Cache) rebuild(ctx context.Context, store *artifacts.Repository, progress func(int64), afresh bool) (n Counts, err error) {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return n, err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	b := &builder{tx: tx, store: store, progress: progress}
	if afresh {
		for _, table := range []string{"entries", "edges", "blobs"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table); err != nil {
				return n, err
			}
		}
	}
	if err := b.entries(ctx); err != nil {
		return n, fmt.Errorf("reindex %s: %w", store.URL(), err)
	}
	if err := b.blobs(ctx); err != nil {
		return n, fmt.Errorf("reindex %s: %w", store.URL(), err)
	}
	done = true
	if err := tx.Commit(); err != nil {
		return n, err
	}
	if n, err = c.Counts(ctx); err != nil {
		return n, err
	}
	n.Added, n.Removed = b.added, b.removed
	return n, nil
}

type builder struct {
	tx             *sql.Tx
	store          *artifacts.Repository
	progress       func(int64)
	added, removed int64
	seen           int64
}

// entries brings the tables entries and edges up to date.
func (b *builder) entries(ctx context.Context) error {
	known, err := b.known(ctx)
	if err != nil {
		return err
	}
	err = b.store.Keys(ctx, "", func(key artifacts.Key, info artifacts.Info) error {
		if b.seen++; b.progress != nil && b.seen%1000 == 0 {
			b.progress(b.seen)
		}
		text, at := key.String(), info.Modified.UnixNano()
		if was, ok := known[text]; ok {
			delete(known, text)
			if was == at {
				return nil
			}
		}
		return b.entry(ctx, key, at)
	})
	if err != nil {
		return err
	}
	for text := range known {
		if err := b.forget(ctx, text); err != nil {
			return err
		}
		b.removed++
	}
	return nil
}

func (b *builder) known(ctx context.Context) (known map[string]int64, err error) {
	rows, err := b.tx.QueryContext(ctx, `SELECT key, modified FROM entries`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	known = map[string]int64{}
	for rows.Next() {
		var key string
		var at int64
		if err := rows.Scan(&key, &at); err != nil {
			return nil, err
		}
		known[key] = at
	}
	return known, rows.Err()
}

func (b *builder) forget(ctx context.Context, key string) error {
	for _, table := range []string{"entries", "edges"} {
		if _, err := b.tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE key = ?`, key); err != nil {
			return err
		}
	}
	return nil
}

// entry reads one entry and its statement. An entry that is damaged, or whose statement
// is gone or damaged, keeps what can be known of it; verify names it.
func (b *builder) entry(ctx context.Context, key artifacts.Key, at int64) error {
	if err := b.forget(ctx, key.String()); err != nil {
		return err
	}
	rec, err := b.store.Entry(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var st provenance.Statement
	data, err := b.store.StatementOf(ctx, rec)
	switch {
	case errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch):
	case err != nil:
		return err
	default:
		if s, err := provenance.Decode(data); err == nil {
			st = s
		}
	}
	inv := st.Predicate.Invocation
	doc := []byte(st.Predicate.KeyDocument)
	if doc == nil {
		doc = []byte{}
	}
	_, err = b.tx.ExecContext(ctx, `INSERT INTO entries (key, step, modified, result, size, media_type, statement, statement_size, reproduction, finished, fence, key_document)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, key.String(), key.Step, at, rec.Result.Digest.String(), rec.Result.Size, rec.Result.MediaType,
		rec.Statement.Digest.String(), rec.Statement.Size, inv.Reproduction, nanos(inv.Finished), inv.Fence, doc)
	if err != nil {
		return err
	}
	b.added++
	for _, m := range st.Predicate.Materials {
		if _, err := b.tx.ExecContext(ctx, `INSERT OR REPLACE INTO edges VALUES (?, ?, ?)`, key.String(), "sha256:"+m.Digest.SHA256, m.Name); err != nil {
			return err
		}
	}
	return nil
}

// nanos is t as an integer; times that do not fit become 0.
func nanos(t time.Time) int64 {
	if t.Year() < 1970 || t.Year() > 2200 {
		return 0
	}
	return t.UnixNano()
}

// blobs lists the blobs anew: a listing is all there is to know of them.
func (b *builder) blobs(ctx context.Context) error {
	if _, err := b.tx.ExecContext(ctx, `DELETE FROM blobs`); err != nil {
		return err
	}
	return b.store.Blobs(ctx, func(d artifacts.Digest, info artifacts.Info) error {
		_, err := b.tx.ExecContext(ctx, `INSERT INTO blobs VALUES (?, ?, ?)`, d.String(), info.Size, info.Modified.UnixNano())
		return err
	})
}
