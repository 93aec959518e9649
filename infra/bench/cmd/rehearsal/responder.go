package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"cxrepro/internal/responder"
)

// answering is the responder as a process of its own.
type answering struct {
	url   string
	child *exec.Cmd
}

func startResponder(ctx context.Context, o *options) (*answering, error) {
	c := exec.CommandContext(ctx, o.bin, "responder", "--json", "--listen", "127.0.0.1:0", "--profile", "paper", "--benchmark", o.benchmark, "--latency", o.latency.String())
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	a := &answering{child: c}
	var ready struct{ URL string }
	if err := json.NewDecoder(out).Decode(&ready); err != nil {
		a.stop()
		return nil, fmt.Errorf("the responder did not begin: %w", err)
	}
	a.url = ready.URL
	return a, nil
}

// stop ends it.
func (a *answering) stop() {
	_ = a.child.Process.Signal(os.Interrupt) // it may have ended
	_ = a.child.Wait()
}

func (a *answering) counts() (n responder.Counts, err error) {
	client := &http.Client{Timeout: time.Minute}
	reply, err := client.Get(strings.TrimSuffix(a.url, "/v1") + "/counts")
	if err != nil {
		return n, err
	}
	defer reply.Body.Close()
	return n, json.NewDecoder(reply.Body).Decode(&n)
}
