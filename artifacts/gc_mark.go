package artifacts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// mark keeps refs and what they reach.
func (c *collector) mark(ctx context.Context, refs []Ref) error {
	return c.r.walk(ctx, c.keep, refs, func(ref Ref, _ Digest, there bool) error {
		if !there {
			c.report.Missing = append(c.report.Missing, ref.Digest)
		}
		return nil
	})
}

// markPins keeps what pins reach, and moves since back for what is under way. began is true
// when an open pin was not there before.
func (c *collector) markPins(ctx context.Context) (began bool, err error) {
	pins, err := c.r.Pins(ctx)
	if err != nil {
		return false, err
	}
	c.report.Pins = len(pins)
	for _, p := range pins {
		if p.OpenAt(c.now) {
			if !slices.Contains(c.report.OpenPins, p.Name) {
				c.report.OpenPins, began = append(c.report.OpenPins, p.Name), true
			}
			if since := p.Created.Add(-max(c.opts.Grace, c.r.opts.RefreshAge)); !c.opts.IgnoreOpen {
				if since.Before(c.since) {
					c.since = since
				}
				c.report.Since = c.since
			}
		}
		roots := p.Roots
		for _, key := range p.Keys {
			c.keepKeys[key] = true
			rec, err := c.r.Entry(ctx, key)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				return began, err
			}
			roots = append(roots, rec.Result)
		}
		if err := c.mark(ctx, roots); err != nil {
			return began, fmt.Errorf("pin %s: %w", p.Name, err)
		}
	}
	return began, nil
}

// markIndex reads every entry, keeps the results of those that stay, and returns those that
// go, with when each entry was written.
func (c *collector) markIndex(ctx context.Context) (doomed []entryInfo, seen map[Key]time.Time, err error) {
	seen = map[Key]time.Time{}
	all, err := c.entries(ctx, seen)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range all {
		if c.stays(e) {
			if err := c.mark(ctx, []Ref{e.rec.Result}); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, e := range all {
		if c.young(e.info.Modified) || !e.damaged && (c.beside() || c.keep[e.rec.Result.Digest]) {
			c.report.KeptIndex++
			c.statements[e.rec.Statement.Digest] = true
			continue
		}
		doomed = append(doomed, e)
	}
	return doomed, seen, nil
}

// stays reports whether an entry keeps its result, whatever else refers to that.
func (c *collector) stays(e entryInfo) bool {
	return !e.damaged && (c.beside() || c.young(e.info.Modified) || c.keepKeys[e.key])
}

// entries reads the entries that are new or were written again since seen, and notes them.
func (c *collector) entries(ctx context.Context, seen map[Key]time.Time) (all []entryInfo, err error) {
	err = c.r.Keys(ctx, "", func(key Key, info Info) error {
		if at, ok := seen[key]; ok && at.Equal(info.Modified) {
			return nil
		}
		seen[key] = info.Modified
		e := entryInfo{key: key, info: info}
		rec, err := c.r.Entry(ctx, key)
		var miss *MissError
		switch {
		case errors.As(err, &miss) && miss.Reason == MissNoEntry:
			return nil
		case errors.As(err, &miss):
			e.damaged = true
		case err != nil:
			return err
		}
		e.rec = rec
		all = append(all, e)
		return nil
	})
	return all, err
}

// markYoung keeps what young documents refer to that no record names yet: an activity writes
// them as it goes.
func (c *collector) markYoung(ctx context.Context) error {
	return c.r.bucket.List(ctx, areaBlobs, "", func(info Info) error {
		d, err := digestOfPath(strings.TrimPrefix(info.Name, areaBlobs))
		if err != nil || c.keep[d] || !c.young(info.Modified) || info.Size > MaxScan {
			return nil
		}
		data, err := c.document(ctx, info.Name)
		if err != nil || !bytes.Contains(data, []byte(`"media_type"`)) {
			return err
		}
		refs, err := RefsIn(data)
		if err != nil {
			return nil // no JSON, so nothing that refers
		}
		// What such a document names and is gone was gone when it was written, or will be
		// made again.
		return c.r.walk(ctx, c.keep, refs, func(Ref, Digest, bool) error { return nil })
	})
}

// document returns an object that begins as JSON does, nil for any other and for one that is
// gone.
func (c *collector) document(ctx context.Context, name string) (data []byte, err error) {
	body, _, err := c.r.bucket.Open(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	r := bufio.NewReader(body)
	if first, err := r.Peek(1); err != nil || first[0] != '{' && first[0] != '[' {
		return nil, nil
	}
	return io.ReadAll(r)
}

// markAgain marks pins and records that are new, and returns those of doomed that still go.
//
// Errors: errBegan when something that was not under way is now.
func (c *collector) markAgain(ctx context.Context, doomed []entryInfo, seen map[Key]time.Time) ([]entryInfo, error) {
	if err := c.began(ctx); err != nil {
		return nil, err
	}
	fresh, err := c.entries(ctx, seen)
	if err != nil {
		return nil, err
	}
	again := map[Key]bool{}
	for _, e := range fresh {
		again[e.key], c.statements[e.rec.Statement.Digest] = true, true
		if !e.damaged {
			if err := c.mark(ctx, []Ref{e.rec.Result}); err != nil {
				return nil, err
			}
		}
	}
	left := doomed[:0]
	for _, e := range doomed {
		if again[e.key] || !e.damaged && (c.keepKeys[e.key] || c.keep[e.rec.Result.Digest]) {
			c.statements[e.rec.Statement.Digest] = true
			c.report.KeptIndex++
			continue
		}
		left = append(left, e)
	}
	return left, nil
}

// began marks pins again. Errors: errBegan.
func (c *collector) began(ctx context.Context) error {
	began, err := c.markPins(ctx)
	if err == nil && began && !c.opts.IgnoreOpen {
		err = errBegan
	}
	return err
}
