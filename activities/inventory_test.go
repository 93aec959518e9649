package activities

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// TestAbsent: only what was read, or is not there, tells of an object; a store that fails is an
// error, and no object is called damaged for it.
func TestAbsent(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"gone":            {&artifacts.BucketError{Class: artifacts.Permanent, Err: artifacts.ErrNotFound}, true},
		"no entry":        {&artifacts.MissError{Reason: artifacts.MissEntryDamaged}, true},
		"damaged":         {fmt.Errorf("get: %w", artifacts.ErrDigestMismatch), true},
		"no JSON":         {fmt.Errorf("decode: %w", json.Unmarshal([]byte("{"), new(any))), true},
		"another format":  {contract.Fail(contract.ErrTypeSpec, "manifest: format %q", "x"), true},
		"too many files":  {&artifacts.BucketError{Class: artifacts.Unknown, Err: syscall.EMFILE}, false},
		"a failing disk":  {fmt.Errorf("get: %w", &fs.PathError{Op: "read", Path: "x", Err: syscall.EIO}), false},
		"a cut transfer":  {fmt.Errorf("get: %w", io.ErrUnexpectedEOF), false},
		"a reset":         {fmt.Errorf("get: %w", syscall.ECONNRESET), false},
		"a store away":    {artifacts.ErrUnreachable, false},
		"nobody's object": {&artifacts.BucketError{Class: artifacts.Permanent, Err: errors.New("foreign")}, false},
	} {
		if got := absent(c.err); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
