package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"cxrepro/internal/process"
)

// reclaim returns the server lock, held. If a server that lost its owner still has it,
// that server is given a moment to end by itself and is then killed: a restart takes a
// second, and adopting a process that somebody else started would leave it unsupervised.
//
// The caller holds the owner lock, so whoever has the server lock is a remainder. While it
// is held the process group of lock.json cannot have been given to anyone else: one of its
// members is what holds the lock.
func reclaim(ctx context.Context, p paths, notify func(string)) (*os.File, error) {
	f, err := process.LockWithin(ctx, p.serverLock(), time.Second)
	if !errors.Is(err, process.ErrLocked) {
		return f, err
	}
	r := readRecord(p.record())
	if r.Supervisor.PID <= 1 || r.Machine != process.Machine() {
		return nil, &HeldError{Dir: p.state, Err: errors.New("a server has its files open and lock.json does not name it as a process of this machine")}
	}
	notify(fmt.Sprintf("ending a Temporal server left behind by process %d (process group %d)", r.Owner.PID, r.Supervisor.PID))
	if err := unix.Kill(-r.Supervisor.PID, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("end the Temporal server left behind (process group %d): %w", r.Supervisor.PID, err)
	}
	f, err = process.LockWithin(ctx, p.serverLock(), 5*time.Second)
	if errors.Is(err, process.ErrLocked) {
		return nil, &HeldError{Dir: p.state, Holder: Holder{PID: r.Server.PID, Command: "temporal", Since: r.Since}, Err: errors.New("a server left behind did not end when killed")}
	}
	return f, err
}
