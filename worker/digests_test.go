package worker

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
)

func TestDigestsAreRememberedBySizeAndTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "digests")
	log := slog.New(slog.DiscardHandler)
	open := func(root string) *digestCache {
		t.Helper()
		c, err := openDigests(file, map[string]string{"set": root}, log)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open("/a")
	then, d := time.Now().Add(-time.Hour), artifacts.Sum([]byte("x"))
	if err := c.Store("set", "files/p10/x.jpg", 5, then, d); err != nil {
		t.Fatal(err)
	}
	if err := c.Store("set", "fresh.jpg", 5, time.Now(), d); err != nil {
		t.Fatal(err)
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "x.jpg") {
		t.Error("the cache names a file")
	}
	// A torn line, as a kill leaves it, and a line of something else.
	if err := os.WriteFile(file, append(text, "0123 5"...), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open("/a")
	for _, q := range []struct {
		what, path string
		size       int64
		at         time.Time
		root       string
		known      bool
	}{
		{"the same", "files/p10/x.jpg", 5, then, "/a", true},
		{"another size", "files/p10/x.jpg", 6, then, "/a", false},
		{"another time", "files/p10/x.jpg", 5, then.Add(1), "/a", false},
		{"another path", "files/p10/y.jpg", 5, then, "/a", false},
		{"another folder", "files/p10/x.jpg", 5, then, "/b", false},
		{"a file just written", "fresh.jpg", 5, then, "/a", false},
	} {
		c := again
		if q.root != "/a" {
			c = open(q.root)
		}
		got, ok := c.Lookup("set", q.path, q.size, q.at)
		if ok != q.known || ok && got != d {
			t.Errorf("%s: %v %v, want known %t", q.what, got, ok, q.known)
		}
	}
}

func TestParseFault(t *testing.T) {
	for _, good := range []string{"", "after-blob-put:1", "in-heartbeat:20"} {
		if hook, err := ParseFault(good); err != nil || (hook == nil) != (good == "") {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"after-blob-put", "after-blob-put:0", "after-blob-put:x", "nowhere:1", ":1"} {
		if _, err := ParseFault(bad); err == nil || !strings.Contains(err.Error(), "in-heartbeat") {
			t.Errorf("%q: %v, want the points listed", bad, err)
		}
	}
}
