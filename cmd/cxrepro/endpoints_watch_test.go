package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/storeurl"
	"cxrepro/internal/ledger"
	"cxrepro/worker"
)

// TestLeaseLines holds what is said of an endpoint that waits for its lease, and how often.
func TestLeaseLines(t *testing.T) {
	begin := time.Now()
	held := &ledger.LeaseHeldError{Holder: artifacts.Owner{Worker: "other:7"}, Expires: begin.Add(time.Minute)}
	e := worker.EndpointState{Cards: []string{"here"}, Lease: "leases/endpoint-1", Since: begin, Err: held}
	w, elsewhere := waits{said: map[string]time.Time{}}, false
	said := func(after time.Duration) string {
		return w.line(e, "file:///store", begin.Add(after), func() bool { return elsewhere })
	}
	if got := said(time.Second); got != "" {
		t.Errorf("said at once: %s", got)
	}
	elsewhere = true
	if got := said(10 * time.Second); got != "" {
		t.Errorf("said although the holder asks for us: %s", got)
	}
	elsewhere = false
	if got := said(11 * time.Second); !strings.HasPrefix(got, "endpoint here is not asked for 11s: other:7 has its lease (leases/endpoint-1 in file:///store) until ") {
		t.Errorf("said %q", got)
	}
	if got := said(30 * time.Second); got != "" {
		t.Errorf("said twice in a minute: %s", got)
	}
	if got := said(72 * time.Second); !strings.Contains(got, "other:7") {
		t.Errorf("not said again: %q", got)
	}
	e.Held, e.Err = true, nil
	if got := said(80 * time.Second); got != "endpoint here can be asked again" {
		t.Errorf("said %q", got)
	}
	if got := said(90 * time.Second); got != "" {
		t.Errorf("said %q", got)
	}
}

// TestLeaseInTheWay runs an evaluation over a lease that cannot be read, and one over a lease that
// another process has: the run says what stands in the way and where, and goes on without it.
func TestLeaseInTheWay(t *testing.T) {
	b := newAskedBench(t, guidedModel(), 4, false)
	if code, _, talk := b.run("--set", "evaluation.paths=[path1]"); code != exitOK {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	root := filepath.Join(b.state, "store")
	leases, err := filepath.Glob(filepath.Join(root, "leases", "*"))
	if err != nil || len(leases) != 1 {
		t.Fatal(leases, err)
	}
	name := filepath.Base(leases[0])
	run := func(sampling, say string, mend func() error) {
		t.Helper()
		b.hear = &mender{mend: func(talk string) bool {
			if !strings.Contains(talk, say) {
				return false
			}
			if err := mend(); err != nil {
				t.Error(err)
			}
			return true
		}}
		code, _, talk := b.run("--set", "evaluation.sampling="+sampling)
		if code != exitOK || !strings.Contains(talk, say) || !strings.Contains(talk, "can be asked again") {
			t.Errorf("want %q; exit %d\n%s", say, code, talk)
		}
	}
	store, err := storeurl.Open(t.Context(), root, storeurl.Options{})
	if err != nil {
		t.Fatal(err)
	}
	other := &ledger.Leases{Store: store, Owner: artifacts.Owner{Worker: "elsewhere:1"}, Now: time.Now, TTL: 10 * time.Minute}
	lease, err := other.Take(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	run("[greedy]", "elsewhere:1 has its lease (leases/"+name, func() error { return lease.Release(context.Background()) })
	writeFile(t, leases[0], []byte("{"))
	run("[draws3]", "move leases/"+name+" out of the store", func() error { return os.Remove(leases[0]) })
}

// mender does something once, when what it hears asks for it.
type mender struct {
	mu   sync.Mutex
	talk bytes.Buffer
	done bool
	mend func(talk string) bool
}

var _ io.Writer = (*mender)(nil)

func (m *mender) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.talk.Write(p)
	if !m.done {
		m.done = m.mend(m.talk.String())
	}
	return len(p), nil
}
