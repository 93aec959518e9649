package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrLocked is the error of a lock that another process holds.
var ErrLocked = errors.New("the lock is held by another process")

// TryLock opens path and takes its exclusive flock without waiting. It returns ErrLocked
// when another open file holds it. The lock belongs to the open file: it is held until
// every process that inherited the descriptor has closed it or ended, so it must be given
// up by closing, never by an explicit unlock. Lock files are never removed: a lock on a
// removed file protects nothing.
func TryLock(path string) (*os.File, error) {
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
		return nil, ErrLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// LockWithin takes the flock of path, trying until patience ends (ErrLocked then) or
// ctx does.
func LockWithin(ctx context.Context, path string, patience time.Duration) (*os.File, error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		f, err := TryLock(path)
		if !errors.Is(err, ErrLocked) {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-deadline.C:
			return nil, ErrLocked
		case <-tick.C:
		}
	}
}
