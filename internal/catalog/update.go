package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
)

// Options configure Update and Reindex. The zero value is usable.
type Options struct {
	// Leaves are media types of documents that refer to nothing, so that they are not read.
	Leaves []string
	// Lists are media types of documents in which a digest that stands alone counts like a
	// reference: lists of what counts as a result.
	Lists []string
	// Readers is how many entries are read at a time; default 8.
	Readers int
	// Progress, when set, hears of the entries read so far, now and then.
	Progress func(entries int64)
}

// Counts says what a catalog holds and how it changed.
type Counts struct {
	Steps     int64 `json:"steps"`
	Removed   int64 `json:"removed_steps"`
	Calls     int64 `json:"calls"`
	Named     int64 `json:"parameters"`
	Artifacts int64 `json:"artifacts"`
	Links     int64 `json:"links"`
	Read      int64 `json:"read"`
	Forgotten int64 `json:"forgotten"`
}

// Update reads what the catalog does not know or what changed, and forgets what is gone.
func (c *Catalog) Update(ctx context.Context, store *artifacts.Repository, opts Options) (Counts, error) {
	return c.build(ctx, store, opts, false)
}

// Reindex throws everything away and reads the store anew.
func (c *Catalog) Reindex(ctx context.Context, store *artifacts.Repository, opts Options) (Counts, error) {
	return c.build(ctx, store, opts, true)
}

func (c *Catalog) build(ctx context.Context, store *artifacts.Repository, opts Options, afresh bool) (n Counts, err error) {
	if opts.Readers <= 0 {
		opts.Readers = 8
	}
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return n, err
	}
	if c.lock != "" {
		if _, err := tx.ExecContext(ctx, c.lock); err != nil {
			return n, errors.Join(fmt.Errorf("catalog of %s: %w", store.URL(), err), tx.Rollback())
		}
	}
	b := &builder{tx: tx, load: newLoader(tx), store: store, opts: opts}
	err = b.run(ctx, afresh)
	err = errors.Join(err, b.load.close())
	if err != nil {
		return n, errors.Join(fmt.Errorf("catalog of %s: %w", store.URL(), err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return n, err
	}
	n, err = c.Counts(ctx)
	n.Read, n.Forgotten = b.read, b.forgotten
	return n, err
}

type builder struct {
	tx    *sql.Tx
	load  *loader
	store *artifacts.Repository
	opts  Options

	read, forgotten int64
	// changed is true when an entry that was known is another one now.
	changed bool
	// documents waits to be looked into.
	documents []artifacts.Ref
}

func (b *builder) run(ctx context.Context, afresh bool) error {
	if afresh {
		if err := b.empty(ctx); err != nil {
			return err
		}
	}
	known, err := b.known(ctx)
	if err != nil {
		return err
	}
	dropped, err := b.graves(ctx)
	if err != nil {
		return err
	}
	if err := b.entries(ctx, known); err != nil {
		return err
	}
	if err := b.tombstones(ctx, known); err != nil {
		return err
	}
	gone := make([]int64, 0, len(known))
	for key := range known {
		gone = append(gone, key)
	}
	slices.Sort(gone)
	b.forgotten = int64(len(gone))
	if err := b.load.forget(ctx, gone); err != nil {
		return err
	}
	unpinned, err := b.pins(ctx)
	if err != nil {
		return err
	}
	dropped = dropped || unpinned || len(gone) > 0 || b.changed
	if dropped && !afresh {
		if err := b.lookAgain(ctx); err != nil {
			return err
		}
	}
	if err := b.lookInto(ctx); err != nil {
		return err
	}
	if afresh {
		for _, x := range indexes {
			if _, err := b.tx.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS `+x); err != nil {
				return err
			}
		}
	}
	return b.load.tidy(ctx, dropped)
}

// empty makes the tables new, without indexes: they are quicker made when the rows are in.
func (b *builder) empty(ctx context.Context) error {
	for _, t := range tables[1:] {
		name, _, _ := strings.Cut(t, " ")
		for _, query := range []string{`DROP TABLE ` + name, `CREATE TABLE ` + t} {
			if _, err := b.tx.ExecContext(ctx, query); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) known(ctx context.Context) (known map[int64]int64, err error) {
	rows, err := b.tx.QueryContext(ctx, `SELECT key, modified FROM steps`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	known = map[int64]int64{}
	for rows.Next() {
		var key, at int64
		if err := rows.Scan(&key, &at); err != nil {
			return nil, err
		}
		known[key] = at
	}
	return known, rows.Err()
}

// graves reports whether garbage collection removed blobs since, and notes that it is known.
func (b *builder) graves(ctx context.Context) (dropped bool, err error) {
	seen := map[string]bool{}
	err = each(ctx, b.tx, func(name string) error { seen[name] = true; return nil }, `SELECT name FROM graves`)
	if err != nil {
		return false, err
	}
	err = b.store.Graves(ctx, func(name string) bool { return seen[name] }, func(name string, _ []artifacts.Digest) error {
		dropped = true
		return b.load.exec(ctx, `INSERT INTO graves VALUES (?)`, name)
	})
	return dropped, err
}

// pins notes the pins anew; what they keep is looked into. dropped is true when one keeps less
// than it did.
func (b *builder) pins(ctx context.Context) (dropped bool, err error) {
	type root struct {
		name string
		id   int64
	}
	was := map[root]bool{}
	rows, err := b.tx.QueryContext(ctx, `SELECT name, root FROM pins`)
	if err != nil {
		return false, err
	}
	for rows.Next() {
		var r root
		if err := rows.Scan(&r.name, &r.id); err != nil {
			return false, errors.Join(err, rows.Close())
		}
		was[r] = true
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return false, err
	}
	if _, err := b.tx.ExecContext(ctx, `DELETE FROM pins`); err != nil {
		return false, err
	}
	pins, err := b.store.Pins(ctx)
	if err != nil {
		return false, err
	}
	kept := newBatch()
	for _, p := range pins {
		for _, ref := range p.Roots {
			r := root{p.Name, kept.digest(ref.Digest)}
			delete(was, r)
			if err := b.load.exec(ctx, `INSERT INTO pins VALUES (?, ?) ON CONFLICT DO NOTHING`, r.name, r.id); err != nil {
				return false, err
			}
		}
		b.documents = append(b.documents, p.Roots...)
	}
	return len(was) > 0, b.load.write(ctx, kept)
}

// lookAgain forgets what documents refer to, because some of them may be gone: what is left is
// looked into anew.
func (b *builder) lookAgain(ctx context.Context) error {
	for _, query := range []string{`DELETE FROM links WHERE via = 0`, `DELETE FROM documents`, `DELETE FROM blobs`} {
		if _, err := b.tx.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	rows, err := b.tx.QueryContext(ctx, `SELECT d.digest, s.size, n.name FROM steps s JOIN digests d ON d.id = s.result JOIN names n ON n.id = s.media WHERE s.removed = 0`)
	if err != nil {
		return err
	}
	for rows.Next() {
		var digest []byte
		var ref artifacts.Ref
		if err := rows.Scan(&digest, &ref.Size, &ref.MediaType); err != nil {
			return errors.Join(err, rows.Close())
		}
		copy(ref.Digest[:], digest)
		b.documents = append(b.documents, ref)
	}
	return errors.Join(rows.Err(), rows.Close())
}
