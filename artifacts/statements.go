package artifacts

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// StatementMediaType is the media type of provenance statements.
const StatementMediaType = "application/vnd.in-toto+json"

// PutStatement stores a provenance statement beside the blobs. It carries no data class:
// a statement holds digests and parameters, never the data themselves.
func (r *Repository) PutStatement(ctx context.Context, statement []byte) (Ref, error) {
	if err := ctx.Err(); err != nil {
		return Ref{}, err
	}
	ref := statementRef(statement)
	if err := r.publish(ctx, statementName(ref.Digest), ref, bytes.NewReader(statement)); err != nil {
		return Ref{}, fmt.Errorf("put statement %s: %w", ref.Digest.Short(), err)
	}
	return ref, nil
}

// Statement returns a provenance statement's bytes, checked as Get does.
func (r *Repository) Statement(ctx context.Context, ref Ref) ([]byte, error) {
	return r.get(ctx, statementName(ref.Digest), ref)
}

// StatementOf returns the statement of a record, from the entry that carries it or from
// beside the blobs, checked as Get does.
func (r *Repository) StatementOf(ctx context.Context, rec Record) ([]byte, error) {
	if len(rec.Inline) == 0 {
		return r.Statement(ctx, rec.Statement)
	}
	if err := checkInline(rec); err != nil {
		return nil, fmt.Errorf("statement of %s: %w", rec.Key.Short(), err)
	}
	return rec.Inline, nil
}

// checkInline compares a record's inline statement with the digest that names it.
func checkInline(rec Record) error {
	if want := statementRef(rec.Inline); rec.Statement != want {
		return fmt.Errorf("%w: the inline statement is %s, the record names %s", ErrDigestMismatch, want.Digest.Short(), rec.Statement.Digest.Short())
	}
	return nil
}

func statementRef(statement []byte) Ref {
	return Ref{Digest: Sum(statement), Size: int64(len(statement)), MediaType: StatementMediaType}
}

// Statements calls fn for every statement that is an object of its own, in ascending order of the digest's text.
func (r *Repository) Statements(ctx context.Context, fn func(Digest, Info) error) error {
	return r.bucket.List(ctx, areaStatements, "", func(info Info) error {
		d, err := digestOfPath(strings.TrimPrefix(info.Name, areaStatements))
		if err != nil {
			return nil
		}
		return fn(d, info)
	})
}
