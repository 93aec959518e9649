package resolve

import (
	"archive/zip"
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

// NumpyVersion is the numpy that is fetched where no Python of this machine has one.
const NumpyVersion = "2.4.6"

// oldestNumpy is the first minor version of numpy 1 that is used as it is found.
const oldestNumpy = 24

// An Interpreter is a Python that imports numpy: what the small trainer runs with.
type Interpreter struct {
	// Path is started as python3 would be. For a fetched numpy it is a script that names its
	// folder and becomes Python.
	Path   string `json:"path"`
	Python string `json:"python"` // such as "3.11.7"
	Numpy  string `json:"numpy"`
	Source Source `json:"source"`
}

// Python returns a Python that imports numpy: that named by Options.Path or CXREPRO_PYTHON,
// the python3 of this machine, or that one with a numpy that is fetched beside it.
//
// Errors: as for Temporal.
func Python(ctx context.Context, o Options) (Interpreter, error) {
	say := o.say("python")
	if path := o.configured("CXREPRO_PYTHON"); path != "" {
		p, err := inspectPython(ctx, path)
		if err != nil {
			return p, &ConfiguredError{What: "Python with numpy", Path: path, Why: err}
		}
		p.Source = SourceConfigured
		return p, nil
	}
	own, err := exec.LookPath("python3")
	if err != nil {
		return Interpreter{}, noPython([]Attempt{{Way: "python3 on PATH", Why: err}})
	}
	p, err := inspectPython(ctx, own)
	if err == nil {
		say("using numpy %s of %s", p.Numpy, own)
		p.Source = SourcePath
		return p, nil
	}
	if p.Python == "" {
		return p, noPython([]Attempt{{Way: own, Why: err}})
	}
	dir, err := o.cacheDir()
	if err != nil {
		return Interpreter{}, err
	}
	minor := minorOf(p.Python)
	var ways []way
	if w, ok := o.pinned().numpy[platform()+" "+minor]; ok {
		at := way{path: filepath.Join(dir, "numpy-"+w.version+"-python"+minor), seal: intact, get: func(ctx context.Context, dest string) error {
			return numpyFromWheel(ctx, w, own, dir, dest, say)
		}}
		ways = append(ways, at.byWheel(w))
	}
	got, attempts, err := firstThatWorks(ctx, dir, ways, o, say)
	if err != nil {
		return Interpreter{}, err
	}
	if got.path == "" {
		return Interpreter{}, noPython(attempts)
	}
	p, err = inspectPython(ctx, filepath.Join(got.path, launcher))
	if err != nil {
		return p, fmt.Errorf("numpy in %s does not run: %w; hint: remove that folder", got.path, err)
	}
	p.Source = got.source
	return p, nil
}

func noPython(attempts []Attempt) error {
	return &UnavailableError{What: "a Python with numpy", Attempts: attempts, Ways: []string{
		"install Python 3.9 or later with numpy (Debian: python3-numpy; or pip install numpy), or set CXREPRO_PYTHON to such a Python",
		"let pip reach PyPI for the wheel numpy " + NumpyVersion + ", which is built for Python 3.11 to 3.14",
	}}
}

// launcher is the script beside a fetched numpy.
const launcher = "cxrepro-python"

// numpyFromWheel fetches the wheel and places its files with a launcher. Compiled modules go
// into a folder of their own: the placed one is sealed.
func numpyFromWheel(ctx context.Context, w wheel, python, dir, dest string, say func(string, ...any)) error {
	return withWheel(ctx, w, dir, say, func(z *zip.Reader) error {
		return placeTree(dest, func(t *tree) error {
			if err := t.wheel(z); err != nil {
				return err
			}
			script := "#!/bin/sh\nPYTHONPATH=\"${0%/*}\" PYTHONPYCACHEPREFIX=\"${0%/*}.compiled\" exec '" + strings.ReplaceAll(python, "'", `'\''`) + "' \"$@\"\n"
			return t.file(launcher, 0o755, strings.NewReader(script))
		})
	})
}

var rePython = regexp.MustCompile(`^(\d+\.\d+\.\d+)\S* (?:(\d+)\.(\d+)\S*)?`)

// inspectPython asks a Python for its version and numpy's. Where only numpy is missing or too
// old, the version of Python is returned with the error.
func inspectPython(ctx context.Context, path string) (Interpreter, error) {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	const ask = `import platform, sys
sys.stdout.write(platform.python_version() + " ")
sys.stdout.flush()
import numpy
print(numpy.__version__)`
	cmd := exec.CommandContext(ctx, path, "-c", ask)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	m := rePython.FindStringSubmatch(string(out))
	if m == nil && err != nil {
		return Interpreter{}, fmt.Errorf("%s is no Python: it prints %.40q: %w", path, out, err)
	}
	if m == nil {
		return Interpreter{}, fmt.Errorf("%s is no Python: it prints %.40q", path, out)
	}
	p := Interpreter{Path: path, Python: m[1]}
	if err != nil {
		var ended *exec.ExitError
		said := ""
		if errors.As(err, &ended) {
			said = ": " + lastWords(string(ended.Stderr), 1) // names the module or library that is missing
		}
		return p, fmt.Errorf("Python %s does not import numpy: %w%s", m[1], err, said)
	}
	if m[2] == "" {
		return p, fmt.Errorf("Python %s does not import numpy: it prints %.40q", m[1], out)
	}
	major, _ := strconv.Atoi(m[2])
	minor, _ := strconv.Atoi(m[3])
	if major < 1 || major == 1 && minor < oldestNumpy {
		return p, fmt.Errorf("numpy %s.%s is before 1.%d", m[2], m[3], oldestNumpy)
	}
	p.Numpy = strings.TrimSpace(strings.TrimPrefix(string(out), m[1]))
	return p, nil
}

// minorOf is "3.11" of "3.11.7".
func minorOf(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
