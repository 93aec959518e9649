package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// pool runs items with a bounded number in flight. While its gate is shut nothing starts,
// and what is in flight is cancelled and goes back to the queue.
type pool struct {
	inFlight int
	gate     *gate
	// run does one item and keeps its outcome; failed takes a final error.
	run    func(ctx workflow.Context, item int) error
	failed func(item int, err error)
	// trouble, if set, takes an error that a person must cure; the item goes back to the queue.
	trouble func(errType, message string)
	// stop, if set, says that nothing more shall start.
	stop func() bool
}

// do runs every item. It returns when none is in flight any more: nil when all items have
// an outcome or stop says so, the context's error when it was cancelled.
func (p *pool) do(ctx workflow.Context, items []int) error {
	queue := append([]int{}, items...)
	open := 0
	for {
		err := workflow.Await(ctx, func() bool {
			if len(queue) == 0 || p.stopped() {
				return open == 0
			}
			return open < p.inFlight && !p.gate.state.Paused
		})
		if err != nil {
			p.settle(ctx, &open)
			return err
		}
		if len(queue) == 0 || p.stopped() {
			return nil
		}
		item := queue[0]
		queue = queue[1:]
		open++
		epoch := p.gate.epoch(ctx)
		workflow.Go(epoch, func(ctx workflow.Context) {
			defer func() { open-- }()
			err := p.run(ctx, item)
			switch {
			case err == nil:
			case ctx.Err() != nil:
				queue = append(queue, item)
			case p.trouble != nil && contract.Pauses(typeOf(err)):
				queue = append(queue, item)
				p.trouble(typeOf(err), messageOf(err))
			default:
				p.failed(item, err)
			}
		})
	}
}

func (p *pool) stopped() bool { return p.stop != nil && p.stop() }

// settle waits until nothing is in flight, although ctx is cancelled.
func (p *pool) settle(ctx workflow.Context, open *int) {
	free, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	// The only error is the cancellation of a context nobody else holds.
	_ = workflow.Await(free, func() bool { return *open == 0 })
}
