package verify

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/artifacts"
)

// agent finds out how far an agent's reproduction comes: whether its tables, its result and what
// the receipt counts follow from the pages of rollouts (L2), the pages from the records of calls,
// tools and measurements (L3), and the measurements from view readings and masks (L4).
func (v *verifier) agent(ctx context.Context) error {
	for _, level := range []struct {
		level int
		check func(ctx context.Context) (Step, error)
	}{{Tables, v.agentTables}, {Outcomes, v.rollouts}, {Images, v.gated}} {
		if v.o.Level < level.level {
			return nil
		}
		step := Step{Open: v.broken}
		if v.broken == "" {
			var err error
			if step, err = level.check(ctx); err != nil {
				return err
			}
		}
		step.Level = level.level
		v.out.Steps = append(v.out.Steps, step)
		if level.level == Outcomes && v.broken == "" {
			if err := v.training(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// closed is halt where there is no unit: a recorded document that is there and cannot be read, or
// contradicts itself, is wrong; open says what is withheld, gone or of no use.
func (v *verifier) closed(level int, err error) (open string, fatal error) {
	if err := v.unreadable(err); err != nil {
		return "", err
	}
	if !errors.Is(err, artifacts.ErrNotFound) && !errors.Is(err, artifacts.ErrDigestMismatch) {
		v.out.fault(Fault{Level: level, What: "a recorded document", Detail: brief(err)})
	}
	return brief(err), nil
}

// agentTables is L2.
func (v *verifier) agentTables(ctx context.Context) (step Step, err error) {
	r := v.audit.Receipt()
	if v.listed {
		if err := v.entries(ctx, Tables); err != nil {
			return step, err
		}
	}
	tables, results, err := v.audit.AgentTables(ctx)
	switch {
	case err != nil:
		if step.Open, err = v.closed(Tables, err); err != nil {
			return step, err
		}
	case tables.Digest != r.AgentTables.Digest:
		v.out.fault(Fault{Level: Tables, Object: artifacts.BlobObject(r.AgentTables.Digest), What: "the tables of the agent",
			Detail: fmt.Sprintf("recorded is %s, from the rollouts follows %s", r.AgentTables.Digest.Short(), tables.Digest.Short())})
	case results.Digest != r.ResultDigest:
		v.out.fault(Fault{Level: Tables, What: "the result digest", Detail: fmt.Sprintf("recorded is %s, it follows %s", r.ResultDigest.Short(), results.Digest.Short())})
	}
	if step.Open == "" {
		step.Checked, step.Done = int64(v.audit.RolloutSets()), fmt.Sprintf("the tables of %d sets of rollouts from their pages", v.audit.RolloutSets())
	}
	counted, err := v.account(ctx)
	switch {
	case err != nil:
		return step, err
	case step.Done == "":
		counted = ""
	}
	step.Done += counted
	return step, nil
}

// rollouts is L3.
func (v *verifier) rollouts(ctx context.Context) (step Step, err error) {
	r := v.audit.Receipt()
	for i := range v.audit.RolloutSets() {
		ref, err := v.audit.Rollouts(ctx, i)
		if err != nil {
			if step.Open, err = v.closed(Outcomes, err); err != nil {
				return step, err
			}
			continue
		}
		if recorded := r.RolloutSets[i]; ref.Digest != recorded.Digest {
			v.out.fault(Fault{Level: Outcomes, Object: artifacts.BlobObject(recorded.Digest), What: fmt.Sprintf("the document of rollouts %d", i),
				Detail: fmt.Sprintf("recorded is %s, from the records follows %s", recorded.Digest.Short(), ref.Digest.Short())})
		}
		step.Checked++
	}
	step.Done = fmt.Sprintf("%d of %d sets of rollouts from the records of their calls, tools and measurements", step.Checked, v.audit.RolloutSets())
	return step, nil
}

// gated is L4: the gate is asked again. Views are not read and masks not made again.
func (v *verifier) gated(ctx context.Context) (step Step, err error) {
	found, checked, open, err := v.audit.Measurements(ctx)
	if err != nil {
		step.Open, err = v.closed(Images, err)
		return step, err
	}
	for _, d := range found {
		v.out.fault(Fault{Level: Images, Object: d.Object, What: d.What, Detail: d.Detail})
	}
	step.Checked, step.Open = int64(checked), "view readings and masks are taken as they are"
	if open > 0 {
		step.Open += fmt.Sprintf("; %d measurements are withheld or not there", open)
	}
	step.Done = fmt.Sprintf("%d pictures decided on again from their view readings and masks", checked)
	return step, nil
}

// training finds out whether the document of a training follows from the records of its rollouts,
// batches and segments (L3). No trainer is run.
func (v *verifier) training(ctx context.Context) error {
	ref, ok, err := v.audit.Training(ctx)
	if !ok && err == nil {
		return nil
	}
	step := Step{Level: Outcomes, Done: "the training from the records of its rollouts, batches and segments"}
	switch recorded := v.audit.Receipt().Training; {
	case err != nil:
		step.Done = ""
		if step.Open, err = v.closed(Outcomes, err); err != nil {
			return err
		}
	case ref.Digest != recorded.Digest:
		v.out.fault(Fault{Level: Outcomes, Object: artifacts.BlobObject(recorded.Digest), What: "the document of the training",
			Detail: fmt.Sprintf("recorded is %s, from the records follows %s", recorded.Digest.Short(), ref.Digest.Short())})
	default:
		step.Checked = 1
	}
	v.out.Steps = append(v.out.Steps, step)
	return nil
}
