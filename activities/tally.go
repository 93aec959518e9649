package activities

import (
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
	totals contract.ChunkTotals
	// inherited counts records of this effort that an earlier attempt made.
	inherited int
}

// add counts one key whose record exists, however it came to be.
func (t *tally) add(rec artifacts.Record, inv provenance.Invocation) {
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
