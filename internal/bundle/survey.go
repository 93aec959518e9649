package bundle

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"cxrepro/artifacts"
)

// Item is an object that a ledger is to list.
type Item struct {
	Object string
	// Class is the data-use class of its bytes, empty for what may go anywhere.
	Class string
}

// Fault is one object that is not what it should be.
type Fault struct {
	Object, Detail string
}

// wholeBytes is the size in bytes up to which an object is read in one piece.
const wholeBytes = 4 << 20

// Survey reads every item from a bucket, compares blobs and statements with the digests in their
// names, and returns their ledger. Items come sorted by object, each once. What is missing or
// wrong is a fault; the leaf of a blob then says what should be there.
//
// Errors: a bucket that does not answer; items out of order.
func Survey(ctx context.Context, from artifacts.Bucket, items []Item, progress func(int64)) (*Ledger, []Fault, error) {
	leaves, faults := make([]Leaf, len(items)), make([]string, len(items))
	var done atomic.Int64
	err := side(ctx, len(items), func(ctx context.Context, i int) error {
		digest, size, err := digestOf(ctx, from, items[i].Object, -1)
		leaf := Leaf{Object: items[i].Object, Size: size, Digest: digest, Class: items[i].Class}
		faults[i], err = leaf.judge(err)
		leaves[i] = leaf
		if n := done.Add(1); progress != nil && n%1024 == 0 {
			progress(n)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	var found []Fault
	for i, detail := range faults {
		if detail != "" {
			found = append(found, Fault{items[i].Object, detail})
		}
	}
	ledger, err := NewLedger(slices.DeleteFunc(leaves, func(l Leaf) bool { return l.Digest.IsZero() }))
	return ledger, found, err
}

// judge says what is wrong with an object that was read, and puts into the leaf what its name
// promises.
func (l *Leaf) judge(err error) (fault string, _ error) {
	blob, statement, entry := artifacts.ObjectOf(l.Object)
	want := blob
	if want.IsZero() {
		want = statement
	}
	switch {
	case errors.Is(err, artifacts.ErrNotFound):
		l.Digest = want
		return "it is not there", nil
	case err != nil:
		return "", fmt.Errorf("read %s: %w", l.Object, err)
	case want.IsZero() && entry.IsZero():
		return "its name is not that of a blob, a statement or an entry", nil
	case !want.IsZero() && want != l.Digest:
		fault = fmt.Sprintf("its bytes are not those of its digest: they hash to %s", l.Digest.Short())
		l.Digest = want
	}
	return fault, nil
}

// digestOf hashes an object of which size is expected, -1 where that is not known.
func digestOf(ctx context.Context, from artifacts.Bucket, object string, expected int64) (d artifacts.Digest, size int64, err error) {
	if expected < 0 {
		info, err := from.Stat(ctx, object)
		if err != nil {
			return d, 0, err
		}
		expected = info.Size
	}
	if expected <= wholeBytes {
		data, err := artifacts.ReadWhole(ctx, from, object)
		return sha256.Sum256(data), int64(len(data)), err
	}
	body, _, err := from.Open(ctx, object)
	if err != nil {
		return d, 0, err
	}
	sum := sha256.New()
	size, err = io.Copy(sum, body)
	sum.Sum(d[:0])
	return d, size, errors.Join(err, body.Close())
}

// Check compares every object of the ledger that a bucket holds with its leaf. It returns what
// differs, and how many leaves the bucket has no bytes of.
func (l *Ledger) Check(ctx context.Context, from artifacts.Bucket, progress func(int64)) (faults []Fault, missing []Leaf, err error) {
	got := make([]string, len(l.Leaves))
	var done atomic.Int64
	const gone = "\x00"
	err = side(ctx, len(l.Leaves), func(ctx context.Context, i int) error {
		leaf := &l.Leaves[i]
		digest, size, err := digestOf(ctx, from, leaf.Object, leaf.Size)
		switch {
		case errors.Is(err, artifacts.ErrNotFound):
			got[i] = gone
		case err != nil:
			return fmt.Errorf("read %s: %w", leaf.Object, err)
		default:
			got[i] = leaf.differs(digest, size)
		}
		if n := done.Add(1); progress != nil && n%1024 == 0 {
			progress(n)
		}
		return nil
	})
	for i, detail := range got {
		switch detail {
		case "":
		case gone:
			missing = append(missing, l.Leaves[i])
		default:
			faults = append(faults, Fault{l.Leaves[i].Object, detail})
		}
	}
	return faults, missing, err
}

// differs says how bytes differ from the leaf, "" for nowise.
func (l *Leaf) differs(d artifacts.Digest, size int64) string {
	switch {
	case size != l.Size:
		return fmt.Sprintf("it has %d bytes, %d were recorded", size, l.Size)
	case d != l.Digest:
		return fmt.Sprintf("its bytes are not those that were recorded: they hash to %s, recorded is %s", d.Short(), l.Digest.Short())
	}
	return ""
}

// side calls work for 0 to n-1 from as many goroutines as there are processors.
func side(ctx context.Context, n int, work func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := work(ctx, i); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}
