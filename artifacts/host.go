package artifacts

import (
	"context"
	"io"
	"time"
)

// File is a local file to be stored.
type File interface {
	io.ReaderAt
	io.Closer
}

// Host is what a repository needs from the machine it runs on. Package localhost is
// the real one; tests bring their own clock.
type Host interface {
	// Now returns the time.
	Now() time.Time
	// Sleep waits, or returns the context's error.
	Sleep(ctx context.Context, d time.Duration) error
	// Nonce returns a text of letters and digits that nobody else will get.
	Nonce() string
	// OpenFile opens a local file and returns its size in bytes.
	OpenFile(path string) (File, int64, error)
	// Dead reports whether the owner's process certainly no longer runs: it ran in
	// this process table and its number is free or was given to another process.
	Dead(o Owner) bool
}
