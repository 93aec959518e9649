package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cxrepro/internal/process"
)

const (
	maxStarts     = 6           // starts in a row of a server that is killed before it is ready
	maxFailures   = 4           // restarts in a row that failed
	maxRestarts   = 30          // restarts within restartWindow
	restartWindow = time.Minute //
	takeoverEvery = 100 * time.Millisecond
)

// own makes this process the owner: lock is the owner lock, held; it is released on error.
// keep is the record whose ports must be used again (a takeover), nil when any will do.
func (s *Server) own(ctx context.Context, lock *os.File, keep *record) error {
	child, r, err := s.first(ctx, keep)
	if err != nil {
		lock.Close()
		return err
	}
	s.set(func() { s.lock, s.child, s.record = lock, child, r })
	return nil
}

// first ends what is left of an earlier server, plans and brings the server up. The server
// lock is held from the beginning, so that nothing changes between plan and start.
func (s *Server) first(ctx context.Context, keep *record) (*supervisor, record, error) {
	lock, err := reclaim(ctx, s.paths, s.opts.Notify)
	if err != nil {
		return nil, record{}, err
	}
	r, err := s.plan(ctx, keep)
	if err != nil {
		lock.Close()
		return nil, r, err
	}
	return s.bringUp(ctx, r, lock, keep != nil)
}

// bringUp starts the server as planned and waits until it is ready, at most StartTimeout.
// lock is the server lock, nil to take it. The caller holds the owner lock.
//
// A server that is killed before it answers is started again. One that ends by itself gets
// other ports unless they are fixed, as one may have been taken meanwhile; if it does so
// again although SQLite finds its file sound, the file is moved aside for a fresh one, and
// put back if that does not help either.
func (s *Server) bringUp(ctx context.Context, plan record, lock *os.File, fixedPorts bool) (*supervisor, record, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.StartTimeout)
	defer cancel()
	refusals := 0
	for start := 1; ; start++ {
		child, r, err := s.try(ctx, plan, lock)
		if err == nil || !errors.Is(err, errExited) || start == maxStarts {
			return child, r, err
		}
		lock = nil // was passed on or released
		if errors.Is(err, errRefused) {
			refusals++
		}
		switch {
		case refusals == 1 && !fixedPorts:
			if err := s.choosePorts(&plan, record{}); err != nil {
				return nil, plan, err
			}
		case refusals == 2:
			return s.replaceDatabase(ctx, plan, err)
		}
	}
}

// replaceDatabase starts the server on a fresh file, moving aside one that it refused
// twice. why is what it said; it is returned if the fresh file does not help.
func (s *Server) replaceDatabase(ctx context.Context, plan record, why error) (*supervisor, record, error) {
	if h, _, err := checkDatabase(ctx, plan.Database); err != nil || h != healthGood {
		return nil, plan, why // none there, or the next start replaces it anyway
	}
	aside := asideName(plan.Database)
	if err := moveDatabase(plan.Database, aside); err != nil {
		return nil, plan, errors.Join(why, err)
	}
	child, r, err := s.try(ctx, plan, nil)
	if err != nil {
		return nil, plan, errors.Join(why, removeDatabase(plan.Database), moveDatabase(aside, plan.Database), plan.write(s.paths.record()))
	}
	s.opts.Notify(fmt.Sprintf("the Temporal server refused its database %s: moved to %s, a fresh one is begun; %s",
		filepath.Base(plan.Database), filepath.Base(aside), storeIsTruth))
	return child, r, nil
}

// plan gets the Temporal command and decides file and ports of the server to start.
func (s *Server) plan(ctx context.Context, keep *record) (record, error) {
	fail := func(op string, err error, hint string) (record, error) {
		return record{}, &StartError{Op: op, Log: s.paths.log(), Err: err, hint: hint}
	}
	last := readRecord(s.paths.record())
	r := record{
		State: stateResolving, Owner: process.Self(), Command: selfCommand(), Machine: process.Machine(),
		Since: time.Now().UTC().Truncate(time.Millisecond), Namespace: s.opts.Namespace,
	}
	r.Port, r.UIPort = last.Port, last.UIPort // for the next one, should this one fail
	r.Database, r.Partitions = last.Database, last.Partitions
	if err := r.write(s.paths.record()); err != nil {
		return fail("write "+s.paths.record(), err, "")
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
	if r.Database != last.Database {
		r.Partitions = 0
	}
	r.QuietUI = strings.Contains(about.help, "--ui-disable-news-fetch")
	r.State = stateStarting
	if keep != nil {
		r.Port, r.UIPort, r.Address, r.UIAddress = keep.Port, keep.UIPort, keep.Address, keep.UIAddress
		return r, nil
	}
	if last.State == stateReady { // it was killed: others may count on its ports
		_ = awaitPorts(ctx, last)
	}
	if err := s.choosePorts(&r, last); err != nil {
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

// try starts supervisor and server once. lock is the server lock, nil to take it; it is
// passed on or released.
func (s *Server) try(ctx context.Context, r record, lock *os.File) (_ *supervisor, _ record, err error) {
	offset := logSize(s.paths.log())
	fail := func(op string, err error) (*supervisor, record, error) {
		return nil, r, &StartError{Op: op, Log: s.paths.log(), Tail: logTail(s.paths.log(), offset), Err: err}
	}
	if lock == nil {
		if lock, err = reclaim(ctx, s.paths, s.opts.Notify); err != nil {
			return nil, r, err
		}
	}
	if err := awaitPorts(ctx, r); err != nil {
		lock.Close()
		return fail("wait for its ports", err)
	}
	if err := prepareDatabase(ctx, r.Database, s.opts.Notify); err != nil {
		lock.Close()
		return fail("prepare its database", err)
	}
	if size, err := databaseSize(r.Database); err == nil && size < 0 {
		// One process serves all parts of a task queue, so that several only pass tasks on to each
		// other. A database that began with several keeps them: tasks may lie in each.
		r.Partitions = 1
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
		err = child.failure(err)
		child.kill()
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
		lock, err := process.TryLock(s.paths.ownerLock())
		if errors.Is(err, process.ErrLocked) {
			if r := readRecord(s.paths.record()); r.State == stateReady && r.Address != s.Address() {
				return fmt.Errorf("embedded Temporal server: %s runs it on another address now (%s instead of %s)", r.holder(), r.Address, s.Address())
			}
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
		return s.own(ctx, lock, &was)
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
	plan := s.current() // nothing about it changes
	plan.State, plan.Supervisor, plan.Server = stateStarting, process.ID{}, process.ID{}
	wait := 100 * time.Millisecond
	for failure := 1; ; failure++ {
		again, r, err := s.bringUp(ctx, plan, nil, true)
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
