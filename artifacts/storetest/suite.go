package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"cxrepro/artifacts"
)

// Options describe the store under test.
type Options struct {
	// Remote stores are probed, and their larger tests are smaller.
	Remote bool
	// Small leaves content above 2 MiB out: for suites that run many times over.
	Small bool
	// Settle of the candidate protocol, where the store needs it.
	Settle time.Duration
}

// Run runs the suite. New returns an empty bucket for each test.
func Run(t *testing.T, opts Options, New func(t *testing.T) artifacts.Bucket) {
	s := suite{opts: opts, newBucket: New}
	s.run(t, []named{
		{"ObjectRoundTrip", s.objectRoundTrip},
		{"ObjectNames", s.objectNames},
		{"ObjectAbsence", s.objectAbsence},
		{"CreateOnce", s.createOnce},
		{"SwapVersion", s.swapVersion},
		{"WrongDigestPublishesNothing", s.wrongDigest},
		{"Listing", s.listing},
		{"Copy", s.copyObject},
		{"Multipart", s.multipart},
		{"ReadersSeeWholeObjects", s.wholeObjects},
		{"CancelledChangesNothing", s.cancelled},
		{"Probe", s.probe},
	})
	RunRepository(t, opts, New)
}

// RunRepository runs the part of the suite that works over a repository. A store that
// breaks promises passes it too, by way of the fallbacks, when opts.Remote has it probed.
func RunRepository(t *testing.T, opts Options, New func(t *testing.T) artifacts.Bucket) {
	s := suite{opts: opts, newBucket: New}
	s.run(t, []named{
		{"Blobs", s.blobs},
		{"DamagedBlob", s.damagedBlob},
		{"Index", s.index},
		{"Conflict", s.conflict},
		{"DanglingEntry", s.dangling},
		{"ClaimLife", s.claimLife},
		{"ClaimTakeover", s.claimTakeover},
		{"ClaimRace", s.claimRace},
		{"StaleClaim", s.staleClaim},
		{"CommitRace", s.commitRace},
		{"InlineStatement", s.inline},
		{"InlineConflict", s.inlineConflict},
		{"InlineCollected", s.inlineCollected},
		{"ClaimNotes", s.claimNotes},
		{"ClaimNotesCollected", s.claimNotesCollected},
		{"Cells", s.cells},
		{"CellRace", s.cellRace},
		{"Pins", s.pins},
		{"Collect", s.collect},
		{"CollectKeepsYoung", s.collectYoung},
		{"CollectBesideOpen", s.collectOpen},
		{"Verify", s.verify},
		{"Strays", s.strays},
		{"JunkPin", s.junkPin},
		{"LostBlob", s.lostBlob},
		{"LostStatement", s.lostStatement},
	})
}

type named struct {
	name string
	fn   func(*testing.T)
}

func (s suite) run(t *testing.T, cases []named) {
	for _, c := range cases {
		t.Run(c.name, c.fn)
	}
}

type suite struct {
	opts      Options
	newBucket func(*testing.T) artifacts.Bucket
}

// repository returns a repository over an empty bucket, probed when remote.
func (s suite) repository(t *testing.T) (*artifacts.Repository, *Host) {
	t.Helper()
	r, h, _ := s.over(t, s.newBucket(t))
	return r, h
}

func (s suite) over(t *testing.T, b artifacts.Bucket) (*artifacts.Repository, *Host, artifacts.Bucket) {
	t.Helper()
	h := NewHost()
	opts := artifacts.Options{Host: h, Remote: s.opts.Remote, Settle: s.opts.Settle}
	if s.opts.Remote {
		report, err := artifacts.Probe(t.Context(), b, h, artifacts.ProbeOptions{})
		if err != nil {
			t.Fatalf("probe: %v", err)
		}
		opts.Semantics = &report.Semantics
	}
	r, err := artifacts.New(b, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r, h, b
}

func put(t *testing.T, b artifacts.Bucket, name, body string, opts artifacts.PutOptions) artifacts.Info {
	t.Helper()
	info, err := b.Put(t.Context(), name, bytes.NewReader([]byte(body)), opts)
	if err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
	return info
}

func read(t *testing.T, b artifacts.Bucket, name string) string {
	t.Helper()
	data, info, err := b.Read(t.Context(), name)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	if info.Name != name || info.Size != int64(len(data)) || info.Version == "" {
		t.Errorf("read %s: info %+v, want name, size %d and a version", name, info, len(data))
	}
	return string(data)
}

func names(t *testing.T, b artifacts.Bucket, prefix, after string) []string {
	t.Helper()
	out := []string{}
	err := b.List(t.Context(), prefix, after, func(i artifacts.Info) error {
		out = append(out, i.Name)
		return nil
	})
	if err != nil {
		t.Fatalf("list %q after %q: %v", prefix, after, err)
	}
	return out
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}

// pattern is n bytes without repetition at small distances.
func pattern(n int, seed uint32) []byte {
	b := make([]byte, n)
	x := seed*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func key(t *testing.T, step string, n int) (artifacts.KeyDoc, artifacts.Key) {
	t.Helper()
	doc := artifacts.KeyDoc{Step: step, Version: 1, Params: map[string]any{"n": n},
		Inputs: []artifacts.Material{{Name: "image", Digest: artifacts.Sum([]byte("image"))}}}
	k, err := doc.Key()
	if err != nil {
		t.Fatal(err)
	}
	return doc, k
}

// record puts a result and a statement and returns the record of key.
func record(t *testing.T, r *artifacts.Repository, k artifacts.Key, result string) artifacts.Record {
	t.Helper()
	ref, err := r.Put(t.Context(), []byte(result), "application/json")
	if err != nil {
		t.Fatal(err)
	}
	st, err := r.PutStatement(t.Context(), []byte(`{"about":"`+k.String()+`","result":"`+ref.Digest.String()+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	return artifacts.Record{Key: k, Result: ref, Statement: st}
}

func commit(t *testing.T, r *artifacts.Repository, k artifacts.Key, result string) artifacts.Record {
	t.Helper()
	rec, err := r.Commit(t.Context(), record(t, r, k, result))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func readAll(t *testing.T, rc io.ReadCloser) []byte {
	t.Helper()
	data, err := io.ReadAll(rc)
	if err := errors.Join(err, rc.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

func cancelledContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
