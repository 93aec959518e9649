package devserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"cxrepro/internal/process"
)

const (
	trampolineEnv  = "CXREPRO_SUPERVISE_SERVER"
	supervisorName = "supervise-server" // shown by ps

	eventsFD = 3 // supervisor: events to the owner
	lockFD   = 4 // supervisor: the server lock, inherited by the server

	stopLine = "stop" // owner to supervisor: end the server cleanly
)

var trampolined atomic.Bool

// Trampoline turns this process into a supervisor if Start asked for one, and then does
// not return; otherwise it does nothing. It must be the first call of main, and of
// TestMain in a package whose tests start a server: Start re-executes the running program,
// be it cxrepro or a test binary.
func Trampoline() {
	trampolined.Store(true)
	if os.Getenv(trampolineEnv) == "" {
		return
	}
	os.Exit(supervise(os.Stdin, os.NewFile(eventsFD, "events"), os.NewFile(lockFD, "server.lock")))
}

// assignment is what the owner tells its supervisor, one JSON line on standard input.
type assignment struct {
	Binary      string        `json:"binary"`
	Args        []string      `json:"args"`
	Record      record        `json:"record"`
	RecordPath  string        `json:"record_path"`
	LogPath     string        `json:"log_path"`
	StopTimeout time.Duration `json:"stop_timeout"`
	KeepOrphans bool          `json:"keep_orphans,omitempty"`
}

// event is what the supervisor tells the owner, one JSON line each on eventsFD.
type event struct {
	Record   *record `json:"record,omitempty"`    // the server was started, as recorded
	Error    string  `json:"error,omitempty"`     // it could not be started
	Exit     string  `json:"exit,omitempty"`      // it ended: its exit status in words
	ByItself bool    `json:"by_itself,omitempty"` // no signal ended it
}

// supervise runs the server until it ends, the owner asks for its end, or the owner's end
// of in closes. It returns the supervisor's exit status.
func supervise(in io.Reader, events, lock *os.File) int {
	// The kernel's parent-death signal is tied to the thread that starts the server: this
	// one, which lives as long as the process.
	runtime.LockOSThread()
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, syscall.SIGINT)
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)

	tell := json.NewEncoder(events)
	orders := bufio.NewReader(in)
	a, err := readAssignment(orders)
	if err != nil {
		tell.Encode(event{Error: err.Error()})
		return 1
	}
	log := openLog(a.LogPath, logLimit)
	defer log.Close()
	cmd, err := a.start(log, lock)
	if err != nil {
		log.note("%v", err)
		tell.Encode(event{Error: err.Error()})
		return 1
	}
	tell.Encode(event{Record: &a.Record})

	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	stop, orphaned := make(chan struct{}), make(chan struct{})
	go func() {
		for {
			line, err := orders.ReadString('\n')
			if err != nil {
				close(orphaned)
				return
			}
			if strings.TrimSpace(line) == stopLine {
				close(stop)
				_, _ = io.Copy(io.Discard, orders)
				close(orphaned)
				return
			}
		}
	}()
	err = attend(cmd.Process, log, a.StopTimeout, exited, terminate, stop, orphaned)
	tell.Encode(event{Exit: exitWords(err), ByItself: cmd.ProcessState != nil && cmd.ProcessState.Exited()})
	log.note("server ended: %s", exitWords(err))
	return 0
}

// attend waits for the server's end and brings it about when asked.
func attend(server *os.Process, log *boundedLog, grace time.Duration, exited <-chan error, terminate <-chan os.Signal, stop, orphaned <-chan struct{}) error {
	var deadline <-chan time.Time
	end := func(why string) {
		log.note("%s: ending the server (what it logs about cancelled calls from here on is harmless)", why)
		_ = server.Signal(syscall.SIGTERM)
		deadline = time.After(grace)
		stop, terminate = nil, nil
	}
	for {
		select {
		case err := <-exited:
			return err
		case <-stop:
			end("asked to stop")
		case <-terminate:
			end("terminated")
		case <-deadline:
			log.note("the server did not end within %v: killing it", grace)
			deadline = nil
			_ = server.Kill()
		case <-orphaned:
			// The owner is gone. What the server acknowledged is in its file; a quick end
			// lets the next start begin at once.
			log.note("the owner is gone: killing the server")
			orphaned = nil
			_ = server.Kill()
		}
	}
}

func readAssignment(r *bufio.Reader) (assignment, error) {
	var a assignment
	line, err := r.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("supervisor: read assignment: %w", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("supervisor: read assignment: %w", err)
	}
	return a, nil
}

// start records the supervisor, starts the server in its process group with the server
// lock inherited, and records the server too.
func (a *assignment) start(log *boundedLog, lock *os.File) (*exec.Cmd, error) {
	a.Record.Supervisor = process.Self()
	if err := a.Record.write(a.RecordPath); err != nil {
		return nil, fmt.Errorf("supervisor: %w", err)
	}
	cmd := exec.Command(a.Binary, a.Args...)
	cmd.Env = childEnv()
	cmd.Env = append(cmd.Env, "TEMPORAL_VERSION_CHECK_DISABLED=1")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{lock}
	cmd.WaitDelay = 2 * time.Second
	cmd.SysProcAttr = serverAttributes(a.KeepOrphans)
	log.note("starting Temporal server %s on %s", a.Record.Version, a.Record.Address)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("supervisor: start %s: %w", a.Binary, err)
	}
	a.Record.Server = process.Of(cmd.Process.Pid)
	if err := a.Record.write(a.RecordPath); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("supervisor: %w", err)
	}
	return cmd, nil
}

func exitWords(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// childEnv is the part of the environment that supervisor and server get: nothing that
// could configure the server behind our back, and no credential.
func childEnv() []string {
	var out []string
	for _, name := range []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "GOMAXPROCS", "GOMEMLIMIT", "GOCOVERDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if v, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}
