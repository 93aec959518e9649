package artifacts

import (
	"bytes"
	"context"
	"fmt"
)

// StatementMediaType is the media type of provenance statements.
const StatementMediaType = "application/vnd.in-toto+json"

// PutStatement stores a provenance statement beside the blobs. It carries no data class:
// a statement holds digests and parameters, never the data themselves.
func (r *Repository) PutStatement(ctx context.Context, statement []byte) (Ref, error) {
	if err := ctx.Err(); err != nil {
		return Ref{}, err
	}
	ref := Ref{Digest: Sum(statement), Size: int64(len(statement)), MediaType: StatementMediaType}
	if err := r.publish(ctx, statementName(ref.Digest), ref, bytes.NewReader(statement)); err != nil {
		return Ref{}, fmt.Errorf("put statement %s: %w", ref.Digest.Short(), err)
	}
	return ref, nil
}

// Statement returns a provenance statement's bytes, checked as Get does.
func (r *Repository) Statement(ctx context.Context, ref Ref) ([]byte, error) {
	return r.get(ctx, statementName(ref.Digest), ref)
}
