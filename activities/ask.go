package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lru"
	"cxrepro/internal/lvlm"
)

// Points at which a kill of a call can be placed.
const (
	FaultBeforeRequest   = "before-request"
	FaultAfterReply      = "after-reply"
	FaultAfterAnswerPut  = "after-answer-put"
	FaultAfterCallCommit = "after-call-commit"
)

// AskEndpoint is where the calls to a model card go, while this process holds the lease of the
// endpoint.
type AskEndpoint struct {
	// Name is the endpoint card's name.
	Name  string
	Asker lvlm.Asker
	// Recorded says that nothing is asked: a call that is not in the ledger fails, before
	// anything is written about it.
	Recorded bool
	// Gate is shared by everything that uses the same endpoint and credential.
	Gate *limit.Gate
	// Price is nil where the card names none.
	Price       ledger.Price
	Attestation datause.Attestation
	// Timeout bounds one request.
	Timeout time.Duration
}

// asks is what all calls of a worker share.
type asks struct {
	opts  Options
	docs  *docs
	beats askBeats

	cases    *lru.Cache[artifacts.Digest, *derive.Case]
	answers  *lru.Cache[artifacts.Digest, lvlm.Answer]
	prepared *lru.Cache[artifacts.Key, artifacts.Ref]
	// fetched are pictures of a store on another machine.
	fetched *lru.Cache[artifacts.Digest, []byte]
	making  singleflight.Group // of prepared pictures

	// keepReply and overtime are the constants of those names, or less in tests.
	keepReply, overtime time.Duration

	mu      sync.Mutex // guards what follows
	flights map[artifacts.Key]chan struct{}
	wallets map[walletKey]*ledger.Wallet
}

type walletKey struct{ reproduction, currency string }

// What the caches hold, in bytes: questions, answers, pictures of a store on another machine.
const (
	caseBytes    = 96 << 20
	answerBytes  = 32 << 20
	fetchedBytes = 64 << 20
	preparedRefs = 1 << 16
)

func newAsks(opts Options, d *docs) *asks {
	return &asks{
		opts: opts, docs: d, beats: askBeats{opts: opts, live: map[*askBeat]struct{}{}},
		cases:    lru.New[artifacts.Digest, *derive.Case](caseBytes),
		answers:  lru.New[artifacts.Digest, lvlm.Answer](answerBytes),
		prepared: lru.New[artifacts.Key, artifacts.Ref](preparedRefs),
		fetched:  lru.New[artifacts.Digest, []byte](fetchedBytes),
		flights:  map[artifacts.Key]chan struct{}{}, wallets: map[walletKey]*ledger.Wallet{},
		keepReply: keepReply, overtime: overtime,
	}
}

// Ask makes one call to a model, or finds what came of it before. What it returns is durable.
func (a *Activities) Ask(ctx context.Context, in contract.AskInput) (contract.AskResult, error) {
	b := a.asks.beats.begin(ctx)
	defer b.end()
	q, err := a.asks.question(a, b.work, in)
	if err != nil {
		return contract.AskResult{}, err
	}
	entry, own, err := a.asks.settle(b, &q.Call)
	if err != nil {
		return contract.AskResult{}, err
	}
	return a.asks.result(b.work, q, entry, own)
}

// recorded returns what came of a call, with the key of its record, from the ledger alone:
// nothing is sent. ok is false when the call has no record; key is then the one that its answer
// would have.
func (a *Activities) recorded(ctx context.Context, in contract.AskInput) (out contract.AskResult, key artifacts.Key, ok bool, err error) {
	q, err := a.asks.question(a, ctx, in)
	if err != nil {
		return out, key, false, err
	}
	entry, err := ledger.Find(ctx, a.opts.Store, q.Ledger, q.Retry)
	if errors.Is(err, artifacts.ErrNotFound) {
		out.Count.Kind = q.Kind
		return out, q.Ledger.Key, false, nil
	}
	if err == nil {
		out, err = a.asks.result(ctx, q, entry, true)
	}
	return out, entry.Record.Key, err == nil, err
}

// CloseAsks gives back what this worker took out of budgets and did not spend.
func (a *Activities) CloseAsks(ctx context.Context) error {
	a.asks.mu.Lock()
	wallets := a.asks.wallets
	a.asks.wallets = map[walletKey]*ledger.Wallet{}
	a.asks.mu.Unlock()
	var failed []error
	for _, w := range wallets {
		failed = append(failed, w.Close(ctx))
	}
	return errors.Join(failed...)
}

// flightWait bounds how long an attempt waits for another one that makes the same call.
const flightWait = 30 * time.Second

// settle returns the record that ends a call, making the call if nobody did. own says that this
// activity made it.
func (s *asks) settle(b *askBeat, q *derive.Call) (entry ledger.Entry, own bool, err error) {
	until := s.opts.Now().Add(flightWait)
	for wait := 50 * time.Millisecond; ; {
		entry, err = ledger.Find(b.work, s.opts.Store, q.Ledger, q.Retry)
		if !errors.Is(err, artifacts.ErrNotFound) {
			return entry, s.madeBy(b, entry), err
		}
		other := s.enter(q.Ledger.Key)
		if other == nil {
			entry, err = s.call(b, q)
			s.leave(q.Ledger.Key)
		}
		var held *artifacts.HeldError
		switch {
		case other != nil:
			// Somebody in this process makes the call; look again when it is over.
			if err := b.await(other); err != nil {
				return entry, false, err
			}
			continue
		case err == nil:
			return entry, s.madeBy(b, entry), nil
		case !errors.As(err, &held) || s.opts.Now().After(until):
			return entry, false, err
		}
		if err := b.pause(wait); err != nil {
			return entry, false, err
		}
		wait = min(2*wait, 2*time.Second)
	}
}

// madeBy reports whether an earlier attempt of this activity made the record.
func (s *asks) madeBy(b *askBeat, e ledger.Entry) bool {
	workflow, activity := identity(b.ctx)
	return e.Invocation.Workflow == workflow && e.Invocation.Activity == activity
}

// enter begins a call in this process, or returns what is closed when the one under way ends.
func (s *asks) enter(key artifacts.Key) (other <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch, there := s.flights[key]; there {
		return ch
	}
	s.flights[key] = make(chan struct{})
	return nil
}

func (s *asks) leave(key artifacts.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.flights[key])
	delete(s.flights, key)
}

// wallet returns the wallet of a reproduction in a currency.
func (s *asks) wallet(reproduction, currency string) *ledger.Wallet {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := walletKey{reproduction, currency}
	w := s.wallets[key]
	if w == nil {
		w = ledger.NewWallet(s.opts.Store, reproduction, currency)
		s.wallets[key] = w
	}
	return w
}
