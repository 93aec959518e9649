package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	maxFailures   = 5           // starts in a row that never got ready
	maxRestarts   = 30          // restarts within restartWindow
	restartWindow = time.Minute //
	takeoverEvery = 100 * time.Millisecond
)

// own makes this process the owner: lock is the owner lock, held; it is released on error.
// keep is the record whose ports must be used again (a restart or takeover), nil when any
// will do.
func (s *Server) own(ctx context.Context, lock *os.File, keep *record) error {
	child, r, err := s.bringUp(ctx, keep)
	if err != nil {
		lock.Close()
		return err
	}
	s.set(func() { s.lock, s.child, s.record = lock, child, r })
	return nil
}

// bringUp starts the server and waits until it is ready. The caller holds the owner lock.
//
// A server that ends before it answers is started a second time (a port may have been
// taken meanwhile). If it ends again although SQLite finds its file sound, the file is
// moved aside for a fresh one; if that does not help either, the file is put back.
func (s *Server) bringUp(ctx context.Context, keep *record) (*supervisor, record, error) {
	r, err := s.plan(ctx, keep)
	if err != nil {
		return nil, r, err
	}
	child, r, err := s.try(ctx, r)
	if err == nil || !errors.Is(err, errExited) {
		return child, r, err
	}
	if keep == nil {
		if err := s.choosePorts(&r, record{}); err != nil {
			return nil, r, err
		}
	}
	child, again, err := s.try(ctx, r)
	if err == nil || !errors.Is(err, errExited) {
		return child, again, err
	}
	if h, _, herr := checkDatabase(ctx, r.Database); herr != nil || h != healthGood {
		return nil, r, err
	}
	aside := asideName(r.Database)
	if merr := moveDatabase(r.Database, aside); merr != nil {
		return nil, r, errors.Join(err, merr)
	}
	child, again, fresh := s.try(ctx, r)
	if fresh != nil {
		return nil, r, errors.Join(err, removeDatabase(r.Database), moveDatabase(aside, r.Database))
	}
	s.opts.Notify(fmt.Sprintf("the Temporal server refused its database %s: moved to %s, a fresh one is begun; %s",
		filepath.Base(r.Database), filepath.Base(aside), storeIsTruth))
	return child, again, nil
}

// plan decides file and ports of the server to start.
func (s *Server) plan(ctx context.Context, keep *record) (record, error) {
	fail := func(op string, err error, hint string) (record, error) {
		return record{}, &StartError{Op: op, Log: s.paths.log(), Err: err, hint: hint}
	}
	r := record{
		State: stateStarting, Owner: self(), Command: selfCommand(), Machine: machine(),
		Since: time.Now().UTC().Truncate(time.Millisecond), Namespace: s.opts.Namespace,
	}
	if keep != nil && keep.Owner == r.Owner { // a restart: nothing about it changes
		r = *keep
		r.State, r.Supervisor, r.Server = stateStarting, process{}, process{}
		return r, nil
	}
	binary, err := s.opts.Resolve(ctx)
	if err != nil {
		return record{}, fmt.Errorf("embedded Temporal server: %w", err) // the resolver's own hint stays visible
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return fail("find the Temporal command", err, "")
	}
	about, err := ask(ctx, binary)
	if err != nil {
		return fail("ask the Temporal command for its version", err, "name a working one, or remove "+binary+" so that it is fetched anew")
	}
	r.Binary, r.Version, r.Database = binary, about.version, s.paths.database(about.version)
	r.QuietUI = strings.Contains(about.help, "--ui-disable-news-fetch")
	if keep != nil {
		r.Port, r.UIPort, r.Address, r.UIAddress = keep.Port, keep.UIPort, keep.Address, keep.UIAddress
		return r, nil
	}
	if err := s.choosePorts(&r, readRecord(s.paths.record())); err != nil {
		return fail("choose ports", err, "")
	}
	return r, nil
}

// choosePorts fills in the ports: what the options fix, else those of last if free.
func (s *Server) choosePorts(r *record, last record) (err error) {
	for _, p := range []int{s.opts.Port, s.opts.UIPort} {
		if p != 0 && !portFree(p) {
			return fmt.Errorf("port %d on %s is in use by another program", p, loopback)
		}
	}
	if r.Port = s.opts.Port; r.Port == 0 {
		if r.Port, err = portOr(s.opts.UIPort, last.Port); err != nil {
			return err
		}
	}
	r.Address = hostPort(r.Port)
	if s.opts.NoUI {
		r.UIPort, r.UIAddress = 0, ""
		return nil
	}
	if r.UIPort = s.opts.UIPort; r.UIPort == 0 {
		if r.UIPort, err = portOr(r.Port, last.UIPort); err != nil {
			return err
		}
	}
	r.UIAddress = "http://" + hostPort(r.UIPort)
	return nil
}

// try starts supervisor and server once.
func (s *Server) try(ctx context.Context, r record) (*supervisor, record, error) {
	offset := logSize(s.paths.log())
	fail := func(op string, err error) (*supervisor, record, error) {
		return nil, r, &StartError{Op: op, Log: s.paths.log(), Tail: logTail(s.paths.log(), offset), Err: err}
	}
	lock, err := reclaim(ctx, s.paths, s.opts.Notify)
	if err != nil {
		return nil, r, err
	}
	if err := awaitPorts(ctx, r); err != nil {
		lock.Close()
		return fail("wait for its ports", err)
	}
	if err := prepareDatabase(ctx, r.Database, s.opts.Notify); err != nil {
		lock.Close()
		return fail("prepare its database", err)
	}
	if err := r.write(s.paths.record()); err != nil {
		lock.Close()
		return fail("write "+s.paths.record(), err)
	}
	child, err := launch(assignment{
		Binary: r.Binary, Args: serverArgs(s.opts, r), Record: r, RecordPath: s.paths.record(),
		LogPath: s.paths.log(), StopTimeout: s.opts.StopTimeout, KeepOrphans: s.opts.keepOrphans,
	}, lock)
	if err != nil {
		return fail("start its supervisor", err)
	}
	select {
	case err = <-child.started:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		child.kill()
		return fail("start it", err)
	}
	r = child.record
	if err := waitReady(ctx, r, s.opts.SearchAttributes, child.ended); err != nil {
		child.kill()
		if errors.Is(err, errExited) {
			err = fmt.Errorf("%w (%s)", errExited, child.exit)
		}
		return fail("wait until it answers", err)
	}
	r.State = stateReady
	if err := r.write(s.paths.record()); err != nil {
		child.kill()
		return fail("write "+s.paths.record(), err)
	}
	return child, r, nil
}

// watch keeps the server there until ctx ends: it restarts what this process owns and
// takes over what an ended owner left.
func (s *Server) watch(ctx context.Context) {
	for ctx.Err() == nil {
		s.mu.Lock()
		child := s.child
		s.mu.Unlock()
		var err error
		if child == nil {
			err = s.takeOver(ctx)
		} else {
			err = s.restart(ctx, child)
		}
		if err != nil {
			if ctx.Err() == nil {
				s.fail(err)
			}
			return
		}
	}
}

// takeOver waits for the owner's end and becomes the owner, on the same ports.
func (s *Server) takeOver(ctx context.Context) error {
	tick := time.NewTicker(takeoverEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		lock, err := tryLock(s.paths.ownerLock())
		if errors.Is(err, errLocked) {
			continue
		}
		if err != nil {
			return err
		}
		if s.opts.JoinOnly {
			lock.Close()
			return ErrNotRunning
		}
		was := s.current()
		s.opts.Notify(fmt.Sprintf("%s, which ran the Temporal server, has ended: this process runs it from here on", s.Holder()))
		bounded, cancel := context.WithTimeout(ctx, s.opts.StartTimeout)
		defer cancel()
		return s.own(bounded, lock, &was)
	}
}

// restart waits for the end of child, which nobody asked for, and starts it again on the
// same ports.
func (s *Server) restart(ctx context.Context, child *supervisor) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-child.ended:
	}
	now := time.Now()
	s.restarts = append(s.restarts, now)
	for len(s.restarts) > 0 && now.Sub(s.restarts[0]) > restartWindow {
		s.restarts = s.restarts[1:]
	}
	if len(s.restarts) > maxRestarts {
		return fmt.Errorf("embedded Temporal server: ended %d times within %v, last: %s; see %s", len(s.restarts), restartWindow, child.exit, s.paths.log())
	}
	s.opts.Notify(fmt.Sprintf("the Temporal server ended (%s): starting it again", child.exit))
	was := s.current()
	wait := 100 * time.Millisecond
	for failure := 1; ; failure++ {
		bounded, cancel := context.WithTimeout(ctx, s.opts.StartTimeout)
		again, r, err := s.bringUp(bounded, &was)
		cancel()
		if err == nil {
			s.set(func() { s.child, s.record = again, r })
			return nil
		}
		if ctx.Err() != nil {
			s.set(func() { s.child = nil })
			return ctx.Err()
		}
		if failure == maxFailures {
			return fmt.Errorf("gave up after %d starts: %w", failure, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
}
