package artifacts

import (
	"context"
	"io"
	"time"
)

// Info describes an object. Version is the token for conditional writes, which Read and
// Put always fill in and the other calls perhaps; it is never the identity of anything.
// Modified is the store's clock; Put may leave it zero.
type Info struct {
	Name     string
	Size     int64
	Modified time.Time
	Version  string
}

// Content is bytes that can be read more than once and from several places at a time.
// *bytes.Reader and *io.SectionReader are Contents.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Multipart says how Put cuts large content. The zero value lets the backend choose.
type Multipart uint8

// Ways to cut.
const (
	MultipartAuto Multipart = iota
	MultipartNever
	MultipartAlways
)

// PutOptions are the conditions of one Put. IfAbsent and IfMatch exclude each other.
type PutOptions struct {
	MediaType string
	// SHA256, when set, must be the digest of the stored bytes: a backend whose
	// Semantics.VerifiedPut holds publishes nothing when they differ.
	SHA256    Digest
	IfAbsent  bool   // publish only if there is no object of that name
	IfMatch   string // publish only over the object with this Version
	Multipart Multipart
}

// Bucket is the set of object operations a backend offers. Names are slash-separated,
// without leading slash, and never a prefix of one another.
//
// Every method may be called from several goroutines. A call with a cancelled context
// changes nothing. Errors are *BucketError that wrap the sentinels of this package;
// only the backend knows its own errors, nobody else matches texts.
type Bucket interface {
	// URL names the store for people, without credentials.
	URL() string
	// Semantics says what the backend promises before anything was measured.
	Semantics() Semantics
	// Open streams an object. Errors: ErrNotFound.
	Open(ctx context.Context, name string) (io.ReadCloser, Info, error)
	// Read returns a small object whole, with its Version. Errors: ErrNotFound.
	Read(ctx context.Context, name string) ([]byte, Info, error)
	// Stat describes an object. Errors: ErrNotFound.
	Stat(ctx context.Context, name string) (Info, error)
	// Put publishes an object at once: readers see the old state or the new one, never
	// a part. Errors: ErrPrecondition when a condition does not hold (also IfMatch on a
	// missing object), ErrDigestMismatch, ErrNoSpace.
	Put(ctx context.Context, name string, content Content, opts PutOptions) (Info, error)
	// Copy publishes from's bytes as to inside the store. Errors: ErrNotFound.
	Copy(ctx context.Context, from, to string) error
	// Delete removes an object; a missing one is not an error.
	Delete(ctx context.Context, name string) error
	// List calls fn for every object whose name starts with prefix and sorts after
	// after ("" for all), in ascending byte order. It stops at fn's first error and
	// returns it.
	List(ctx context.Context, prefix, after string, fn func(Info) error) error
}

// CarefulDeleter is an optional ability of a Bucket: removing an object only while it is as
// Stat described it. gone is false when it was written again meanwhile; it stays then.
type CarefulDeleter interface {
	DeleteUnchanged(ctx context.Context, info Info) (gone bool, err error)
}

// WholeReader is an optional ability of a Bucket: reading an object whole without its Version,
// which some backends must compute.
type WholeReader interface {
	ReadWhole(ctx context.Context, name string) ([]byte, error)
}

// ReadWhole reads a small object as quickly as a bucket can.
func ReadWhole(ctx context.Context, from Bucket, name string) ([]byte, error) {
	if r, ok := from.(WholeReader); ok {
		return r.ReadWhole(ctx, name)
	}
	data, _, err := from.Read(ctx, name)
	return data, err
}

// Forewarned is an optional ability of a Bucket: making an object quick to open while other things
// are done. It promises nothing and reports nothing.
type Forewarned interface {
	Soon(ctx context.Context, name string, size int64)
}

// Upload is a multipart upload that was begun and not completed.
type Upload struct {
	Name    string
	ID      string
	Started time.Time
}

// Uploads is an optional ability of a Bucket: seeing and aborting unfinished multipart
// uploads, which cost space and are invisible to List.
type Uploads interface {
	ListUploads(ctx context.Context, fn func(Upload) error) error
	// UploadSize returns the bytes of the parts that were sent.
	UploadSize(ctx context.Context, u Upload) (int64, error)
	// AbortUpload frees the parts. Errors: ErrNotFound.
	AbortUpload(ctx context.Context, u Upload) error
}

// Semantics is what a store keeps to. Backends state what they promise by construction;
// Probe measures it.
type Semantics struct {
	// ConditionalCreate: Put with IfAbsent lets exactly one of many racing writers win.
	ConditionalCreate bool `json:"conditional_create"`
	// ConditionalSwap: Put with IfMatch refuses another version and a missing object.
	ConditionalSwap bool `json:"conditional_swap"`
	// VerifiedPut: Put with SHA256 refuses other bytes, and publishes nothing then.
	VerifiedPut bool `json:"verified_put"`
	// Copy: the store copies objects itself.
	Copy bool `json:"copy"`
	// Multipart: content put in parts is stored as sent.
	Multipart bool `json:"multipart"`
	// ConditionalMultipart: IfAbsent also holds for content put in parts.
	ConditionalMultipart bool `json:"conditional_multipart"`
	// SingleMax is the largest content in bytes that goes in one request; 0 means any.
	SingleMax int64 `json:"single_max,omitempty"`
}
