package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Verdict is the outcome of one probe check. The zero value is invalid.
type Verdict uint8

// Verdicts.
const (
	VerdictKept    Verdict = iota + 1 // the store keeps the promise
	VerdictBroken                     // it does not
	VerdictSkipped                    // not checked, see the detail
)

// String returns the verdict as text.
func (v Verdict) String() string {
	switch v {
	case VerdictKept:
		return "kept"
	case VerdictBroken:
		return "broken"
	case VerdictSkipped:
		return "skipped"
	}
	return "invalid"
}

// MarshalText returns String.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Names of the probe's checks, in the order they run.
const (
	CheckBytes              = "bytes-as-sent"
	CheckListAfterWrite     = "list-after-write"
	CheckCreate             = "conditional-create"
	CheckCreateRace         = "conditional-create-race"
	CheckSwap               = "conditional-swap"
	CheckSwapMissing        = "conditional-swap-on-missing"
	CheckChecksum           = "checksum-refused"
	CheckCopy               = "server-copy"
	CheckMultipart          = "multipart-bytes-as-sent"
	CheckMultipartCondition = "multipart-conditional-completion"
)

// Check is one line of a probe.
type Check struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Detail  string  `json:"detail,omitempty"`
	Millis  float64 `json:"millis"`
}

// Report is what Probe found. Semantics is what a repository may rely on.
type Report struct {
	Store string `json:"store"`
	// Settings lists how a remote store is reached: endpoint, region, path style, TLS.
	Settings  map[string]string `json:"settings,omitempty"`
	Checks    []Check           `json:"checks"`
	Semantics Semantics         `json:"semantics"`
	Fallbacks []string          `json:"fallbacks"`
	Refused   string            `json:"refused,omitempty"`
	Millis    float64           `json:"millis"`
}

// Verdict returns the verdict of the named check.
func (p Report) Verdict(name string) Verdict {
	for _, c := range p.Checks {
		if c.Name == name {
			return c.Verdict
		}
	}
	return VerdictSkipped
}

// ProbeOptions configure Probe.
type ProbeOptions struct {
	// Thorough sends real multi-part content (5 MiB and a little more) instead of one
	// small part, which some stores store rightly while they damage larger ones.
	Thorough bool
	// Racers is how many writers race for one object. Default 8.
	Racers int
}

// Probe measures whether a store keeps its promises, on objects of its own under tmp/,
// which it removes. It returns ErrUnsafeStore with the report when the store cannot be
// used safely at all: bytes come back changed, or what was written is not listed.
//
// Errors of the store itself (ErrUnreachable, ErrDenied) end the probe.
func Probe(ctx context.Context, bucket Bucket, host Host, opts ProbeOptions) (Report, error) {
	if opts.Racers == 0 {
		opts.Racers = 8
	}
	p := &prober{bucket: bucket, host: host, opts: opts, dir: areaTmp + "probe-" + host.Nonce() + "-"}
	p.report = Report{Store: bucket.URL(), Semantics: bucket.Semantics(), Fallbacks: []string{}}
	begun := host.Now()
	err := p.run(ctx)
	err = errors.Join(err, p.clean(context.WithoutCancel(ctx)))
	p.report.Millis = millis(host.Now().Sub(begun))
	if err != nil {
		return p.report, fmt.Errorf("probe %s: %w", bucket.URL(), err)
	}
	p.conclude()
	if p.report.Refused != "" {
		return p.report, &BucketError{Op: "probe", Bucket: bucket.URL(), Class: Permanent,
			Hint: "use another store, or repair this one; `cxrepro artifacts probe` shows every check",
			Err:  fmt.Errorf("%w: %s", ErrUnsafeStore, p.report.Refused)}
	}
	if r, err := New(bucket, Options{Host: host, Semantics: &p.report.Semantics}); err == nil {
		p.report.Fallbacks = append(p.report.Fallbacks, r.Fallbacks()...)
	}
	return p.report, nil
}

type prober struct {
	bucket Bucket
	host   Host
	opts   ProbeOptions
	dir    string
	report Report
	serial int
}

// run does the checks in order. A check returns kept or broken with a detail, or an
// error of the store.
func (p *prober) run(ctx context.Context) error {
	checks := []struct {
		name string
		fn   func(context.Context) (bool, string, error)
	}{
		{CheckBytes, p.checkBytes},
		{CheckListAfterWrite, p.checkList},
		{CheckCreate, p.checkCreate},
		{CheckCreateRace, p.checkCreateRace},
		{CheckSwap, p.checkSwap},
		{CheckSwapMissing, p.checkSwapMissing},
		{CheckChecksum, p.checkChecksum},
		{CheckCopy, p.checkCopy},
		{CheckMultipart, p.checkMultipart},
		{CheckMultipartCondition, p.checkMultipartCondition},
	}
	for _, c := range checks {
		begun := p.host.Now()
		ok, detail, err := c.fn(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		v := VerdictBroken
		if ok {
			v = VerdictKept
		}
		p.report.Checks = append(p.report.Checks, Check{Name: c.name, Verdict: v, Detail: detail, Millis: millis(p.host.Now().Sub(begun))})
	}
	return nil
}

// conclude turns verdicts into semantics, or into a refusal.
func (p *prober) conclude() {
	kept := func(names ...string) bool {
		for _, n := range names {
			if p.report.Verdict(n) != VerdictKept {
				return false
			}
		}
		return true
	}
	s := &p.report.Semantics
	s.ConditionalCreate = kept(CheckCreate, CheckCreateRace)
	s.ConditionalSwap = kept(CheckSwap, CheckSwapMissing)
	s.VerifiedPut = kept(CheckChecksum)
	s.Copy = kept(CheckCopy)
	s.Multipart = kept(CheckMultipart)
	s.ConditionalMultipart = kept(CheckMultipartCondition)
	switch {
	case !kept(CheckBytes):
		p.report.Refused = "bytes do not come back as they were sent"
	case !kept(CheckListAfterWrite):
		p.report.Refused = "an object that was written is not listed at once"
	}
}

func (p *prober) clean(ctx context.Context) error {
	var names []string
	err := p.bucket.List(ctx, p.dir, "", func(info Info) error {
		names = append(names, info.Name)
		return nil
	})
	for _, n := range names {
		err = errors.Join(err, p.bucket.Delete(ctx, n))
	}
	return err
}

func (p *prober) name() string {
	p.serial++
	return fmt.Sprintf("%s%02d", p.dir, p.serial)
}

// body is n bytes that no compression or text conversion leaves alone.
func (p *prober) body(n int) []byte {
	b := make([]byte, n)
	x := uint32(n) + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func (p *prober) put(ctx context.Context, name string, body []byte, opts PutOptions) (Info, error) {
	opts.MediaType = "application/octet-stream"
	return p.bucket.Put(ctx, name, bytes.NewReader(body), opts)
}

// refused reads a conditional write's outcome: true when it was refused as it should.
func refused(err error) (bool, error) {
	if errors.Is(err, ErrPrecondition) {
		return true, nil
	}
	return false, err
}

// same compares what the store gives back with what was sent.
func (p *prober) same(ctx context.Context, name string, want []byte) (bool, string, error) {
	body, _, err := p.bucket.Open(ctx, name)
	if err != nil {
		return false, "", err
	}
	got, err := io.ReadAll(io.LimitReader(body, int64(len(want))+1<<20))
	if err := errors.Join(err, body.Close()); err != nil {
		return false, "", err
	}
	if !bytes.Equal(got, want) {
		return false, fmt.Sprintf("sent %d bytes, got %d other bytes back", len(want), len(got)), nil
	}
	return true, "", nil
}

func (p *prober) checkBytes(ctx context.Context) (bool, string, error) {
	name, body := p.name(), p.body(4097)
	if _, err := p.put(ctx, name, body, PutOptions{Multipart: MultipartNever}); err != nil {
		return false, "", err
	}
	ok, detail, err := p.same(ctx, name, body)
	if !ok || err != nil {
		return ok, detail, err
	}
	info, err := p.bucket.Stat(ctx, name)
	if err == nil && info.Size != int64(len(body)) {
		return false, fmt.Sprintf("sent %d bytes, the store says %d", len(body), info.Size), nil
	}
	return err == nil, "", err
}

func (p *prober) checkList(ctx context.Context) (bool, string, error) {
	name := p.name()
	if _, err := p.put(ctx, name, []byte("x"), PutOptions{Multipart: MultipartNever}); err != nil {
		return false, "", err
	}
	found := false
	err := p.bucket.List(ctx, p.dir, "", func(info Info) error {
		found = found || info.Name == name
		return nil
	})
	return found, "", err
}

func (p *prober) checkCreate(ctx context.Context) (bool, string, error) {
	name := p.name()
	create := PutOptions{IfAbsent: true, Multipart: MultipartNever}
	if _, err := p.put(ctx, name, []byte("first"), create); err != nil {
		if errors.Is(err, ErrPrecondition) {
			return false, "a new object is refused", nil
		}
		return false, "", err
	}
	_, err := p.put(ctx, name, []byte("second"), create)
	ok, err := refused(err)
	if err != nil || ok {
		return ok, "", err
	}
	return false, "an object that is there is overwritten", nil
}

func (p *prober) checkCreateRace(ctx context.Context) (bool, string, error) {
	if p.report.Verdict(CheckCreate) != VerdictKept {
		return false, "conditional create is broken already", nil
	}
	name := p.name()
	results := make([]error, p.opts.Racers)
	var wg sync.WaitGroup
	for i := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, results[i] = p.put(ctx, name, fmt.Appendf(nil, "%d", i), PutOptions{IfAbsent: true, Multipart: MultipartNever})
		}()
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, ErrPrecondition) {
			return false, "", err
		}
	}
	return won == 1, fmt.Sprintf("%d of %d writers won", won, len(results)), nil
}

func (p *prober) checkSwap(ctx context.Context) (bool, string, error) {
	name := p.name()
	first, err := p.put(ctx, name, []byte("first"), PutOptions{Multipart: MultipartNever})
	if err != nil {
		return false, "", err
	}
	_, err = p.put(ctx, name, []byte("second"), PutOptions{IfMatch: first.Version, Multipart: MultipartNever})
	if no, err := refused(err); no || err != nil {
		return false, "the right version is refused", err
	}
	_, err = p.put(ctx, name, []byte("third"), PutOptions{IfMatch: first.Version, Multipart: MultipartNever})
	ok, err := refused(err)
	if err != nil || ok {
		return ok, "", err
	}
	return false, "an outdated version is accepted", nil
}

func (p *prober) checkSwapMissing(ctx context.Context) (bool, string, error) {
	name := p.name()
	info, err := p.put(ctx, name, []byte("gone"), PutOptions{Multipart: MultipartNever})
	if err != nil {
		return false, "", err
	}
	if err := p.bucket.Delete(ctx, name); err != nil {
		return false, "", err
	}
	_, err = p.put(ctx, name, []byte("back"), PutOptions{IfMatch: info.Version, Multipart: MultipartNever})
	ok, err := refused(err)
	if err != nil || ok {
		return ok, "", err
	}
	return false, "a missing object is created", nil
}

func (p *prober) checkChecksum(ctx context.Context) (bool, string, error) {
	name, body := p.name(), p.body(1000)
	_, err := p.put(ctx, name, body, PutOptions{SHA256: Sum([]byte("other")), Multipart: MultipartNever})
	if err == nil {
		return false, "bytes with a wrong SHA-256 are accepted", nil
	}
	if !errors.Is(err, ErrDigestMismatch) {
		return false, "", err
	}
	if _, err := p.bucket.Stat(ctx, name); !errors.Is(err, ErrNotFound) {
		return false, "refused bytes are visible", err
	}
	_, err = p.put(ctx, name, body, PutOptions{SHA256: Sum(body), Multipart: MultipartNever})
	return err == nil, "", err
}

func (p *prober) checkCopy(ctx context.Context) (bool, string, error) {
	from, to, body := p.name(), p.name(), p.body(1000)
	if _, err := p.put(ctx, from, body, PutOptions{Multipart: MultipartNever}); err != nil {
		return false, "", err
	}
	if err := p.bucket.Copy(ctx, from, to); err != nil {
		if ClassOf(err) == Transient {
			return false, "", err
		}
		return false, err.Error(), nil
	}
	return p.same(ctx, to, body)
}

func (p *prober) multipartBody() []byte {
	if p.opts.Thorough {
		return p.body(5<<20 + 3)
	}
	return p.body(64<<10 + 1)
}

func (p *prober) checkMultipart(ctx context.Context) (bool, string, error) {
	name, body := p.name(), p.multipartBody()
	if _, err := p.put(ctx, name, body, PutOptions{Multipart: MultipartAlways}); err != nil {
		if ClassOf(err) == Transient || errors.Is(err, ErrDenied) {
			return false, "", err
		}
		return false, err.Error(), nil
	}
	return p.same(ctx, name, body)
}

func (p *prober) checkMultipartCondition(ctx context.Context) (bool, string, error) {
	if p.report.Verdict(CheckMultipart) != VerdictKept {
		return false, "multipart is broken already", nil
	}
	name := p.name()
	if _, err := p.put(ctx, name, []byte("first"), PutOptions{Multipart: MultipartNever}); err != nil {
		return false, "", err
	}
	_, err := p.put(ctx, name, p.multipartBody(), PutOptions{IfAbsent: true, Multipart: MultipartAlways})
	ok, err := refused(err)
	if err != nil || ok {
		return ok, "", err
	}
	return false, "an object that is there is overwritten", nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
