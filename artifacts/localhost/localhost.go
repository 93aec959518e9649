package localhost

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"cxrepro/artifacts"
)

// Host is the machine this process runs on.
type Host struct {
	table string // "" when the process table cannot be named; then nobody is ever declared dead
	proc  string
}

var _ artifacts.Host = (*Host)(nil)

// New returns this machine.
func New() *Host { return &Host{table: processTable("/proc"), proc: "/proc"} }

// Now returns the machine's time.
func (h *Host) Now() time.Time { return time.Now() }

// Sleep waits for d, or returns the context's error.
func (h *Host) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Nonce returns 26 random letters and digits.
func (h *Host) Nonce() string { return strings.ToLower(rand.Text()) }

// OpenFile opens a regular file.
func (h *Host) OpenFile(path string) (artifacts.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// Owner fills in Host, PID and ProcStart of o for the running process.
func (h *Host) Owner(o artifacts.Owner) artifacts.Owner {
	o.Host, o.PID = h.table, os.Getpid()
	o.ProcStart, _ = procStart(h.proc, o.PID)
	return o
}

// Dead reports whether the owner's process certainly is gone. It is false for owners
// of other process tables and wherever that cannot be known.
func (h *Host) Dead(o artifacts.Owner) bool {
	if h.table == "" || o.Host != h.table || o.PID <= 0 || o.ProcStart == "" {
		return false
	}
	start, err := procStart(h.proc, o.PID)
	switch {
	case err == nil:
		return start != o.ProcStart
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH):
		return true
	}
	return false
}

// procStart returns when process pid started, in clock ticks since boot, as text. A
// process that has ended but was not waited for counts as gone.
func procStart(proc string, pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("%s/%d/stat", proc, pid))
	if err != nil {
		return "", err
	}
	// The name in parentheses may hold anything, also parentheses and spaces.
	_, rest, ok := cutLast(string(b), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return "", fmt.Errorf("process %d: cannot read its state", pid)
	}
	if s := fields[0]; s == "Z" || s == "X" {
		return "", fs.ErrNotExist
	}
	return fields[19], nil
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// processTable names the table of processes that this one sees, or "".
func processTable(proc string) string {
	boot, err := os.ReadFile(proc + "/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ns, err := os.Readlink(proc + "/self/ns/pid")
	if err != nil {
		return ""
	}
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name + "/" + strings.TrimSpace(string(boot)) + "/" + strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]")
}
