package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// tryLock opens path and takes its exclusive flock without waiting. It returns errLocked
// when another open file holds it. The lock belongs to the open file: it is held until
// every process that inherited the descriptor has closed it or ended, so it must be given
// up by closing, never by an explicit unlock. Lock files are never removed: a lock on a
// removed file protects nothing.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// lockWithin takes the flock of path, trying until patience ends (errLocked then) or
// ctx does.
func lockWithin(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		f, err := tryLock(path)
		if !errors.Is(err, errLocked) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.C:
			return nil, errLocked
		case <-tick.C:
		}
	}
}

// reclaim returns the server lock, held. If a server that lost its owner still has it,
// that server is given a moment to end by itself and is then killed: a restart takes a
// second, and adopting a process that somebody else started would leave it unsupervised.
//
// The caller holds the owner lock, so whoever has the server lock is a remainder. While it
// is held the process group of lock.json cannot have been given to anyone else: one of its
// members is what holds the lock.
func reclaim(ctx context.Context, p paths, notify func(string)) (*os.File, error) {
	f, err := lockWithin(ctx, p.serverLock(), time.Second)
	if !errors.Is(err, errLocked) {
		return f, err
	}
	r := readRecord(p.record())
	if r.Supervisor.PID <= 1 || r.Machine != machine() {
		return nil, &HeldError{Dir: p.state, Err: errors.New("a server has its files open and lock.json does not name it as a process of this machine")}
	}
	notify(fmt.Sprintf("ending a Temporal server left behind by process %d (process group %d)", r.Owner.PID, r.Supervisor.PID))
	if err := unix.Kill(-r.Supervisor.PID, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
		return nil, fmt.Errorf("end the Temporal server left behind (process group %d): %w", r.Supervisor.PID, err)
	}
	f, err = lockWithin(ctx, p.serverLock(), 5*time.Second)
	if errors.Is(err, errLocked) {
		return nil, &HeldError{Dir: p.state, Holder: Holder{PID: r.Server.PID, Command: "temporal", Since: r.Since}, Err: errors.New("a server left behind did not end when killed")}
	}
	return f, err
}
