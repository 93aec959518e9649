package limit

import "time"

// bucket refills evenly. Its level may fall below zero: what was taken is only known exactly
// afterwards.
type bucket struct {
	perSecond float64 // 0 means no limit
	burst     float64
	level     float64
	at        time.Time
}

// newBucket allows perMinute units, of which one second's worth may come at once.
func newBucket(perMinute int, now time.Time) bucket {
	rate := float64(perMinute) / 60
	burst := max(rate, 1)
	return bucket{perSecond: rate, burst: burst, level: burst, at: now}
}

func (b *bucket) refill(now time.Time) {
	if d := now.Sub(b.at).Seconds(); d > 0 {
		b.level = min(b.burst, b.level+d*b.perSecond)
		b.at = now
	}
}

// delay returns how long n units must wait; 0 when they can be taken. More than the bucket
// can hold waits until it is full.
func (b *bucket) delay(n float64, now time.Time) time.Duration {
	if b.perSecond == 0 {
		return 0
	}
	b.refill(now)
	// A billionth of a unit is rounding, not a reason to wait.
	missing := min(n, b.burst) - b.level - 1e-9
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing/b.perSecond*float64(time.Second)) + time.Microsecond
}

// take takes n units, or gives them back when n is negative.
func (b *bucket) take(n float64) {
	if b.perSecond > 0 {
		b.level = min(b.burst, b.level-n)
	}
}
