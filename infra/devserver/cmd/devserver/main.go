// Command devserver is a Temporal server with web interface on one SQLite file, in one
// process, for machines that cannot get Temporal's own command.
//
// It takes the command line that package internal/devserver of the main module gives to
// Temporal's command, so that either serves:
//
//	devserver server start-dev --db-filename FILE [--sqlite-pragma K=V]... --ip 127.0.0.1
//	    --port N [--headless | --ui-port N] [--namespace NS]... [--search-attribute K=Keyword]...
//	devserver --version
//
// When the namespaces answer it prints one JSON line. It ends on SIGTERM and SIGINT, and
// with --watch-stdin when its standard input closes. This module is apart from the main
// one because server and SDK pin different versions of Temporal's API, and because it
// links some 1,500 packages.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/temporalio/ui-server/v2/server/version"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/headers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const readyTimeout = 60 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "Error: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Printf("devserver %s (Server %s, UI %s)\n", headers.ServerVersion, headers.ServerVersion, version.UIVersion)
		return nil
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.watchStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	s, err := start(o)
	if err != nil {
		return fmt.Errorf("failed starting server: %w", err)
	}
	defer s.stop()
	if err := s.awaitReady(ctx, o); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before it was ready
		}
		return err
	}
	ready := struct {
		Ready      bool     `json:"ready"`
		Address    string   `json:"address"`
		UI         string   `json:"ui,omitempty"`
		Namespaces []string `json:"namespaces"`
		Version    string   `json:"server_version"`
	}{true, o.frontend(), o.uiURL(), o.namespaces, headers.ServerVersion}
	if err := json.NewEncoder(os.Stdout).Encode(ready); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.uiEnded:
		return fmt.Errorf("web interface ended: %w", err)
	}
}

// awaitReady returns when every namespace answers.
func (s *server) awaitReady(ctx context.Context, o options) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	conn, err := grpc.NewClient(o.frontend(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
	if err != nil {
		return err
	}
	defer conn.Close()
	client := workflowservice.NewWorkflowServiceClient(conn)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for i := 0; i < len(o.namespaces); {
		one, cancel := context.WithTimeout(ctx, time.Second)
		_, err := client.DescribeNamespace(one, &workflowservice.DescribeNamespaceRequest{Namespace: o.namespaces[i]})
		cancel()
		if err == nil {
			i++
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("namespace %s does not answer: %w", o.namespaces[i], err)
		case err := <-s.uiEnded:
			return fmt.Errorf("web interface: %w", err)
		case <-tick.C:
		}
	}
	return nil
}
