package artifacts

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Conditions that callers act on.
var (
	// ErrNotFound: the blob, record or object is not there.
	ErrNotFound = errors.New("not found")
	// ErrDigestMismatch: bytes are not what their digest says, twice in a row. Permanent.
	ErrDigestMismatch = errors.New("bytes do not match their digest")
	// ErrPrecondition: a conditional write met a different state.
	ErrPrecondition = errors.New("precondition failed")
	// ErrDenied: credentials are missing, wrong, or lack a right. Permanent.
	ErrDenied = errors.New("access denied")
	// ErrUnreachable: the store does not answer. Transient.
	ErrUnreachable = errors.New("store unreachable")
	// ErrNoSpace: the store has no room left. Nothing was published. Transient.
	ErrNoSpace = errors.New("no space left")
	// ErrClassRefused: the store is not attested for the data class. Permanent.
	ErrClassRefused = errors.New("data class refused")
	// ErrUnsafeStore: the store breaks a promise that no fallback replaces. Permanent.
	ErrUnsafeStore = errors.New("store unsafe")
)

// Class says whether trying again can help. The zero value is invalid.
type Class uint8

// The three classes. Unknown is not transient: try again, but only so often.
const (
	Permanent Class = iota + 1
	Transient
	Unknown
)

// String returns the class's name.
func (c Class) String() string {
	switch c {
	case Permanent:
		return "permanent"
	case Transient:
		return "transient"
	case Unknown:
		return "unknown"
	}
	return "invalid"
}

// BucketError is what a backend returns when an object operation fails. Bucket is the
// store's address without credentials.
type BucketError struct {
	Op     string
	Bucket string
	Object string
	Class  Class
	Hint   string
	Err    error
}

// Error names operation, object, store and cause.
func (e *BucketError) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("%s %s: %v", e.Op, e.Bucket, e.Err)
	}
	return fmt.Sprintf("%s %s in %s: %v", e.Op, e.Object, e.Bucket, e.Err)
}

// Unwrap returns the cause.
func (e *BucketError) Unwrap() error { return e.Err }

// ClassOf returns the class of any error of this package and of its backends: what the
// backend decided, and for the rest what the sentinels and types above say.
func ClassOf(err error) Class {
	var be *BucketError
	if errors.As(err, &be) && (be.Class == Permanent || be.Class == Transient) {
		return be.Class
	}
	for _, p := range []error{ErrDigestMismatch, ErrDenied, ErrClassRefused, ErrUnsafeStore, ErrNotFound, ErrPrecondition, context.Canceled} {
		if errors.Is(err, p) {
			return Permanent
		}
	}
	for _, t := range []error{ErrUnreachable, ErrNoSpace, context.DeadlineExceeded} {
		if errors.Is(err, t) {
			return Transient
		}
	}
	var held *HeldError
	if errors.As(err, &held) {
		return Transient
	}
	var conflict *ConflictError
	var stale *StaleClaimError
	if errors.As(err, &conflict) || errors.As(err, &stale) {
		return Permanent
	}
	return Unknown
}

// HintOf returns the next step that an error suggests, or "".
func HintOf(err error) string {
	var be *BucketError
	if errors.As(err, &be) && be.Hint != "" {
		return be.Hint
	}
	var held *HeldError
	switch {
	case errors.As(err, &held):
		return "wait for the owner, or until the claim expires"
	case errors.Is(err, ErrDigestMismatch) && be != nil && be.Op == "put":
		return "the source changed while it was stored, or was damaged on its way: run again"
	case errors.Is(err, ErrDigestMismatch):
		return "run `cxrepro artifacts verify --drop-damaged`; what is dropped is computed again"
	case errors.Is(err, ErrNoSpace):
		return "free space where the store lies (`cxrepro artifacts gc` shows what may go) and run again"
	}
	return ""
}

// MissReason says why a look-up found no usable record. The zero value is invalid.
type MissReason uint8

// Reasons of a miss.
const (
	MissNoEntry      MissReason = iota + 1 // the key was never committed
	MissBlobGone                           // the entry is there, its result blob is not
	MissBlobSize                           // the result blob has another size than its ref
	MissEntryDamaged                       // the entry cannot be read as a record of this key
)

// String returns the reason as text for logs and receipts.
func (m MissReason) String() string {
	switch m {
	case MissNoEntry:
		return "no entry"
	case MissBlobGone:
		return "entry without its blob"
	case MissBlobSize:
		return "blob of the wrong size"
	case MissEntryDamaged:
		return "damaged entry"
	}
	return "invalid"
}

// MissError is returned by Lookup. It matches ErrNotFound.
type MissError struct {
	Key    Key
	Reason MissReason
	Record Record // what the entry said, where it could be read
}

// Error names key and reason.
func (e *MissError) Error() string { return fmt.Sprintf("look up %s: %s", e.Key.Short(), e.Reason) }

// Is makes the miss match ErrNotFound.
func (e *MissError) Is(target error) bool { return target == ErrNotFound }

// ConflictError reports that a key already has another result. The first one stays;
// the pair is recorded under conflicts/.
type ConflictError struct {
	Key    Key
	First  Record
	Second Record
}

// Error names the key and both results.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("commit %s: result %s differs from the recorded result %s", e.Key.Short(), e.Second.Result.Digest, e.First.Result.Digest)
}

// HeldError reports that somebody else is computing the key.
type HeldError struct {
	Key     Key
	Owner   Owner
	Fence   int
	Expires time.Time
}

// Error names key, owner and end of the claim.
func (e *HeldError) Error() string {
	return fmt.Sprintf("claim %s: held by %s until %s", e.Key.Short(), e.Owner, e.Expires.UTC().Format(time.RFC3339))
}

// StaleClaimError reports that a claim was taken over; its holder must not commit.
type StaleClaimError struct {
	Key   Key
	Fence int // ours
	Now   int // the fence in the store, 0 when the claim is gone
}

// Error names the key and both fences.
func (e *StaleClaimError) Error() string {
	return fmt.Sprintf("claim %s: fence %d is stale, the store has %d", e.Key.Short(), e.Fence, e.Now)
}

// CommittedError reports that the key was committed between look-up and claim.
type CommittedError struct{ Record Record }

// Error names the key.
func (e *CommittedError) Error() string {
	return fmt.Sprintf("claim %s: already committed", e.Record.Key.Short())
}
