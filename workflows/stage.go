package workflows

import (
	"go.temporal.io/sdk/workflow"

	"cxrepro/internal/contract"
)

const (
	// redoRounds is how often a page starts windows again that its reconciliation found
	// missing.
	redoRounds = 2
	// failuresKept is how many failed windows a stage describes; it counts them all.
	failuresKept = 8
)

// stage is one run of a Stage workflow.
type stage struct {
	in   contract.StageInput
	gate gate
	// page holds the outcome of each window of the current page.
	page map[int]contract.ChunkResult
	bad  map[int]contract.WindowFailure
}

// Stage works on the windows [in.Next, in.End) of a manifest, page by page, and returns
// sums over all of [in.Begin, in.End).
//
// A window that cannot be done is counted and described; it stops no other window.
func Stage(ctx workflow.Context, in contract.StageInput) (contract.StageResult, error) {
	s := &stage{in: in}
	s.gate.set(in.Gate)
	s.gate.listen(ctx)
	if err := workflow.SetQueryHandler(ctx, contract.QueryProgress, s.progress); err != nil {
		return contract.StageResult{}, err
	}
	for s.in.Next < s.in.End {
		if err := s.runPage(ctx); err != nil {
			return contract.StageResult{}, err
		}
		if s.in.Next < s.in.End && historyFull(ctx, s.in.Common.Tuning) {
			s.gate.drain(ctx)
			s.in.Gate = s.gate.state
			return contract.StageResult{}, workflow.NewContinueAsNewError(ctx, contract.Stage.Name, s.in)
		}
	}
	return contract.StageResult{
		Outputs: s.in.Packed, Totals: s.in.Totals,
		Failed: s.in.Failed, FailedCount: s.in.FailedCount, Redone: s.in.Redone,
	}, nil
}

// historyFull says that a paged workflow shall continue as new, well before the server
// would end it.
func historyFull(ctx workflow.Context, t contract.Tuning) bool {
	info := workflow.GetInfo(ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() > t.Events
}

// runPage does the windows of one page, reconciles them with the index, and folds their
// outcome into the input of the next page.
func (s *stage) runPage(ctx workflow.Context) error {
	begin, end := s.in.Next, min(s.in.Next+s.in.Common.Tuning.Page, s.in.End)
	s.page, s.bad = map[int]contract.ChunkResult{}, map[int]contract.WindowFailure{}
	todo := span(begin, end)
	for round := 0; ; round++ {
		if err := s.pool(ctx).do(ctx, todo); err != nil {
			return err
		}
		missing, err := s.reconcile(ctx, begin, end)
		if err != nil {
			return err
		}
		if len(missing) == 0 {
			break
		}
		if round == redoRounds {
			for _, w := range missing {
				s.fail(w, contract.ErrTypeIncomplete, "no record after the window was done again")
			}
			break
		}
		s.in.Redone += len(missing)
		todo = missing
	}
	if err := s.fold(ctx, begin, end); err != nil {
		return err
	}
	s.in.Next = end
	return nil
}

func (s *stage) pool(ctx workflow.Context) *pool {
	activity, queue := contract.AssessWindow, contract.QueueCPU(s.in.Common.Queue)
	if s.in.Stage == contract.StageSegment {
		activity, queue = contract.SegmentChunk, contract.QueueGPU(s.in.Common.Queue)
	}
	return &pool{
		inFlight: s.in.Common.Tuning.InFlight,
		gate:     &s.gate,
		run: func(ctx workflow.Context, w int) error {
			out, err := call(ctx, s.in.Common, work{queue: queue, chunk: true}, activity, contract.WindowInput{
				Plan: s.in.Common.Plan, Manifest: s.in.Manifest, Window: w,
				Reproduction: s.in.Reproduction, Ingest: s.in.Ingest,
			})
			if err == nil {
				s.page[w] = out
				delete(s.bad, w)
			}
			return err
		},
		failed: func(w int, err error) { s.fail(w, typeOf(err), messageOf(err)) },
		trouble: func(errType, message string) {
			g := contract.Gate{Paused: true, Reason: message, By: errType, Seq: s.gate.state.Seq}
			s.gate.set(g)
			tellParent(ctx, s.in.Parent, g)
		},
	}
}

func (s *stage) fail(w int, errType, message string) {
	s.bad[w] = contract.WindowFailure{Window: w, Type: errType, Message: message}
}

// reconcile returns the windows of the page that lack records and may be tried again.
func (s *stage) reconcile(ctx workflow.Context, begin, end int) ([]int, error) {
	var skip []int
	for w := begin; w < end; w++ {
		if f, bad := s.bad[w]; bad && f.Type != contract.ErrTypeExhausted {
			skip = append(skip, w)
		}
	}
	out, err := call(ctx, s.in.Common, work{queue: contract.QueueCPU(s.in.Common.Queue)}, contract.ReconcilePage, contract.ReconcileInput{
		Plan: s.in.Common.Plan, Manifest: s.in.Manifest, Stage: s.in.Stage, Begin: begin, End: end, Skip: skip,
	})
	return out.Missing, err
}

// fold adds the page's outcome to the sums, in window order.
func (s *stage) fold(ctx workflow.Context, begin, end int) error {
	var items []contract.PackItem
	for w := begin; w < end; w++ {
		if f, bad := s.bad[w]; bad {
			s.in.FailedCount++
			if len(s.in.Failed) < failuresKept {
				s.in.Failed = append(s.in.Failed, f)
			}
			continue
		}
		out := s.page[w]
		s.in.Done++
		s.in.Totals.Add(out.Totals)
		if !out.Output.IsZero() {
			items = append(items, contract.PackItem{Index: w, Ref: out.Output})
		}
	}
	s.page, s.bad = nil, nil
	if len(items) == 0 {
		return nil
	}
	packed, err := call(ctx, s.in.Common, work{queue: contract.QueueCPU(s.in.Common.Queue)}, contract.PackRefs, contract.PackInput{Previous: s.in.Packed, Add: items})
	s.in.Packed = packed.List
	return err
}

// progress answers the query; the current page is counted from its open results.
func (s *stage) progress() (contract.StageProgress, error) {
	p := contract.StageProgress{
		Stage: s.in.Stage, State: contract.StateRunning, Windows: s.in.End - s.in.Begin,
		Done: s.in.Done + len(s.page), Items: s.in.Totals.Items, Failed: s.in.FailedCount + len(s.bad),
	}
	if s.gate.state.Paused {
		p.State = contract.StatePaused
	}
	p.Reused = reused(s.in.Totals)
	for w := s.in.Next; w < s.in.End && len(s.page) > 0; w++ {
		if out, ok := s.page[w]; ok {
			p.Items += out.Totals.Items
			p.Reused += reused(out.Totals)
		}
	}
	return p, nil
}

func reused(t contract.ChunkTotals) int {
	n := 0
	for _, s := range t.Steps {
		n += s.Reused
	}
	return n
}

// span returns begin, begin+1, ..., end-1.
func span(begin, end int) []int {
	out := make([]int, 0, end-begin)
	for i := begin; i < end; i++ {
		out = append(out, i)
	}
	return out
}
