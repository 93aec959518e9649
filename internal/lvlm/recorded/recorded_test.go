package recorded

import (
	"context"
	"errors"
	"io"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/lvlm"
)

// TestPrepare: nothing is fetched, nothing is answered, and a person is told what to do.
func TestPrepare(t *testing.T) {
	_, err := Asker{}.Prepare(context.Background(), lvlm.Request{}, func(context.Context, artifacts.Ref) (io.ReadCloser, error) {
		t.Error("a picture was fetched")
		return nil, nil
	})
	var e *lvlm.CallError
	if !errors.As(err, &e) || e.Class != lvlm.Configured || !e.Pauses() || e.Sent {
		t.Errorf("got %#v", err)
	}
}
