package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"cxrepro/internal/lvlm"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)
	h := func(pairs ...string) http.Header {
		out := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			out.Set(pairs[i], pairs[i+1])
		}
		return out
	}
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{h(), 0},
		{h("Retry-After", "40"), 40 * time.Second},
		{h("Retry-After", " 0.5 "), 500 * time.Millisecond},
		{h("Retry-After", "3600"), time.Hour}, // honoured in full, however long
		{h("Retry-After-Ms", "250", "Retry-After", "9"), 250 * time.Millisecond},
		{h("Retry-After-Ms", "x", "Retry-After", "9"), 9 * time.Second},
		{h("Retry-After", "-3"), 0},
		{h("Retry-After", "NaN"), 0},
		{h("Retry-After", "1e400"), math.MaxInt64},
		{h("Retry-After", "later"), 0},
		{h("Retry-After", "Wed, 21 Oct 2026 07:29:00 GMT"), time.Minute},
		{h("Retry-After", "Wednesday, 21-Oct-26 07:29:00 GMT"), time.Minute},
		{h("Retry-After", "Wed Oct 21 07:29:00 2026"), time.Minute},
		{h("Retry-After", "Wed, 21 Oct 2026 07:27:00 GMT"), 0},
		{h("Retry-After", "Wed, 21 Oct 2026 09:29:00 GMT", "Date", "Wed, 21 Oct 2026 09:28:50 GMT"), 10 * time.Second}, // their clock is off
	} {
		if got := RetryAfter(c.header, now); got != c.want {
			t.Errorf("%v: %s, want %s", c.header, got, c.want)
		}
	}
}

// TestStatusClass: no status is without a class, and none is two.
func TestStatusClass(t *testing.T) {
	want := map[int]lvlm.Class{
		302: lvlm.Configured, 401: lvlm.Denied, 402: lvlm.Quota, 403: lvlm.Denied, 404: lvlm.Configured, 408: lvlm.Transient, 409: lvlm.Transient,
		425: lvlm.Transient, 426: lvlm.Configured, 429: lvlm.Throttled, 499: lvlm.Transient, 500: lvlm.Transient, 501: lvlm.Configured,
		502: lvlm.Transient, 503: lvlm.Transient, 504: lvlm.Transient, 505: lvlm.Configured, 529: lvlm.Transient, 599: lvlm.Transient,
	}
	for status := 100; status < 600; status++ {
		got := StatusClass(status)
		if w, ok := want[status]; ok && got != w {
			t.Errorf("%d is %s, want %s", status, got, w)
		}
		if got == "" {
			t.Errorf("%d has no class", status)
		}
	}
}

func TestScrub(t *testing.T) {
	key := lvlm.NewSecret("sk-abcdefghijklmnop")
	prompt := "Which of these pictures shows\n the heart of this patient?"
	for _, c := range []struct{ message, want string }{
		{"bad key sk-abcdefghijklmnop.", "bad key ***."},
		{"bad key sk-abcdefg......", "bad key ***......"},
		{"tail efghijklmnop here", "tail *** here"},
		{"two\nlines\tand \x00 more", "two lines and more"},
		{"input 'pictures shows the heart of this' is bad", "(the endpoint's message quotes the request and is not kept)"},
		{strings.Repeat("ab ", 200), strings.Repeat("ab ", 80) + " ..."},
		{strings.Repeat("é", 200), strings.Repeat("é", 120) + " ..."},
		{"bad \xff byte", "bad ? byte"},
		{"", ""},
	} {
		if got := Scrub(c.message, key, "yes", prompt); got != c.want {
			t.Errorf("%q gives %q, want %q", c.message, got, c.want)
		}
	}
}

// TestSecret: a credential shows in no form of printing.
func TestSecret(t *testing.T) {
	s := lvlm.NewSecret("sk-planted")
	holder := struct {
		Key  lvlm.Secret
		Keys []lvlm.Secret
		At   *lvlm.Secret
	}{s, []lvlm.Secret{s}, &s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		if got := fmt.Sprintf(verb, holder) + fmt.Sprintf(verb, s); strings.Contains(got, "planted") || strings.Contains(got, "706c616e746564") {
			t.Errorf("%s shows %s", verb, got)
		}
	}
	if s.Reveal() != "sk-planted" || s.IsZero() || !(lvlm.Secret{}).IsZero() {
		t.Error("a secret is lost")
	}
}

// TestLongReply: a body without end is cut with an error.
func TestLongReply(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := make([]byte, 1<<20)
		for range 64 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	res, err := Client(1).Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if n != maxReply || !errors.Is(err, errLongReply) {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if e := Failure(context.Background(), err, time.Second, true); e.Class != lvlm.Transient || !strings.Contains(e.Detail, "32 MiB") {
		t.Errorf("%v", e)
	}
}

// TestProxy: what travels unencrypted passes no proxy.
func TestProxy(t *testing.T) {
	plain := httptest.NewRequest(http.MethodPost, "http://vllm.example/v1/chat/completions", nil)
	if u, err := proxy(plain); u != nil || err != nil {
		t.Errorf("http goes through %v, %v", u, err)
	}
}

// TestSDK: a module that is not built in has a name, and no version.
func TestSDK(t *testing.T) {
	if got := SDK("some-sdk", "example.org/absent"); got != "some-sdk" {
		t.Errorf("%q", got)
	}
}

// TestBody: a request has the whole body with its length, and again when it is sent once more.
func TestBody(t *testing.T) {
	var b Body
	for _, p := range []string{"one ", "", "two"} {
		b.Text([]byte(p))
	}
	r := httptest.NewRequest(http.MethodPost, "http://x/", strings.NewReader("what was there before"))
	b.Put(r)
	again, err := r.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []io.Reader{r.Body, again} {
		if got, err := io.ReadAll(body); err != nil || string(got) != "one two" || r.ContentLength != int64(len(got)) {
			t.Errorf("%q of length %d, %v", got, r.ContentLength, err)
		}
	}
}

// TestBodyThatFails: a piece that cannot be opened or read ends the body before its length, and is
// what Failed tells; the next reader begins anew.
func TestBodyThatFails(t *testing.T) {
	broken := errors.New("broken")
	for name, p := range map[string]Piece{"open": failing{open: broken}, "read": failing{read: broken}} {
		var b Body
		b.Text([]byte("before "))
		b.Add(p)
		b.Text([]byte(" behind"))
		r := httptest.NewRequest(http.MethodPost, "http://x/", nil)
		b.Put(r)
		got, err := io.ReadAll(r.Body)
		if !errors.Is(err, broken) || !errors.Is(b.Failed(), broken) || int64(len(got)) >= r.ContentLength {
			t.Errorf("%s: %q, %v, %v", name, got, err, b.Failed())
		}
		if err := r.Body.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Body.Read(make([]byte, 1)); err == nil || errors.Is(err, broken) {
			t.Errorf("%s: read behind the end: %v", name, err)
		}
		if _, err := r.GetBody(); err != nil || b.Failed() != nil {
			t.Errorf("%s: sent once more: %v, %v", name, err, b.Failed())
		}
	}
}

// failing is a piece of three bytes.
type failing struct{ open, read error }

func (f failing) Size() int64 { return 3 }

func (f failing) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(f.read))), f.open
}
