package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"cxrepro/artifacts"
)

func (s suite) objectRoundTrip(t *testing.T) {
	b := s.newBucket(t)
	for _, n := range []int{0, 1, 4096, 1 << 20} {
		name, body := fmt.Sprintf("tmp/size-%d", n), pattern(n, uint32(n))
		info, err := b.Put(t.Context(), name, bytes.NewReader(body), artifacts.PutOptions{MediaType: "image/png", SHA256: artifacts.Sum(body)})
		if err != nil {
			t.Fatal(err)
		}
		if info.Name != name || info.Size != int64(n) || info.Version == "" {
			t.Errorf("put %s: info %+v", name, info)
		}
		rc, oi, err := b.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, rc); !bytes.Equal(got, body) {
			t.Errorf("open %s: other bytes", name)
		}
		st, err := b.Stat(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if oi.Size != int64(n) || st.Size != int64(n) || st.Name != name || st.Modified.IsZero() {
			t.Errorf("stat %s: %+v, open said %+v", name, st, oi)
		}
	}
	put(t, b, "tmp/size-1", "over", artifacts.PutOptions{})
	if got := read(t, b, "tmp/size-1"); got != "over" {
		t.Errorf("after overwriting: %q", got)
	}
}

func (s suite) objectNames(t *testing.T) {
	b := s.newBucket(t)
	for _, name := range []string{"pins/A-b_c.d", "pins/a b+c", "pins/é%20", "index/step-1/ab/" + artifacts.Sum(nil).Hex()} {
		put(t, b, name, name, artifacts.PutOptions{})
		if got := read(t, b, name); got != name {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if got := names(t, b, "pins/", ""); len(got) != 3 || !slices.Contains(got, "pins/a b+c") || !slices.Contains(got, "pins/é%20") {
		t.Errorf("names come back as %q", got)
	}
}

func (s suite) objectAbsence(t *testing.T) {
	b := s.newBucket(t)
	_, _, err := b.Open(t.Context(), "blobs/none")
	wantErr(t, "open", err, artifacts.ErrNotFound)
	_, _, err = b.Read(t.Context(), "blobs/none")
	wantErr(t, "read", err, artifacts.ErrNotFound)
	_, err = b.Stat(t.Context(), "blobs/none")
	wantErr(t, "stat", err, artifacts.ErrNotFound)
	wantErr(t, "copy", b.Copy(t.Context(), "blobs/none", "blobs/some"), artifacts.ErrNotFound)
	if err := b.Delete(t.Context(), "blobs/none"); err != nil {
		t.Errorf("delete of a missing object: %v", err)
	}
	put(t, b, "blobs/some", "x", artifacts.PutOptions{})
	if err := b.Delete(t.Context(), "blobs/some"); err != nil {
		t.Fatal(err)
	}
	_, err = b.Stat(t.Context(), "blobs/some")
	wantErr(t, "stat after delete", err, artifacts.ErrNotFound)
	var be *artifacts.BucketError
	if !errors.As(err, &be) || be.Object != "blobs/some" || be.Bucket != b.URL() {
		t.Errorf("error %v does not name object and store", err)
	}
}

func (s suite) createOnce(t *testing.T) {
	b := s.newBucket(t)
	put(t, b, "index/once", "first", artifacts.PutOptions{IfAbsent: true})
	_, err := b.Put(t.Context(), "index/once", bytes.NewReader([]byte("second")), artifacts.PutOptions{IfAbsent: true})
	wantErr(t, "second create", err, artifacts.ErrPrecondition)
	if got := read(t, b, "index/once"); got != "first" {
		t.Errorf("holds %q", got)
	}
	const writers = 16
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, errs[i] = b.Put(t.Context(), "index/race", bytes.NewReader(fmt.Appendf(nil, "%d", i)), artifacts.PutOptions{IfAbsent: true})
		}()
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Fatalf("writers %d and %d both won", won, i)
		case err == nil:
			won = i
		default:
			wantErr(t, fmt.Sprintf("writer %d", i), err, artifacts.ErrPrecondition)
		}
	}
	if got := read(t, b, "index/race"); won < 0 || got != fmt.Sprint(won) {
		t.Errorf("writer %d won, object holds %q", won, got)
	}
}

func (s suite) swapVersion(t *testing.T) {
	b := s.newBucket(t)
	first := put(t, b, "claims/swap", "first", artifacts.PutOptions{IfAbsent: true})
	_, info, err := b.Read(t.Context(), "claims/swap")
	if err != nil || info.Version != first.Version {
		t.Fatalf("read says version %q, put said %q, error %v", info.Version, first.Version, err)
	}
	second := put(t, b, "claims/swap", "second", artifacts.PutOptions{IfMatch: first.Version})
	_, err = b.Put(t.Context(), "claims/swap", bytes.NewReader([]byte("third")), artifacts.PutOptions{IfMatch: first.Version})
	wantErr(t, "outdated version", err, artifacts.ErrPrecondition)
	if got := read(t, b, "claims/swap"); got != "second" {
		t.Errorf("holds %q", got)
	}
	if err := b.Delete(t.Context(), "claims/swap"); err != nil {
		t.Fatal(err)
	}
	_, err = b.Put(t.Context(), "claims/swap", bytes.NewReader([]byte("fourth")), artifacts.PutOptions{IfMatch: second.Version})
	wantErr(t, "missing object", err, artifacts.ErrPrecondition)
	_, err = b.Stat(t.Context(), "claims/swap")
	wantErr(t, "stat", err, artifacts.ErrNotFound)
}

func (s suite) wrongDigest(t *testing.T) {
	b := s.newBucket(t)
	if !b.Semantics().VerifiedPut && !s.opts.Remote {
		t.Skip("the store does not promise it")
	}
	_, err := b.Put(t.Context(), "blobs/wrong", bytes.NewReader([]byte("x")), artifacts.PutOptions{SHA256: artifacts.Sum([]byte("y"))})
	wantErr(t, "put", err, artifacts.ErrDigestMismatch)
	_, err = b.Stat(t.Context(), "blobs/wrong")
	wantErr(t, "stat", err, artifacts.ErrNotFound)
}

func (s suite) listing(t *testing.T) {
	b := s.newBucket(t)
	all := []string{"index/a-b/00/x", "index/a/00/x", "index/a/00/y", "index/a/01/x", "index/b/00/x", "pins/p"}
	for _, n := range all {
		put(t, b, n, "x", artifacts.PutOptions{})
	}
	for _, c := range []struct {
		prefix, after string
		want          []string
	}{
		{"", "", all}, // '-' sorts before '/'
		{"index/", "", all[:5]},
		{"index/a/", "", all[1:4]},
		{"index/a", "", all[:4]},
		{"index/a/00/x", "", all[1:2]},
		{"index/a/", "index/a/00/x", all[2:4]},
		{"index/", "index/a/00/y", all[3:5]},
		{"index/c", "", []string{}},
		{"nothing/", "", []string{}},
	} {
		if got := names(t, b, c.prefix, c.after); !slices.Equal(got, c.want) {
			t.Errorf("list %q after %q: got %q, want %q", c.prefix, c.after, got, c.want)
		}
	}
	stop := errors.New("stop")
	n := 0
	err := b.List(t.Context(), "index/", "", func(artifacts.Info) error {
		if n++; n == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 2 {
		t.Errorf("list went on after fn's error: %d calls, %v", n, err)
	}
}

func (s suite) copyObject(t *testing.T) {
	b := s.newBucket(t)
	put(t, b, "tmp/from", "bytes", artifacts.PutOptions{})
	put(t, b, "blobs/to", "old", artifacts.PutOptions{})
	if err := b.Copy(t.Context(), "tmp/from", "blobs/to"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b, "blobs/to"); got != "bytes" {
		t.Errorf("copy holds %q", got)
	}
	if got := read(t, b, "tmp/from"); got != "bytes" {
		t.Errorf("source holds %q", got)
	}
}

// multipart uses content of more than one part of 5 MiB, the smallest that S3 allows.
func (s suite) multipart(t *testing.T) {
	b := s.newBucket(t)
	body := pattern(11<<20+7, 3)
	if _, err := b.Put(t.Context(), "tmp/big", bytes.NewReader(body), artifacts.PutOptions{Multipart: artifacts.MultipartAlways}); err != nil {
		t.Fatal(err)
	}
	rc, info, err := b.Open(t.Context(), "tmp/big")
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, rc); info.Size != int64(len(body)) || !bytes.Equal(got, body) {
		t.Fatalf("%d bytes came back as %d other bytes", len(body), len(got))
	}
	_, err = b.Put(t.Context(), "tmp/big", bytes.NewReader(body[:6<<20]), artifacts.PutOptions{Multipart: artifacts.MultipartAlways, IfAbsent: true})
	wantErr(t, "conditional completion", err, artifacts.ErrPrecondition)
	if ups, ok := b.(artifacts.Uploads); ok {
		n := 0
		if err := ups.ListUploads(t.Context(), func(artifacts.Upload) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			t.Errorf("%d uploads left open", n)
		}
	}
}

// wholeObjects overwrites an object while others read it: every read is one of the
// written states in full.
func (s suite) wholeObjects(t *testing.T) {
	b := s.newBucket(t)
	const size, rounds = 64 << 10, 30
	states := [][]byte{bytes.Repeat([]byte{'a'}, size), bytes.Repeat([]byte{'b'}, size)}
	put(t, b, "pins/flip", string(states[0]), artifacts.PutOptions{})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				got, _, err := b.Read(t.Context(), "pins/flip")
				if err != nil || !bytes.Equal(got, states[0]) && !bytes.Equal(got, states[1]) {
					t.Errorf("read %d bytes that nobody wrote, error %v", len(got), err)
					return
				}
			}
		}()
	}
	for i := range rounds {
		put(t, b, "pins/flip", string(states[i%2]), artifacts.PutOptions{})
	}
	close(done)
	wg.Wait()
}

func (s suite) cancelled(t *testing.T) {
	b := s.newBucket(t)
	put(t, b, "pins/stay", "here", artifacts.PutOptions{})
	ctx := cancelledContext(t)
	_, err := b.Put(ctx, "pins/new", bytes.NewReader([]byte("x")), artifacts.PutOptions{})
	if err == nil {
		t.Error("put went through")
	}
	_, err = b.Put(ctx, "pins/large", bytes.NewReader(pattern(6<<20, 1)), artifacts.PutOptions{Multipart: artifacts.MultipartAlways})
	if err == nil {
		t.Error("multipart put went through")
	}
	if b.Delete(ctx, "pins/stay") == nil || b.Copy(ctx, "pins/stay", "pins/copy") == nil {
		t.Error("delete or copy went through")
	}
	if got := names(t, b, "", ""); !slices.Equal(got, []string{"pins/stay"}) {
		t.Errorf("store now holds %q", got)
	}
	r, _, _ := s.over(t, b)
	_, k := key(t, "cancel", 1)
	if _, err := r.Put(ctx, []byte("x"), "text/plain"); err == nil {
		t.Error("blob put went through")
	}
	if _, err := r.Claim(ctx, k, artifacts.Owner{}, 1); err == nil {
		t.Error("claim went through")
	}
	if got := names(t, b, "", ""); !slices.Equal(got, []string{"pins/stay"}) {
		t.Errorf("store now holds %q", got)
	}
}

func (s suite) probe(t *testing.T) {
	b := s.newBucket(t)
	report, err := artifacts.Probe(t.Context(), b, NewHost(), artifacts.ProbeOptions{Thorough: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Checks {
		t.Logf("%-34s %-7s %6.1f ms %s", c.Name, c.Verdict, c.Millis, c.Detail)
		if c.Verdict != artifacts.VerdictKept {
			t.Errorf("%s: %s %s", c.Name, c.Verdict, c.Detail)
		}
	}
	if len(report.Checks) != 10 || len(report.Fallbacks) != 0 {
		t.Errorf("%d checks, fallbacks %q", len(report.Checks), report.Fallbacks)
	}
	if left := names(t, b, "", ""); len(left) != 0 {
		t.Errorf("probe left %q", left)
	}
}
