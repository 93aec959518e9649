package devserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// supervisor is the owner's handle on its re-executed self and the server below it.
type supervisor struct {
	cmd    *exec.Cmd
	orders io.WriteCloser // closing it, or ending this process, kills the server
	record record         // as the supervisor recorded it, once started

	started chan error    // one value: nil when the server was started
	ended   chan struct{} // closed when the supervisor is gone
	exit    string        // how the server ended, in words; valid once ended is closed, as is:
	refused bool          // it ended by itself, by no signal
}

// launch starts a supervisor with its assignment. The server lock is passed on to it and
// released here, whatever happens.
func launch(a assignment, lock *os.File) (*supervisor, error) {
	defer lock.Close()
	exe, err := selfExecutable()
	if err != nil {
		return nil, fmt.Errorf("find this program's file: %w", err)
	}
	eventsR, eventsW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer eventsW.Close()
	s := &supervisor{cmd: exec.Command(exe, supervisorName), started: make(chan error, 1), ended: make(chan struct{})}
	s.cmd.Args[0] = filepath.Base(os.Args[0])
	s.cmd.Dir = filepath.Dir(a.RecordPath)
	s.cmd.Env = append(childEnv(), trampolineEnv+"=1")
	s.cmd.ExtraFiles = []*os.File{eventsW, lock} // eventsFD, lockFD
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if s.orders, err = s.cmd.StdinPipe(); err != nil {
		eventsR.Close()
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		eventsR.Close()
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	go s.listen(eventsR)
	if err := json.NewEncoder(s.orders).Encode(a); err != nil {
		s.kill()
		return nil, fmt.Errorf("brief the supervisor: %w", err)
	}
	return s, nil
}

// listen follows the supervisor's events to its end.
func (s *supervisor) listen(events *os.File) {
	defer close(s.ended)
	defer events.Close()
	told := false
	tell := func(err error) {
		if !told {
			told = true
			s.started <- err
		}
	}
	d := json.NewDecoder(events)
	for {
		var e event
		if err := d.Decode(&e); err != nil {
			break
		}
		switch {
		case e.Record != nil:
			s.record = *e.Record
			tell(nil)
		case e.Error != "":
			tell(errors.New(e.Error))
		case e.Exit != "":
			s.exit, s.refused = e.Exit, e.ByItself
		}
	}
	err := s.cmd.Wait()
	if s.exit == "" {
		s.exit = "supervisor: " + exitWords(err)
	}
	tell(fmt.Errorf("%w (%s)", errExited, s.exit))
}

// failure returns err, or, if supervisor and server are gone or go within a moment, that
// they are: whoever talks to a dying server sees some other error first.
func (s *supervisor) failure(err error) error {
	t := time.NewTimer(300 * time.Millisecond)
	defer t.Stop()
	select {
	case <-s.ended:
	case <-t.C:
		return err
	}
	if s.refused {
		return fmt.Errorf("%w (%s)", errRefused, s.exit)
	}
	return fmt.Errorf("%w (%s)", errExited, s.exit)
}

// stop ends the server cleanly, by force after grace, and at once when ctx ends. When it
// returns, supervisor and server are gone.
func (s *supervisor) stop(ctx context.Context, grace time.Duration) {
	_, _ = io.WriteString(s.orders, stopLine+"\n")
	t := time.NewTimer(grace + 2*time.Second)
	defer t.Stop()
	select {
	case <-s.ended:
	case <-ctx.Done():
	case <-t.C:
	}
	s.kill()
}

// kill ends server and supervisor at once and waits for the supervisor's end.
func (s *supervisor) kill() {
	_ = s.orders.Close()
	t := time.NewTimer(3 * time.Second)
	defer t.Stop()
	select {
	case <-s.ended:
	case <-t.C: // it does not react: take the whole group
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.ended
	}
}
