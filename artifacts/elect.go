package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// electCell is createCell (over == "") and swapCell for stores that accept every
// conditional write. Writers put uniquely named candidates, wait until writes under way
// have landed, and list them; the oldest by the store's own clock, then by name, wins,
// and only the winner writes the cell. Readers read the cell and nothing else.
//
// It is safe while a write becomes visible within Settle of the time stamp the store
// gave it. A winner that died before its write is passed over by writers whose candidate
// is staleCandidate younger; a winner that was held up for half of that gives up.
//
// Errors: ErrPrecondition.
func (r *Repository) electCell(ctx context.Context, name, over string, body []byte) (Info, error) {
	begun := r.host.Now()
	if info, err := r.cellState(ctx, name, over, body); err != nil || info.Version != "" {
		return info, err
	}
	dir := areaCells + name + "/"
	if over != "" {
		dir += Sum([]byte(over)).Hex()[:16] + "/"
	} else {
		dir += "new/"
	}
	mine := dir + r.host.Nonce()
	if _, err := r.bucket.Put(ctx, mine, bytes.NewReader(body), PutOptions{MediaType: "application/json", Multipart: MultipartNever}); err != nil {
		return Info{}, err
	}
	defer func() { _ = r.bucket.Delete(context.WithoutCancel(ctx), mine) }() // a left-over is stale soon and gc removes it
	if err := r.host.Sleep(ctx, r.opts.Settle); err != nil {
		return Info{}, err
	}
	winner, err := r.oldestCandidate(ctx, dir, mine)
	if err != nil {
		return Info{}, err
	}
	if winner != mine {
		return Info{}, r.lost(name, "another candidate is older")
	}
	if info, err := r.cellState(ctx, name, over, body); err != nil || info.Version != "" {
		return info, err
	}
	if r.host.Now().Sub(begun) > r.staleCandidate()/2 {
		return Info{}, r.lost(name, "the election took too long")
	}
	return r.bucket.Put(ctx, name, bytes.NewReader(body), PutOptions{MediaType: "application/json", Multipart: MultipartNever})
}

// staleCandidate is the age difference from which a candidate no longer counts.
func (r *Repository) staleCandidate() time.Duration { return 30 * r.opts.Settle }

// cellState returns the cell's Info when it already is body, nothing when the election
// may go on, and ErrPrecondition when the cell is in another state than over.
func (r *Repository) cellState(ctx context.Context, name, over string, body []byte) (Info, error) {
	have, info, err := r.bucket.Read(ctx, name)
	switch {
	case errors.Is(err, ErrNotFound) && over == "":
		return Info{}, nil
	case errors.Is(err, ErrNotFound):
		return Info{}, r.lost(name, "the object is gone")
	case err != nil:
		return Info{}, err
	case bytes.Equal(have, body):
		return info, nil
	case over == info.Version:
		return Info{}, nil
	}
	return Info{}, r.lost(name, "the object is there in another version")
}

func (r *Repository) oldestCandidate(ctx context.Context, dir, mine string) (string, error) {
	var all []Info
	var own Info
	err := r.bucket.List(ctx, dir, "", func(info Info) error {
		all = append(all, info)
		if info.Name == mine {
			own = info
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if own.Name == "" {
		return "", fmt.Errorf("election %s: the store does not list what was just written: %w", dir, ErrUnsafeStore)
	}
	best := own
	for _, c := range all {
		if own.Modified.Sub(c.Modified) > r.staleCandidate() {
			continue
		}
		if c.Modified.Before(best.Modified) || c.Modified.Equal(best.Modified) && c.Name < best.Name {
			best = c
		}
	}
	return best.Name, nil
}

func (r *Repository) lost(name, why string) error {
	return &BucketError{Op: "elect", Bucket: r.bucket.URL(), Object: name, Class: Permanent,
		Err: fmt.Errorf("%w: %s", ErrPrecondition, why)}
}
