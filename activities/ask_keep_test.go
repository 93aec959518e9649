package activities

import (
	"testing"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/faultstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// faultyLab is a lab whose store fails as a test says once a reply is in hand.
func faultyLab(t *testing.T) (*askLab, *faultstore.Bucket) {
	t.Helper()
	bucket := faultstore.New(memstore.Open().Bucket(), faultstore.Lies{})
	store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	return newAskLabIn(t, store), bucket
}

func unreachable() error {
	return &artifacts.BucketError{Op: "put", Bucket: "memory", Class: artifacts.Transient, Err: artifacts.ErrUnreachable}
}

// TestReplyIsKept: a reply is paid for, so a store that does not answer for a moment does not
// make us ask again.
func TestReplyIsKept(t *testing.T) {
	for _, c := range []struct{ what, point string }{{"blobs/", FaultAfterReply}, {"index/", FaultAfterAnswerPut}} {
		l, bucket := faultyLab(t)
		s := serve(t, always(reply{text: "(a)"}))
		in := l.input(0)
		a := l.worker("one", l.endpoint(s.URL, place{price: testPrice{}}), func(o *Options) {
			o.Fault = func(name string) {
				if name == c.point {
					bucket.Inject(faultstore.Put, faultstore.Fault{Name: c.what, Times: 2, Err: unreachable()})
				}
			}
		})
		out := l.mustAsk(a, in)
		if s.requests() != 1 || out.Score != cxreasonbench.Right || out.Count.Attempts != 1 || out.Count.MaybeBilled != 0 || out.Count.Cost == 0 {
			t.Errorf("%s: %d requests, %+v", c.what, s.requests(), out)
		}
		if !contains(l.logged(), "kept and tried again") {
			t.Errorf("%s: the store never failed", c.what)
		}
	}
}

// TestLostReplyIsCounted: a reply that could not be stored at all is asked for again, and the
// account has both.
func TestLostReplyIsCounted(t *testing.T) {
	l, bucket := faultyLab(t)
	s := serve(t, always(reply{text: "(a)"}))
	in := l.input(0)
	broken := true
	a := l.worker("one", l.endpoint(s.URL, place{price: testPrice{}}), func(o *Options) {
		o.Fault = func(name string) {
			if name == FaultAfterReply && broken {
				bucket.Inject(faultstore.Put, faultstore.Fault{Name: "blobs/", Times: -1, Err: unreachable()})
			}
		}
	})
	a.asks.keepReply = 300 * time.Millisecond
	_, err := ask(a, in)
	if app := failure(t, err); app.Type() != contract.ErrTypeStore || app.NonRetryable() || s.requests() != 1 {
		t.Errorf("%s after %d requests: %s", app.Type(), s.requests(), app.Message())
	}
	bucket.Clear()
	broken = false
	out := l.mustAsk(a, in)
	if n := out.Count; s.requests() != 2 || n.Attempts != 2 || n.Usage.Prompt != 200 || n.Cost != 2*(2*100+8*10) || n.MaybeBilled != 0 {
		t.Errorf("%d requests, %+v", s.requests(), n)
	}
}
