package storetest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cxrepro/artifacts/s3config"
)

// S3 is a running S3 server with one empty bucket and random credentials.
type S3 struct {
	Endpoint  string
	Region    string
	Bucket    string
	AccessKey string
	SecretKey s3config.Secret
	CAFile    string // for a TLS server

	opts   S3Options
	dir    string
	addr   string
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *lockedBuffer
}

// S3Options say what server to start. The zero value is plain http with whatever way of
// keeping metadata the file system allows.
type S3Options struct {
	TLS     bool
	Sidecar bool
}

// StartS3 starts a server on a free loopback port over an empty folder, and stops it
// when the test ends. It skips the test only in -short mode; a server that cannot be
// built or started fails it.
func StartS3(t testing.TB, opts S3Options) *S3 {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the S3 server")
	}
	program, err := BuildS3(context.Background(), func(line string) { fmt.Fprintln(os.Stderr, line) })
	if err != nil {
		t.Fatalf("build the S3 server: %v", err)
	}
	s := &S3{Region: "eu-test-1", Bucket: "cxrepro-test", AccessKey: "AK" + rand.Text()[:14], SecretKey: s3config.Secret(rand.Text()),
		opts: opts, dir: t.TempDir(), addr: "127.0.0.1:0"}
	if opts.TLS {
		if s.CAFile, err = writeCertificates(s.dir); err != nil {
			t.Fatal(err)
		}
	}
	for try := 1; ; try++ {
		err := s.start(program)
		if err == nil {
			break
		}
		if try == 3 { // the free port it chose may be taken by somebody else meanwhile
			t.Fatalf("start the S3 server: %v", err)
		}
	}
	t.Cleanup(s.Stop)
	return s
}

func (s *S3) start(program string) error {
	args := []string{"-dir", s.Data(), "-addr", s.addr, "-region", s.Region, "-buckets", s.Bucket}
	if s.opts.TLS {
		args = append(args, "-cert", filepath.Join(s.dir, "server.pem"), "-key", filepath.Join(s.dir, "server.key"))
	}
	if s.opts.Sidecar {
		args = append(args, "-sidecar")
	}
	s.cmd = exec.Command(program, args...)
	s.cmd.Env = append(os.Environ(), "S3SERVER_ACCESS_KEY="+s.AccessKey, "S3SERVER_SECRET_KEY="+s.SecretKey.Reveal())
	s.stderr = &lockedBuffer{}
	s.cmd.Stderr = s.stderr
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	s.stdin = stdin
	if err := s.cmd.Start(); err != nil {
		return err
	}
	line := make(chan []byte, 1)
	go func() {
		b, _ := bufio.NewReader(stdout).ReadBytes('\n')
		line <- b
	}()
	var ready struct {
		Endpoint string `json:"endpoint"`
	}
	select {
	case b := <-line:
		if err := json.Unmarshal(b, &ready); err != nil {
			s.Stop()
			return fmt.Errorf("it ended at once: %s", s.stderr)
		}
	case <-time.After(30 * time.Second):
		s.Stop()
		return fmt.Errorf("it was not ready in 30 s: %s", s.stderr)
	}
	s.Endpoint = ready.Endpoint
	s.addr = strings.TrimPrefix(strings.TrimPrefix(ready.Endpoint, "https://"), "http://")
	return nil
}

// Stop ends the server. It may be called again.
func (s *S3) Stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.stdin.Close()
	done := make(chan struct{})
	go func() {
		_ = s.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
		<-done
	}
	s.cmd = nil
}

// Kill ends the server as a crash would.
func (s *S3) Kill() {
	_ = s.cmd.Process.Kill()
	s.Stop()
}

// Restart starts the server again, on the same port over the same data.
func (s *S3) Restart(t testing.TB) {
	t.Helper()
	program, err := BuildS3(context.Background(), nil)
	if err == nil {
		err = s.start(program)
	}
	if err != nil {
		t.Fatalf("restart the S3 server: %v", err)
	}
}

// Data is the folder where the server keeps what it is given.
func (s *S3) Data() string { return filepath.Join(s.dir, "data") }

// Config returns the configuration of a store on the server, under a prefix.
func (s *S3) Config(t testing.TB, scheme, prefix string) s3config.Config {
	t.Helper()
	c, err := s3config.Parse(s.Address(scheme, prefix))
	if err != nil {
		t.Fatal(err)
	}
	c.Credentials = &s3config.Credentials{AccessKey: s.AccessKey, SecretKey: s.SecretKey}
	return c
}

// Address returns the store address, without credentials.
func (s *S3) Address(scheme, prefix string) string {
	q := url.Values{"endpoint": {s.Endpoint}, "region": {s.Region}, "path_style": {"true"}}
	if s.CAFile != "" {
		q.Set("ca", s.CAFile)
	}
	return scheme + "://" + s.Bucket + "/" + prefix + "?" + q.Encode()
}

// lockedBuffer collects what a process says.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
