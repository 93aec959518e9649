package resolve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// progressEvery is the pause between two lines about the same work.
const progressEvery = 2 * time.Second

// clientLimit bounds one run of a package client; a stalled mirror must end in a message.
const clientLimit = 20 * time.Minute

// errAbsent reports that a tool is not on this machine; the next way is tried at once.
var errAbsent = errors.New("not on this machine")

// A job is one run of an outside tool.
type job struct {
	name string   // for messages: "pip"
	argv []string // argv[0] is looked up on PATH
	dir  string   // working folder
	env  []string // added to our environment
	tick func(elapsed time.Duration) string
	line func(stderr string) // optional, each line of standard error
}

// run starts the tool in its own process group, ends the whole group when ctx ends, and
// says tick's line every two seconds. Returned text is the tail of standard error.
func (j job) run(ctx context.Context, say func(string, ...any)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, j.argv[0], j.argv[1:]...)
	cmd.Dir = j.dir
	cmd.Env = append(os.Environ(), j.env...)
	tail := &tailWriter{line: j.line}
	cmd.Stderr = tail
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return "", errAbsent
		}
		return "", err
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	if j.tick != nil {
		wg.Go(func() {
			start, t := time.Now(), time.NewTicker(progressEvery)
			defer t.Stop()
			for {
				select {
				case <-stop:
					return
				case <-t.C:
					if l := j.tick(time.Since(start)); l != "" {
						say("%s", l)
					}
				}
			}
		})
	}
	err := cmd.Wait()
	close(stop)
	wg.Wait()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return tail.String(), err
}

// tailWriter keeps the last 8 KiB and hands complete lines on.
type tailWriter struct {
	mu   sync.Mutex
	buf  []byte
	part []byte
	line func(string)
}

func (w *tailWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p...)
	if n := len(w.buf) - 8<<10; n > 0 {
		w.buf = append(w.buf[:0], w.buf[n:]...)
	}
	if w.line != nil {
		w.part = append(w.part, p...)
		for {
			i := bytes.IndexByte(w.part, '\n')
			if i < 0 {
				break
			}
			w.line(string(w.part[:i]))
			w.part = w.part[i+1:]
		}
	}
	return len(p), nil
}

func (w *tailWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.buf)
}

// downloaded makes the progress line of a download from how much has arrived in dir.
func downloaded(label, dir string, total int64) func(time.Duration) string {
	var last int64
	var quiet time.Duration // when the last line about waiting was due
	return func(elapsed time.Duration) string {
		var n int64
		filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if fi, err := d.Info(); err == nil {
					n += fi.Size()
				}
			}
			return nil // files come and go while we look
		})
		if n <= last {
			if elapsed-quiet < 5*progressEvery-progressEvery/2 {
				return ""
			}
			quiet = elapsed
			return fmt.Sprintf("%s: still at work, %d s", label, int(elapsed.Seconds()))
		}
		rate := float64(n-last) / progressEvery.Seconds()
		last, quiet = n, elapsed
		return fmt.Sprintf("%s: %.1f of %.1f MB, %.1f MB/s", label, megabytes(min(n, total)), megabytes(total), rate/1e6)
	}
}

func megabytes(n int64) float64 { return float64(n) / 1e6 }
