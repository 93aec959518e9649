package devserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cxrepro/internal/process"
)

// state of the server named by a record.
const (
	stateResolving = "resolving" // the owner is getting the Temporal command, which may take minutes
	stateStarting  = "starting"
	stateReady     = "ready"
	stateStopped   = "stopped"
)

// record is lock.json: who runs the server of a state directory, since when and where it
// answers. The owner writes it before the supervisor starts and when the server is ready
// or stopped; the supervisor writes it once in between, before and after it starts the
// server, so that a server that lost both can be found by its process group.
type record struct {
	State      string     `json:"state"`
	Owner      process.ID `json:"owner"`
	Command    string     `json:"command"` // the owner's program and verb, for people
	Machine    string     `json:"machine"` // where the pids mean something
	Supervisor process.ID `json:"supervisor"`
	Server     process.ID `json:"server"`
	Since      time.Time  `json:"since"`
	Address    string     `json:"address"`
	UIAddress  string     `json:"ui_address,omitempty"`
	Port       int        `json:"port"`
	UIPort     int        `json:"ui_port,omitempty"`
	Namespace  string     `json:"namespace"`
	Version    string     `json:"server_version"`
	Database   string     `json:"database"`
	Binary     string     `json:"binary"`
	QuietUI    bool       `json:"quiet_ui"` // the command can keep its interface from fetching news
	// Partitions is how many parts each task queue of the database has; 0 is the server's default.
	Partitions int `json:"partitions,omitempty"`
}

// readRecord reads lock.json. A missing or unreadable file is the zero record: the file
// informs, the locks decide.
func readRecord(path string) record {
	var r record
	b, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(b, &r) != nil {
		return record{}
	}
	return r
}

// write replaces lock.json in one step.
func (r record) write(path string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lock-*.json")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(append(b, '\n'))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, ignoreMissing(os.Remove(f.Name()))))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Holder is the process that runs the server of a state directory.
type Holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command,omitempty"`
	Since   time.Time `json:"since"`
}

// String is "process 123 (cxrepro run, since 15:04:05)".
func (h Holder) String() string {
	if h.PID == 0 {
		return "an unknown process"
	}
	what := ""
	if h.Command != "" {
		what = h.Command + ", "
	}
	return fmt.Sprintf("process %d (%ssince %s)", h.PID, what, h.Since.Local().Format(time.DateTime))
}

func (r record) holder() Holder {
	return Holder{PID: r.Owner.PID, Command: r.Command, Since: r.Since}
}
