package storetest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"cxrepro/artifacts"
)

// inlineStatement is canonical JSON like a statement's, different for every n.
func inlineStatement(t *testing.T, k artifacts.Key, n int) []byte {
	t.Helper()
	b, err := artifacts.Canonical(map[string]any{"about": k, "n": n, "text": "<grün> & \u2028"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answer claims k, puts a result and commits it with its statement inline.
func answer(t *testing.T, r *artifacts.Repository, k artifacts.Key, result string, statement []byte) (artifacts.Record, error) {
	t.Helper()
	ctx := t.Context()
	c, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := r.Put(ctx, []byte(result), "application/json")
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.CommitInline(ctx, c, artifacts.Record{Key: k, Result: ref}, statement)
	if rerr := r.Release(ctx, c); rerr != nil {
		t.Fatal(rerr)
	}
	return rec, err
}

// inline: one entry carries its statement; readers get it from either form; a damaged
// one is a miss and is replaced.
func (s suite) inline(t *testing.T) {
	r, _ := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "call", 1)
	statement := inlineStatement(t, k, 1)
	rec, err := answer(t, r, k, `{"text":"A"}`, statement)
	if err != nil {
		t.Fatal(err)
	}
	want := artifacts.Ref{Digest: artifacts.Sum(statement), Size: int64(len(statement)), MediaType: artifacts.StatementMediaType}
	if rec.Statement != want || !bytes.Equal(rec.Inline, statement) {
		t.Errorf("record %+v", rec)
	}
	got, err := r.Lookup(ctx, k)
	if err != nil || !got.Equal(rec) {
		t.Fatalf("look up: %+v, %v", got, err)
	}
	if b, err := r.StatementOf(ctx, got); err != nil || !bytes.Equal(b, statement) {
		t.Errorf("statement: %q, %v", b, err)
	}
	if objects := names(t, r.Bucket(), "", ""); len(objects) != 2 {
		t.Errorf("a call is the objects %q, want an answer and an entry", objects)
	}
	_, k2 := key(t, "call", 2)
	plain := commit(t, r, k2, `{"text":"B"}`)
	if b, err := r.StatementOf(ctx, plain); err != nil || artifacts.Sum(b) != plain.Statement.Digest {
		t.Errorf("statement beside the blobs: %q, %v", b, err)
	}
	// A second commit of the same answer, in either form, changes nothing.
	if again, err := r.Commit(ctx, record(t, r, k, `{"text":"A"}`)); err != nil || !again.Equal(rec) {
		t.Errorf("plain commit over inline: %+v, %v", again, err)
	}
	h := k.Digest.Hex()
	name := "index/call/" + h[:2] + "/" + h
	body := read(t, r.Bucket(), name)
	put(t, r.Bucket(), name, string(bytes.Replace([]byte(body), []byte(`"n":1`), []byte(`"n":7`), 1)), artifacts.PutOptions{})
	var miss *artifacts.MissError
	if _, err := r.Lookup(ctx, k); !errors.As(err, &miss) || miss.Reason != artifacts.MissEntryDamaged {
		t.Fatalf("look up of a damaged statement: %v", err)
	}
	report, err := r.Verify(ctx, artifacts.VerifyOptions{})
	if err != nil || len(report.Faults) != 1 || report.Faults[0].Kind != artifacts.FaultDamagedEntry {
		t.Errorf("verify: %+v, %v", report.Faults, err)
	}
	if _, err := answer(t, r, k, `{"text":"A"}`, statement); err != nil {
		t.Fatal(err)
	}
	if report, err = r.Verify(ctx, artifacts.VerifyOptions{}); err != nil || len(report.Faults) != 0 {
		t.Errorf("verify after asking again: %+v, %v", report.Faults, err)
	}
	s.inlineRefusals(t, r)
}

func (s suite) inlineRefusals(t *testing.T, r *artifacts.Repository) {
	t.Helper()
	_, k := key(t, "call", 3)
	for _, bad := range []string{"", "{", "no JSON", `{"b":1,"a":2}`, `{"a": 1}`, `{"a":1}{}`} {
		if rec, err := answer(t, r, k, `{"text":"C"}`, []byte(bad)); err == nil {
			t.Errorf("inline statement %q was accepted: %+v", bad, rec)
		}
	}
	if _, err := r.Lookup(t.Context(), k); !errors.Is(err, artifacts.ErrNotFound) {
		t.Errorf("a refused record is visible: %v", err)
	}
}

// inlineConflict: another answer for the key is a recorded conflict with both statements;
// who was taken over commits nothing.
func (s suite) inlineConflict(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, k := key(t, "call", 1)
	one, err := r.Claim(ctx, k, owner(1, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(2 * time.Minute)
	two, err := r.Claim(ctx, k, owner(2, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	a, b := record(t, r, k, `{"text":"A"}`), record(t, r, k, `{"text":"B"}`)
	sa, sb := inlineStatement(t, k, 1), inlineStatement(t, k, 2)
	var stale *artifacts.StaleClaimError
	if _, err := r.CommitInline(ctx, one, a, sa); !errors.As(err, &stale) {
		t.Fatalf("stale commit: %v", err)
	}
	first, err := r.CommitInline(ctx, two, b, sb)
	if err != nil {
		t.Fatal(err)
	}
	var conflict *artifacts.ConflictError
	got, err := r.CommitInline(ctx, two, a, sa)
	if !errors.As(err, &conflict) || !got.Equal(first) {
		t.Fatalf("second answer: %+v, %v", got, err)
	}
	n := 0
	err = r.Conflicts(ctx, "call", func(c artifacts.Conflict) error {
		n++
		for _, side := range []struct {
			rec  artifacts.Record
			want []byte
		}{{c.First, sb}, {c.Second, sa}} {
			if st, err := r.StatementOf(ctx, side.rec); err != nil || !bytes.Equal(st, side.want) {
				t.Errorf("statement of %s: %q, %v", side.rec.Result.Digest.Short(), st, err)
			}
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d conflicts, %v", n, err)
	}
}

// inlineCollected: the tombstone of a removed entry carries its statement on.
func (s suite) inlineCollected(t *testing.T) {
	r, h := s.repository(t)
	ctx := t.Context()
	_, lost := key(t, "call", 1)
	_, kept := key(t, "call", 2)
	statement := inlineStatement(t, lost, 1)
	if _, err := answer(t, r, lost, `{"text":"A"}`, statement); err != nil {
		t.Fatal(err)
	}
	if _, err := answer(t, r, kept, `{"text":"B"}`, inlineStatement(t, kept, 2)); err != nil {
		t.Fatal(err)
	}
	if err := r.SetPin(ctx, artifacts.Pin{Name: "done", Keys: []artifacts.Key{kept}}); err != nil {
		t.Fatal(err)
	}
	h.Advance(48 * time.Hour)
	report, err := r.GC(ctx, artifacts.GCOptions{Apply: true})
	if err != nil || report.Entries.Count != 1 || report.Blobs.Count != 1 {
		t.Fatalf("gc: %+v, %v", report, err)
	}
	if _, err := r.Lookup(ctx, kept); err != nil {
		t.Errorf("pinned answer: %v", err)
	}
	tomb, err := r.Tombstone(ctx, lost)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := r.StatementOf(ctx, tomb.Record()); err != nil || !bytes.Equal(b, statement) {
		t.Errorf("statement of a removed answer: %q, %v", b, err)
	}
}
