package devserver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"time"
)

// Defaults of Options.
const (
	DefaultNamespace    = "cxrepro"
	defaultStartTimeout = 60 * time.Second
	defaultStopTimeout  = 10 * time.Second
)

// Options say where the server keeps its data and how it is reached.
type Options struct {
	// StateDir is the state directory; it is created when missing. Required.
	StateDir string

	// Resolve returns the path of the Temporal command. It is called only when this
	// process has to start the server: a joiner needs no binary. Required unless JoinOnly.
	Resolve func(context.Context) (string, error)

	// Namespace is created when missing; empty means DefaultNamespace.
	Namespace string

	// SearchAttributes are registered as Keyword attributes of the namespace, also when
	// the database file exists already without them.
	SearchAttributes []string

	// Port and UIPort are ports on 127.0.0.1; 0 means the ones used last on this state
	// directory if they are free, else any free one.
	Port, UIPort int

	// NoUI leaves the web interface out.
	NoUI bool

	// JoinOnly never starts a server: Start returns ErrNotRunning if none runs.
	JoinOnly bool

	// StartTimeout bounds the wait for a usable namespace, StopTimeout the wait for a
	// clean end before the server is killed; 0 means 60 s and 10 s.
	StartTimeout, StopTimeout time.Duration

	// Notify receives one line for people whenever something happened that they should
	// know: joined, took over, restarted, a file was moved aside. It may be called from
	// other goroutines, never after Stop returned. nil means silence.
	Notify func(string)

	// keepOrphans starts the server without the parent-death signal, so that tests can
	// make the orphan that systems without this signal make.
	keepOrphans bool
}

var (
	namespaceForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	attributeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)
)

// withDefaults returns o with its defaults filled in and StateDir made absolute, or an
// error that names every wrong field.
func (o Options) withDefaults() (Options, error) {
	var errs []error
	if o.StateDir == "" {
		errs = append(errs, errors.New("options: StateDir is empty"))
	}
	if o.Resolve == nil && !o.JoinOnly {
		errs = append(errs, errors.New("options: Resolve is nil"))
	}
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	if !namespaceForm.MatchString(o.Namespace) {
		errs = append(errs, fmt.Errorf("options: Namespace %q: want letters, digits, dot, dash or underscore, at most 100", o.Namespace))
	}
	for _, a := range o.SearchAttributes {
		if !attributeForm.MatchString(a) {
			errs = append(errs, fmt.Errorf("options: SearchAttributes: %q: want a letter, then letters, digits or underscore", a))
		}
	}
	for name, p := range map[string]int{"Port": o.Port, "UIPort": o.UIPort} {
		if p < 0 || p > 65535 {
			errs = append(errs, fmt.Errorf("options: %s %d: want 0..65535", name, p))
		}
	}
	if o.Port != 0 && o.Port == o.UIPort {
		errs = append(errs, fmt.Errorf("options: Port and UIPort are both %d", o.Port))
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = defaultStartTimeout
	}
	if o.StopTimeout == 0 {
		o.StopTimeout = defaultStopTimeout
	}
	if o.Notify == nil {
		o.Notify = func(string) {}
	}
	if err := errors.Join(errs...); err != nil {
		return o, err
	}
	dir, err := filepath.Abs(o.StateDir)
	if err != nil {
		return o, fmt.Errorf("state directory %s: %w", o.StateDir, err)
	}
	o.StateDir = dir
	return o, nil
}

// paths are the package's files under one state directory.
type paths struct{ state string }

func (p paths) dir() string        { return filepath.Join(p.state, "temporal") }
func (p paths) ownerLock() string  { return filepath.Join(p.dir(), "owner.lock") }
func (p paths) serverLock() string { return filepath.Join(p.dir(), "server.lock") }
func (p paths) record() string     { return filepath.Join(p.dir(), "lock.json") }
func (p paths) logDir() string     { return filepath.Join(p.state, "log") }
func (p paths) log() string        { return filepath.Join(p.logDir(), "temporal.log") }
func (p paths) database(version string) string {
	return filepath.Join(p.dir(), "temporal-"+version+".db")
}
