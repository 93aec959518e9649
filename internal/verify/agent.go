package verify

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
)

// agent finds out how far an agent's reproduction comes: whether its tables and its result follow
// from the pages of rollouts (L2), and the pages from the records of calls, tools and
// measurements (L3). Pictures are not measured again.
func (v *verifier) agent(ctx context.Context) error {
	r := v.audit.Receipt()
	if v.o.Level < Tables {
		return nil
	}
	tables, results, err := v.audit.AgentTables(ctx)
	switch {
	case err != nil:
		if err := v.unreadable(err); err != nil {
			return err
		}
		v.out.Steps = append(v.out.Steps, Step{Level: Tables, Open: brief(err)})
		return nil
	case tables.Digest != r.AgentTables.Digest:
		v.out.fault(Fault{Level: Tables, Object: artifacts.BlobObject(r.AgentTables.Digest), What: "the tables of the agent",
			Detail: fmt.Sprintf("recorded is %s, from the rollouts follows %s", r.AgentTables.Digest.Short(), tables.Digest.Short())})
	case results.Digest != r.ResultDigest:
		v.out.fault(Fault{Level: Tables, What: "the result digest", Detail: fmt.Sprintf("recorded is %s, it follows %s", r.ResultDigest.Short(), results.Digest.Short())})
	}
	v.out.Steps = append(v.out.Steps, Step{Level: Tables, Checked: int64(v.audit.RolloutSets()), Done: fmt.Sprintf("the tables of %d sets of rollouts from their pages", v.audit.RolloutSets())})
	if v.o.Level < Outcomes {
		return nil
	}
	step := Step{Level: Outcomes}
	for i := range v.audit.RolloutSets() {
		ref, err := v.audit.Rollouts(ctx, i)
		if err != nil {
			if err := v.unreadable(err); err != nil {
				return err
			}
			step.Open = brief(err)
			continue
		}
		if recorded := r.RolloutSets[i]; ref.Digest != recorded.Digest {
			v.out.fault(Fault{Level: Outcomes, Object: artifacts.BlobObject(recorded.Digest), What: fmt.Sprintf("the document of rollouts %d", i),
				Detail: fmt.Sprintf("recorded is %s, from the records follows %s", recorded.Digest.Short(), ref.Digest.Short())})
		}
		step.Checked++
	}
	step.Done = fmt.Sprintf("%d of %d sets of rollouts from the records of their calls, tools and measurements", step.Checked, v.audit.RolloutSets())
	v.out.Steps = append(v.out.Steps, step)
	return v.training(ctx)
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
		if err := v.unreadable(err); err != nil {
			return err
		}
		step.Done, step.Open = "", brief(err)
	case ref.Digest != recorded.Digest:
		v.out.fault(Fault{Level: Outcomes, Object: artifacts.BlobObject(recorded.Digest), What: "the document of the training",
			Detail: fmt.Sprintf("recorded is %s, from the records follows %s", recorded.Digest.Short(), ref.Digest.Short())})
	default:
		step.Checked = 1
	}
	v.out.Steps = append(v.out.Steps, step)
	return nil
}
