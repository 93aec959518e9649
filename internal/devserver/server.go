package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"cxrepro/internal/process"
)

// Server is this process's hold on the embedded server: as its owner or as a joiner. Its
// methods may be called from any goroutine.
type Server struct {
	opts  Options
	paths paths

	background sync.WaitGroup     // the goroutine that watches over owner or server
	cancel     context.CancelFunc // ends it
	done       chan struct{}      // closed when the server is gone for good
	restarts   []time.Time        // of the last restartWindow; the watching goroutine only

	mu     sync.Mutex // guards what follows
	record record     // last known
	lock   *os.File   // owner lock; nil for a joiner
	child  *supervisor

	err     error
	stopped bool
}

// Start joins the server that runs on the state directory or starts one, and returns when
// its namespace answers. ctx bounds the start only: a server once started runs until Stop,
// so that work can be finished after the ctx of a signal has ended.
//
// Errors: *StartError when the server does not come up, *HeldError when another process
// holds the state directory and its server cannot be joined, ErrNotRunning with JoinOnly,
// ErrNoTrampoline.
func Start(ctx context.Context, o Options) (*Server, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !trampolined.Load() && !o.JoinOnly {
		return nil, ErrNoTrampoline
	}
	s := &Server{opts: o, paths: paths{o.StateDir}, done: make(chan struct{})}
	if o.JoinOnly {
		if status, err := Inspect(o.StateDir); err != nil || !status.Running {
			return nil, errors.Join(ErrNotRunning, err)
		}
	}
	if err := s.paths.makeDirs(); err != nil {
		return nil, &StartError{Op: "prepare " + o.StateDir, Log: s.paths.log(), Err: err, hint: "choose a writable --state directory"}
	}
	if err := s.ownOrJoin(ctx); err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(context.Background())
	s.cancel = stop
	s.background.Go(func() { s.watch(watching) })
	return s, nil
}

// ownOrJoin takes the owner lock and brings the server up, or finds the running one. An
// owner that is still getting the Temporal command is waited for as long as it takes.
func (s *Server) ownOrJoin(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	deadline, said := time.Now().Add(s.opts.StartTimeout), false
	for {
		lock, err := process.TryLock(s.paths.ownerLock())
		switch {
		case err == nil && s.opts.JoinOnly:
			lock.Close()
			return ErrNotRunning
		case err == nil:
			return s.own(ctx, lock, nil)
		case !errors.Is(err, process.ErrLocked):
			return &StartError{Op: "lock the state directory", Log: s.paths.log(), Err: err}
		}
		r := readRecord(s.paths.record())
		why := errors.New("its server does not answer yet")
		switch {
		case r.State == stateReady:
			if why = s.join(ctx, r); why == nil {
				return nil
			}
			var held *HeldError
			if errors.As(why, &held) {
				return why
			}
		case r.State == stateResolving && r.Machine == process.Machine() && r.Owner.Alive():
			deadline = time.Now().Add(s.opts.StartTimeout)
			if !said {
				said = true
				s.opts.Notify(fmt.Sprintf("waiting for %s to get the Temporal server", r.holder()))
			}
		}
		if time.Now().After(deadline) {
			return &HeldError{Dir: s.paths.state, Holder: r.holder(), Err: fmt.Errorf("%w after %v", why, s.opts.StartTimeout)}
		}
		select {
		case <-ctx.Done():
			return &HeldError{Dir: s.paths.state, Holder: r.holder(), Err: ctx.Err()}
		case <-tick.C:
		}
	}
}

// join makes the server of r ours to use. A *HeldError is final.
func (s *Server) join(ctx context.Context, r record) error {
	switch {
	case r.Machine != process.Machine():
		return &HeldError{Dir: s.paths.state, Holder: r.holder(), Err: errors.New("it runs in another container or on another machine, out of reach from here")}
	case !r.Owner.Alive():
		return errors.New("its owner just changed") // lock.json still names the one before
	case r.Namespace != s.opts.Namespace:
		return &HeldError{Dir: s.paths.state, Holder: r.holder(), Err: fmt.Errorf("its server serves namespace %s, not %s", r.Namespace, s.opts.Namespace)}
	}
	if err := answers(ctx, r); err != nil {
		return err
	}
	s.set(func() { s.record = r })
	s.opts.Notify(fmt.Sprintf("using the Temporal server run by %s", r.holder()))
	return nil
}

// Address is host:port of the server's gRPC front end. It stays the same for life.
func (s *Server) Address() string { return s.current().Address }

// UIAddress is the URL of the web interface, empty when there is none.
func (s *Server) UIAddress() string { return s.current().UIAddress }

// Namespace is the namespace that answers.
func (s *Server) Namespace() string { return s.current().Namespace }

// Version is the version of the Temporal server.
func (s *Server) Version() string { return s.current().Version }

// Owner reports whether this process runs the server. A joiner becomes the owner when the
// owner ends.
func (s *Server) Owner() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lock != nil
}

// Holder is the process that runs the server now.
func (s *Server) Holder() Holder { return readRecord(s.paths.record()).holder() }

// Done is closed when the server is gone and will not come back: Err then says why.
func (s *Server) Done() <-chan struct{} { return s.done }

// Err returns nil while the server is there, ErrStopped after Stop, or the reason why it
// is gone.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Stop ends the server cleanly if this process owns it, within StopTimeout or at once when
// ctx ends, and lets go of the state directory. A joiner only lets go. Workers and clients
// of this process are to be stopped before. A second call does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return nil
	}
	s.stopped = true
	s.mu.Unlock()
	s.cancel()
	s.background.Wait()
	s.fail(ErrStopped)

	s.mu.Lock()
	child, lock := s.child, s.lock
	s.child, s.lock = nil, nil
	s.mu.Unlock()
	if lock == nil {
		return nil
	}
	defer lock.Close() // last: whoever waits for it may start a server then
	if child != nil {
		child.stop(ctx, s.opts.StopTimeout)
	}
	r := s.current()
	r.State = stateStopped
	return r.write(s.paths.record())
}

// fail records why the server is gone for good; the first reason stays.
func (s *Server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
		close(s.done)
	}
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *Server) current() record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record
}
