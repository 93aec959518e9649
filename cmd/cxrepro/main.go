// Command cxrepro launches, resumes and proves reproductions of chest-X-ray papers.
//
// Results go to standard output, talk to standard error. Exit codes: 0 ok, 1 failed,
// 2 usage or spec, 3 done with quarantined or undetermined items, 4 paused,
// 5 cancelled, 6 store or Temporal unreachable.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"cxrepro/internal/devserver"
)

func main() {
	devserver.Trampoline()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
