package derive

import (
	"context"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// Records is what rollouts are followed over: what is recorded, and what follows from that
// without asking anybody. Of what is needed and not there ok is false.
type Records interface {
	// Call returns what came of the call for a part of a rollout.
	Call(ctx context.Context, part string, c *Call) (rec artifacts.Record, ok bool, err error)
	// Tool returns what a tool answers; compute makes it.
	Tool(ctx context.Context, doc artifacts.KeyDoc, compute func(ctx context.Context) (data []byte, mediaType string, err error)) (rec artifacts.Record, ok bool, err error)
	// Measured returns the MeasurementDoc of a picture.
	Measured(ctx context.Context, image artifacts.Ref) (rec artifacts.Record, ok bool, err error)
}

// Followed is how far records lead a rollout.
type Followed struct {
	// Done: to its end. Waits is the part whose call has no record, empty where a picture or a tool
	// is what is missing.
	Done   bool
	Ending string
	Waits  string
	// Calls are those that were found, in order.
	Calls []contract.RolloutCall
	// Rest bounds what follows, the call that is waited for included.
	Rest xragent.Rest
}
