package activities

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/ledger/limit"
)

// worn is a bucket that spoils some reads of one object, and counts them all.
type worn struct {
	*memstore.Bucket
	object                string
	spoilt, reads, warned atomic.Int64
}

func (w *worn) Soon(_ context.Context, name string, _ int64) {
	if name == w.object {
		w.warned.Add(1)
	}
}

func (w *worn) Open(ctx context.Context, name string) (io.ReadCloser, artifacts.Info, error) {
	body, info, err := w.Bucket.Open(ctx, name)
	if err != nil || name != w.object {
		return body, info, err
	}
	w.reads.Add(1)
	if w.spoilt.Add(-1) < 0 {
		return body, info, nil
	}
	data, err := io.ReadAll(body)
	data = bytes.Clone(data)
	data[len(data)/2] ^= 1
	return io.NopCloser(bytes.NewReader(data)), info, err
}

// wornLab has the picture of the first case in a worn bucket.
func wornLab(t *testing.T, remote bool) (*askLab, *worn) {
	t.Helper()
	w := &worn{Bucket: memstore.New("worn")}
	store, err := artifacts.New(w, artifacts.Options{Host: localhost.New(), Remote: remote})
	if err != nil {
		t.Fatal(err)
	}
	l := newAskLabIn(t, store)
	for _, ref := range l.cases[0].Pictures {
		hex := ref.Digest.Hex()
		w.object = "blobs/sha256/" + hex[:2] + "/" + hex
	}
	return l, w
}

// TestDamagedPicture: a picture that is read wrong once is read again; one that stays wrong ends
// the call, with nothing that anybody could have answered or billed.
func TestDamagedPicture(t *testing.T) {
	for _, remote := range []bool{false, true} {
		l, w := wornLab(t, remote)
		s := serve(t, always(reply{text: "(a)"}))
		a := l.worker("one", l.endpoint(s.URL, place{}))
		w.spoilt.Store(1)
		if out := l.mustAsk(a, l.input(0)); out.Count.Attempts != 1 || s.requests() != 1 || w.reads.Load() != 2 {
			t.Errorf("remote %t: read wrong once: %+v, %d requests, %d reads", remote, out.Count, s.requests(), w.reads.Load())
		}
		in := l.draws(1)[0]
		a = l.worker("two", l.endpoint(s.URL, place{})) // which holds nothing
		w.spoilt.Store(1000)
		_, err := ask(a, in)
		if app := failure(t, err); app.Type() != contract.ErrTypeDigest || !app.NonRetryable() || s.requests() != 1 || strings.Contains(app.Message(), "billed") {
			t.Errorf("remote %t: read wrong always: %s: %s after %d requests", remote, app.Type(), app.Message(), s.requests())
		}
		if n := len(objects(t, l.store, "index/"+contract.StepCall+"/")); n != 1 {
			t.Errorf("remote %t: %d records", remote, n)
		}
	}
}

// TestPicturesOfAnotherMachine: they are read before a place at the endpoint is free; of those of
// this one the disk is told.
func TestPicturesOfAnotherMachine(t *testing.T) {
	for _, remote := range []bool{false, true} {
		l, w := wornLab(t, remote)
		free := make(chan struct{})
		var begun atomic.Int64
		s := serve(t, func(int, *http.Request, string) reply {
			if begun.Add(1) == 1 {
				<-free
			}
			return reply{text: "(a)"}
		})
		e := l.endpoint(s.URL, place{limits: limit.Limits{Concurrency: 1}})
		a := l.worker("one", e)
		done := make(chan error, 2)
		inputs := l.draws(2)
		inputs[0], inputs[1] = l.input(1), l.input(0)
		for i, in := range inputs {
			go func() {
				_, err := ask(a, in)
				done <- err
			}()
			for i == 0 && begun.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(300 * time.Millisecond) // for the second to stand in line
		if n := w.reads.Load(); (n == 1) != remote || s.requests() != 1 || w.warned.Load() != 1 {
			t.Errorf("remote %t: %d reads, %d announced, %d requests while the only place is taken", remote, n, w.warned.Load(), s.requests())
		}
		close(free)
		for range inputs {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if w.reads.Load() != 1 || s.requests() != 2 {
			t.Errorf("remote %t: %d reads, %d requests", remote, w.reads.Load(), s.requests())
		}
	}
}
