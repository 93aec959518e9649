package storetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cxrepro/artifacts"
)

// strays puts objects where they do not belong: lists go on without them, verify names
// each, and nothing of the store's own is touched.
func (s suite) strays(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "kept", 1)
	rec := commit(t, r, k, `{"kept":1}`)
	if err := r.SetPin(ctx, artifacts.Pin{Name: "done", Keys: []artifacts.Key{k}}); err != nil {
		t.Fatal(err)
	}
	hex := k.Digest.Hex()
	strays := []string{
		"index/notes.txt", "index/kept/zz/" + hex, "index/kept/" + hex[:2] + "/README", "index/Bad Step/ab/" + hex,
		"blobs/sha256/zz/notes.txt", "statements/sha256/" + hex[:2] + "/x", "conflicts/notes.txt",
		"claims/kept/notes.txt", "tombstones/index/notes.txt",
	}
	for _, name := range strays {
		put(t, r.Bucket(), name, "mine", artifacts.PutOptions{})
	}
	n := 0
	if err := r.Keys(ctx, "", func(got artifacts.Key, _ artifacts.Info) error {
		if n++; got != k {
			t.Errorf("key %s", got)
		}
		return nil
	}); err != nil || n != 1 {
		t.Errorf("%d keys, %v", n, err)
	}
	for what, err := range map[string]error{
		"conflicts":  r.Conflicts(ctx, "", func(artifacts.Conflict) error { return errors.New("there is none") }),
		"tombstones": r.Tombstones(ctx, "", func(artifacts.Tombstone) error { return errors.New("there is none") }),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	report, err := r.Verify(ctx, artifacts.VerifyOptions{DropDamaged: true})
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, f := range report.Faults {
		if f.Kind != artifacts.FaultForeignObject || f.Dropped {
			t.Errorf("fault %+v", f)
		}
		named = append(named, f.Object)
	}
	slices.Sort(named)
	slices.Sort(strays)
	if !slices.Equal(named, strays) || report.Entries != 1 || len(report.Open()) != len(strays) {
		t.Errorf("verify names %q, want %q; %d entries", named, strays, report.Entries)
	}
	h.Advance(48 * time.Hour)
	if _, err := r.GC(ctx, artifacts.GCOptions{Apply: true}); err != nil {
		t.Errorf("gc: %v", err)
	}
	if got, err := r.Lookup(ctx, k); err != nil || !got.Equal(rec) {
		t.Errorf("look up: %+v, %v", got, err)
	}
}

// junkPin: what a pin that cannot be read keeps is not known, so gc stops, names it and
// the way out; taking it away works.
func (s suite) junkPin(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "kept", 1)
	commit(t, r, k, `{"kept":1}`)
	h.Advance(48 * time.Hour)
	put(t, r.Bucket(), "pins/half", `{"format":"cx`, artifacts.PutOptions{})
	conflict := "conflicts/kept/" + k.Digest.Hex()[:2] + "/" + k.Digest.Hex() + "/" + k.Digest.Hex()
	put(t, r.Bucket(), conflict, `{}`, artifacts.PutOptions{})
	_, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err == nil || !strings.Contains(err.Error(), "pins/half") || !strings.Contains(artifacts.HintOf(err), "pin --remove half") || artifacts.ClassOf(err) != artifacts.Permanent {
		t.Fatalf("gc: %v, hint %q", err, artifacts.HintOf(err))
	}
	if _, err := r.Lookup(ctx, k); err != nil {
		t.Errorf("something was removed: %v", err)
	}
	report, err := r.Verify(ctx, artifacts.VerifyOptions{DropDamaged: true})
	if err != nil || len(report.Faults) != 2 || len(report.Open()) != 2 {
		t.Fatalf("verify: %+v, %v", report.Faults, err)
	}
	for _, f := range report.Faults {
		if f.Kind != artifacts.FaultDamagedRecord || f.Detail == "" {
			t.Errorf("fault %+v", f)
		}
	}
	if err := errors.Join(r.RemovePin(ctx, "half"), r.Bucket().Delete(ctx, conflict)); err != nil {
		t.Fatal(err)
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "sound", Keys: []artifacts.Key{k}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pins/not a pin", "pins/.stray"} {
		put(t, r.Bucket(), name, `{}`, artifacts.PutOptions{})
	}
	if pins, err := r.Pins(ctx); err != nil || len(pins) != 1 || pins[0].Name != "sound" {
		t.Errorf("pins beside strays: %+v, %v", pins, err)
	}
	if got, err := r.GC(ctx, artifacts.GCOptions{}); err != nil || got.Pins != 1 {
		t.Errorf("gc beside strays: %+v, %v", got, err)
	}
	if report, err = r.Verify(ctx, artifacts.VerifyOptions{}); err != nil || len(report.Faults) != 2 {
		t.Errorf("verify beside strays: %+v, %v", report.Faults, err)
	}
}

// lostBlob: who computes a result again because its blob was lost is named by the record,
// also when the bytes are the same; who only came second is not.
func (s suite) lostBlob(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "mask", 1)
	first := commit(t, r, k, `{"v":1}`)
	h := first.Result.Digest.Hex()
	if err := r.Bucket().Delete(ctx, "blobs/sha256/"+h[:2]+"/"+h); err != nil {
		t.Fatal(err)
	}
	c, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	again := record(t, r, k, `{"v":1}`)
	if again.Statement, err = r.PutStatement(ctx, []byte(`{"computed":"again"}`)); err != nil {
		t.Fatal(err)
	}
	got, err := r.CommitClaimed(ctx, c, again)
	if err != nil || !got.Equal(again) {
		t.Errorf("commit after the loss: %+v, %v; want the new record", got, err)
	}
	third := again
	if third.Statement, err = r.PutStatement(ctx, []byte(`{"computed":"at the same time"}`)); err != nil {
		t.Fatal(err)
	}
	if got, err = r.CommitClaimed(ctx, c, third); err != nil || !got.Equal(again) {
		t.Errorf("second commit: %+v, %v; want the record that is there", got, err)
	}
	if err := r.Release(ctx, c); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Lookup(ctx, k); err != nil || !got.Equal(again) {
		t.Errorf("look up: %+v, %v", got, err)
	}
	n := 0
	if err := r.Conflicts(ctx, "", func(artifacts.Conflict) error { n++; return nil }); err != nil || n != 0 {
		t.Errorf("%d conflicts, %v", n, err)
	}
}

// lostStatement: an entry whose statement was damaged is dropped with it, and computing
// again makes the store whole.
func (s suite) lostStatement(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "mask", 1)
	first := commit(t, r, k, `{"v":1}`)
	h := first.Statement.Digest.Hex()
	put(t, r.Bucket(), "statements/sha256/"+h[:2]+"/"+h, strings.Repeat("x", int(first.Statement.Size)), artifacts.PutOptions{})
	report, err := r.Verify(ctx, artifacts.VerifyOptions{DropDamaged: true})
	if err != nil || len(report.Faults) != 2 || len(report.Open()) != 0 {
		t.Fatalf("verify: %+v, %v", report.Faults, err)
	}
	if _, err := r.Lookup(ctx, k); !errors.Is(err, artifacts.ErrNotFound) {
		t.Fatalf("look up without a statement: %v", err)
	}
	commit(t, r, k, `{"v":1}`)
	if report, err = r.Verify(ctx, artifacts.VerifyOptions{}); err != nil || len(report.Faults) != 0 {
		t.Errorf("verify after computing again: %+v, %v", report.Faults, err)
	}
}
