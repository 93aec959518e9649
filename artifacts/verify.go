package artifacts

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// VerifyOptions configure Verify.
type VerifyOptions struct {
	// DropDamaged removes blobs and statements whose bytes are wrong, entries that cannot
	// be read, and entries without their statement, so that look-ups miss and the steps
	// are computed again.
	DropDamaged bool
	// Progress, when set, hears of the objects checked so far, now and then.
	Progress func(objects, bytes int64)
}

// Fault is one thing that is wrong in a store. Kind is one of the Fault constants.
type Fault struct {
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Detail string `json:"detail"`
	// Dropped is true when the object was removed.
	Dropped bool `json:"dropped"`
}

// Kinds of faults.
const (
	FaultDamagedBlob      = "damaged-blob"
	FaultDamagedStatement = "damaged-statement"
	FaultDamagedEntry     = "damaged-entry"
	FaultBlobGone         = "entry-without-blob"
	FaultStatementGone    = "entry-without-statement"
	FaultForeignObject    = "foreign-object"
	FaultDamagedRecord    = "damaged-record" // a pin, conflict, tombstone, lease or budget
)

// VerifyReport is what Verify found.
type VerifyReport struct {
	Store      string  `json:"store"`
	Blobs      Pile    `json:"blobs"`
	Statements Pile    `json:"statements"`
	Entries    int64   `json:"entries"`
	Conflicts  int64   `json:"conflicts"`
	Faults     []Fault `json:"faults"`
}

// Open returns the faults that are left for a person: what was not removed and what the
// next run does not mend by itself. An entry without its blob is a miss, so it does.
func (r VerifyReport) Open() []Fault {
	var open []Fault
	for _, f := range r.Faults {
		if !f.Dropped && f.Kind != FaultBlobGone {
			open = append(open, f)
		}
	}
	return open
}

// Verify reads every blob and statement and compares its bytes with its name, checks that
// every entry's result and statement are there, and that pins and the other records can be
// read. A blob that is wrong is read once more before it is called damaged.
func (r *Repository) Verify(ctx context.Context, opts VerifyOptions) (VerifyReport, error) {
	v := &verifier{r: r, opts: opts, report: VerifyReport{Store: r.URL(), Faults: []Fault{}}}
	err := v.objects(ctx, areaBlobs, FaultDamagedBlob, &v.report.Blobs)
	if err == nil {
		err = v.objects(ctx, areaStatements, FaultDamagedStatement, &v.report.Statements)
	}
	if err == nil {
		err = v.entries(ctx)
	}
	if err == nil {
		err = v.records(ctx)
	}
	if err != nil {
		err = fmt.Errorf("verify %s: %w", r.URL(), err)
	}
	return v.report, err
}

type verifier struct {
	r      *Repository
	opts   VerifyOptions
	report VerifyReport
}

func (v *verifier) objects(ctx context.Context, area, kind string, pile *Pile) error {
	return v.r.bucket.List(ctx, area, "", func(info Info) error {
		d, err := digestOfPath(strings.TrimPrefix(info.Name, area))
		if err != nil {
			return v.fault(ctx, FaultForeignObject, info.Name, err.Error(), false)
		}
		pile.add(info.Size)
		if v.opts.Progress != nil && (pile.Count%256 == 0 || info.Size > 64<<20) {
			v.opts.Progress(v.report.Blobs.Count+v.report.Statements.Count, v.report.Blobs.Bytes+v.report.Statements.Bytes)
		}
		err = v.r.checkObject(ctx, info.Name, Ref{Digest: d, Size: info.Size})
		switch {
		case errors.Is(err, ErrDigestMismatch):
			return v.fault(ctx, kind, info.Name, err.Error(), true)
		case errors.Is(err, ErrNotFound):
			return nil // removed meanwhile
		}
		return err
	})
}

func (v *verifier) entries(ctx context.Context) error {
	return v.r.bucket.List(ctx, areaIndex, "", func(info Info) error {
		key, err := keyOfPath(strings.TrimPrefix(info.Name, areaIndex))
		if err != nil {
			return v.fault(ctx, FaultForeignObject, info.Name, err.Error(), false)
		}
		v.report.Entries++
		return v.entry(ctx, key, info)
	})
}

func (v *verifier) entry(ctx context.Context, key Key, info Info) error {
	rec, err := v.r.Lookup(ctx, key)
	var miss *MissError
	if errors.As(err, &miss) {
		switch miss.Reason {
		case MissNoEntry:
			return nil
		case MissEntryDamaged:
			return v.fault(ctx, FaultDamagedEntry, info.Name, miss.Reason.String(), true)
		}
		return v.fault(ctx, FaultBlobGone, info.Name, fmt.Sprintf("%s: %s", miss.Reason, miss.Record.Result.Digest), false)
	}
	if err != nil || len(rec.Inline) > 0 {
		return err // an inline statement was checked with the entry
	}
	_, err = v.r.bucket.Stat(ctx, statementName(rec.Statement.Digest))
	if errors.Is(err, ErrNotFound) {
		return v.fault(ctx, FaultStatementGone, info.Name, rec.Statement.Digest.String(), true)
	}
	return err
}

// records looks at the small objects: names everywhere, and what must be readable.
func (v *verifier) records(ctx context.Context) error {
	keyed := func(path string) error { _, err := keyOfPath(path); return err }
	graves := areaTombstones + "blobs/"
	for _, a := range []struct {
		area  string
		named func(path string) error
		read  func(name string) error
	}{
		{areaConflicts, conflictOfPath, func(name string) error {
			_, err := v.r.readConflict(ctx, name)
			if err == nil {
				v.report.Conflicts++
			}
			return err
		}},
		{areaClaims, keyed, nil}, // one that cannot be read is taken over
		{areaTombstones + "index/", keyed, func(name string) error { _, err := v.r.readTombstone(ctx, name); return err }},
		{graves, nil, func(name string) error { _, err := v.r.readGraves(ctx, name); return err }},
		{areaPins, CheckPinName, func(name string) error { _, err := v.r.Pin(ctx, strings.TrimPrefix(name, areaPins)); return err }},
		{areaLeases, CheckPinName, func(name string) error {
			_, err := v.r.Cell(ctx, "leases", strings.TrimPrefix(name, areaLeases))
			return err
		}},
		{areaBudgets, CheckPinName, func(name string) error {
			_, err := v.r.Cell(ctx, "budgets", strings.TrimPrefix(name, areaBudgets))
			return err
		}},
	} {
		err := v.r.bucket.List(ctx, a.area, "", func(info Info) error {
			if a.named != nil {
				if err := a.named(strings.TrimPrefix(info.Name, a.area)); err != nil {
					return v.fault(ctx, FaultForeignObject, info.Name, err.Error(), false)
				}
			}
			if a.read == nil {
				return nil
			}
			return v.record(ctx, info.Name, a.read(info.Name))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// record turns the outcome of reading an object into a fault where it is one.
func (v *verifier) record(ctx context.Context, name string, err error) error {
	switch {
	case err == nil || errors.Is(err, ErrNotFound): // or removed meanwhile
		return nil
	case errors.Is(err, errForeign):
		return v.fault(ctx, FaultDamagedRecord, name, HintOf(err), false)
	}
	return err
}

func (v *verifier) fault(ctx context.Context, kind, name, detail string, droppable bool) error {
	f := Fault{Kind: kind, Object: name, Detail: detail}
	if droppable && v.opts.DropDamaged {
		if err := v.r.bucket.Delete(ctx, name); err != nil {
			return err
		}
		f.Dropped = true
	}
	v.report.Faults = append(v.report.Faults, f)
	return nil
}
