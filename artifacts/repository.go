package artifacts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options configure a repository. Host is required; every other zero value has the
// documented default.
type Options struct {
	// Host supplies clock, files and processes; see package localhost.
	Host Host
	// Semantics is what a probe measured; nil means what the bucket promises.
	Semantics *Semantics
	// Remote says that bytes leave this machine or its file systems. Blobs of a data
	// class then need an attestation.
	Remote bool
	// Attestation is what the store's configuration vouches for.
	Attestation Attestation
	// RefreshAge: putting a blob that is there already, but older than this, writes it
	// again, so that garbage collection sees it as young. Default 12 h.
	RefreshAge time.Duration
	// Settle is how long the candidate protocol waits for writes under way, where the
	// store breaks conditional writes. Default 1 s.
	Settle time.Duration
}

// Attestation lists the data classes that a remote store may receive.
type Attestation struct {
	Classes []string `json:"classes"`
}

// Allows reports whether class is attested.
func (a Attestation) Allows(class string) bool { return slices.Contains(a.Classes, class) }

// Repository is blobs, index, statements, claims, pins and garbage collection over one
// bucket. It keeps no state of its own, so any number of repositories, in any number of
// processes, may work on the same bucket.
type Repository struct {
	bucket Bucket
	host   Host
	opts   Options
	sem    Semantics
	class  string
	// candidates says that conditional writes go through the candidate protocol.
	createByCandidates bool
	swapByCandidates   bool
}

// New returns a repository over bucket. Errors: a missing Host; ErrUnsafeStore when the
// semantics leave no safe way.
func New(bucket Bucket, opts Options) (*Repository, error) {
	if bucket == nil {
		return nil, errors.New("new repository: bucket is nil")
	}
	if opts.Host == nil {
		return nil, errors.New("new repository: Options.Host is nil; use localhost.New()")
	}
	if opts.RefreshAge == 0 {
		opts.RefreshAge = 12 * time.Hour
	}
	if opts.Settle == 0 {
		opts.Settle = time.Second
	}
	r := &Repository{bucket: bucket, host: opts.Host, opts: opts, sem: bucket.Semantics()}
	if opts.Semantics != nil {
		r.sem = *opts.Semantics
	}
	r.createByCandidates = !r.sem.ConditionalCreate
	r.swapByCandidates = !r.sem.ConditionalSwap || r.createByCandidates
	return r, nil
}

// URL names the store without credentials.
func (r *Repository) URL() string { return r.bucket.URL() }

// Remote reports whether blobs come from another machine, or its file systems.
func (r *Repository) Remote() bool { return r.opts.Remote }

// Bucket returns the bucket underneath.
func (r *Repository) Bucket() Bucket { return r.bucket }

// Semantics returns what the repository relies on.
func (r *Repository) Semantics() Semantics { return r.sem }

// Fallbacks lists, for people, what the repository does differently because the store
// breaks a promise. It is empty for a store that keeps them all.
func (r *Repository) Fallbacks() []string {
	var out []string
	if r.createByCandidates {
		out = append(out, "conditional create is not honoured: claims and index go through the candidate protocol, at least "+r.opts.Settle.String()+" per write")
	} else if r.swapByCandidates {
		out = append(out, "conditional overwrite is not honoured: take-over of claims goes through the candidate protocol, at least "+r.opts.Settle.String()+" each")
	}
	if !r.sem.VerifiedPut {
		out = append(out, "the store does not check SHA-256 on upload: every blob is read back before it is published")
	}
	if !r.sem.Copy {
		out = append(out, "the store cannot copy objects: blobs are written under their final name and removed again when they read back wrong")
	}
	if !r.sem.Multipart {
		out = append(out, "multipart uploads are stored wrong: large blobs go in one request")
	}
	return out
}

// ForClass returns a view of the same repository whose blobs carry a data class. On a
// remote store its Put and PutFile refuse, before any byte leaves, unless the store's
// configuration attests the class (ErrClassRefused). The empty class is unrestricted.
func (r *Repository) ForClass(class string) *Repository {
	view := *r
	view.class = class
	return &view
}

// MayHold returns nil if the store may hold blobs of a data class, else the error that Put
// would return.
func (r *Repository) MayHold(class string) error { return r.ForClass(class).checkClass() }

// checkClass refuses bytes that the store is not attested for.
func (r *Repository) checkClass() error {
	if r.class == "" || !r.opts.Remote || r.opts.Attestation.Allows(r.class) {
		return nil
	}
	have := "none"
	if len(r.opts.Attestation.Classes) > 0 {
		have = strings.Join(r.opts.Attestation.Classes, ", ")
	}
	return &BucketError{
		Op: "put", Bucket: r.bucket.URL(), Class: Permanent,
		Hint: "use a local store, or, if this store may hold such data, attest it with ?attest=" + r.class,
		Err:  fmt.Errorf("%w: %q is not attested for this remote store (attested: %s)", ErrClassRefused, r.class, have),
	}
}
