package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"cxrepro/artifacts"
	"cxrepro/artifacts/localhost"
	"cxrepro/internal/checkpoint"
	"cxrepro/internal/overlap"
	"cxrepro/internal/provenance"
)

// recorder writes entries of a command: no activity, no reproduction.
func (a *app) recorder(store *artifacts.Repository) *checkpoint.Recorder {
	v := readCodeVersion()
	return &checkpoint.Recorder{
		Store: store, Now: time.Now, Owner: localhost.New().Owner(artifacts.Owner{Worker: "command"}),
		Code:        provenance.Code{Version: v.Module, Commit: v.Revision, Dirty: v.Modified, Binary: v.Binary},
		Environment: provenance.Environment{Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH},
	}
}

// groupingFile is the key under which studies and patients are hashed, in the state folder.
const groupingFile = "grouping.key"

// grouping reads the key of a file, or the state folder's, which is made when it is first
// needed.
func (a *app) grouping(file string) (*overlap.Grouping, error) {
	own := file == ""
	if own {
		file = filepath.Join(a.StateDir(), groupingFile)
	}
	text, err := os.ReadFile(file)
	if own && errors.Is(err, fs.ErrNotExist) {
		text, err = newGroupingKey(file)
	}
	if err != nil {
		return nil, usageError("name the file with --grouping-key", "key of studies and patients: %v", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err == nil {
		var g *overlap.Grouping
		if g, err = overlap.NewGrouping(key); err == nil {
			return g, nil
		}
	}
	return nil, usageError(fmt.Sprintf("it holds %d hexadecimal digits; ask whoever made the lists for theirs", 2*overlap.GroupingKeySize), "%s is no key of studies and patients", file)
}

// newGroupingKey makes a key. Of two programs that do so at once one wins, and both use its.
func newGroupingKey(file string) ([]byte, error) {
	key := make([]byte, overlap.GroupingKeySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".grouping-*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	_, err = fmt.Fprintln(tmp, hex.EncodeToString(key))
	if err := errors.Join(err, tmp.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(tmp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(file)
}
