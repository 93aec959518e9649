package responder

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// limiter enforces a Limit: buckets that hold one minute's worth and fill evenly.
type limiter struct {
	limit Limit
	now   func() time.Time

	mu       sync.Mutex
	last     time.Time
	requests float64
	tokens   float64
	inFlight int
}

func newLimiter(l Limit, now func() time.Time) *limiter {
	return &limiter{limit: l, now: now, last: now(), requests: float64(l.RequestsPerMinute), tokens: float64(l.TokensPerMinute)}
}

// plenty is told where there is no limit.
const plenty = 1_000_000

// admit takes a request of so many tokens, writes the headers about what is left, and returns
// how long to wait where there is too little; 0 for one that is admitted and must be
// released.
func (l *limiter) admit(h http.Header, tokens int) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	passed := now.Sub(l.last).Minutes()
	l.last = now
	rpm, tpm := float64(l.limit.RequestsPerMinute), float64(l.limit.TokensPerMinute)
	l.requests = min(rpm, l.requests+passed*rpm)
	l.tokens = min(tpm, l.tokens+passed*tpm)
	if rpm > 0 && l.requests < 1 {
		wait = max(wait, minutes((1-l.requests)/rpm))
	}
	if tpm > 0 && l.tokens < min(float64(tokens), tpm) {
		wait = max(wait, minutes((min(float64(tokens), tpm)-l.tokens)/tpm))
	}
	if l.limit.Concurrency > 0 && l.inFlight >= l.limit.Concurrency {
		wait = max(wait, time.Second)
	}
	if wait == 0 {
		l.inFlight++
		l.requests--
		l.tokens -= float64(tokens)
	}
	tell(h, "requests", rpm, l.requests)
	tell(h, "tokens", tpm, l.tokens)
	return wait
}

func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
}

func minutes(m float64) time.Duration {
	return max(time.Duration(m*float64(time.Minute)), time.Millisecond)
}

// tell writes the three headers about a bucket.
func tell(h http.Header, name string, limit, left float64) {
	reset := time.Duration(0)
	if limit == 0 {
		limit, left = plenty, plenty
	} else {
		reset = time.Duration((limit - left) / limit * float64(time.Minute)).Round(time.Millisecond)
	}
	h.Set("X-Ratelimit-Limit-"+name, strconv.Itoa(int(limit)))
	h.Set("X-Ratelimit-Remaining-"+name, strconv.Itoa(int(max(left, 0))))
	h.Set("X-Ratelimit-Reset-"+name, reset.String())
}
