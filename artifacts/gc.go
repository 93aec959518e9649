package artifacts

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// GCOptions configure garbage collection.
type GCOptions struct {
	// Apply removes things; without it nothing is changed.
	Apply bool
	// Grace keeps everything younger than this. Default 24 h.
	Grace time.Duration
	// IgnoreOpen collects as if nothing were under way.
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
// blobs that pins refer to and that are not there. Since is set while something is under way:
// every record was kept, and everything written from then on. Stopped says that something
// began meanwhile, and the rest was left to the next collection.
type GCReport struct {
	Store      string        `json:"store"`
	DryRun     bool          `json:"dry_run"`
	Grace      time.Duration `json:"grace_ns"`
	Pins       int           `json:"pins"`
	OpenPins   []string      `json:"open_pins"`
	Since      time.Time     `json:"since,omitzero"`
	Stopped    bool          `json:"stopped,omitempty"`
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

// entryInfo is one index entry as garbage collection sees it.
type entryInfo struct {
	key     Key
	info    Info
	rec     Record
	damaged bool
}

// collector holds one garbage collection.
type collector struct {
	r    *Repository
	opts GCOptions
	now  time.Time
	// since is from when on everything is kept.
	since  time.Time
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
// Beside an open pin every record is kept, because what is under way may reuse it, and
// everything that was written since the pin was set, or shortly enough before that putting
// it again would not have written it (Options.RefreshAge). What is left is what earlier
// efforts left behind without a record.
//
// Pins and records are looked at again before each part goes. When something began
// meanwhile, collection stops there.
//
// Errors: ErrDigestMismatch when a JSON blob that should say what to keep is damaged.
// Nothing is removed then.
func (r *Repository) GC(ctx context.Context, opts GCOptions) (GCReport, error) {
	if opts.Grace == 0 {
		opts.Grace = 24 * time.Hour
	}
	now := r.host.Now()
	c := &collector{r: r, opts: opts, now: now, since: now.Add(-opts.Grace),
		keep: map[Digest]bool{}, keepKeys: map[Key]bool{}, statements: map[Digest]bool{}}
	c.report = GCReport{Store: r.URL(), DryRun: !opts.Apply, Grace: opts.Grace, OpenPins: []string{}, Missing: []Digest{}}
	err := c.run(ctx)
	if errors.Is(err, errBegan) {
		c.report.Stopped, err = true, nil
	}
	if err != nil {
		err = fmt.Errorf("gc %s: %w", r.URL(), err)
	}
	return c.report, err
}

// errBegan ends a collection beside which something began.
var errBegan = errors.New("a reproduction began meanwhile")

func (c *collector) run(ctx context.Context) error {
	if _, err := c.markPins(ctx); err != nil {
		return err
	}
	doomed, seen, err := c.markIndex(ctx)
	if err != nil {
		return err
	}
	if err := c.markYoung(ctx); err != nil {
		return err
	}
	if doomed, err = c.markAgain(ctx, doomed, seen); err != nil {
		return err
	}
	for i, e := range doomed {
		if i%buryMost == buryMost-1 {
			if err := c.began(ctx); err != nil {
				return err
			}
		}
		if err := c.dropEntry(ctx, e); err != nil {
			return err
		}
	}
	if _, err := c.markAgain(ctx, nil, seen); err != nil {
		return err
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

// young reports whether something is kept for its age.
func (c *collector) young(t time.Time) bool { return t.After(c.since) }

// beside reports whether something is under way.
func (c *collector) beside() bool { return len(c.report.OpenPins) > 0 && !c.opts.IgnoreOpen }
