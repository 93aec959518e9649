package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// Server runs one server of checkpoints on a fixed address. It starts it anew when it ended, and
// when it must serve folders that it was not started with. The server ends with this process;
// the next process on this machine takes it up where State says so, since those who ask do not
// know that it was gone.
type Server struct {
	// Address is host:port; its owner wrote it into the endpoint card of the policy.
	Address string
	// Log is the file that it talks to, State the file that remembers what it serves. The folder
	// cache beside State is its {cache}, unless Values name another.
	Log, State string
	// Patience bounds how long a start may take. Default 2 minutes.
	Patience time.Duration
	// Environment is the child's, Values fill placeholders of recipes.
	Environment []string
	Values      Values

	turn sync.Mutex // one Serve at a time
	mu   sync.Mutex // guards what follows
	now  served
	run  *running
}

// served is what a server was started with, as State keeps it.
type served struct {
	Recipe  string   `json:"recipe"`
	Folders []string `json:"folders"`
	Weights string   `json:"weights"`
}

// running is one process of the server.
type running struct {
	cmd   *exec.Cmd
	stdin io.Closer
	done  chan struct{}
}

// restartAfter is the pause before a server that ended by itself is started again.
const restartAfter = 300 * time.Millisecond

// Resume serves again what the last process on this machine served, if it served anything. It
// does not wait until the server answers.
func (s *Server) Resume() error {
	data, err := os.ReadFile(s.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.Unmarshal(data, &s.now); err != nil {
		return fmt.Errorf("%s: %w", s.State, err)
	}
	return s.start()
}

// Serve makes the server answer under the digest of weights, whose checkpoint lies in a folder of
// its own beside others.
//
// Errors: a server that does not come up, with its last words.
func (s *Server) Serve(ctx context.Context, r *Recipe, checkpoint, weights string) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	if r.Serve == nil {
		return fmt.Errorf("recipe of trainer %s: serve is missing, and its checkpoints shall answer", r.Trainer)
	}
	folder := checkpoint
	if !r.Serve.OneAtATime {
		folder = filepath.Dir(checkpoint)
	}
	if err := s.turnTo(ctx, r, folder, weights); err != nil {
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
		case <-time.After(50 * time.Millisecond):
		}
	}
	s.Close()
	return &Failure{Class: Port, Code: -1, Said: fmt.Sprintf("no server answered for weights %.19s at %s within %v: %s", weights, s.Address, patience, lastLines(tail(s.Log, 0), 4, 400))}
}

// turnTo starts the server with a folder that it does not serve yet, and remembers what it is
// asked for.
func (s *Server) turnTo(ctx context.Context, r *Recipe, folder, weights string) error {
	served := s.serves(ctx, weights)
	s.mu.Lock()
	defer s.mu.Unlock()
	if served && s.run != nil && s.now.Weights == weights {
		return nil
	}
	s.now.Recipe, s.now.Weights = r.folder, weights
	switch {
	case r.Serve.OneAtATime:
		s.now.Folders = []string{folder}
	case !slices.Contains(s.now.Folders, folder):
		s.now.Folders = append(s.now.Folders, folder)
	}
	text, err := json.Marshal(s.now)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.State), 0o700); err != nil {
		return err
	}
	if err := replaceFile(s.State, text); err != nil || served && s.run != nil {
		return err
	}
	s.end()
	return s.start()
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

// start starts the server's process. The caller holds mu.
func (s *Server) start() error {
	r, err := LoadRecipe(s.now.Recipe)
	if err != nil {
		return err
	}
	_, port, ok := strings.Cut(s.Address, ":")
	if !ok || r.Serve == nil {
		return fmt.Errorf("address %q of the policy's server is not host:port, or trainer %s serves nothing", s.Address, r.Trainer)
	}
	all := Values{"recipe": r.folder, "port": port, "weights": s.now.Weights, "checkpoint": s.now.Folders[len(s.now.Folders)-1],
		"cache": filepath.Join(filepath.Dir(s.State), "cache")}
	for name, value := range s.Values {
		all[name] = value
	}
	words := slices.Concat(r.Serve.Program, r.Serve.Arguments)
	for _, f := range s.now.Folders {
		if r.Serve.Folder != "" {
			words = append(words, r.Serve.Folder, f)
		}
	}
	argv, err := all.fillAll(words)
	if err != nil {
		return fmt.Errorf("recipe of trainer %s: serve: %w", r.Trainer, err)
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
	run := &running{cmd: cmd, stdin: stdin, done: make(chan struct{})}
	s.run = run
	go s.watch(run)
	return nil
}

// watch starts a server that ended by itself again. A port that is still held by one that is
// about to end is a reason to end, too.
func (s *Server) watch(run *running) {
	_ = run.cmd.Wait() // its log says why
	close(run.done)
	time.Sleep(restartAfter)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != run {
		return
	}
	run.stdin.Close()
	if err := s.start(); err != nil {
		s.run = nil // the next Serve says so
	}
}

// end ends the process if there is one, and waits for it. The caller holds mu.
func (s *Server) end() {
	run := s.run
	if run == nil {
		return
	}
	s.run = nil
	run.stdin.Close()
	_ = syscall.Kill(-run.cmd.Process.Pid, syscall.SIGTERM) // gone already, or going
	select {
	case <-run.done:
	case <-time.After(5 * time.Second):
		_ = syscall.Kill(-run.cmd.Process.Pid, syscall.SIGKILL)
		<-run.done
	}
}

// Close ends the server.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}
