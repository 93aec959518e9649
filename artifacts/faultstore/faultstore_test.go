package faultstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/faultstore"
	"cxrepro/artifacts/memstore"
	"cxrepro/artifacts/storetest"
)

func open(t *testing.T) (*artifacts.Repository, *faultstore.Bucket) {
	t.Helper()
	b := faultstore.New(memstore.New("faulty"), faultstore.Lies{})
	r, err := artifacts.New(b, artifacts.Options{Host: storetest.NewHost()})
	if err != nil {
		t.Fatal(err)
	}
	return r, b
}

// TestDamagedReadIsRetriedOnce: one bad read is repaired by reading again, two are
// permanent, and nothing is read a third time.
func TestDamagedReadIsRetriedOnce(t *testing.T) {
	for name, f := range map[string]faultstore.Fault{
		"flipped byte": {Flip: 3},
		"cut":          {Cut: 5},
		"broken":       {Cut: 5, CutErr: io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			r, b := open(t)
			ref, err := r.Put(t.Context(), []byte("some bytes"), "text/plain")
			if err != nil {
				t.Fatal(err)
			}
			b.Inject(faultstore.Open, f)
			got, err := r.Get(t.Context(), ref)
			if err != nil || string(got) != "some bytes" {
				t.Errorf("one bad read: %q, %v", got, err)
			}
			before := b.Calls(faultstore.Open)
			f.Times = 2
			b.Inject(faultstore.Open, f)
			_, err = r.Get(t.Context(), ref)
			if f.CutErr == nil && !errors.Is(err, artifacts.ErrDigestMismatch) || err == nil {
				t.Errorf("two bad reads: %v", err)
			}
			if n := b.Calls(faultstore.Open) - before; n != 2 {
				t.Errorf("%d reads, want 2", n)
			}
		})
	}
}

// TestDamagedWriteIsRetriedOnce: bytes that the store refuses as damaged are sent once
// more, and then no more.
func TestDamagedWriteIsRetriedOnce(t *testing.T) {
	damaged := &artifacts.BucketError{Op: "put", Bucket: "x", Class: artifacts.Permanent, Err: artifacts.ErrDigestMismatch}
	r, b := open(t)
	b.Inject(faultstore.Put, faultstore.Fault{Err: damaged})
	if _, err := r.Put(t.Context(), []byte("bytes"), "text/plain"); err != nil {
		t.Errorf("one damaged write: %v", err)
	}
	before := b.Calls(faultstore.Put)
	b.Inject(faultstore.Put, faultstore.Fault{Err: damaged, Times: -1})
	if _, err := r.Put(t.Context(), []byte("others"), "text/plain"); !errors.Is(err, artifacts.ErrDigestMismatch) {
		t.Errorf("always damaged: %v", err)
	}
	if n := b.Calls(faultstore.Put) - before; n != 2 {
		t.Errorf("%d writes, want 2", n)
	}
}

// TestSuccessReportedAsFailure: every write of a step may lose its reply. The caller
// tries the step again, and the store holds one of each.
func TestSuccessReportedAsFailure(t *testing.T) {
	gone := &artifacts.BucketError{Op: "put", Bucket: "x", Class: artifacts.Transient, Err: artifacts.ErrUnreachable}
	for _, area := range []string{"claims/", "blobs/", "statements/", "index/"} {
		t.Run(area, func(t *testing.T) {
			r, b := open(t)
			b.Inject(faultstore.Put, faultstore.Fault{Name: area, ErrAfter: gone})
			tries := 0
			for {
				tries++
				err := step(t.Context(), r, tries)
				if err == nil {
					break
				}
				if artifacts.ClassOf(err) != artifacts.Transient || tries == 5 {
					t.Fatalf("try %d: %v", tries, err)
				}
			}
			if tries > 2 {
				t.Errorf("%d tries", tries)
			}
			var names []string
			if err := b.List(t.Context(), "", "", func(i artifacts.Info) error { names = append(names, i.Name[:strings.Index(i.Name, "/")+1]); return nil }); err != nil {
				t.Fatal(err)
			}
			if want := []string{"blobs/", "index/", "statements/"}; !slices.Equal(names, want) {
				t.Errorf("the store holds %q, want %q", names, want)
			}
		})
	}
}

// step does one step as an activity does.
func step(ctx context.Context, r *artifacts.Repository, attempt int) (err error) {
	key, err := artifacts.KeyDoc{Step: "step", Version: 1}.Key()
	if err != nil {
		return err
	}
	if _, err := r.Lookup(ctx, key); !errors.Is(err, artifacts.ErrNotFound) {
		return err
	}
	c, err := r.Claim(ctx, key, artifacts.Owner{Workflow: "w", Activity: "a", Attempt: attempt}, time.Minute)
	var done *artifacts.CommittedError
	if errors.As(err, &done) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Release(ctx, c)) }()
	res, err := r.Put(ctx, []byte(`{"result":1}`), "application/json")
	if err != nil {
		return err
	}
	st, err := r.PutStatement(ctx, []byte(`{"statement":1}`))
	if err != nil {
		return err
	}
	_, err = r.CommitClaimed(ctx, c, artifacts.Record{Key: key, Result: res, Statement: st})
	return err
}

// TestFullDisk: every write of a step may meet a full disk. Nothing half is visible, the
// error says so, and the same step works once there is room.
func TestFullDisk(t *testing.T) {
	full := &artifacts.BucketError{Op: "put", Bucket: "x", Class: artifacts.Transient, Err: artifacts.ErrNoSpace}
	for _, area := range []string{"claims/", "blobs/", "statements/", "index/"} {
		t.Run(area, func(t *testing.T) {
			r, b := open(t)
			b.Inject(faultstore.Put, faultstore.Fault{Name: area, Times: -1, Err: full})
			err := step(t.Context(), r, 1)
			if !errors.Is(err, artifacts.ErrNoSpace) || artifacts.ClassOf(err) != artifacts.Transient || artifacts.HintOf(err) == "" {
				t.Fatalf("error %v, hint %q", err, artifacts.HintOf(err))
			}
			key, _ := artifacts.KeyDoc{Step: "step", Version: 1}.Key()
			if _, err := r.Lookup(t.Context(), key); !errors.Is(err, artifacts.ErrNotFound) {
				t.Errorf("look up on the full disk: %v", err)
			}
			b.Clear()
			if err := step(t.Context(), r, 2); err != nil {
				t.Errorf("with room again: %v", err)
			}
		})
	}
}

// TestUnreachableIsNotAbsence: a store that does not answer never reads as a miss.
func TestUnreachableIsNotAbsence(t *testing.T) {
	r, b := open(t)
	gone := &artifacts.BucketError{Op: "x", Bucket: "x", Class: artifacts.Transient, Err: artifacts.ErrUnreachable}
	key, _ := artifacts.KeyDoc{Step: "step", Version: 1}.Key()
	for _, m := range []faultstore.Method{faultstore.Read, faultstore.Stat, faultstore.Open, faultstore.Put, faultstore.List} {
		b.Inject(m, faultstore.Fault{Times: -1, Err: gone})
	}
	_, err := r.Lookup(t.Context(), key)
	if errors.Is(err, artifacts.ErrNotFound) || !errors.Is(err, artifacts.ErrUnreachable) {
		t.Errorf("look up: %v", err)
	}
	if _, err := r.Has(t.Context(), key.Digest); !errors.Is(err, artifacts.ErrUnreachable) {
		t.Errorf("has: %v", err)
	}
	if _, err := r.GC(t.Context(), artifacts.GCOptions{Apply: true}); !errors.Is(err, artifacts.ErrUnreachable) {
		t.Errorf("gc: %v", err)
	}
	b.Clear()
	if err := step(t.Context(), r, 1); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

// TestDelayEndsWithTheContext: a call that hangs ends when its context does.
func TestDelayEndsWithTheContext(t *testing.T) {
	r, b := open(t)
	b.Inject(faultstore.Stat, faultstore.Fault{Delay: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := r.Put(ctx, []byte("x"), "text/plain"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put: %v", err)
	}
}

// TestLyingStores: the probe finds each lie, and the repository still passes its suite.
func TestLyingStores(t *testing.T) {
	for _, c := range []struct {
		name  string
		lies  faultstore.Lies
		check string
		falls string
	}{
		{"ignores If-None-Match", faultstore.Lies{IgnoreIfAbsent: true}, artifacts.CheckCreate, "candidate protocol"},
		{"ignores If-Match", faultstore.Lies{IgnoreIfMatch: true}, artifacts.CheckSwap, "candidate protocol"},
		{"If-Match creates", faultstore.Lies{IfMatchCreates: true}, artifacts.CheckSwapMissing, "candidate protocol"},
		{"ignores all conditions", faultstore.Lies{IgnoreIfAbsent: true, IgnoreIfMatch: true}, artifacts.CheckSwap, "candidate protocol"},
		{"accepts wrong digests", faultstore.Lies{AcceptWrongDigest: true}, artifacts.CheckChecksum, "read back"},
		{"cannot copy, accepts wrong digests", faultstore.Lies{NoCopy: true, AcceptWrongDigest: true}, artifacts.CheckCopy, "cannot copy"},
		{"damages multipart", faultstore.Lies{DamageMultipart: true}, artifacts.CheckMultipart, "one request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			liar := func() artifacts.Bucket { return faultstore.New(memstore.New("liar"), c.lies) }
			report, err := artifacts.Probe(t.Context(), liar(), storetest.NewHost(), artifacts.ProbeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if report.Verdict(c.check) != artifacts.VerdictBroken {
				t.Errorf("%s: %s", c.check, report.Verdict(c.check))
			}
			if len(report.Fallbacks) == 0 || !strings.Contains(strings.Join(report.Fallbacks, " "), c.falls) {
				t.Errorf("fallbacks %q, want one about %q", report.Fallbacks, c.falls)
			}
			storetest.RunRepository(t, storetest.Options{Remote: true, Small: true}, func(*testing.T) artifacts.Bucket { return liar() })
		})
	}
}

// changing returns other bytes than were sent, as a broken gateway does.
type changing struct{ artifacts.Bucket }

func (c changing) Put(ctx context.Context, name string, content artifacts.Content, opts artifacts.PutOptions) (artifacts.Info, error) {
	opts.SHA256 = artifacts.Digest{}
	return c.Bucket.Put(ctx, name, bytes.NewReader(fmt.Appendf(nil, "%d", content.Size())), opts)
}

func TestProbeRefusesChangedBytes(t *testing.T) {
	report, err := artifacts.Probe(t.Context(), changing{memstore.New("changing")}, storetest.NewHost(), artifacts.ProbeOptions{})
	if !errors.Is(err, artifacts.ErrUnsafeStore) || report.Refused == "" || artifacts.ClassOf(err) != artifacts.Permanent {
		t.Errorf("%v, refused %q", err, report.Refused)
	}
}
