package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent/radcot"
)

func newRadcotRunCommand(a *app) *cobra.Command {
	var f runFlags
	var out string
	c := &cobra.Command{
		Use:   "run SPEC --data NAME=PATH... [--out DIR]",
		Short: "Ask the teacher for every candidate, and write the examples",
		Long: `run builds training examples out of a drawn candidate set: it measures the pictures, brings every
candidate to its end by calls that are recorded, and makes the files from the records. The same
command after a crash or Ctrl-C goes on where it stopped and asks nothing twice.

SPEC is a spec with an agent section and dataset.layout ` + experiments.LayoutRadCoT + `: its first policy is the teacher,
agent.lookup the reference book. --data names the set's folder under the data set's name, and the
folders of the pictures: mimic-cxr-jpg, slake, openi, items. --endpoints says where the models run.
Where candidates derive from credentialed data every endpoint must be local.

--out writes the files with the pictures that they name (images/).

With --json: {"reproduction","doc","candidates","undetermined","sft","grpo"}.

Exit codes: 0 done; 1 failed; 2 usage, spec or data; 3 done, with undetermined candidates; 4 paused
(credential, budget); 5 cancelled or interrupted; 6 store or Temporal unreachable.`,
		Example: `  cxrepro xragent radcot run spec.yaml --data rad-cot=set --data slake=/data/Slake1.0 --endpoints endpoints.yaml --out corpus`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.radcotRun(c.Context(), args[0], f, out)
		},
	}
	fl := c.Flags()
	f.plan.add(fl)
	f.worker.add(fl)
	addTuningFlags(fl, &f.tuning)
	fl.StringVar(&out, "out", "", "folder for files and pictures")
	return c
}

func (a *app) radcotRun(ctx context.Context, file string, f runFlags, out string) error {
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	p, err := a.prepare(ctx, store, file, f.plan)
	if err != nil {
		return err
	}
	if p.spec.Agent == nil || p.spec.Dataset.Layout != experiments.LayoutRadCoT {
		return usageError("docs/rad-cot.md shows one", "%s has no agent section with dataset.layout %s", file, experiments.LayoutRadCoT)
	}
	if err := f.worker.readEndpoints(); err != nil {
		return err
	}
	if err := needEndpoints(p.doc, f.worker, f.tuning.Calls.Budget); err != nil {
		return err
	}
	s, err := a.open(ctx, store, f.worker)
	if err != nil {
		return err
	}
	if err := s.work.Preload(ctx, p.doc); err != nil {
		return errors.Join(modelError(err), s.close())
	}
	d := a.newDisplay()
	unlease := a.watchEndpoints(ctx, s, d, p, f.worker.queue)
	res, err := a.radcotBuildAll(ctx, s, p, f)
	unlease()
	d.close()
	if err = errors.Join(err, s.close()); err != nil {
		return a.ended(ctx, err)
	}
	if err := a.exportRadcot(ctx, store, res.Doc, out); err != nil {
		return err
	}
	return a.showRadcot(res)
}

// radcotBuildAll starts the construction, or joins the one under way, and waits for its end.
func (a *app) radcotBuildAll(ctx context.Context, s *session, p *planned, f runFlags) (out contract.RadCoTResult, err error) {
	common := commonOf(p, f.worker.queue, f.tuning)
	run, err := startOrJoin(ctx, s.conn.Client, contract.RadCoTWorkflowID(p.id), common, contract.RadCoT.Name, contract.RadCoTInput{Common: common})
	if err != nil {
		return out, err
	}
	last := -1
	err = followStage(ctx, s.conn.Client, run, &out, func(g contract.StageProgress) error {
		if g.Items != last {
			last = g.Items
			a.say(fmt.Sprintf("candidates %d of %d, calls %d, undetermined %d", g.Items, g.ItemsAll, g.Calls, g.Failed))
		}
		return nil
	})
	return out, err
}

// exportRadcot writes the files of a construction and the pictures that they name.
func (a *app) exportRadcot(ctx context.Context, store *artifacts.Repository, ref artifacts.Ref, out string) error {
	if out == "" {
		return nil
	}
	var doc contract.RadCoTDoc
	if err := readJSON(ctx, store, ref, &doc); err != nil {
		return err
	}
	files := map[string]artifacts.Ref{radcotCandidates: doc.Candidates, radcotExclusions: doc.Exclusions, radcotLedger: doc.Ledger, radcotSheet: doc.Datasheet}
	for _, f := range doc.Files {
		files[f.Name] = f.Ref
	}
	for _, r := range doc.Pictures {
		files[radcot.StorePath(r)] = r
	}
	for name, r := range files {
		data, err := store.Get(ctx, r)
		if err != nil {
			return artifactsError(err)
		}
		if err := outFolder(out).WriteFile(name, data); err != nil {
			return err
		}
	}
	a.say(fmt.Sprintf("wrote %d files and %d pictures to %s", len(files)-len(doc.Pictures), len(doc.Pictures), out))
	return nil
}

func (a *app) showRadcot(res contract.RadCoTResult) error {
	var err error
	if a.JSON() {
		err = json.NewEncoder(a.out).Encode(res)
	} else {
		_, err = fmt.Fprintf(a.out, "%d candidates: %d examples for SFT, %d questions for GRPO\nreproduction %s, document %s\n", res.Candidates, res.SFT, res.GRPO, res.Reproduction, res.Doc.Digest)
	}
	if err == nil && res.Undetermined > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("%d candidates are undetermined", res.Undetermined), Hint: "the same command asks what is missing"}
	}
	return err
}

// followStage waits for a workflow that is one stage and shows its progress. A stage that is
// paused ends the wait, and the same command takes it up.
func followStage(ctx context.Context, c client.Client, run client.WorkflowRun, into any, show func(contract.StageProgress) error) error {
	done := result(ctx, run, into)
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				err = workflowError(err)
			}
			return err
		case <-tick.C:
		}
		value, err := c.QueryWorkflow(ctx, run.GetID(), "", contract.QueryProgress)
		var g contract.StageProgress
		if err != nil || value.Get(&g) != nil {
			continue // busy, or just over
		}
		if g.State == contract.StatePaused {
			return &exitError{Code: exitPaused, Err: errors.New("paused: an endpoint refused, the budget is used up, or something here must be cured"), Hint: "the log says why; cure it, then the same command goes on"}
		}
		if err := show(g); err != nil {
			return err
		}
	}
}
