package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.temporal.io/api/enums/v1"
)

// options are the flags of Temporal's development server that this program knows.
type options struct {
	file       string            // database
	pragmas    map[string]string // of SQLite
	ip         string
	port       int
	uiPort     int // 0: no web interface
	namespaces []string
	attributes map[string]enums.IndexedValueType
	dynamic    map[string]any
	logLevel   string
	watchStdin bool
}

func (o options) frontend() string { return net.JoinHostPort(o.ip, strconv.Itoa(o.port)) }

func (o options) uiURL() string {
	if o.uiPort == 0 {
		return ""
	}
	return "http://" + net.JoinHostPort(o.ip, strconv.Itoa(o.uiPort))
}

// parse reads the command line. Flags that have no meaning here but belong to Temporal's
// command are taken and ignored; unknown ones are errors.
func parse(args []string) (options, error) {
	o := options{pragmas: map[string]string{}, attributes: map[string]enums.IndexedValueType{}, dynamic: map[string]any{}, namespaces: []string{"default"}}
	if len(args) < 2 || args[0] != "server" || args[1] != "start-dev" {
		return o, errors.New("want: server start-dev [flags], or --version")
	}
	f := flag.NewFlagSet("devserver server start-dev", flag.ContinueOnError)
	f.SetOutput(os.Stdout)
	f.StringVar(&o.file, "db-filename", "", "database file")
	f.StringVar(&o.ip, "ip", "127.0.0.1", "address to listen on; only the loopback is allowed")
	f.IntVar(&o.port, "port", 7233, "port of the gRPC front end")
	f.IntVar(&o.uiPort, "ui-port", 0, "port of the web interface (default: port + 1000)")
	f.StringVar(&o.logLevel, "log-level", "error", "debug, info, warn, error")
	f.BoolVar(&o.watchStdin, "watch-stdin", false, "end when standard input closes")
	headless := f.Bool("headless", false, "no web interface")
	f.Func("sqlite-pragma", "K=V, may be repeated", pair(func(k, v string) error { o.pragmas[k] = v; return nil }))
	f.Func("namespace", "namespace to make, may be repeated", func(s string) error {
		if !slices.Contains(o.namespaces, s) {
			o.namespaces = append(o.namespaces, s)
		}
		return nil
	})
	f.Func("search-attribute", "NAME=TYPE, may be repeated", pair(func(k, v string) error {
		t, err := enums.IndexedValueTypeFromString(v)
		o.attributes[k] = t
		return err
	}))
	f.Func("dynamic-config-value", "KEY=JSON, may be repeated", pair(func(k, v string) error {
		var value any
		err := json.Unmarshal([]byte(v), &value)
		o.dynamic[k] = value
		return err
	}))
	for _, name := range []string{"color", "ui-ip"} {
		f.String(name, "", "ignored")
	}
	for _, name := range []string{"disable-config-file", "disable-config-env", "ui-disable-news-fetch"} {
		f.Bool(name, true, "ignored: always so")
	}
	if err := f.Parse(args[2:]); err != nil {
		return o, err
	}
	if o.uiPort == 0 {
		o.uiPort = o.port + 1000
	}
	if *headless {
		o.uiPort = 0
	}
	return o, o.check(f.Args())
}

func (o options) check(rest []string) error {
	ip := net.ParseIP(o.ip)
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unknown argument %q", rest[0])
	case o.file == "":
		return errors.New("--db-filename is missing")
	case ip == nil || !ip.IsLoopback():
		return fmt.Errorf("--ip %s: this server has no authentication and listens on the loopback only", o.ip)
	}
	return nil
}

// pair adapts a function of K and V to a flag value "K=V".
func pair(set func(k, v string) error) func(string) error {
	return func(s string) error {
		k, v, ok := strings.Cut(s, "=")
		if !ok || k == "" {
			return errors.New("want KEY=VALUE")
		}
		return set(k, v)
	}
}
