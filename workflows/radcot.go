package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

// candidatesPage is how many candidates are looked up, and then worked on, before the next ones.
const candidatesPage = 256

// radCoT is one run of a RadCoT workflow.
type radCoT struct {
	in   contract.RadCoTInput
	gate gate
	err  error
}

// RadCoT builds training examples: it takes a candidate set in, measures its pictures, brings
// every candidate to its end, and makes the documents from the records alone.
//
// What is recorded is not asked again: every page of candidates is looked up first, also after a
// restart. A candidate whose call fails for good is undetermined and stops no other.
func RadCoT(ctx workflow.Context, in contract.RadCoTInput) (contract.RadCoTResult, error) {
	r := &radCoT{in: in}
	r.gate.set(in.Gate)
	r.gate.listen(ctx)
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, r.progress); err != nil {
		return contract.RadCoTResult{}, err
	}
	cpu := work{queue: contract.QueueCPU(in.Common.Queue), chunk: true}
	if r.in.Range.Candidates.IsZero() {
		set, err := call(ctx, in.Common, cpu, contract.ImportCandidates, contract.ImportCandidatesInput{Plan: in.Common.Plan})
		if err != nil {
			return contract.RadCoTResult{}, passOn(err)
		}
		r.in.Range = contract.CandidateRange{Plan: in.Common.Plan, CandidatesResult: set}
	}
	if !r.in.Measured {
		if err := r.measure(ctx); err != nil {
			return contract.RadCoTResult{}, err
		}
		r.in.Measured = true
	}
	for r.in.Next < r.in.Range.Count {
		if err := r.page(ctx); err != nil {
			return contract.RadCoTResult{}, err
		}
		if r.in.Next < r.in.Range.Count && historyFull(ctx, in.Common.Tuning) {
			r.gate.drain(ctx)
			r.in.Gate = r.gate.state
			return contract.RadCoTResult{}, workflow.NewContinueAsNewError(ctx, contract.RadCoT.Name, r.in)
		}
	}
	out, err := call(ctx, in.Common, cpu, contract.CloseRadCoT, contract.CloseRadCoTInput{Range: r.in.Range})
	if err != nil {
		return out, passOn(err)
	}
	return out, nil
}

// measure measures every picture of the set, a window at a time.
func (r *radCoT) measure(ctx workflow.Context) error {
	return r.all(ctx, span(0, r.in.Range.Windows), r.in.Common.Tuning.InFlight, nil, func(ctx workflow.Context, i int) error {
		_, err := call(ctx, r.in.Common, work{queue: contract.QueueGPU(r.in.Common.Queue), chunk: true}, contract.MeasurePictures, contract.MeasurePicturesInput{
			Plan: r.in.Range.Plan, Questions: r.in.Range.Questions, Reproduction: r.in.Range.Reproduction, Window: i,
		})
		return err
	})
}

// page looks the next candidates up and brings those to their end that the records do not.
func (r *radCoT) page(ctx workflow.Context) error {
	begin, end := r.in.Next, min(r.in.Next+candidatesPage, r.in.Range.Count)
	cpu := work{queue: contract.QueueCPU(r.in.Common.Queue), chunk: true}
	found, err := call(ctx, r.in.Common, cpu, contract.FindCandidates, contract.FindCandidatesInput{Range: r.in.Range, Begin: begin, End: end})
	if err != nil {
		return passOn(err)
	}
	r.in.Done += end - begin - len(found.Missing)
	err = r.all(ctx, found.Missing, r.in.Common.Tuning.Calls.Open, r.undetermined, func(ctx workflow.Context, i int) error {
		var out contract.CandidateResult
		in := contract.CandidateInput{Range: r.in.Range, Candidate: i, Budget: r.gate.state.Budget}
		err := workflow.ExecuteActivity(asking(ctx, r.in.Common, r.in.Range.Card), contract.BuildCandidate.Name, in).Get(ctx, &out)
		if err == nil {
			r.in.Done++
			r.in.Calls += out.Asked
		}
		return err
	})
	r.in.Next = end
	return err
}

// all runs items through the gate. What failed takes a final error of an item that ends nothing
// else; where it is nil, and for errors about every call, the workflow ends.
func (r *radCoT) all(ctx workflow.Context, items []int, inFlight int, failed func(i int, err error), run func(ctx workflow.Context, i int) error) error {
	p := &pool{
		inFlight: inFlight, gate: &r.gate, run: run,
		failed: func(i int, err error) {
			if failed == nil || fatalCall(typeOf(err)) {
				r.err = err
				return
			}
			failed(i, err)
		},
		trouble: func(errType, message string) {
			g := contract.Gate{Paused: true, Reason: message, By: errType, Seq: r.gate.state.Seq, Budget: r.gate.state.Budget}
			free, _ := workflow.NewDisconnectedContext(ctx)
			r.gate.set(g)
			if r.in.Parent != "" {
				tellParent(free, r.in.Parent, g)
			}
		},
		stop: func() bool { return r.err != nil },
	}
	if err := p.do(ctx, items); err != nil {
		return err
	}
	if r.err != nil {
		return passOn(r.err)
	}
	return nil
}

// undetermined notes a candidate whose call failed for good.
func (r *radCoT) undetermined(i int, err error) {
	f := contract.RolloutFailure{Item: i, Type: typeOf(err)}
	if len(r.in.Failed) < messagesKept {
		f.Message = messageOf(err)
	}
	if r.in.FailedCount++; r.in.FailedCount <= failedKept {
		r.in.Failed = append(r.in.Failed, f)
	}
}

func (r *radCoT) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{
		Stage: contract.StageRadCoT, State: contract.StateRunning, Items: r.in.Done, ItemsAll: r.in.Range.Count, Failed: r.in.FailedCount, Calls: r.in.Calls,
	}
	if r.gate.state.Paused {
		p.State = contract.StatePaused
	}
	return p, nil
}
