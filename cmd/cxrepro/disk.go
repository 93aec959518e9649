package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// tightDisk is how little room makes work stand still: the server cannot write its
	// database any more, and says so to nobody.
	tightDisk = 1 << 20
	// roomyDisk is the room at which it is told that work goes on.
	roomyDisk = 4 << 20
	diskEvery = 2 * time.Second
)

// watchDisk tells when the file system of the state directory runs full, and when it has
// room again. It returns what ends it.
func (a *app) watchDisk(ctx context.Context, d display) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(diskEvery)
		defer tick.Stop()
		full := false
		for {
			if room, ok := freeBytes(a.StateDir()); ok && !full && room < tightDisk {
				full = true
				d.note(fmt.Sprintf("the disk of %s is full (%s left): free some space, the work goes on by itself", a.StateDir(), size(room)))
			} else if ok && full && room > roomyDisk {
				full = false
				d.note("the disk of " + a.StateDir() + " has room again")
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// freeBytes is the room that a file system leaves to us.
func freeBytes(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
