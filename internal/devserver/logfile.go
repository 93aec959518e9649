package devserver

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	logLimit  = 8 << 20 // bytes of one log file; one older file is kept
	tailBytes = 4 << 10
	tailLines = 8
	lineWidth = 600
)

// boundedLog appends to a file and starts a new one, keeping the last as path.1, before
// the file would grow over limit. Writes are whole or lost, never an error: the server
// must not end because its log cannot be written.
type boundedLog struct {
	path  string
	limit int64

	mu   sync.Mutex // guards what follows
	f    *os.File   // nil when the file cannot be opened
	size int64
}

func openLog(path string, limit int64) *boundedLog {
	l := &boundedLog{path: path, limit: limit}
	l.open()
	return l
}

func (l *boundedLog) open() {
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		l.f, l.size = nil, 0
		return
	}
	l.f, l.size = f, 0
	if info, err := f.Stat(); err == nil {
		l.size = info.Size()
	}
}

// Write implements io.Writer.
func (l *boundedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(b)) > l.limit {
		if l.f != nil {
			l.f.Close()
		}
		os.Rename(l.path, l.path+".1") // on failure the file is opened again and grows
		l.open()
	}
	if l.f != nil {
		n, _ := l.f.Write(b)
		l.size += int64(n)
	}
	return len(b), nil
}

// note appends a line of the supervisor's own.
func (l *boundedLog) note(format string, args ...any) {
	fmt.Fprintf(l, "--- %s cxrepro: %s\n", time.Now().UTC().Format(time.RFC3339), fmt.Sprintf(format, args...))
}

func (l *boundedLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

// logTail returns the last lines that the server wrote into the file at path at or after
// offset, each cut to a readable width; empty when there are none.
func logTail(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	if size < offset { // begun anew meanwhile
		offset = 0
	}
	from := max(offset, size-tailBytes)
	b := make([]byte, size-from)
	if _, err := f.ReadAt(b, from); err != nil {
		return ""
	}
	if from > offset { // the first line is cut
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	var lines []string
	for _, s := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if s == "" || strings.HasPrefix(s, "--- ") {
			continue
		}
		if len(s) > lineWidth {
			s = s[:lineWidth] + "..."
		}
		lines = append(lines, s)
	}
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}

// logSize returns the size of the log, for a later logTail; 0 when there is none.
func logSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// makeDirs creates the package's folders, readable by the owner of the state only.
func (p paths) makeDirs() error {
	for _, d := range []string{p.dir(), p.logDir()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("make %s: %w", filepath.Base(d), err)
		}
	}
	return nil
}
