package artifacts

import (
	"bytes"
	"context"
	"errors"
)

// A cell is a small object that is created once and swapped version by version: index
// entries, claims, conflicts. createCell and swapCell are the only writers of cells.

// createCell writes the cell if it is not there. Errors: ErrPrecondition.
//
// A write whose reply was lost is recognised: when the cell holds exactly body, it is
// ours. Bodies that must belong to one writer carry a nonce.
func (r *Repository) createCell(ctx context.Context, name string, body []byte) (Info, error) {
	if r.createByCandidates {
		return r.electCell(ctx, name, "", body)
	}
	info, err := r.bucket.Put(ctx, name, bytes.NewReader(body), PutOptions{
		MediaType: "application/json", SHA256: Sum(body), IfAbsent: true, Multipart: MultipartNever,
	})
	return r.ours(ctx, name, body, info, err)
}

// swapCell writes the cell if it still is what old described. Errors: ErrPrecondition.
func (r *Repository) swapCell(ctx context.Context, name string, old Info, body []byte) (Info, error) {
	if r.swapByCandidates {
		return r.electCell(ctx, name, old.Version, body)
	}
	info, err := r.bucket.Put(ctx, name, bytes.NewReader(body), PutOptions{
		MediaType: "application/json", SHA256: Sum(body), IfMatch: old.Version, Multipart: MultipartNever,
	})
	return r.ours(ctx, name, body, info, err)
}

// ours turns a refused or unclear write into a success when the cell already is body.
func (r *Repository) ours(ctx context.Context, name string, body []byte, info Info, err error) (Info, error) {
	if err == nil || ClassOf(err) == Permanent && !errors.Is(err, ErrPrecondition) {
		return info, err
	}
	have, now, rerr := r.bucket.Read(ctx, name)
	if rerr == nil && bytes.Equal(have, body) {
		return now, nil
	}
	return info, err
}
