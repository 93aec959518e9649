package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/process"
)

// Files of a run's folder that are ours.
const (
	lockName   = "lock"
	recordName = "run.json"
	pidName    = "pid"
	exitName   = "exit"
	outName    = "out.log"
	errName    = "err.log"
)

// shell runs the trainer below itself: it writes its own pid before, so that a group without
// a name never exists, and the exit code after, so that whoever attached knows it. Signals
// to the group reach the trainer; the shell waits for it.
const shell = `exit=$1; pid=$2; shift 2
echo $$ >"$pid.tmp" && mv "$pid.tmp" "$pid"
trap : TERM INT HUP
"$@"
code=$?
echo $code >"$exit.tmp" && mv "$exit.tmp" "$exit"`

// Start is one start of a trainer, as run.json keeps it.
type Start struct {
	Attempt
	// Reached is the step of the newest complete checkpoint when it ended, or so far.
	Reached int       `json:"reached_step"`
	Started time.Time `json:"started"`
	// Ended says how, empty while it runs.
	Ended string `json:"ended,omitempty"`
	// Out and Err are where its part of the logs begins.
	Out int64 `json:"out_offset"`
	Err int64 `json:"err_offset"`
}

// record is run.json: which trainer runs in a folder, or ran last.
type record struct {
	Segment Segment          `json:"segment"`
	Key     artifacts.Digest `json:"key"`
	// Command is the digest of the command line and the key.
	Command artifacts.Digest `json:"command"`
	Machine string           `json:"machine"`
	// Shell leads the process group.
	Shell  process.ID `json:"shell"`
	Starts []Start    `json:"starts"`
}

func readRecord(folder string) (record, error) {
	var r record
	data, err := os.ReadFile(filepath.Join(folder, recordName))
	if errors.Is(err, os.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(folder, recordName), err)
	}
	return r, nil
}

func (r *record) write(folder string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(folder, recordName), append(data, '\n'))
}

// last is the current or last start.
func (r *record) last() *Start {
	if len(r.Starts) == 0 {
		return nil
	}
	return &r.Starts[len(r.Starts)-1]
}

// HeldError says that a trainer runs in the folder that is not the one to attach to.
type HeldError struct{ Folder, Detail string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("folder of the run %s is in use: %s", filepath.Base(e.Folder), e.Detail)
}

// child is a trainer that runs, whoever started it.
type child struct {
	folder string
	group  int
	// start is the start time of the group's leader, empty where nobody saw it.
	start string
	// own is closed when a child of this process is reaped; nil for one that we attached to.
	own <-chan struct{}
}

// launch starts the trainer in a process group of its own. The lock is passed on to it and
// given up here.
func launch(folder string, argv, env []string, lock *os.File) (*child, error) {
	defer lock.Close()
	for _, name := range []string{pidName, exitName} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", shell, "trainer", filepath.Join(folder, exitName), filepath.Join(folder, pidName)}, argv...)...)
	cmd.Dir, cmd.Env = folder, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.ExtraFiles = []*os.File{lock}
	out, err := appendTo(filepath.Join(folder, outName))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	errs, err := appendTo(filepath.Join(folder, errName))
	if err != nil {
		return nil, err
	}
	defer errs.Close()
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the trainer: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the exit code is in its file
	}()
	return &child{folder: folder, group: cmd.Process.Pid, start: process.Of(cmd.Process.Pid).Start, own: done}, nil
}

func appendTo(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// attach finds the trainer that holds the lock of a folder. shell is what its record says.
func attach(ctx context.Context, folder string, shell process.ID) (*child, error) {
	// The shell may be about to write its pid.
	for range 100 {
		data, err := os.ReadFile(filepath.Join(folder, pidName))
		if pid, bad := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && bad == nil && pid > 1 {
			c := &child{folder: folder, group: pid, start: process.Of(pid).Start}
			if shell.PID == pid {
				c.start = shell.Start
			}
			return c, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil, &HeldError{Folder: folder, Detail: "its lock is held, and no process of it is named"}
}

// ended reports whether the trainer is over, with the exit code, -1 when nobody wrote one.
func (c *child) ended() (code int, over bool, err error) {
	if code, ok := exitCode(c.folder); ok {
		return code, true, nil
	}
	if c.own != nil {
		select {
		case <-c.own:
		default:
			return 0, false, nil
		}
	}
	lock, err := process.TryLock(filepath.Join(c.folder, lockName))
	switch {
	case errors.Is(err, process.ErrLocked):
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	lock.Close()
	return -1, true, nil
}

// exitCode is what the shell of a folder's last start wrote, if it did.
func exitCode(folder string) (code int, ok bool) {
	data, err := os.ReadFile(filepath.Join(folder, exitName))
	if err != nil {
		return 0, false
	}
	code, err = strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return -1, true
	}
	return code, true
}

// signal sends a signal to the whole group. The number of a group is not given to another
// while it has a member, and a leader with another start time is another group's.
func (c *child) signal(s syscall.Signal) error {
	if now := process.Of(c.group); now.Start != "" && c.start != "" && now.Start != c.start {
		return &HeldError{Folder: c.folder, Detail: "its lock is held, and the process group it was started in is another's now"}
	}
	if err := syscall.Kill(-c.group, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %v to process group %d: %w", s, c.group, err)
	}
	return nil
}

// stop asks the group to end, and ends it after grace. When it returns the lock is free.
func (c *child) stop(grace time.Duration) error {
	if _, over, err := c.ended(); over || err != nil {
		return errors.Join(err, c.sweep())
	}
	if err := c.signal(syscall.SIGTERM); err != nil {
		return err
	}
	for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, over, err := c.ended(); over || err != nil {
			return errors.Join(err, c.sweep())
		}
	}
	return c.sweep()
}

// sweep kills what of the group is left while its lock is held, so that no process of an
// earlier attempt touches the device again.
func (c *child) sweep() error {
	path := filepath.Join(c.folder, lockName)
	for range 500 {
		lock, err := process.TryLock(path)
		if err == nil {
			return lock.Close()
		}
		if !errors.Is(err, process.ErrLocked) {
			return err
		}
		if err := c.signal(syscall.SIGKILL); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return &HeldError{Folder: c.folder, Detail: "a process of it does not end when killed"}
}
