package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/temporal"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/segment"
)

func TestTranslate(t *testing.T) {
	for _, c := range []struct {
		err       error
		attempt   int
		errType   string
		permanent bool
	}{
		{fmt.Errorf("put: %w", artifacts.ErrUnreachable), 99, contract.ErrTypeStore, false},
		{fmt.Errorf("put: %w", artifacts.ErrNoSpace), 99, contract.ErrTypeNoSpace, false},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 99, contract.ErrTypeNoSpace, false},
		{fmt.Errorf("put: %w", artifacts.ErrDenied), 1, contract.ErrTypeDenied, true},
		{fmt.Errorf("put: %w", artifacts.ErrClassRefused), 1, contract.ErrTypeRefused, true},
		{fmt.Errorf("put: %w", artifacts.ErrUnsafeStore), 1, contract.ErrTypeUnsafeStore, true},
		{fmt.Errorf("get: %w", artifacts.ErrDigestMismatch), 1, contract.ErrTypeDigest, true},
		{&artifacts.HeldError{}, 99, contract.ErrTypeHeld, false},
		{&artifacts.StaleClaimError{}, 99, contract.ErrTypeHeld, false},
		{&artifacts.ConflictError{}, 1, contract.ErrTypeConflict, true},
		{errDraining, 99, contract.ErrTypeDraining, false},
		{context.DeadlineExceeded, 99, contract.ErrTypeStore, false},
		{&segment.NotFiniteError{}, 1, contract.ErrTypeInference, true},
		{&segment.DigestError{}, 1, contract.ErrTypeModel, true},
		{fail(contract.ErrTypeSpec, "no"), 1, contract.ErrTypeSpec, true},
		{fail(contract.ErrTypeNoData, "no folder"), 99, contract.ErrTypeNoData, false},
		{errors.New("odd"), 1, contract.ErrTypeUnknown, false},
		{errors.New("odd"), maxUnknown, contract.ErrTypeExhausted, true},
		{fmt.Errorf("wrapped: %w", fail(contract.ErrTypeInputChanged, "gone")), 1, contract.ErrTypeInputChanged, true},
	} {
		var app *temporal.ApplicationError
		if got := translate(context.Background(), "Activity", c.attempt, c.err); !errors.As(got, &app) {
			t.Errorf("%v became %T", c.err, got)
		} else if app.Type() != c.errType || app.NonRetryable() != c.permanent {
			t.Errorf("%v at attempt %d became %s (permanent %t), want %s (%t)", c.err, c.attempt, app.Type(), app.NonRetryable(), c.errType, c.permanent)
		}
	}
}

// TestMessagesNamePathsNowhere: a path of a data set can name a patient.
func TestMessagesNamePathsNowhere(t *testing.T) {
	path := "files/p10/p10000032/s50414267/02aa804e.jpg"
	err := fmt.Errorf("read case 7: %w", &fs.PathError{Op: "open", Path: path, Err: syscall.EIO})
	var app *temporal.ApplicationError
	if !errors.As(translate(context.Background(), "IngestChunk", 1, err), &app) {
		t.Fatal("no application error")
	}
	if strings.Contains(app.Message(), "p10000032") || !strings.Contains(app.Message(), "case 7") {
		t.Errorf("message %q must name the case and no path", app.Message())
	}
	long := translate(context.Background(), "A", 1, errors.New(strings.Repeat("x", 9000)))
	if errors.As(long, &app); len(app.Message()) > 2000 {
		t.Errorf("a message of %d bytes", len(app.Message()))
	}
}

func TestCancellationStaysOne(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := translate(ctx, "A", 1, fmt.Errorf("wait: %w", context.Canceled)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled activity became %v", err)
	}
}
