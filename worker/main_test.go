package worker

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"cxrepro/internal/contract"
	"cxrepro/internal/devserver"
	"cxrepro/internal/resolve"
	"cxrepro/internal/temporalconn"
	"cxrepro/internal/trainer/trainertest"
)

func TestMain(m *testing.M) {
	devserver.Trampoline()
	trainertest.Main()
	trainWorker()
	os.Exit(m.Run())
}

// server starts an embedded server for one test.
func server(t *testing.T) *temporalconn.Conn {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := temporalconn.Open(ctx, temporalconn.Options{
		Address: "embedded", Identity: "recorder",
		Attributes: []string{contract.AttrPaper, contract.AttrReproduction, contract.AttrStage, contract.AttrDataUse},
		Server: devserver.Options{
			StateDir: t.TempDir(), NoUI: true,
			Resolve: func(ctx context.Context) (string, error) {
				b, err := resolve.Temporal(ctx, resolve.Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }})
				return b.Path, err
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := conn.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return conn
}
