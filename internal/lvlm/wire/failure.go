package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cxrepro/internal/lvlm"
)

// StatusClass classes an HTTP status that is no success and of which nothing else is known.
func StatusClass(status int) lvlm.Class {
	switch status {
	case http.StatusTooManyRequests:
		return lvlm.Throttled
	case http.StatusUnauthorized, http.StatusForbidden:
		return lvlm.Denied
	case http.StatusPaymentRequired:
		return lvlm.Quota
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return lvlm.Transient
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return lvlm.Configured
	}
	if status >= 500 || status == 499 {
		return lvlm.Transient
	}
	return lvlm.Configured
}

// Failure classes an error of the way to an endpoint and back. ctx is the caller's context;
// timeout is what one request may take; sent says whether anything reached a connection.
//
// The error's own text is not kept: clients quote addresses, headers and bodies.
func Failure(ctx context.Context, err error, timeout time.Duration, sent bool) *lvlm.CallError {
	e := &lvlm.CallError{Class: lvlm.Transient, Sent: sent}
	var dns *net.DNSError
	var timed net.Error
	switch {
	case ctx.Err() != nil:
		e.Detail, e.Cause = "interrupted while waiting for the reply", ctx.Err()
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timed) && timed.Timeout():
		e.Detail = "no complete reply within " + timeout.String()
	case untrusted(err):
		e.Class, e.Detail = lvlm.Configured, "the endpoint's certificate is not trusted here; name its authority with SSL_CERT_FILE"
	case errors.Is(err, http.ErrSchemeMismatch):
		e.Class, e.Detail = lvlm.Configured, "the endpoint speaks http, the card's url says https"
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Class, e.Detail = lvlm.Configured, "no host of the card's url is known to the network"
	default:
		e.Detail = describe(err)
	}
	return e
}

func untrusted(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// describe says what broke in words of our own.
func describe(err error) string {
	var errno syscall.Errno
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return "the reply is no complete JSON"
	case errors.Is(err, errLongReply):
		return errLongReply.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused: nothing listens at the card's url"
	case errors.As(err, &errno):
		return "connection broken: " + errno.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "connection closed before the reply was complete"
	}
	return "connection broken"
}

// RetryAfter reads how long the endpoint asks to wait, 0 when it says nothing that can be
// read. Milliseconds win over seconds; a date counts from the reply's own date, so that a
// clock that is off does no harm.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := number(text, time.Second); ok {
		return d
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, at.Sub(now))
}

// number reads a count of units. Counts beyond what a duration holds are the longest one.
func number(text string, unit time.Duration) (time.Duration, bool) {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(x) || x < 0 {
		return 0, false
	}
	if x >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64, true
	}
	return time.Duration(x * float64(unit)), true
}
