package temporalconn

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"cxrepro/internal/devserver"
	"cxrepro/internal/resolve"
)

var temporalBinary string

func TestMain(m *testing.M) {
	devserver.Trampoline()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	b, err := resolve.Temporal(ctx, resolve.Options{Progress: func(s string) { fmt.Fprintln(os.Stderr, s) }})
	cancel()
	if err != nil {
		fmt.Fprintf(os.Stderr, "temporalconn tests need the Temporal server: %v\n", err)
		os.Exit(1)
	}
	temporalBinary = b.Path
	os.Exit(m.Run())
}
