package sqlcache

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the database driver "sqlite"

	"cxrepro/artifacts"
)

// version changes whenever the tables do; a cache of another version is made anew.
const version = "2"

const schema = `
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS entries (
	key TEXT PRIMARY KEY, step TEXT NOT NULL, modified INTEGER NOT NULL,
	result TEXT NOT NULL, size INTEGER NOT NULL, media_type TEXT NOT NULL,
	statement TEXT NOT NULL, statement_size INTEGER NOT NULL,
	reproduction TEXT NOT NULL, finished INTEGER NOT NULL, fence INTEGER NOT NULL,
	key_document BLOB NOT NULL) STRICT;
CREATE INDEX IF NOT EXISTS entries_step ON entries (step, finished);
CREATE INDEX IF NOT EXISTS entries_result ON entries (result);
CREATE INDEX IF NOT EXISTS entries_statement ON entries (statement);
CREATE TABLE IF NOT EXISTS blobs (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, modified INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS edges (key TEXT NOT NULL, material TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (key, name)) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edges_material ON edges (material);
`

// Cache is an open database. It may be used from several goroutines.
type Cache struct {
	db *sql.DB
}

// Open opens or makes the cache of one store in folder. A cache that cannot be read, or
// is of another version, is thrown away: it holds nothing that the store has not.
func Open(ctx context.Context, folder, storeURL string) (*Cache, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	path := filepath.Join(folder, "artifacts-"+artifacts.Sum([]byte(storeURL)).Short()+".sqlite")
	c, err := open(ctx, path, storeURL)
	if err == nil {
		return c, nil
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if rerr := os.Remove(path + suffix); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			return nil, fmt.Errorf("open cache %s: %w", path, errors.Join(err, rerr))
		}
	}
	if c, err = open(ctx, path, storeURL); err != nil {
		return nil, fmt.Errorf("open cache %s: %w", path, err)
	}
	return c, nil
}

func open(ctx context.Context, path, storeURL string) (*Cache, error) {
	q := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(off)", "busy_timeout(10000)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c := &Cache{db: db}
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	for name, want := range map[string]string{"version": version, "store": storeURL} {
		var have string
		err := db.QueryRowContext(ctx, `SELECT value FROM about WHERE name = ?`, name).Scan(&have)
		if errors.Is(err, sql.ErrNoRows) {
			have = want
			_, err = db.ExecContext(ctx, `INSERT INTO about VALUES (?, ?)`, name, want)
		}
		if err == nil && have != want {
			err = fmt.Errorf("the cache is of %s %q, not %q", name, have, want)
		}
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return c, nil
}

// Close closes the database.
func (c *Cache) Close() error { return c.db.Close() }

// Counts says what a cache holds or how it changed.
type Counts struct {
	Entries int64 `json:"entries"`
	Blobs   int64 `json:"blobs"`
	Bytes   int64 `json:"bytes"`
	Edges   int64 `json:"edges"`
	Added   int64 `json:"added"`
	Removed int64 `json:"removed"`
}

// Counts returns what the cache holds.
func (c *Cache) Counts(ctx context.Context) (Counts, error) {
	var n Counts
	err := c.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM blobs),
		(SELECT coalesce(sum(size), 0) FROM blobs), (SELECT count(*) FROM edges)`).Scan(&n.Entries, &n.Blobs, &n.Bytes, &n.Edges)
	return n, err
}

// Entry is one index entry with what its statement says.
type Entry struct {
	Record       artifacts.Record
	Reproduction string
	Finished     time.Time
	Fence        int
	KeyDocument  []byte
}

const entryColumns = `key, result, size, media_type, statement, statement_size, reproduction, finished, fence, key_document`

// Step calls fn for every entry of a step, the earliest first.
func (c *Cache) Step(ctx context.Context, step string, fn func(Entry) error) error {
	return c.entries(ctx, fn, `SELECT `+entryColumns+` FROM entries WHERE step = ? ORDER BY finished, key`, step)
}

// Find returns the entries whose key digest, result or statement starts with the given
// hexadecimal digits; at most limit.
func (c *Cache) Find(ctx context.Context, hex string, limit int) ([]Entry, error) {
	var out []Entry
	pattern := "sha256:" + hex + "%"
	err := c.entries(ctx, func(e Entry) error { out = append(out, e); return nil },
		`SELECT `+entryColumns+` FROM entries WHERE substr(key, length(step) + 2) LIKE ?1 OR result LIKE ?1 OR statement LIKE ?1 ORDER BY key LIMIT ?2`, pattern, limit)
	return out, err
}

// Users calls fn for the keys whose computation had the digest among its materials:
// lineage downwards.
func (c *Cache) Users(ctx context.Context, d artifacts.Digest, fn func(Entry) error) error {
	return c.entries(ctx, fn, `SELECT `+entryColumns+` FROM entries WHERE key IN (SELECT key FROM edges WHERE material = ?) ORDER BY key`, d.String())
}

func (c *Cache) entries(ctx context.Context, fn func(Entry) error, query string, args ...any) (err error) {
	rows, err := c.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e Entry
		var key, result, statement string
		var finished int64
		if err := rows.Scan(&key, &result, &e.Record.Result.Size, &e.Record.Result.MediaType, &statement, &e.Record.Statement.Size,
			&e.Reproduction, &finished, &e.Fence, &e.KeyDocument); err != nil {
			return err
		}
		e.Finished = time.Unix(0, finished).UTC()
		e.Record.Statement.MediaType = artifacts.StatementMediaType
		var kerr, rerr, serr error
		e.Record.Key, kerr = artifacts.ParseKey(key)
		e.Record.Result.Digest, rerr = artifacts.ParseDigest(result)
		e.Record.Statement.Digest, serr = artifacts.ParseDigest(statement)
		if err := errors.Join(kerr, rerr, serr); err != nil {
			return err
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return rows.Err()
}
