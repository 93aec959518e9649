package activities

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/ledger"
	"cxrepro/internal/ledger/limit"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/recorded"
	"cxrepro/internal/segment"
)

// maxUnknown is how many attempts an error of unknown kind gets.
const maxUnknown = 10

// maxMessage keeps a failure below what the server keeps of it.
const maxMessage = 1500

// fail is contract.Fail.
func fail(errType, format string, args ...any) error {
	return contract.Fail(errType, format, args...)
}

// endpointError is a failure of a model endpoint, or a wait that it asks for. It names the
// endpoint and nothing of what was asked.
type endpointError struct {
	name string
	err  error
	// delay is when another attempt may begin; 0 leaves that to backoff.
	delay time.Duration
	// attempt is the activity's.
	attempt int
}

// EndpointFailure is a failure of an endpoint that was found before a call, such as a missing
// credential.
func EndpointFailure(name string, err *lvlm.CallError) error {
	return &endpointError{name: name, err: err}
}

// attemptNumber is the attempt of the activity that ctx belongs to; 0 outside of one.
func attemptNumber(ctx context.Context) int {
	if !activity.IsActivity(ctx) {
		return 0
	}
	return int(activity.GetInfo(ctx).Attempt)
}

func (e *endpointError) Error() string { return "endpoint " + e.name + ": " + e.err.Error() }
func (e *endpointError) Unwrap() error { return e.err }

// Pauses between attempts at an endpoint that does not answer.
const (
	backoffFirst = time.Second
	backoffMost  = time.Minute
)

// after is the pause before the next attempt.
func (e *endpointError) after() time.Duration {
	if e.delay > 0 {
		return e.delay
	}
	d := backoffFirst << min(max(e.attempt-1, 0), 10)
	return min(d, backoffMost)
}

// code is the endpoint's own name of the failure, if it gave one.
func (e *endpointError) code() string {
	var call *lvlm.CallError
	if errors.As(e.err, &call) {
		return call.Code
	}
	return ""
}

// errType maps the classes of endpoint failures.
func (e *endpointError) errType() string {
	var wait *limit.WaitError
	var call *lvlm.CallError
	switch {
	case errors.As(e.err, &wait):
		return contract.ErrTypeThrottled
	case !errors.As(e.err, &call):
		return contract.ErrTypeUnknown
	}
	switch call.Class {
	case lvlm.Throttled:
		return contract.ErrTypeThrottled
	case lvlm.Transient:
		return contract.ErrTypeUnreachable
	case lvlm.Denied:
		return contract.ErrTypeEndpointDenied
	case lvlm.Quota:
		return contract.ErrTypeQuota
	case lvlm.Configured:
		return contract.ErrTypeEndpoint
	}
	return contract.ErrTypeUnknown
}

// errDraining ends an attempt of a worker that is stopping.
var errDraining = errors.New("the worker is stopping; another attempt goes on")

// translate makes err what the workflow sees: a type string, a short message with a hint,
// and whether trying again can help. It is the only place that decides so.
func translate(ctx context.Context, name string, attempt int, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return err // the SDK reports the cancellation
	}
	errType := classify(err)
	if errType == contract.ErrTypeUnknown && attempt >= maxUnknown {
		errType = contract.ErrTypeExhausted
	}
	message := clean(name, err)
	hint := artifacts.HintOf(err)
	if hint == "" && errType == contract.ErrTypeNoSpace {
		hint = "free some space there; the work goes on by itself"
	}
	var endpoint *endpointError
	if errors.As(err, &endpoint) || errType == contract.ErrTypeBudget {
		hint = hintOf(errType)
	}
	if endpoint != nil && endpoint.code() == recorded.NotInLedger {
		hint = "start a worker with --endpoints FILE, and without --recorded, and resume"
	}
	if hint != "" {
		message += "\nhint: " + hint
	}
	opts := temporal.ApplicationErrorOptions{NonRetryable: isPermanent(errType)}
	if endpoint != nil && !opts.NonRetryable {
		opts.NextRetryDelay = endpoint.after()
	}
	return temporal.NewApplicationErrorWithOptions(message, errType, opts)
}

// hintOf is what a person can do about an endpoint.
func hintOf(errType string) string {
	switch errType {
	case contract.ErrTypeEndpointDenied:
		return "set the variable that credential_env of the endpoint card names to a credential that may use it, start the worker again and resume"
	case contract.ErrTypeQuota:
		return "raise the quota or pay the endpoint's account, then resume"
	case contract.ErrTypeEndpoint:
		return "correct the endpoint card, start the worker again and resume"
	case contract.ErrTypeBudget:
		return "run the same spec with a larger --budget; recorded answers cost nothing"
	}
	return ""
}

func isPermanent(errType string) bool {
	for _, t := range contract.Permanent() {
		if t == errType {
			return true
		}
	}
	return false
}

// classify maps an error to its type.
func classify(err error) string {
	var typed *contract.Failure
	var held *artifacts.HeldError
	var stale *artifacts.StaleClaimError
	var conflict *artifacts.ConflictError
	var output *segment.NotFiniteError
	var endpoint *endpointError
	var spent *ledger.BudgetError
	var denied *datause.DeniedError
	if t := trainerType(err); t != "" {
		return t
	}
	switch {
	case errors.As(err, &typed):
		return typed.Type
	case errors.As(err, &endpoint):
		return endpoint.errType()
	case errors.As(err, &spent):
		return contract.ErrTypeBudget
	case errors.As(err, &denied):
		return contract.ErrTypeRefused
	case errors.Is(err, errDraining):
		return contract.ErrTypeDraining
	case errors.As(err, &held), errors.As(err, &stale):
		return contract.ErrTypeHeld
	case errors.As(err, &conflict):
		return contract.ErrTypeConflict
	case errors.Is(err, artifacts.ErrNoSpace), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return contract.ErrTypeNoSpace
	case errors.Is(err, artifacts.ErrDigestMismatch):
		return contract.ErrTypeDigest
	case errors.Is(err, artifacts.ErrClassRefused):
		return contract.ErrTypeRefused
	case errors.Is(err, artifacts.ErrDenied):
		return contract.ErrTypeDenied
	case errors.Is(err, artifacts.ErrUnsafeStore):
		return contract.ErrTypeUnsafeStore
	case errors.As(err, &output):
		return contract.ErrTypeInference
	case segment.Permanent(err):
		return contract.ErrTypeModel
	case errors.Is(err, artifacts.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return contract.ErrTypeStore
	}
	if artifacts.ClassOf(err) == artifacts.Transient {
		return contract.ErrTypeStore
	}
	return contract.ErrTypeUnknown
}

// clean shortens an error for a history or a log, without paths of input files: a path of a
// data set can name a patient. Case numbers and digests say which file is meant. A file that
// found no room is one of ours, and its folder is what a person must know.
func clean(name string, err error) string {
	text := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) && pe.Path != "" && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		text = strings.ReplaceAll(text, pe.Path, "a data file")
	}
	text = once(text)
	if len(text) > maxMessage {
		text = text[:maxMessage] + "..."
	}
	// The server takes no other text, and the cut may have split a character.
	return name + ": " + strings.ToValidUTF8(text, "")
}

// once leaves out lines that the line before them says already, as joined errors do.
func once(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if n := len(kept); n == 0 || !strings.Contains(kept[n-1], line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
