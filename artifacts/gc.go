package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
)

// GCOptions configure garbage collection.
type GCOptions struct {
	// Apply removes things; without it nothing is changed.
	Apply bool
	// Grace keeps everything younger than this. Default 24 h.
	Grace time.Duration
	// IgnoreOpen goes on although reproductions are under way.
	IgnoreOpen bool
	// Each, when set, hears of every object that goes or would go.
	Each func(kind, name string, bytes int64)
}

// Pile counts objects and their bytes.
type Pile struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

func (p *Pile) add(bytes int64) { p.Count++; p.Bytes += bytes }

// GCReport says what was, or without Apply would be, kept and removed. Missing lists
// blobs that pins refer to and that are not there.
type GCReport struct {
	Store      string        `json:"store"`
	DryRun     bool          `json:"dry_run"`
	Grace      time.Duration `json:"grace_ns"`
	Pins       int           `json:"pins"`
	OpenPins   []string      `json:"open_pins"`
	Kept       Pile          `json:"kept_blobs"`
	KeptIndex  int64         `json:"kept_entries"`
	Missing    []Digest      `json:"missing"`
	Entries    Pile          `json:"entries"`
	Blobs      Pile          `json:"blobs"`
	Statements Pile          `json:"statements"`
	Temporary  Pile          `json:"temporary"`
	Claims     Pile          `json:"claims"`
	Uploads    Pile          `json:"uploads"`
	Freed      int64         `json:"freed_bytes"`
}

// OpenPinsError refuses to collect while reproductions are under way.
type OpenPinsError struct{ Names []string }

// Error names the reproductions.
func (e *OpenPinsError) Error() string {
	return fmt.Sprintf("gc: under way: %s", strings.Join(e.Names, ", "))
}

// entryInfo is one index entry as garbage collection sees it.
type entryInfo struct {
	key     Key
	info    Info
	rec     Record
	damaged bool
}

// collector holds one garbage collection.
type collector struct {
	r      *Repository
	opts   GCOptions
	now    time.Time
	report GCReport

	keep       map[Digest]bool // blobs
	keepKeys   map[Key]bool
	statements map[Digest]bool
}

// GC removes what no pin reaches.
//
// Roots are the pins: the blobs of their Roots, everything the JSON among those refers
// to (see RefsIn), and the records of their Keys. Everything younger than the grace
// period is kept, with all that it refers to. Index entries whose result is not kept go
// first and leave a tombstone with their statement, so that lineage still answers; then
// blobs, then statements that nothing names, left-overs of killed processes, run-out
// claims, and unfinished multipart uploads.
//
// Errors: *OpenPinsError when Apply meets a reproduction under way; ErrDigestMismatch
// when a JSON blob that should say what to keep is damaged. Nothing is removed then.
func (r *Repository) GC(ctx context.Context, opts GCOptions) (GCReport, error) {
	if opts.Grace == 0 {
		opts.Grace = 24 * time.Hour
	}
	c := &collector{r: r, opts: opts, now: r.host.Now(),
		keep: map[Digest]bool{}, keepKeys: map[Key]bool{}, statements: map[Digest]bool{}}
	c.report = GCReport{Store: r.URL(), DryRun: !opts.Apply, Grace: opts.Grace, OpenPins: []string{}, Missing: []Digest{}}
	err := c.run(ctx)
	if err != nil {
		err = fmt.Errorf("gc %s: %w", r.URL(), err)
	}
	return c.report, err
}

func (c *collector) run(ctx context.Context) error {
	if err := c.markPins(ctx); err != nil {
		return err
	}
	if len(c.report.OpenPins) > 0 && c.opts.Apply && !c.opts.IgnoreOpen {
		return &OpenPinsError{Names: c.report.OpenPins}
	}
	doomed, err := c.markIndex(ctx)
	if err != nil {
		return err
	}
	for _, e := range doomed {
		if err := c.dropEntry(ctx, e); err != nil {
			return err
		}
	}
	if err := c.sweepBlobs(ctx); err != nil {
		return err
	}
	if err := c.sweepStatements(ctx); err != nil {
		return err
	}
	if err := c.sweepLeftovers(ctx); err != nil {
		return err
	}
	return c.sweepUploads(ctx)
}

func (c *collector) young(t time.Time) bool { return c.now.Sub(t) < c.opts.Grace }

// mark keeps refs and what they reach.
func (c *collector) mark(ctx context.Context, refs []Ref) error {
	return c.r.walk(ctx, c.keep, refs, func(ref Ref, _ Digest, there bool) error {
		if !there {
			c.report.Missing = append(c.report.Missing, ref.Digest)
		}
		return nil
	})
}

func (c *collector) markPins(ctx context.Context) error {
	pins, err := c.r.Pins(ctx)
	if err != nil {
		return err
	}
	c.report.Pins = len(pins)
	for _, p := range pins {
		if p.Open {
			c.report.OpenPins = append(c.report.OpenPins, p.Name)
		}
		roots := p.Roots
		for _, key := range p.Keys {
			c.keepKeys[key] = true
			rec, err := c.r.Entry(ctx, key)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			roots = append(roots, rec.Result)
		}
		if err := c.mark(ctx, roots); err != nil {
			return fmt.Errorf("pin %s: %w", p.Name, err)
		}
	}
	return nil
}

// markIndex reads every entry, keeps the young ones' results, and returns those that go.
func (c *collector) markIndex(ctx context.Context) ([]entryInfo, error) {
	var all []entryInfo
	err := c.r.Keys(ctx, "", func(key Key, info Info) error {
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
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if !e.damaged && (c.young(e.info.Modified) || c.keepKeys[e.key]) {
			if err := c.mark(ctx, []Ref{e.rec.Result}); err != nil {
				return nil, err
			}
		}
	}
	var doomed []entryInfo
	for _, e := range all {
		if c.young(e.info.Modified) || !e.damaged && c.keep[e.rec.Result.Digest] {
			c.report.KeptIndex++
			c.statements[e.rec.Statement.Digest] = true
			continue
		}
		doomed = append(doomed, e)
	}
	return doomed, nil
}

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
		if err := c.r.bucket.Delete(ctx, info.Name); err != nil {
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
			if err := c.r.buryBlobs(ctx, batch, c.now.UTC()); err != nil {
				return err
			}
		}
		for _, info := range batch {
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
