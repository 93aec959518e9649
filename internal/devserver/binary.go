package devserver

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

const loopback = "127.0.0.1"

var serverVersionForm = regexp.MustCompile(`\bServer (\d+\.\d+\.\d+[0-9A-Za-z.+-]*)`)

// command is what the Temporal command says about itself.
type command struct {
	version string // of the server in it
	help    string // of its development server
}

// ask runs the Temporal command for its version and its flags, which is also the proof
// that the file runs on this machine.
func ask(ctx context.Context, binary string) (command, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	var c command
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		out, err := output(ctx, binary, "--version")
		if err != nil {
			return err
		}
		m := serverVersionForm.FindStringSubmatch(out)
		if m == nil {
			return fmt.Errorf("%s is not the Temporal command%s", binary, said(out))
		}
		c.version = m[1]
		return nil
	})
	g.Go(func() (err error) {
		c.help, err = output(ctx, binary, "server", "start-dev", "--help")
		return err
	})
	err := g.Wait()
	return c, err
}

func output(ctx context.Context, binary string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = childEnv()
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %s %s: %w%s", binary, strings.Join(args, " "), err, said(string(out)))
	}
	return string(out), nil
}

func said(out string) string {
	s := strings.TrimSpace(out)
	if s == "" {
		return ""
	}
	if len(s) > lineWidth {
		s = s[:lineWidth] + "..."
	}
	return fmt.Sprintf(" (it said %q)", s)
}

// serverArgs is the command line of the development server. Nothing of it listens
// anywhere but on 127.0.0.1, and nothing calls outside.
func serverArgs(o Options, r record) []string {
	args := []string{
		"server", "start-dev",
		"--db-filename", filepath.Base(r.Database), // it runs in that folder: it cannot open every path
		"--sqlite-pragma", "journal_mode=wal",
		"--sqlite-pragma", "synchronous=1",
		"--ip", loopback,
		"--port", strconv.Itoa(r.Port),
		"--namespace", r.Namespace,
		"--log-level", "error",
		"--color", "never",
		"--disable-config-file", "--disable-config-env",
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
	}
	if r.Partitions > 0 {
		args = append(args, "--dynamic-config-value", fmt.Sprint("matching.numTaskqueueReadPartitions=", r.Partitions),
			"--dynamic-config-value", fmt.Sprint("matching.numTaskqueueWritePartitions=", r.Partitions))
	}
	for _, a := range o.SearchAttributes {
		args = append(args, "--search-attribute", a+"=Keyword")
	}
	if r.UIPort == 0 {
		return append(args, "--headless")
	}
	args = append(args, "--ui-ip", loopback, "--ui-port", strconv.Itoa(r.UIPort))
	if r.QuietUI {
		args = append(args, "--ui-disable-news-fetch")
	}
	return args
}

// portOr returns the first of the wanted ports that is free, else any free one.
// avoid is a port already given away, 0 for none.
func portOr(avoid int, wanted ...int) (int, error) {
	for _, p := range append(wanted, 0, 0) {
		l, err := net.Listen("tcp", hostPort(p))
		if err != nil {
			continue
		}
		got := l.Addr().(*net.TCPAddr).Port
		l.Close()
		if got != avoid {
			return got, nil
		}
	}
	return 0, fmt.Errorf("no free port on %s", loopback)
}

// awaitPorts waits a moment for the ports of r, which a server that has just ended may
// still hold.
func awaitPorts(ctx context.Context, r record) error {
	for end := time.Now().Add(time.Second); ; {
		taken := 0
		for _, p := range []int{r.Port, r.UIPort} {
			if p != 0 && !portFree(p) {
				taken = p
			}
		}
		if taken == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("port %d on %s is in use by another program", taken, loopback)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

func portFree(p int) bool {
	l, err := net.Listen("tcp", hostPort(p))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }
