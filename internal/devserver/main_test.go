package devserver

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cxrepro/internal/resolve"
)

// temporalBinary is the Temporal command, resolved once for all tests.
var temporalBinary string

func TestMain(m *testing.M) {
	Trampoline()
	if os.Getenv(hostEnv) != "" {
		os.Exit(hostMain())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	b, err := resolve.Temporal(ctx, resolve.Options{Progress: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	cancel()
	if err != nil {
		fmt.Fprintf(os.Stderr, "devserver tests need the Temporal server: %v\n", err)
		os.Exit(1)
	}
	temporalBinary = b.Path
	// The kill tests mostly wait for timeouts: more of them at once than there are cores.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = f.Value.Set("6")
	}
	os.Exit(m.Run())
}

func resolveForTest(context.Context) (string, error) { return temporalBinary, nil }

// testOptions are options over a state directory; what Notify says goes to the test log.
func testOptions(t *testing.T, state string) (Options, *notices) {
	t.Helper()
	n := &notices{t: t}
	return Options{StateDir: state, Resolve: resolveForTest, SearchAttributes: []string{"Paper", "Stage"}, NoUI: true, Notify: n.add}, n
}

// start starts a server that is stopped when the test ends.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start on %s: %v", filepath.Base(o.StateDir), err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
}
