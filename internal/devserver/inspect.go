package devserver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cxrepro/internal/process"
)

// Status is what a state directory says about its server.
type Status struct {
	Running   bool   `json:"running"` // a process owns the state directory now
	Ready     bool   `json:"ready"`   // and its server answered
	Holder    Holder `json:"holder"`
	Address   string `json:"address,omitempty"`
	UIAddress string `json:"ui_address,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Version   string `json:"server_version,omitempty"`
	Database  string `json:"database,omitempty"` // base name of the file used last
	LeftOver  bool   `json:"left_over"`          // a server without owner has its files open
}

// Inspect reports who runs the server of a state directory. It starts and changes nothing;
// a directory that does not exist is simply not running.
func Inspect(stateDir string) (Status, error) {
	p := paths{stateDir}
	owned, err := isLocked(p.ownerLock())
	if err != nil {
		return Status{}, err
	}
	served, err := isLocked(p.serverLock())
	if err != nil {
		return Status{}, err
	}
	r := readRecord(p.record())
	s := Status{Running: owned, LeftOver: served && !owned, Address: r.Address, UIAddress: r.UIAddress, Namespace: r.Namespace, Version: r.Version}
	if r.Database != "" {
		s.Database = filepath.Base(r.Database)
	}
	if owned {
		s.Holder = r.holder()
		s.Ready = r.State == stateReady
	}
	return s, nil
}

// isLocked reports whether some process holds the flock of path, without making the file.
func isLocked(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f, err := process.TryLock(path)
	if errors.Is(err, process.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, f.Close()
}
