package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"sort"
	"strings"
	"time"
)

// gone counts an object and, with Apply, removes it if it is as it was when listed.
func (c *collector) gone(ctx context.Context, pile *Pile, kind string, info Info) error {
	if c.opts.Apply {
		now, err := c.r.bucket.Stat(ctx, info.Name)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		// Stores date objects to the second in one answer and more finely in another.
		if !now.Modified.Truncate(time.Second).Equal(info.Modified.Truncate(time.Second)) {
			return nil // written again meanwhile
		}
		if gone, err := c.delete(ctx, now); err != nil || !gone {
			return err
		}
	}
	pile.add(info.Size)
	c.report.Freed += info.Size
	if c.opts.Each != nil {
		c.opts.Each(kind, info.Name, info.Size)
	}
	return nil
}

// delete removes an object; where the bucket can, only while it is as it was looked at.
func (c *collector) delete(ctx context.Context, info Info) (gone bool, err error) {
	if b, ok := c.r.bucket.(CarefulDeleter); ok {
		return b.DeleteUnchanged(ctx, info)
	}
	return true, c.r.bucket.Delete(ctx, info.Name)
}

func (c *collector) dropEntry(ctx context.Context, e entryInfo) error {
	if c.opts.Apply {
		reason := "not reachable from any pin"
		if e.damaged {
			reason = "damaged"
		}
		if err := c.r.bury(ctx, Tombstone{Key: e.key, Result: e.rec.Result, Statement: e.rec.Statement, Inline: e.rec.Inline, Reason: reason, Removed: c.now.UTC()}); err != nil {
			return err
		}
	}
	if !e.rec.Statement.IsZero() {
		c.statements[e.rec.Statement.Digest] = true
	}
	return c.gone(ctx, &c.report.Entries, "entry", e.info)
}

func (c *collector) sweepBlobs(ctx context.Context) error {
	var batch []Info
	flush := func() error {
		if len(batch) > 0 && c.opts.Apply {
			if err := c.began(ctx); err != nil {
				return err
			}
			if err := c.r.buryBlobs(ctx, batch, c.now.UTC()); err != nil {
				return err
			}
		}
		for _, info := range batch {
			if d, err := digestOfPath(strings.TrimPrefix(info.Name, areaBlobs)); err == nil && c.keep[d] {
				continue // a pin that is new
			}
			if err := c.gone(ctx, &c.report.Blobs, "blob", info); err != nil {
				return err
			}
		}
		batch = batch[:0]
		return nil
	}
	err := c.r.bucket.List(ctx, areaBlobs, "", func(info Info) error {
		d, err := digestOfPath(strings.TrimPrefix(info.Name, areaBlobs))
		if err == nil && (c.keep[d] || c.young(info.Modified)) {
			c.report.Kept.add(info.Size)
			return nil
		}
		if batch = append(batch, info); len(batch) < buryMost {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

func (c *collector) sweepStatements(ctx context.Context) error {
	err := c.r.Tombstones(ctx, "", func(t Tombstone) error {
		c.statements[t.Statement.Digest] = true
		return nil
	})
	if err != nil {
		return err
	}
	err = c.r.Conflicts(ctx, "", func(f Conflict) error {
		c.statements[f.First.Statement.Digest], c.statements[f.Second.Statement.Digest] = true, true
		return nil
	})
	if err != nil {
		return err
	}
	return c.r.bucket.List(ctx, areaStatements, "", func(info Info) error {
		d, err := digestOfPath(strings.TrimPrefix(info.Name, areaStatements))
		if err == nil && c.statements[d] || c.young(info.Modified) {
			return nil
		}
		return c.gone(ctx, &c.report.Statements, "statement", info)
	})
}

func (c *collector) sweepLeftovers(ctx context.Context) error {
	if err := c.sweepPins(ctx); err != nil {
		return err
	}
	for _, area := range []string{areaTmp, areaCells} {
		err := c.r.bucket.List(ctx, area, "", func(info Info) error {
			if c.young(info.Modified) {
				return nil
			}
			return c.gone(ctx, &c.report.Temporary, "temporary", info)
		})
		if err != nil {
			return err
		}
	}
	return c.r.bucket.List(ctx, areaClaims, "", func(info Info) error {
		if c.young(info.Modified) {
			return nil
		}
		data, _, err := c.r.bucket.Read(ctx, info.Name)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var doc claimDoc
		if json.Unmarshal(data, &doc) == nil {
			if !doc.Released && c.young(doc.Expires) {
				return nil
			}
			if keep, err := c.noteNeeded(ctx, doc); keep || err != nil {
				return err
			}
		}
		return c.gone(ctx, &c.report.Claims, "claim", info)
	})
}

// sweepPins removes open pins that count no more.
func (c *collector) sweepPins(ctx context.Context) error {
	return c.r.bucket.List(ctx, areaPins, "", func(info Info) error {
		p, err := c.r.Pin(ctx, strings.TrimPrefix(info.Name, areaPins))
		if err != nil || !p.Open || p.OpenAt(c.now) || c.young(p.Until) {
			return nil // Pins named what cannot be read
		}
		return c.gone(ctx, &c.report.Temporary, "pin", info)
	})
}

// noteNeeded reports whether a claim's note still waits for the record that will tell it:
// what earlier attempts cost is nowhere else.
func (c *collector) noteNeeded(ctx context.Context, doc claimDoc) (bool, error) {
	if len(doc.Note) == 0 {
		return false, nil
	}
	_, err := c.r.Entry(ctx, doc.Key)
	if errors.Is(err, ErrNotFound) {
		return true, nil
	}
	return false, err
}

func (c *collector) sweepUploads(ctx context.Context) error {
	ups, ok := c.r.bucket.(Uploads)
	if !ok {
		return nil
	}
	var stale []Upload
	err := ups.ListUploads(ctx, func(u Upload) error {
		if !c.young(u.Started) {
			stale = append(stale, u)
		}
		return nil
	})
	if err != nil {
		return err
	}
	sort.Slice(stale, func(i, j int) bool { return stale[i].Name < stale[j].Name })
	for _, u := range stale {
		n, err := ups.UploadSize(ctx, u)
		if err == nil && c.opts.Apply {
			err = ups.AbortUpload(ctx, u)
		}
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		c.report.Uploads.add(n)
		c.report.Freed += n
		if c.opts.Each != nil {
			c.opts.Each("upload", u.Name, n)
		}
	}
	return nil
}
