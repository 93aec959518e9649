package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"
)

// Store keeps bytes by digest.
type Store interface {
	// Put stores data and returns its ref. Storing the same bytes again changes nothing.
	Put(ctx context.Context, data []byte, mediaType string) (Ref, error)
	// PutFile stores a file's bytes. A file that changes meanwhile is refused.
	PutFile(ctx context.Context, path, mediaType string) (Ref, error)
	// Get returns the blob's bytes, checked. Errors: ErrNotFound, ErrDigestMismatch.
	Get(ctx context.Context, ref Ref) ([]byte, error)
	// Open returns a reader that ends with ErrDigestMismatch instead of io.EOF when the
	// bytes are wrong: nothing read from it is true before that end.
	Open(ctx context.Context, ref Ref) (io.ReadCloser, error)
	// Has reports whether a blob is there, without reading it.
	Has(ctx context.Context, d Digest) (bool, error)
}

// Record is one index entry: the result of a key and the statement of how it came to be.
// Inline, where it is set, is the statement itself, carried by the entry, and Statement
// its digest; there is no object under that digest then. Read it with StatementOf.
type Record struct {
	Key       Key             `json:"key"`
	Result    Ref             `json:"result"`
	Statement Ref             `json:"statement"`
	Inline    json.RawMessage `json:"inline,omitempty"`
}

// Equal reports whether both records say the same.
func (r Record) Equal(o Record) bool {
	return r.Key == o.Key && r.Result == o.Result && r.Statement == o.Statement && bytes.Equal(r.Inline, o.Inline)
}

// Index remembers which key gave which result.
type Index interface {
	// Lookup returns the key's record, or a *MissError (ErrNotFound). An entry whose
	// blob is gone is a miss.
	Lookup(ctx context.Context, key Key) (Record, error)
	// Commit writes the record if the key has none. When the key already has the same
	// result, the first record is returned and nothing is written. Errors: *ConflictError.
	Commit(ctx context.Context, rec Record) (Record, error)
}

// Owner says who computes a key. Host, PID and ProcStart identify the process: Host is
// the name of a process table (machine, boot and process namespace), ProcStart the
// process's start time there.
type Owner struct {
	Reproduction string `json:"reproduction,omitempty"`
	Worker       string `json:"worker,omitempty"`
	Workflow     string `json:"workflow,omitempty"`
	Activity     string `json:"activity,omitempty"`
	Attempt      int    `json:"attempt,omitempty"`
	Host         string `json:"host,omitempty"`
	PID          int    `json:"pid,omitempty"`
	ProcStart    string `json:"proc_start,omitempty"`
}

// Claims gives one owner at a time the right to compute a key.
type Claims interface {
	Claim(ctx context.Context, key Key, owner Owner, ttl time.Duration) (*Claim, error)
	Release(ctx context.Context, claim *Claim) error
}

var (
	_ Store  = (*Repository)(nil)
	_ Index  = (*Repository)(nil)
	_ Claims = (*Repository)(nil)
)
