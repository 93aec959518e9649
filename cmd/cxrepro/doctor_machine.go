package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cxrepro/internal/devserver"
	"cxrepro/internal/onnx"
)

// What a small reproduction needs; below a warning, below the hard bound a failure.
const (
	wantMemory  = 2 << 30
	wantSpace   = 5 << 30
	leastSpace  = 300 << 20
	wantInodes  = 50_000
	leastInodes = 1_000
	wantFiles   = 1024
	clockSlack  = 5 * time.Second
)

func (e *examination) program(context.Context) finding {
	v := readCodeVersion()
	return ok("cxrepro %.12s, %s %s/%s", v.Revision, v.Go, v.OS, v.Arch)
}

func (e *examination) processors(context.Context) finding {
	n, q := runtime.NumCPU(), onnx.Quota()
	if q < n {
		return ok("%d of %d processors may be used here", q, n)
	}
	return ok("%d processors", n)
}

func (e *examination) memory(context.Context) finding {
	total, free := memory()
	if total == 0 {
		return warn("have 2 GB free for a worker with inference", "free memory cannot be told here")
	}
	if free < wantMemory {
		return warn("close other programs, or run with fewer --workers: a worker with inference takes up to 1.5 GB", "%s free of %s", gigabytes(free), gigabytes(total))
	}
	return ok("%s free of %s", gigabytes(free), gigabytes(total))
}

// memory returns the bytes of main memory and of what is free for programs, 0 where the
// system does not tell.
func memory() (total, free uint64) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		var kib uint64
		if n, _ := fmt.Sscanf(line, "MemTotal: %d kB", &kib); n == 1 {
			total = kib << 10
		}
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			free = kib << 10
		}
	}
	return total, free
}

func gigabytes(b uint64) string { return fmt.Sprintf("%.1f GB", float64(b)/1e9) }

func (e *examination) openFiles(context.Context) finding {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return warn("", "the limit of open files cannot be told: %v", err)
	}
	if l.Max < wantFiles {
		return warn("raise it: ulimit -n 4096", "at most %d open files", l.Max)
	}
	return ok("up to %d", l.Max)
}

// stateDir makes a scratch folder where the state directory is or would be.
func (e *examination) stateDir(context.Context) finding {
	state := e.a.StateDir()
	abs, err := filepath.Abs(state)
	if err != nil {
		return fail("choose another --state", "%v", err)
	}
	where := abs
	for {
		info, err := os.Stat(where)
		if err == nil && !info.IsDir() {
			return fail("choose another --state", "%s is a file", where)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrNotExist) || where == filepath.Dir(where) {
			return fail("choose another --state", "%v", err)
		}
		where = filepath.Dir(where)
	}
	if e.scratch, err = os.MkdirTemp(where, ".cxrepro-doctor-"); err != nil {
		return fail("make "+where+" writable, or choose another --state", "cannot write: %v", err)
	}
	if name := networkFileSystem(where); name != "" {
		return warn("put --state on a local disk and keep only the store elsewhere: --store URL", "%s is on %s: locks and Temporal's database are not safe there", state, name)
	}
	if where != abs {
		return ok("%s will be made", state)
	}
	return ok("%s", state)
}

func (e *examination) clean() {
	if e.scratch != "" {
		_ = os.RemoveAll(e.scratch)
	}
}

func (e *examination) freeSpace(context.Context) finding {
	if e.scratch == "" {
		return fail("", "not checked: the state directory cannot be used")
	}
	var s unix.Statfs_t
	if err := unix.Statfs(e.scratch, &s); err != nil {
		return warn("", "cannot be told: %v", err)
	}
	free := s.Bavail * uint64(s.Bsize)
	files := "no limit of files"
	if s.Files > 0 {
		files = fmt.Sprintf("%d files free", s.Ffree)
	}
	switch {
	case free < leastSpace || s.Files > 0 && s.Ffree < leastInodes:
		return fail("free some space, or choose another --state", "%s free, %s", gigabytes(free), files)
	case free < wantSpace || s.Files > 0 && s.Ffree < wantInodes:
		return warn("enough for a demo; a full reproduction needs about 1 MB and 2 files per image", "%s free, %s", gigabytes(free), files)
	}
	return ok("%s free, %s", gigabytes(free), files)
}

// clock compares this machine's clock with the build's time and the file system's: claims
// in the store expire by it.
func (e *examination) clock(context.Context) finding {
	now := time.Now()
	hint := "set the clock (ntp): claims on work expire by it"
	if built := buildTime(); !built.IsZero() && now.Before(built.Add(-time.Hour)) {
		return fail(hint, "the clock says %s, before this program's code of %s", now.Format(time.DateOnly), built.Format(time.DateOnly))
	}
	if e.scratch == "" {
		return ok("%s", now.UTC().Format(time.RFC3339))
	}
	name := filepath.Join(e.scratch, "clock")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		return fail("free some space, or choose another --state", "cannot write: %v", err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return warn("", "cannot be compared: %v", err)
	}
	if d := info.ModTime().Sub(now); d.Abs() > clockSlack {
		return warn(hint, "the state directory's file system is %v off", d.Round(time.Second))
	}
	return ok("%s, file system agrees", now.UTC().Format(time.RFC3339))
}

// buildTime is when the running code was committed, zero when it is not known.
func buildTime() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			t, _ := time.Parse(time.RFC3339, s.Value)
			return t
		}
	}
	return time.Time{}
}

func (e *examination) holder(context.Context) finding {
	s, err := devserver.Inspect(e.a.StateDir())
	switch {
	case err != nil:
		return warn("", "cannot be told: %v", err)
	case s.LeftOver:
		return warn("nothing to do: the next command ends it before it opens its database", "a Temporal server without owner is left from an earlier run")
	case s.Running && !s.Ready:
		return ok("%s is starting the embedded server", s.Holder)
	case s.Running:
		return ok("%s runs the embedded server on %s; other commands join it", s.Holder, s.Address)
	}
	return ok("nobody")
}
