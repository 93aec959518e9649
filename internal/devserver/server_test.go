package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestLife starts a server on a new directory, joins it, stops it and starts it again on
// its file: same ports, no process, goroutine or lock left behind, nothing that listens
// off the loopback, new search attributes taken up.
func TestLife(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	state := filepath.Join(t.TempDir(), "a state [1] %20 ä")
	o, said := testOptions(t, state)
	o.NoUI = false
	began := time.Now()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	fresh := time.Since(began)
	r := readRecord(paths{state}.record())
	onlyLoopback(t, r)
	rss := residentKiB(r.Server.PID)
	if !s.Owner() || s.Holder().PID != os.Getpid() || s.Namespace() != DefaultNamespace || s.Err() != nil {
		t.Errorf("owner %t, holder %v, namespace %s, err %v", s.Owner(), s.Holder(), s.Namespace(), s.Err())
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(s.UIAddress(), "http://")); err != nil {
		t.Errorf("web interface: %v", err)
	} else {
		c.Close()
	}
	checkJoin(t, o, s)

	began = time.Now()
	stop(t, s)
	stopping := time.Since(began)
	if r.Server.Alive() || r.Supervisor.Alive() || !errors.Is(s.Err(), ErrStopped) {
		t.Errorf("after Stop: server alive %t, supervisor alive %t, err %v", r.Server.Alive(), r.Supervisor.Alive(), s.Err())
	}
	nothingLeft(t, state)
	if _, err := Start(t.Context(), Options{StateDir: state, JoinOnly: true}); !errors.Is(err, ErrNotRunning) {
		t.Errorf("join only, nothing runs: %v", err)
	}

	o.SearchAttributes = append(o.SearchAttributes, "Later") // Start waits until it can be used
	began = time.Now()
	again, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	existing := time.Since(began)
	if again.Address() != s.Address() || again.UIAddress() != s.UIAddress() {
		t.Errorf("addresses %s, %s; want %s, %s as before", again.Address(), again.UIAddress(), s.Address(), s.UIAddress())
	}
	stop(t, again)
	// A file that nobody knows to have one part in each task queue is read in all of them.
	p := paths{state}.record()
	if kept := readRecord(p); r.Partitions != 1 || kept.Partitions != 1 || os.Remove(p) != nil {
		t.Errorf("parts of a task queue: %d, then %d, want 1", r.Partitions, kept.Partitions)
	}
	stop(t, start(t, o))
	if kept := readRecord(p); kept.Partitions != 0 || kept.Database == "" {
		t.Errorf("%d parts of a task queue in %q, of which nothing is known", kept.Partitions, kept.Database)
	}
	if len(said.lines) != 1 { // the joiner's
		t.Errorf("notices: %q", said.lines)
	}
	t.Logf("ready in %d ms (new file), %d ms (existing file, one more search attribute); stop %d ms; server RSS %d MiB",
		fresh.Milliseconds(), existing.Milliseconds(), stopping.Milliseconds(), rss>>10)
}

// checkJoin joins the running server in the same process, in the ways a second process may.
func checkJoin(t *testing.T, o Options, owner *Server) {
	t.Helper()
	if st, err := Inspect(o.StateDir); err != nil || !st.Running || !st.Ready || st.Holder.PID != os.Getpid() {
		t.Errorf("while running: %+v, %v", st, err)
	}
	o.Resolve = nil
	o.JoinOnly = true
	j, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("join: %v", err)
	}
	if j.Owner() || j.Address() != owner.Address() {
		t.Errorf("joiner: owner %t, address %s", j.Owner(), j.Address())
	}
	stop(t, j)
	if owner.Err() != nil {
		t.Errorf("owner after the joiner left: %v", owner.Err())
	}
	o.Namespace = "other"
	var held *HeldError
	if _, err := Start(t.Context(), o); !errors.As(err, &held) || held.Holder.PID != os.Getpid() || held.Hint() == "" {
		t.Errorf("other namespace: %v", err)
	} else {
		t.Logf("message: %v; hint: %s", err, held.Hint())
	}
}

// onlyLoopback demands that every listening socket of the server is on 127.0.0.1.
func onlyLoopback(t *testing.T, r record) {
	t.Helper()
	inodes := map[string]bool{}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.Server.PID))
	if err != nil {
		t.Logf("sockets not checked: %v", err)
		return
	}
	for _, fd := range fds {
		if l, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", r.Server.PID, fd.Name())); err == nil && strings.HasPrefix(l, "socket:[") {
			inodes[strings.Trim(l, "socket:[]")] = true
		}
	}
	listening := 0
	for _, table := range []string{"tcp", "tcp6"} {
		b, _ := os.ReadFile("/proc/net/" + table)
		for _, line := range strings.Split(string(b), "\n") {
			f := strings.Fields(line)
			const listen, loop = "0A", "0100007F:" // 127.0.0.1 as the kernel prints it
			if len(f) < 10 || f[3] != listen || !inodes[f[9]] {
				continue
			}
			listening++
			if !strings.HasPrefix(f[1], loop) {
				t.Errorf("the server listens on %s (%s)", f[1], table)
			}
		}
	}
	if listening < 2 {
		t.Errorf("found %d listening sockets of the server, want at least 2", listening)
	}
}

func residentKiB(pid int) (kib int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for _, line := range strings.Split(string(b), "\n") {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &kib)
	}
	return kib
}

// script writes an executable shell script that answers --version like the real command
// and does body otherwise.
func script(t *testing.T, body string) func(context.Context) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "temporal")
	text := "#!/bin/sh\ncase \"$*\" in\n--version) echo 'temporal version 9.9.9 (Server 9.9.9, UI 9.9.9)';;\n*--help*) ;;\n*) " + body + ";;\nesac\n"
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return func(context.Context) (string, error) { return path, nil }
}

// TestStartFails looks at the message of every way in which the server does not come up.
func TestStartFails(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { busy.Close() })
	gone := filepath.Join(t.TempDir(), "temporal")
	for _, c := range []struct {
		name string
		edit func(*Options)
		want []string
	}{
		{"no binary", func(o *Options) { o.Resolve = func(context.Context) (string, error) { return gone, nil } }, []string{"no such file", gone}},
		{"not the command", func(o *Options) { o.Resolve = func(context.Context) (string, error) { return "/bin/echo", nil } }, []string{"not the Temporal command"}},
		{"ends at once", func(o *Options) { o.Resolve = script(t, "echo the disk is on fire >&2; exit 3") }, []string{"ended before it answered", "exit status 3", "the disk is on fire"}},
		{"never answers", func(o *Options) {
			o.Resolve, o.StartTimeout = script(t, "echo warming up; exec sleep 600"), 1500*time.Millisecond
		}, []string{"wait for namespace", "deadline exceeded", "warming up"}},
		{"port taken", func(o *Options) { o.Port = busy.Addr().(*net.TCPAddr).Port }, []string{"in use by another program"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, _ := testOptions(t, t.TempDir())
			c.edit(&o)
			s, err := Start(t.Context(), o)
			if err == nil {
				stop(t, s)
				t.Fatal("started")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message lacks %q", part)
				}
			}
			var hinted interface{ Hint() string }
			if !errors.As(err, &hinted) || hinted.Hint() == "" {
				t.Error("no hint")
			}
			t.Logf("message: %v", err)
			nothingLeft(t, o.StateDir)
		})
	}
}

// TestCancelledStart leaves nothing behind.
func TestCancelledStart(t *testing.T) {
	t.Parallel()
	o, _ := testOptions(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for readRecord(paths{o.StateDir}.record()).Server.PID == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if s, err := Start(ctx, o); !errors.Is(err, context.Canceled) {
		if err == nil {
			stop(t, s)
		}
		t.Fatalf("got %v, want cancelled", err)
	}
	nothingLeft(t, o.StateDir)
}

// nothingLeft demands that no lock is held and no server lives. A process that another
// test starts has our lock files open for the instant between fork and exec.
func nothingLeft(t *testing.T, state string) {
	t.Helper()
	var st Status
	var err error
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(pollEvery) {
		if st, err = Inspect(state); err == nil && !st.Running && !st.LeftOver {
			break
		}
	}
	if r := readRecord(paths{state}.record()); err != nil || st.Running || st.LeftOver || r.Server.Alive() || r.Supervisor.Alive() {
		t.Errorf("left behind: %+v, %v; server alive %t, supervisor alive %t", st, err, r.Server.Alive(), r.Supervisor.Alive())
	}
}

// TestSlowResolve lets the first process take longer to get the command than a start may
// take; the second waits for it, says so, and joins.
func TestSlowResolve(t *testing.T) {
	t.Parallel()
	o, _ := testOptions(t, t.TempDir())
	second, said := testOptions(t, o.StateDir)
	second.StartTimeout = 4 * time.Second
	var joined *Server
	joining := make(chan error, 1)
	o.Resolve = func(context.Context) (string, error) {
		go func() {
			var err error
			joined, err = Start(t.Context(), second)
			joining <- err
		}()
		time.Sleep(second.StartTimeout + time.Second)
		return temporalBinary, nil
	}
	start(t, o)
	if err := <-joining; err != nil {
		t.Fatalf("second: %v", err)
	}
	stop(t, joined)
	if !said.contains("waiting for", "to get the Temporal server") {
		t.Errorf("notices %q", said.lines)
	}
}

// TestGivesUp kills a server that cannot come back and wants to be told.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	o, _ := testOptions(t, t.TempDir())
	s := start(t, o)
	r := readRecord(paths{o.StateDir}.record())
	taken := make(chan net.Listener, 1)
	if err := syscall.Kill(r.Server.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	go func() { // somebody else takes its port meanwhile
		for {
			if l, err := net.Listen("tcp", s.Address()); err == nil {
				taken <- l
				return
			}
		}
	}()
	defer func() { (<-taken).Close() }()
	select {
	case <-s.Done():
		if !strings.Contains(s.Err().Error(), "in use by another program") {
			t.Errorf("reason: %v", s.Err())
		}
		t.Logf("message: %v", s.Err())
	case <-time.After(40 * time.Second):
		t.Fatal("still trying")
	}
}

func TestOptions(t *testing.T) {
	_, err := Options{Namespace: "a b", SearchAttributes: []string{"1x"}, Port: 70000}.withDefaults()
	for _, field := range []string{"StateDir", "Resolve", "Namespace", "SearchAttributes", "Port"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error does not name %s: %v", field, err)
		}
	}
}
