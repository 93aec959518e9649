package catalog

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite" // also the database driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cxrepro/artifacts"
)

// version changes whenever the tables do; a catalog of another version is made anew.
const version = "6"

// tables hold numbers of digests and names; names and digests spell them out. Times are
// nanoseconds since 1970, 0 for none. modified is the store's clock and no part of Digest.
// documents were looked into, blobs are what documents refer to: neither is part of Digest.
//
// A number that is an INTEGER PRIMARY KEY, and links WITHOUT ROWID, are one tree of SQLite's and
// not two; PostgreSQL has its own words for it (types).
var tables = []string{
	`about (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
	`digests (id INTEGER PRIMARY KEY, digest BLOB NOT NULL, clash INTEGER NOT NULL)`,
	`names (id INTEGER PRIMARY KEY, name TEXT NOT NULL, clash INTEGER NOT NULL)`,
	`steps (key INTEGER PRIMARY KEY, step BIGINT NOT NULL, removed INTEGER NOT NULL, modified BIGINT NOT NULL,
		result BIGINT NOT NULL, size BIGINT NOT NULL, media BIGINT NOT NULL, statement BIGINT NOT NULL,
		reproduction BIGINT NOT NULL, worker BIGINT NOT NULL, code BIGINT NOT NULL, fence INTEGER NOT NULL,
		takeover BIGINT NOT NULL, started BIGINT NOT NULL, finished BIGINT NOT NULL)`,
	`links (src BIGINT NOT NULL, dst BIGINT NOT NULL, via BIGINT NOT NULL, name BIGINT NOT NULL, PRIMARY KEY (src, dst, via, name)) WITHOUT ROWID`,
	`calls (key INTEGER PRIMARY KEY, kind BIGINT NOT NULL, model BIGINT NOT NULL, outcome BIGINT NOT NULL, draw INTEGER NOT NULL,
		sent INTEGER NOT NULL, prompt BIGINT NOT NULL, completion BIGINT NOT NULL, cost BIGINT NOT NULL, currency BIGINT NOT NULL)`,
	`parameters (id INTEGER PRIMARY KEY, name BIGINT NOT NULL, value TEXT NOT NULL)`,
	`documents (id INTEGER PRIMARY KEY)`,
	`blobs (id INTEGER PRIMARY KEY, size BIGINT NOT NULL, media BIGINT NOT NULL)`,
	`pins (name TEXT NOT NULL, root BIGINT NOT NULL, PRIMARY KEY (name, root))`,
	`graves (name TEXT PRIMARY KEY)`,
}

var indexes = []string{
	`steps_result ON steps (result)`,
	`steps_statement ON steps (statement)`,
	`steps_step ON steps (step, finished)`,
	`steps_reproduction ON steps (reproduction, step)`,
	`links_dst ON links (dst, name, src)`,
	`links_via ON links (via)`,
	`parameters_name ON parameters (name)`,
}

// Catalog is an open database. It may be used from several goroutines.
type Catalog struct {
	db *sql.DB
	// lock, where it is set, keeps others from bringing the catalog up to date meanwhile.
	// SQLite does so by itself.
	lock string
}

// Open opens or makes the catalog of one store in folder. One that cannot be read, or is of
// another version, is thrown away: it holds nothing that the store has not.
func Open(ctx context.Context, folder, storeURL string) (*Catalog, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	path := filename(folder, storeURL)
	c, err := open(ctx, path, storeURL)
	if err == nil {
		return c, nil
	}
	if rerr := Discard(folder, storeURL); rerr != nil {
		return nil, errors.Join(err, rerr)
	}
	if c, err = open(ctx, path, storeURL); err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", path, err)
	}
	return c, nil
}

func filename(folder, storeURL string) string {
	return filepath.Join(folder, "catalog-"+artifacts.Sum([]byte(storeURL)).Short()+".sqlite")
}

// Discard removes the catalog of one store from folder. It must not be open.
func Discard(folder, storeURL string) error {
	path := filename(folder, storeURL)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove catalog: %w", err)
		}
	}
	return nil
}

// Damaged reports whether err says that the file of a catalog is not what was written.
func Damaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	code := e.Code() & 0xff // without what refines it
	return code == sqlite3.SQLITE_CORRUPT || code == sqlite3.SQLITE_NOTADB
}

func open(ctx context.Context, path, storeURL string) (*Catalog, error) {
	q := url.Values{"_pragma": {"journal_mode(wal)", "synchronous(off)", "busy_timeout(10000)", "cache_size(-262144)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := prepare(ctx, db, storeURL); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Catalog{db: db}, nil
}

// errOther is the error of a catalog of another version or of another store.
var errOther = errors.New("the catalog is another one")

// preparer is a database or a transaction.
type preparer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func prepare(ctx context.Context, db preparer, storeURL string) error {
	for _, t := range tables {
		if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS `+t); err != nil {
			return err
		}
	}
	for _, x := range indexes {
		if _, err := db.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS `+x); err != nil {
			return err
		}
	}
	for name, want := range map[string]string{"version": version, "store": storeURL} {
		var have string
		err := db.QueryRowContext(ctx, `SELECT value FROM about WHERE name = ?`, name).Scan(&have)
		if errors.Is(err, sql.ErrNoRows) {
			have = want
			_, err = db.ExecContext(ctx, `INSERT INTO about VALUES (?, ?)`, name, want)
		}
		if err == nil && have != want {
			err = fmt.Errorf("%w: of %s %q, not %q", errOther, name, have, want)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Close closes the database.
func (c *Catalog) Close() error { return c.db.Close() }

// number is a digest's number in the tables.
func number(d artifacts.Digest) int64 { return int64(binary.BigEndian.Uint64(d[:8])) }

// nameNumber is a name's number; "" has 0.
func nameNumber(s string) int64 {
	if s == "" {
		return 0
	}
	return number(artifacts.Sum([]byte(s)))
}
