package workflows_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/artifacts/faultstore"
	"cxrepro/artifacts/localhost"
	"cxrepro/artifacts/memstore"
	"cxrepro/internal/contract"
)

// methods are the store's operations that a reproduction uses.
var methods = []faultstore.Method{faultstore.Open, faultstore.Read, faultstore.Stat, faultstore.Put, faultstore.Delete}

// TestStoreGoneAndBack makes the store fail now and then, in every way that can pass: the
// result is the undisturbed one, and no failure ever counts as an image's.
func TestStoreGoneAndBack(t *testing.T) {
	calm, _ := newLab(t, 3).run()
	for _, c := range []struct {
		name string
		err  error
		lost bool
	}{
		{"unreachable", artifacts.ErrUnreachable, false},
		{"full", artifacts.ErrNoSpace, false},
		{"done but reported as failed", artifacts.ErrUnreachable, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			// The test environment gives an activity ten attempts. At most nine faults it must
			// pass; of many, one activity may meet more, and then the same command goes on.
			for seed := range uint64(5) {
				goneAndBack(t, calm, seed, 1, 1, c.err, c.lost)
			}
			goneAndBack(t, calm, 4, 5, 5, c.err, c.lost)
		})
	}
}

// goneAndBack runs the lab over a store that fails now and then in so many rounds, in at most so
// many launches.
func goneAndBack(t *testing.T, calm contract.Receipt, seed uint64, rounds, launches int, fault error, lost bool) {
	t.Helper()
	l := newLab(t, 3)
	bucket := faultstore.New(memstore.New("faulty"), faultstore.Lies{})
	store, err := artifacts.New(bucket, artifacts.Options{Host: localhost.New()})
	if err != nil {
		t.Fatal(err)
	}
	l.store = store
	l.replan()
	random := rand.New(rand.NewPCG(3, seed))
	for range rounds {
		for i, m := range methods {
			// A fault without effect lets calls pass until the next one's turn.
			bucket.Inject(m, faultstore.Fault{Times: 15 + random.IntN(60)})
			f := faultstore.Fault{Times: 1 + random.IntN(2), Err: fault}
			if i == 0 && rounds == 1 {
				f.Times = 1 // nine in all
			}
			if lost {
				f.Err, f.ErrAfter = nil, fault
			}
			bucket.Inject(m, f)
		}
	}
	in := l.input(l.ingest())
	env := l.env()
	for n := 1; ; n++ {
		if env.ExecuteWorkflow(contract.Reproduction.Name, in); env.GetWorkflowError() == nil || n == launches {
			break
		}
		env = l.env()
	}
	r, _ := l.receipt(env)
	if r.ResultDigest != calm.ResultDigest || r.Steps.Needed != calm.Steps.Needed {
		t.Errorf("result %s with %+v, undisturbed %s with %+v", r.ResultDigest, r.Steps, calm.ResultDigest, calm.Steps)
	}
	if len(r.Images.Quarantined) > 0 {
		t.Errorf("a failing store put %v into quarantine", r.Images.Quarantined)
	}
	t.Log(fmt.Sprint(r.Steps.Repeated, " repeated: ", r.Steps.Causes))
}
