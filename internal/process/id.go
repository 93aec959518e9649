package process

import "os"

// ID identifies one process of this machine: a pid alone may be used again, a pid with its
// start time is not.
type ID struct {
	PID   int    `json:"pid"`
	Start string `json:"start,omitempty"` // opaque, equal for the same process only
}

// Self identifies this process.
func Self() ID { return Of(os.Getpid()) }

// Of identifies the process that has the pid now; Start is empty if there is none.
func Of(pid int) ID { return ID{PID: pid, Start: start(pid)} }

// Alive reports whether exactly this process still runs.
func (p ID) Alive() bool {
	return p.PID > 0 && p.Start != "" && start(p.PID) == p.Start
}
