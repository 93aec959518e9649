package activities

import (
	"sync"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/provenance"
)

// effort names who computes: the ids whose records count as run, and the one that new
// statements carry.
type effort struct {
	reproduction, ingest string
	// id is what new statements carry.
	id string
}

func (e effort) mine(reproduction string) bool {
	return reproduction != "" && (reproduction == e.reproduction || reproduction == e.ingest)
}

// tally counts what became of the keys of one chunk.
type tally struct {
	effort effort

	mu     sync.Mutex // guards totals while images are worked on side by side
	totals contract.ChunkTotals
}

// conflict counts a second, different result.
func (t *tally) conflict() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.totals.Conflicts++
}

// add counts one key whose record exists, however it came to be.
func (t *tally) add(rec artifacts.Record, inv provenance.Invocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := contract.StepCount{Step: rec.Key.Step, Needed: 1, Bytes: rec.Result.Size}
	if t.effort.mine(inv.Reproduction) {
		c.Run = 1
		c.Busy = inv.Finished.Sub(inv.Started).Seconds()
		if inv.Fence > 1 {
			c.Repeated = inv.Fence - 1
			cause := inv.Takeover
			if cause == "" {
				cause = "unknown"
			}
			c.Causes = contract.AddCount(nil, cause, c.Repeated)
		}
		t.totals.Span(inv.Started, inv.Finished)
	} else {
		c.Reused = 1
	}
	t.totals.Steps = contract.AddStep(t.totals.Steps, c)
}
