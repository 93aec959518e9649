package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestRunOnAFullDisk runs on a state directory whose real, small file system has no room:
// too little to begin is said before any work with exit code 6; too little to go on is said
// while the run waits, and once there is room it comes to the undisturbed result by itself.
// Mounting needs privileges; without them package artifacts/faultstore tests the same of
// the store alone.
func TestRunOnAFullDisk(t *testing.T) {
	b := phantomBench(t, 2)
	mount := filepath.Join(b.dir, "disk")
	if err := os.Mkdir(mount, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=48m"); err != nil {
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(mount, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	code, want, talk := b.run()
	if code != exitOK {
		t.Fatalf("undisturbed: exit %d\n%s", code, talk)
	}
	b.state = filepath.Join(mount, "state")
	ballast := filepath.Join(mount, "ballast")
	leave := func(room int) { writeFile(t, ballast, make([]byte, 48<<20-room)) }

	leave(256 << 10)
	code, _, talk = b.run()
	if code != exitUnreachable || !strings.Contains(talk, "no space left") || !strings.Contains(talk, "cxrepro: hint: free space in "+b.state) {
		t.Errorf("no room to begin: exit %d\n%s", code, talk)
	}
	if err := os.RemoveAll(b.state); err != nil {
		t.Fatal(err)
	}
	leave(10 << 20)
	full := &word{text: "free some space", heard: make(chan struct{})}
	b.hear = full
	freed := make(chan bool, 1)
	go func() {
		select {
		case <-full.heard:
			freed <- os.Remove(ballast) == nil
		case <-time.After(time.Minute):
			freed <- false
		}
	}()
	code, got, talk := b.run()
	if !<-freed {
		t.Fatalf("the full disk was not told of\n%s", talk)
	}
	if code != exitOK || got.ResultDigest != want.ResultDigest {
		t.Errorf("exit %d, %+v, want %s\n%s", code, got, want.ResultDigest, talk)
	}
}
