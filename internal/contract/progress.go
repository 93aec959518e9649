package contract

import (
	"time"

	"cxrepro/artifacts"
)

// StageProgress is one line of progress.
type StageProgress struct {
	Stage string `json:"stage"`
	// Active are the ids of the workflows that work on it now; their own progress and
	// their open activities show what the numbers here do not count yet.
	Active   []string `json:"active,omitempty"`
	State    string   `json:"state"`
	Windows  int      `json:"windows"`
	Done     int      `json:"done"`
	Items    int      `json:"items"`
	ItemsAll int      `json:"items_all"`
	Reused   int      `json:"reused"`
	Failed   int      `json:"failed"`
	// Calls counts answered calls to models.
	Calls int `json:"calls,omitempty"`
}

// Progress answers QueryProgress.
type Progress struct {
	Reproduction string          `json:"reproduction,omitempty"`
	State        string          `json:"state"`
	Gate         Gate            `json:"gate"`
	Started      time.Time       `json:"started"`
	Stages       []StageProgress `json:"stages"`
	Quarantined  int             `json:"quarantined"`
	// Benchmark is the manifest of the benchmark, once there is one.
	Benchmark artifacts.Ref `json:"benchmark,omitzero"`
}

// States of a reproduction and of its stages.
const (
	StateWaiting   = "waiting"
	StateRunning   = "running"
	StatePaused    = "paused"
	StateCancelled = "cancelled"
	StateFailed    = "failed"
	StateDone      = "done"
)

// PinPrefix starts the name of the pin that keeps a reproduction's plan, data and results;
// its id follows. The pin is open while the reproduction is under way.
const PinPrefix = "reproduction-"

// Beat is the heartbeat detail of a chunk activity: how far it is, for display only.
type Beat struct {
	Done  int `json:"done"`
	Total int `json:"total"`
}
