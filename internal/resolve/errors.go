package resolve

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ErrChanged reports a package or a file inside it whose digest is not the pinned one.
var ErrChanged = errors.New("digest differs from the pinned one")

// ConfiguredError reports a path given by flag or environment that cannot be used.
type ConfiguredError struct {
	What string // "Temporal" or "ONNX Runtime"
	Path string
	Why  error
}

func (e *ConfiguredError) Error() string {
	return fmt.Sprintf("configured %s %s: %v", e.What, e.Path, e.Why)
}

func (e *ConfiguredError) Unwrap() error { return e.Why }

// An Attempt is one way that was tried and why it gave nothing.
type Attempt struct {
	Way string
	Why error
}

// UnavailableError reports that no way worked.
//
// Its message tells every way that was tried, then the ways out.
type UnavailableError struct {
	What     string
	Attempts []Attempt
	Ways     []string // what the user can do, best first
}

func (e *UnavailableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is not available on this machine (%s)", e.What, platform())
	for _, a := range e.Attempts {
		fmt.Fprintf(&b, "\n  tried %s: %v", a.Way, a.Why)
	}
	for i, w := range e.Ways {
		fmt.Fprintf(&b, "\n  way %d: %s", i+1, w)
	}
	return b.String()
}

// Unwrap gives the reasons, so that errors.Is finds a context error or ErrChanged.
func (e *UnavailableError) Unwrap() []error {
	out := make([]error, len(e.Attempts))
	for i, a := range e.Attempts {
		out[i] = a.Why
	}
	return out
}

// Addresses in the words of outside clients name registries and mirrors, some with
// credentials inside; none of it belongs in our messages.
var (
	reURL  = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s'"<>]+`)
	reHost = regexp.MustCompile(`\b([a-z0-9-]+\.)+(org|com|net|io|dev|internal|local|lan|cloud|eu|de|us|uk)\b(:\d+)?(/[^\s'"]*)?`)
	reIP   = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b`)
	rePort = regexp.MustCompile(`,?\s*port=\d+`)
)

// unreachable are the words by which the clients say that they got no answer at all.
var unreachable = []string{"NewConnectionError", "ConnectTimeout", "ReadTimeout", "Read timed out", "NameResolutionError",
	"Temporary failure in name resolution", "Name or service not known", "Network is unreachable", "ProxyError",
	"ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ENETUNREACH", "dial tcp", "i/o timeout"}

// ErrUnreachable reports that a package client got no answer from its registry.
var ErrUnreachable = errors.New("the registry cannot be reached")

// clientError makes an error of a package client's last words: what kind of failure it
// is, then at most three lines of its own errors, addresses taken out.
func clientError(client string, err error, stderr string) error {
	for _, u := range unreachable {
		if strings.Contains(stderr, u) {
			return fmt.Errorf("%s: %w (%v)", client, ErrUnreachable, err)
		}
	}
	words := lastWords(stderr, 3)
	if words == "" {
		return fmt.Errorf("%s: %w", client, err)
	}
	return fmt.Errorf("%s: %w: %s", client, err, words)
}

// lastWords keeps the lines that the client marks as errors, else its last lines.
func lastWords(s string, lines int) string {
	var kept, marked []string
	for _, l := range strings.Split(s, "\n") {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "[notice]") || strings.HasPrefix(l, "npm notice") || strings.Contains(l, "A complete log of this run") {
			continue
		}
		kept = append(kept, l)
		if strings.HasPrefix(l, "ERROR:") || len(l) > 12 && (strings.HasPrefix(l, "npm error ") || strings.HasPrefix(l, "npm ERR! ")) {
			marked = append(marked, l)
		}
	}
	if len(marked) > 0 {
		kept = marked
	}
	if len(kept) > lines {
		kept = kept[:lines]
	}
	out := scrub(strings.Join(kept, "; "))
	if len(out) > 400 {
		out = out[:400] + "..."
	}
	return out
}

func scrub(s string) string {
	s = reURL.ReplaceAllString(s, "(address)")
	s = reHost.ReplaceAllString(s, "(host)")
	s = reIP.ReplaceAllString(s, "(host)")
	return rePort.ReplaceAllString(s, "")
}
