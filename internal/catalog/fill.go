package catalog

import (
	"context"
	"errors"
	"time"

	"cxrepro/artifacts"
)

// Filled is one key of Fill.
type Filled struct {
	Key               artifacts.Key
	Result            artifacts.Ref
	Reproduction      string
	Started, Finished time.Time
}

// Fill adds keys as if a store held them, for benchmarks of what asks a catalog: a store with a
// million statements takes longer to make than to ask about. The next Update forgets them.
func (c *Catalog) Fill(ctx context.Context, rows []Filled) error {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	l := newLoader(tx)
	for len(rows) > 0 && err == nil {
		n := min(len(rows), entriesAtOnce)
		b := newBatch()
		for _, r := range rows[:n] {
			b.steps = append(b.steps, stepRow{b.digest(r.Key.Digest), b.name(r.Key.Step), 0, 0, b.digest(r.Result.Digest), r.Result.Size, b.name(r.Result.MediaType),
				b.digest(r.Result.Digest), b.name(r.Reproduction), 0, 0, 1, 0, nanos(r.Started), nanos(r.Finished)})
		}
		rows, err = rows[n:], l.write(ctx, b)
	}
	if err = errors.Join(err, l.close()); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
