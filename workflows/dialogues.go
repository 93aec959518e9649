package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

const (
	// loadAtOnce is how many dialogues one activity looks up.
	loadAtOnce = 8
	// messagesKept is how many failed dialogues a workflow describes, failedKept how many it
	// lists; it counts them all. The reason of one that is not listed is that its call is missing.
	messagesKept = 8
	failedKept   = 256
)

// dialogues is one run of a Dialogues workflow.
type dialogues struct {
	in   contract.DialoguesInput
	gate gate
	// ready are dialogues that were looked up, open those that are under way.
	ready, open []*seat
	// loading are the places that an activity looks up; calls is how many calls are in hand.
	loading []int
	calls   int
	// changed: something came back since the last look.
	changed bool
	err     error
}

// seat is one dialogue at its place in the workflow's range.
type seat struct {
	place   int
	session *cxreasonbench.Session
}

// Dialogues holds the dialogues of one task on one path, a bounded number at a time, each call
// an activity. What is asked follows from what was answered; what is recorded already is not
// asked: every dialogue begins with what the ledger knows of it, also after a restart and after
// continuing as new.
//
// A call that fails for good leaves its dialogue undetermined and stops no other. In the end
// the documents are made from the ledger alone.
func Dialogues(ctx workflow.Context, in contract.DialoguesInput) (contract.DialoguesResult, error) {
	d := &dialogues{in: in}
	d.gate.set(in.Gate)
	d.gate.listen(ctx)
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, d.progress); err != nil {
		return contract.DialoguesResult{}, err
	}
	for d.left() {
		full := historyFull(ctx, in.Common.Tuning)
		switch {
		case d.err != nil || d.gate.state.Paused:
		case !full:
			d.begin(ctx)
		case d.idle():
			return contract.DialoguesResult{}, d.continueAsNew(ctx)
		}
		if d.err != nil && d.idle() {
			return contract.DialoguesResult{}, passOn(d.err)
		}
		if !d.left() {
			break
		}
		if err := d.wait(ctx); err != nil {
			return contract.DialoguesResult{}, err
		}
	}
	// Undetermined dialogues may have left calls in hand.
	if err := workflow.Await(ctx, func() bool { return d.idle() && !d.gate.state.Paused }); err != nil {
		d.settle(ctx)
		return contract.DialoguesResult{}, err
	}
	cpu := work{queue: contract.QueueCPU(in.Common.Queue), chunk: true}
	return call(ctx, in.Common, cpu, contract.CloseDialogues, contract.CloseDialoguesInput{Range: rangeOf(d.in), Failed: d.in.Failed})
}

// left reports whether a dialogue has not ended.
func (d *dialogues) left() bool {
	return len(d.in.Again)+len(d.loading)+len(d.ready)+len(d.open) > 0 || d.in.Next < d.in.Count
}

// idle reports whether no activity is in hand.
func (d *dialogues) idle() bool { return d.calls == 0 && len(d.loading) == 0 }

// wait waits until there may be something to begin.
func (d *dialogues) wait(ctx workflow.Context) error {
	gate := d.gate.state
	err := workflow.Await(ctx, func() bool { return d.changed || d.gate.state != gate })
	d.changed = false
	if err != nil {
		d.settle(ctx)
	}
	return err
}

// settle waits until nothing is in hand, although ctx is cancelled.
func (d *dialogues) settle(ctx workflow.Context) {
	free, cancel := workflow.NewDisconnectedContext(ctx)
	defer cancel()
	// The only error is the cancellation of a context nobody else holds.
	_ = workflow.Await(free, d.idle)
}

// continueAsNew hands the dialogues under way on by their places: the next run takes them up
// from the ledger.
func (d *dialogues) continueAsNew(ctx workflow.Context) error {
	d.gate.drain(ctx)
	d.in.Gate = d.gate.state
	var again []int
	for _, s := range slices.Concat(d.open, d.ready) {
		again = append(again, s.place)
	}
	d.in.Again = append(again, d.in.Again...)
	return workflow.NewContinueAsNewError(ctx, contract.Dialogues.Name, d.in)
}

// begin starts everything that may start: look-ups of further dialogues, and the calls that
// open ones wait for.
func (d *dialogues) begin(ctx workflow.Context) {
	most := d.in.Common.Tuning.Calls.Open
	for {
		for len(d.ready) > 0 && len(d.open) < most {
			d.open = append(d.open, d.ready[0])
			d.ready = d.ready[1:]
		}
		ended := false
		for _, s := range d.open {
			for _, c := range s.session.Calls() {
				d.ask(ctx, s, c)
			}
			ended = ended || s.session.Done()
		}
		if !ended {
			break
		}
		d.open = slices.DeleteFunc(d.open, func(s *seat) bool {
			if s.session.Done() {
				d.in.Done++
			}
			return s.session.Done()
		})
	}
	if len(d.loading) == 0 && len(d.ready) < loadAtOnce {
		d.load(ctx)
	}
}

// load looks up the next dialogues.
func (d *dialogues) load(ctx workflow.Context) {
	for len(d.loading) < loadAtOnce {
		switch {
		case len(d.in.Again) > 0:
			d.loading = append(d.loading, d.in.Again[0])
			d.in.Again = d.in.Again[1:]
		case d.in.Next < d.in.Count:
			d.loading = append(d.loading, d.in.Next)
			d.in.Next++
		default:
			if len(d.loading) == 0 {
				return
			}
			d.lookUp(ctx)
			return
		}
	}
	d.lookUp(ctx)
}

func (d *dialogues) lookUp(ctx workflow.Context) {
	workflow.GoNamed(ctx, "load", func(ctx workflow.Context) {
		places := d.loading
		cpu := work{queue: contract.QueueCPU(d.in.Common.Queue), chunk: true}
		out, err := call(ctx, d.in.Common, cpu, contract.LoadDialogues, contract.LoadDialoguesInput{Range: rangeOf(d.in), Dialogues: places})
		d.loading, d.changed = nil, true
		if err != nil {
			switch {
			case ctx.Err() != nil:
			case contract.Pauses(typeOf(err)):
				d.trouble(ctx, err)
			default:
				d.err = err
			}
			d.in.Again = append(places, d.in.Again...)
			return
		}
		for i, s := range out.Sessions {
			d.ready = append(d.ready, &seat{place: places[i], session: s})
		}
		d.in.Again = append(places[len(out.Sessions):], d.in.Again...)
	})
}

// ask makes one call in the background.
func (d *dialogues) ask(ctx workflow.Context, s *seat, c cxreasonbench.Call) {
	in, err := d.askInput(s.session, c)
	if err != nil {
		d.err = err
		return
	}
	d.calls++
	workflow.Go(d.gate.epoch(ctx), func(ctx workflow.Context) {
		out, err := callModel(ctx, d.in, in)
		d.calls--
		d.changed = true
		switch {
		case err == nil:
			d.in.Calls++
			if err := s.session.Record(c, out.CallResult()); err != nil {
				d.err = err
			}
		case ctx.Err() != nil:
			s.session.Return(c)
		case contract.Pauses(typeOf(err)):
			s.session.Return(c)
			d.trouble(ctx, err)
		case fatalCall(typeOf(err)):
			d.err = err
		default:
			d.fail(s, c, err)
		}
	})
}

func (d *dialogues) askInput(s *cxreasonbench.Session, c cxreasonbench.Call) (contract.AskInput, error) {
	return rangeOf(d.in).AskInput(s, c, d.gate.state.Budget)
}

// fail ends a dialogue without a result.
func (d *dialogues) fail(s *seat, c cxreasonbench.Call, err error) {
	if s.session.Done() {
		return // another draw failed before
	}
	f := contract.DialogueFailure{Dialogue: s.place, Call: c, Type: typeOf(err)}
	if len(d.in.Failed) < messagesKept {
		f.Message = messageOf(err)
	}
	if err := s.session.Fail(c, f.Type); err != nil {
		d.err = err
		return
	}
	if d.in.FailedCount++; d.in.FailedCount <= failedKept {
		d.in.Failed = append(d.in.Failed, f)
	}
}

// trouble shuts the gate here and tells the reproduction why, although that ends ctx.
func (d *dialogues) trouble(ctx workflow.Context, err error) {
	g := contract.Gate{Paused: true, Reason: messageOf(err), By: typeOf(err), Seq: d.gate.state.Seq, Budget: d.gate.state.Budget}
	free, _ := workflow.NewDisconnectedContext(ctx)
	d.gate.set(g)
	tellParent(free, d.in.Parent, g)
}

func (d *dialogues) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{
		Stage: contract.StageEvaluate, State: contract.StateRunning, Items: d.in.Done, ItemsAll: d.in.Count,
		Failed: d.in.FailedCount, Calls: d.in.Calls,
	}
	if d.gate.state.Paused {
		p.State = contract.StatePaused
	}
	return p, nil
}
