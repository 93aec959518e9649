package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

const healthPath = "/healthz"

// serve runs the gateway until ctx ends.
func serve(ctx context.Context, s settings, out io.Writer) error {
	data := filepath.Join(s.dir, "buckets")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return err
	}
	// To the gateway a bucket is a folder.
	for _, name := range strings.Split(s.buckets, ",") {
		if err := os.MkdirAll(filepath.Join(data, name), 0o755); err != nil {
			return err
		}
	}
	be, kind, err := backendOver(s, data)
	if err != nil {
		return err
	}
	defer be.Shutdown()
	if s.addr, err = freeAddr(s.addr); err != nil {
		return err
	}
	scheme := "http"
	client := &http.Client{Timeout: time.Second}
	if s.certFile != "" {
		scheme = "https"
		// Only to see that our own server answers; nothing is sent.
		client.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan error, 1)
	go func() {
		failed <- announce(ctx, out, client, ready{Endpoint: scheme + "://" + s.addr, Region: s.region, Metadata: kind, PID: os.Getpid()})
	}()
	err = embedgw.RunVersityGW(ctx, be, &embedgw.Config{
		RootUserAccess: s.access, RootUserSecret: s.secretText, Region: s.region, Ports: []string{s.addr},
		CertFile: s.certFile, KeyFile: s.keyFile,
		Quiet: true, KeepAlive: true, MaxConnections: 1024, MaxRequests: 512, MultipartMaxParts: 10000,
		DisableACLs: true, HealthPath: healthPath,
	})
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	cancel()
	return errors.Join(err, <-failed)
}

// backendOver keeps metadata in extended attributes, or in files beside the data where
// the file system has none.
func backendOver(s settings, data string) (*posix.Posix, string, error) {
	opts := posix.PosixOpts{ValidateBucketNames: true, NewDirPerm: 0o755, NewFilePerm: 0o644, CopyObjectThreshold: 5 << 30}
	x := meta.XattrMeta{}
	if !s.sidecar && x.Test(data) == nil {
		be, err := posix.New(data, x, opts)
		if err != nil {
			return nil, "", fmt.Errorf("folder %s: %w", data, err)
		}
		return be, "xattr", nil
	}
	opts.SideCarDir = filepath.Join(s.dir, "metadata")
	if err := os.MkdirAll(opts.SideCarDir, 0o755); err != nil {
		return nil, "", err
	}
	side, err := meta.NewSideCar(opts.SideCarDir)
	if err != nil {
		return nil, "", fmt.Errorf("folder %s: %w", opts.SideCarDir, err)
	}
	be, err := posix.New(data, side, opts)
	if err != nil {
		return nil, "", fmt.Errorf("folder %s: %w", data, err)
	}
	return be, "sidecar", nil
}
