// Command s3server is an S3 server for tests and local trials: the versitygw gateway
// over a plain folder, with real signatures, checksums, conditional writes and
// multipart uploads.
//
// It lives in a module of its own, because the gateway brings many clients that the
// main program has no use for.
//
// It prints one JSON line when it is ready to serve, and ends on SIGTERM, on interrupt,
// and when its standard input closes, so that it never outlives who started it.
// Credentials come from the environment, never from the command line.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// settings are the command line and the environment.
type settings struct {
	dir, addr, region  string
	buckets            string
	certFile, keyFile  string
	sidecar            bool
	access, secretText string
}

// ready is the line on standard output.
type ready struct {
	Endpoint string `json:"endpoint"`
	Region   string `json:"region"`
	Metadata string `json:"metadata"` // "xattr" or "sidecar"
	PID      int    `json:"pid"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "s3server: error: %v\n", err)
		os.Exit(1)
	}
}

func run() error {
	s := settings{access: os.Getenv("S3SERVER_ACCESS_KEY"), secretText: os.Getenv("S3SERVER_SECRET_KEY")}
	flag.StringVar(&s.dir, "dir", "", "folder for the data (required)")
	flag.StringVar(&s.addr, "addr", "127.0.0.1:0", "address to listen on; port 0 picks a free one")
	flag.StringVar(&s.region, "region", "us-east-1", "region that clients must name")
	flag.StringVar(&s.certFile, "cert", "", "TLS certificate file; with -key serves https")
	flag.StringVar(&s.keyFile, "key", "", "TLS key file")
	flag.StringVar(&s.buckets, "buckets", "", "buckets to make, separated by commas")
	flag.BoolVar(&s.sidecar, "sidecar", false, "keep metadata in files even where extended attributes work")
	flag.Parse()
	switch {
	case s.dir == "":
		return errors.New("-dir is missing")
	case s.access == "" || s.secretText == "":
		return errors.New("S3SERVER_ACCESS_KEY and S3SERVER_SECRET_KEY must be set")
	case (s.certFile == "") != (s.keyFile == ""):
		return errors.New("-cert and -key belong together")
	}
	if err := s.absolute(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent does
		cancel()
	}()
	// The gateway talks on standard output; that is for the ready line alone.
	out := os.Stdout
	os.Stdout = os.Stderr
	return serve(ctx, s, out)
}

// absolute makes the paths independent of the working directory, which the gateway
// changes.
func (s *settings) absolute() error {
	for _, p := range []*string{&s.dir, &s.certFile, &s.keyFile} {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

// freeAddr replaces port 0 by a port that is free now.
func freeAddr(addr string) (string, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	addr = l.Addr().String()
	return addr, l.Close()
}

// announce waits until the server answers and prints the ready line.
func announce(ctx context.Context, out io.Writer, client *http.Client, r ready) error {
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.Endpoint+healthPath, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return json.NewEncoder(out).Encode(r)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
