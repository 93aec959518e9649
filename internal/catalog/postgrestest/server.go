package postgrestest

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database driver "pgx"

	"cxrepro/internal/resolve"
)

// nobody is the user and group that the server of a test of root runs as.
const nobody = 65534

// Start starts a server and returns the address of its database, which is empty.
func Start(t testing.TB) string {
	t.Helper()
	s, err := resolve.Postgres(t.Context(), resolve.Options{Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	// A path of a socket has at most about 100 characters.
	folder, err := os.MkdirTemp("", "cxrepro-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if os.Geteuid() == 0 {
		if err := os.Chown(folder, nobody, nobody); err != nil {
			t.Fatal(err)
		}
		if !open(s.Bin) {
			// Root's home, where the cache folder may lie, is closed to others.
			copied := filepath.Join(folder, "server")
			if err := os.CopyFS(copied, os.DirFS(s.Root)); err != nil {
				t.Fatal(err)
			}
			s.Bin = filepath.Join(copied, strings.TrimPrefix(s.Bin, s.Root))
		}
	}
	data := filepath.Join(folder, "data")
	initdb := command(filepath.Join(s.Bin, "initdb"), "--pgdata", data, "--username", "postgres", "--auth", "trust", "--no-sync", "--encoding", "UTF8", "--no-locale")
	initdb.Dir = folder
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb of version %s: %v\n%s", s.Version, err, out)
	}
	server := command(filepath.Join(s.Bin, "postgres"), "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=20")
	var talk bytes.Buffer
	server.Dir, server.Stdout, server.Stderr = folder, &talk, &talk
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() { stop(t, server, ended) })
	address := (&url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: url.Values{"host": {folder}}.Encode()}).String()
	if err := answers(t, address, ended); err != nil {
		t.Fatalf("PostgreSQL %s: %v\n%s", s.Version, err, talk.String())
	}
	t.Logf("PostgreSQL %s of %s", s.Version, s.Bin)
	return address
}

// command is a program that ends with the test and is not root's.
func command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	endsWithTest(cmd.SysProcAttr)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return cmd
}

// open tells whether everybody may go to a folder.
func open(path string) bool {
	for ; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		if path == filepath.Dir(path) {
			return true
		}
	}
}

// answers waits until the server takes connections.
func answers(t testing.TB, address string, ended chan error) (err error) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		if err = db.PingContext(t.Context()); err == nil {
			return nil
		}
		select {
		case e := <-ended:
			ended <- e
			return fmt.Errorf("the server ended: %v", e)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return err
}

// stop ends the server, which interrupts what clients do.
func stop(t testing.TB, server *exec.Cmd, ended chan error) {
	if err := server.Process.Signal(os.Interrupt); err != nil {
		return // it ended by itself
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the PostgreSQL server does not end")
		_ = server.Process.Kill()
		<-ended
	}
}
