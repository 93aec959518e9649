package devserver

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/internal/process"
)

// TestBadFiles starts the server over files that it cannot use. It must come up on a fresh
// one, say so, and keep what may be worth something.
func TestBadFiles(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	o, _ := testOptions(t, state)
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	version := s.Version()
	stop(t, s)
	if h, reason, err := checkDatabase(t.Context(), paths{state}.database(version)); err != nil || h != healthGood {
		t.Fatalf("the server's own file: health %d, %s, %v", h, reason, err)
	}
	good, err := os.ReadFile(paths{state}.database(version))
	if err != nil {
		t.Fatal(err)
	}
	if len(good) < 100_000 {
		t.Fatalf("the check left %d bytes in the file, want the write-ahead log folded in", len(good))
	}
	half := filepath.Join(t.TempDir(), "half.db")
	db, err := sql.Open("sqlite", half)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE namespaces (id TEXT)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	unfinished, err := os.ReadFile(half)
	if err != nil {
		t.Fatal(err)
	}
	hole := bytes.Clone(good)
	for i := len(hole) / 4; i < len(hole)/2; i++ {
		hole[i] = byte(i * 7)
	}
	for _, c := range []struct {
		name, file string
		content    []byte
		notice     string // a part of it; empty means none
		kept       bool
	}{
		{"garbage", "temporal-" + version + ".db", bytes.Repeat([]byte("no database "), 1000), "is damaged", true},
		{"hole", "temporal-" + version + ".db", hole, "is damaged", true},
		{"cut", "temporal-" + version + ".db", good[:len(good)/2+100], "is damaged", true},
		{"empty", "temporal-" + version + ".db", nil, "", false},
		{"half made", "temporal-" + version + ".db", unfinished, "", false},
		{"other version", "temporal-0.1.2.db", good, "temporal-0.1.2.db", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, said := testOptions(t, t.TempDir())
			dir := paths{o.StateDir}.dir()
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			start(t, o)
			if c.notice == "" && len(said.lines) > 0 || c.notice != "" && !said.contains(c.notice, "are not repeated") {
				t.Errorf("notices %q, want one with %q", said.lines, c.notice)
			}
			kept := false
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
				kept = kept || bytes.Equal(b, c.content) && strings.HasPrefix(e.Name(), c.file)
			}
			if kept != c.kept {
				t.Errorf("old bytes kept: %t, want %t", kept, c.kept)
			}
		})
	}
}

// TestRefusedFile gives the server a sound file that it does not start on. It must come up
// on a fresh one with the old one kept; if that does not help, the file stays where it was.
func TestRefusedFile(t *testing.T) {
	t.Parallel()
	donor, _ := testOptions(t, t.TempDir())
	s := start(t, donor)
	version := s.Version()
	stop(t, s)
	if _, _, err := checkDatabase(t.Context(), paths{donor.StateDir}.database(version)); err != nil { // folds the log in
		t.Fatal(err)
	}
	good, err := os.ReadFile(paths{donor.StateDir}.database(version))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body  string
		works bool
	}{
		"works on a fresh one": {"if [ -e temporal-9.9.9.db ]; then echo unknown schema >&2; exit 1; fi; exec " + temporalBinary + ` "$@"`, true},
		"works on none":        {"echo unknown schema >&2; exit 1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, said := testOptions(t, t.TempDir())
			o.Resolve = script(t, c.body)
			p := paths{o.StateDir}
			if err := p.makeDirs(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p.database("9.9.9"), good, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Start(t.Context(), o)
			if !c.works {
				left, _ := os.ReadFile(p.database("9.9.9"))
				if err == nil || !strings.Contains(err.Error(), "unknown schema") || !bytes.Equal(left, good) {
					t.Errorf("error %v; file untouched: %t", err, bytes.Equal(left, good))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			stop(t, s)
			aside, _ := filepath.Glob(p.database("9.9.9") + ".aside-*Z")
			if len(aside) != 1 || !said.contains("refused its database", filepath.Base(aside[0])) {
				t.Errorf("moved aside: %v; notices %q", aside, said.lines)
			}
		})
	}
}

// TestCheckSpeed bounds what the check costs on a file of a long reproduction.
func TestCheckSpeed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "temporal-1.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []string{
		"PRAGMA journal_mode=wal", "CREATE TABLE namespaces (id TEXT)", "INSERT INTO namespaces VALUES ('x')",
		"CREATE TABLE history_node (a INT, b BLOB)", "CREATE INDEX i ON history_node (a)",
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<20000) INSERT INTO history_node SELECT x*7919%20011, randomblob(1500) FROM c",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	began := time.Now()
	h, reason, err := checkDatabase(t.Context(), path)
	took := time.Since(began)
	size, _ := databaseSize(path)
	if h != healthGood || err != nil {
		t.Fatalf("health %d, %s, %v", h, reason, err)
	}
	t.Logf("%d MB checked in %v", size>>20, took.Round(time.Millisecond))
	if took > checkTimeout {
		t.Errorf("took %v", took)
	}
}

func TestBoundedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "temporal.log")
	l := openLog(path, 1000)
	for i := range 103 {
		fmt.Fprintf(l, "line %02d %s\n", i, strings.Repeat("x", 40))
	}
	l.note("the end")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{path, path + ".1"} {
		if info, err := os.Stat(f); err != nil || info.Size() > 1000 || info.Size() == 0 {
			t.Errorf("%s: %v, %v", filepath.Base(f), info.Size(), err)
		}
	}
	tail := strings.Split(logTail(path, 0), "\n")
	if len(tail) != 3 || !strings.HasPrefix(tail[2], "line 102 ") {
		t.Errorf("tail %q", tail)
	}
	if got := logTail(path, logSize(path)); got != "" {
		t.Errorf("tail from the end on: %q", got)
	}
	if got := logTail(filepath.Join(t.TempDir(), "none"), 0); got != "" {
		t.Errorf("tail of no file: %q", got)
	}
}

// TestRecordIsOneStep reads lock.json while it is replaced: never half a record.
func TestRecordIsOneStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock.json")
	r := record{State: stateReady, Owner: process.Self(), Command: strings.Repeat("x", 5000)}
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			if err := r.write(path); err != nil {
				t.Error(err)
			}
		}
	}()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		if got := readRecord(path); got != r {
			t.Fatalf("read %+v", got)
		}
	}
	if (process.ID{PID: os.Getpid(), Start: "0"}).Alive() || !process.Self().Alive() || (process.ID{}).Alive() {
		t.Error("alive: a start time of another process, this process, or no process")
	}
}
