package devserver

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	// ErrNotRunning is returned by Start with JoinOnly when no process runs a server on
	// the state directory.
	ErrNotRunning = errors.New("no embedded Temporal server runs on this state directory")

	// ErrNoTrampoline is returned by Start in a program whose main (or TestMain) did not
	// call Trampoline: re-executing it would run the program instead of a supervisor.
	ErrNoTrampoline = errors.New("devserver.Trampoline was not called at the start of main or TestMain")

	// ErrStopped is returned by calls on a server after Stop.
	ErrStopped = errors.New("embedded Temporal server was stopped")

	errExited = errors.New("the server process ended before it answered")
	// errRefused is errExited where nobody ended the process: it did so by itself.
	errRefused = fmt.Errorf("%w, by itself", errExited)
)

// tightSpace is how many free bytes are too few to start a server on.
const tightSpace = 16 << 20

// StartError says why the embedded server did not come up.
type StartError struct {
	Op   string // what was being done, such as "start the server"
	Log  string // path of the server's log
	Tail string // its last lines, empty when it wrote none
	Err  error
	hint string
}

// Error names the operation, the cause and the last lines of the server's log.
func (e *StartError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "embedded Temporal server: %s: %v", e.Op, e.Err)
	if e.Tail != "" {
		fmt.Fprintf(&b, "; the server's last words:\n  %s", strings.ReplaceAll(e.Tail, "\n", "\n  "))
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Hint names the way out.
func (e *StartError) Hint() string {
	if e.hint != "" {
		return e.hint
	}
	var fs unix.Statfs_t
	if dir := filepath.Dir(e.Log); unix.Statfs(dir, &fs) == nil && fs.Bavail*uint64(fs.Bsize) < tightSpace {
		return "the disk is full: free some space for " + filepath.Dir(dir) + ", or choose another --state"
	}
	return "see " + e.Log + ", or use a running cluster with --temporal-address HOST:PORT"
}

// HeldError says that another process holds the state directory and cannot be joined.
type HeldError struct {
	Dir    string
	Holder Holder
	Err    error // why it cannot be joined
}

// Error names the state directory, the holder and since when it runs.
func (e *HeldError) Error() string {
	return fmt.Sprintf("state directory %s is held by %s: %v", e.Dir, e.Holder, e.Err)
}

// Unwrap returns the cause.
func (e *HeldError) Unwrap() error { return e.Err }

// Hint names the way out.
func (e *HeldError) Hint() string {
	if e.Holder.PID == 0 {
		return "end the process that has " + e.Dir + "/temporal open, or choose another --state"
	}
	return fmt.Sprintf("wait for process %d or end it, or choose another --state", e.Holder.PID)
}
