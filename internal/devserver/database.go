package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// health is what checkDatabase found.
type health uint8

const (
	healthAbsent   health = iota + 1 // no file: the server makes one
	healthHalfMade                   // its creation was interrupted: nothing is in it
	healthGood
	healthDamaged
)

const (
	checkTimeout = 10 * time.Second
	checkLimit   = 512 << 20 // larger files are opened but not walked through
)

// checkDatabase looks at a database that no server has open: whether it is SQLite, whether
// its pages hang together, whether the server once finished making it. It also folds the
// write-ahead log into the file, which the server never does when it ends. reason says
// what is wrong when the file is damaged.
//
// Errors: a file that cannot be read for another reason than damage (permission, full
// disk, locked by someone else).
func checkDatabase(ctx context.Context, path string) (h health, reason string, err error) {
	size, err := databaseSize(path)
	if err != nil {
		return 0, "", err
	}
	if size < 0 {
		return healthAbsent, "", nil
	}
	if size == 0 {
		return healthHalfMade, "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=rw&_pragma=busy_timeout(1000)"}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return 0, "", fmt.Errorf("open %s: %w", path, err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if size <= checkLimit {
		var verdict string
		err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict)
		if err == nil && verdict != "ok" {
			return healthDamaged, verdict, nil
		}
		if err != nil && ctx.Err() == nil { // too slow to tell is not damage
			return sqliteHealth(path, err)
		}
	}
	var namespaces int
	err = db.QueryRow("SELECT count(*) FROM namespaces").Scan(&namespaces)
	if err != nil {
		return sqliteHealth(path, err)
	}
	if namespaces == 0 {
		return healthHalfMade, "", nil
	}
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return sqliteHealth(path, err)
	}
	return healthGood, "", nil
}

// databaseSize returns the bytes of the file and its write-ahead log, -1 when there is
// neither.
func databaseSize(path string) (int64, error) {
	total := int64(-1)
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total = max(total, 0) + info.Size()
	}
	return total, nil
}

// sqliteHealth sorts SQLite's errors into damage, an unfinished file, and everything else.
func sqliteHealth(path string, err error) (health, string, error) {
	var se *sqlite.Error
	if errors.As(err, &se) {
		switch se.Code() & 0xff { // extended codes keep the primary one below
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
			return healthDamaged, se.Error(), nil
		case sqlite3.SQLITE_ERROR: // no such table
			return healthHalfMade, "", nil
		}
	}
	return 0, "", fmt.Errorf("read %s: %w", path, err)
}

// databaseFiles are the file and what SQLite keeps beside it.
func databaseFiles(path string) []string { return []string{path, path + "-wal", path + "-shm"} }

// moveDatabase renames the file with its companions; missing ones do not count.
func moveDatabase(from, to string) error {
	var errs []error
	for i, f := range databaseFiles(from) {
		errs = append(errs, ignoreMissing(os.Rename(f, databaseFiles(to)[i])))
	}
	return errors.Join(errs...)
}

func removeDatabase(path string) error {
	var errs []error
	for _, f := range databaseFiles(path) {
		errs = append(errs, ignoreMissing(os.Remove(f)))
	}
	return errors.Join(errs...)
}

const storeIsTruth = "recorded results are in the artifact store and are not repeated; a workflow in flight starts again from them"

// prepareDatabase makes sure that the server finds a sound file at path or none, and tells
// people what had to be done.
func prepareDatabase(ctx context.Context, path string, notify func(string)) error {
	h, reason, err := checkDatabase(ctx, path)
	if err != nil {
		return err
	}
	switch h {
	case healthGood:
		return nil
	case healthHalfMade:
		return removeDatabase(path)
	case healthDamaged:
		aside := asideName(path)
		if err := moveDatabase(path, aside); err != nil {
			return fmt.Errorf("move the damaged database aside: %w", err)
		}
		notify(fmt.Sprintf("Temporal's database %s is damaged (%s): moved to %s, a fresh one is begun; %s",
			filepath.Base(path), firstLine(reason), filepath.Base(aside), storeIsTruth))
	case healthAbsent:
		if others := otherVersions(path); len(others) > 0 {
			notify(fmt.Sprintf("Temporal's data of another server version stay untouched in %s; this version begins %s; %s",
				strings.Join(others, ", "), filepath.Base(path), storeIsTruth))
		}
	}
	return nil
}

func asideName(path string) string {
	return path + ".aside-" + time.Now().UTC().Format("20060102T150405.000Z")
}

// otherVersions lists the databases of other server versions beside path, sorted.
func otherVersions(path string) []string {
	entries, _ := os.ReadDir(filepath.Dir(path)) // sorted; none when unreadable
	var out []string
	for _, e := range entries {
		name := e.Name()
		if name != filepath.Base(path) && strings.HasPrefix(name, "temporal-") && strings.HasSuffix(name, ".db") {
			out = append(out, name)
		}
	}
	return out
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}
