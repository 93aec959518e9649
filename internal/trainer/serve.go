package trainer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// serveShell ends the server's whole group when standard input closes, which it does when
// whoever started it is gone.
const serveShell = `exec 3<&0
(cat <&3 >/dev/null; kill -TERM 0; sleep 5; kill -KILL 0) &
exec "$@" 3<&- </dev/null`

// Server runs one server of checkpoints on a fixed address, and starts it anew when it ended or
// when it must serve folders that it was not started with. It ends with this process.
type Server struct {
	// Address is host:port; its owner wrote it into the endpoint card of the policy.
	Address string
	// Log is the file that it talks to.
	Log string
	// Patience bounds how long a start may take. Default 2 minutes.
	Patience time.Duration
	// Environment is the child's.
	Environment []string

	mu      sync.Mutex // guards what follows
	cmd     *exec.Cmd
	stdin   io.Closer
	done    chan struct{}
	folders []string
	recipe  *Recipe
}

// Serve makes the server answer under the digest of weights, which lie in folder, a folder of
// checkpoints or, for a recipe that serves one checkpoint at a time, that checkpoint's own.
//
// Errors: a server that does not come up, with its last words.
func (s *Server) Serve(ctx context.Context, r *Recipe, folder, weights string, v Values) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Serve == nil {
		return fmt.Errorf("recipe of trainer %s: serve is missing, and its checkpoints shall answer", r.Trainer)
	}
	if s.serves(ctx, weights) {
		return nil
	}
	switch {
	case r.Serve.OneAtATime:
		s.folders = []string{folder}
	case !slices.Contains(s.folders, folder):
		s.folders = append(s.folders, folder)
	}
	s.recipe = r
	s.end()
	if err := s.start(v, weights); err != nil {
		return err
	}
	patience := s.Patience
	if patience <= 0 {
		patience = 2 * time.Minute
	}
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if s.serves(ctx, weights) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done: // the port may still be held by one that is about to end
			if err := s.start(v, weights); err != nil {
				return err
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.end()
	return &Failure{Class: Port, Code: -1, Said: fmt.Sprintf("no server answered for weights %.19s at %s within %v: %s", weights, s.Address, patience, lastLines(tail(s.Log, 0), 4, 400))}
}

// serves asks what is served.
func (s *Server) serves(ctx context.Context, weights string) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Address+"/v1/models", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<22)).Decode(&list) != nil {
		return false
	}
	for _, m := range list.Data {
		if m.ID == weights {
			return true
		}
	}
	return false
}

// start starts the server's process.
func (s *Server) start(v Values, weights string) error {
	_, port, ok := strings.Cut(s.Address, ":")
	if !ok {
		return fmt.Errorf("address %q of the policy's server is not host:port", s.Address)
	}
	all := Values{"recipe": s.recipe.folder, "port": port, "weights": weights, "checkpoint": s.folders[len(s.folders)-1]}
	for name, value := range v {
		all[name] = value
	}
	words := slices.Concat(s.recipe.Serve.Program, s.recipe.Serve.Arguments)
	for _, f := range s.folders {
		if s.recipe.Serve.Folder != "" {
			words = append(words, s.recipe.Serve.Folder, f)
		}
	}
	argv, err := all.fillAll(words)
	if err != nil {
		return fmt.Errorf("recipe of trainer %s: serve: %w", s.recipe.Trainer, err)
	}
	if err := os.MkdirAll(filepath.Dir(s.Log), 0o700); err != nil {
		return err
	}
	log, err := os.OpenFile(s.Log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", serveShell, "server"}, argv...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.Environment, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the policy's server: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // its log says why
	}()
	s.cmd, s.stdin, s.done = cmd, stdin, done
	return nil
}

// end ends the process if there is one, and waits for it.
func (s *Server) end() {
	if s.cmd == nil {
		return
	}
	s.stdin.Close()
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) // gone already, or going
	select {
	case <-s.done:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.done
	}
	s.cmd = nil
}

// Close ends the server.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}
