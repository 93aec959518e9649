package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"go.temporal.io/sdk/worker"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/radcot"
)

// registerRadCoT registers what a data construction does beside measuring and asking.
func (a *Activities) registerRadCoT(r worker.ActivityRegistry) {
	register(a, r, contract.ImportCandidates, a.ImportCandidates)
	register(a, r, contract.FindCandidates, a.FindCandidates)
	register(a, r, contract.CloseRadCoT, a.CloseRadCoT)
}

// Names of the files of a folder of candidates, and of the data roots of their pictures.
const (
	CandidatesFile = "candidates.json"
	ExclusionsFile = "exclusions.json"
)

// pictureRoots are the data roots that the pictures of a source lie in.
var pictureRoots = map[radcot.Source]string{
	radcot.SourceMIMIC: "mimic-cxr-jpg", radcot.SourceSlake: "slake", radcot.SourceOpenI: "openi",
	radcot.SourceRadReStruct: "openi", radcot.SourceItems: "items",
}

// ImportCandidates takes a drawn candidate set into the store: its documents as they are, and
// every picture once, compared with the digest that the set names. Endpoints that must not see
// the data are refused here, before anything is asked.
func (a *Activities) ImportCandidates(ctx context.Context, in contract.ImportCandidatesInput) (contract.CandidatesResult, error) {
	var none contract.CandidatesResult
	p := a.beat(ctx, 1)
	defer p.close()
	pl, err := a.plan(p.work, in.Plan)
	if err != nil {
		return none, err
	}
	if pl.Spec.Agent == nil || len(pl.Models) == 0 {
		return none, fail(contract.ErrTypeSpec, "plan %s has no agent section with a teacher", pl.Ref.Digest.Short())
	}
	if err := a.launching(p, in.Plan); err != nil {
		return none, err
	}
	root, err := a.root(pl, "")
	if err != nil {
		return none, err
	}
	store := a.opts.Store.ForClass(pl.Class())
	var refs [2]artifacts.Ref
	for i, f := range []struct{ name, mediaType string }{{CandidatesFile, contract.CandidatesMediaType}, {ExclusionsFile, contract.ExclusionsMediaType}} {
		data, err := fs.ReadFile(root, f.name)
		if err != nil {
			return none, fail(contract.ErrTypeDataset, "%s: %w; draw the candidates into the data set's folder", f.name, err)
		}
		if refs[i], err = store.Put(p.work, data, f.mediaType); err != nil {
			return none, err
		}
	}
	set, err := a.candidateSet(p.work, refs[0], refs[1])
	if err != nil {
		return none, err
	}
	if err := a.mayAsk(pl, set); err != nil {
		return none, err
	}
	questions, err := a.storeCandidatePictures(p, pl, set)
	if err != nil {
		return none, err
	}
	out := contract.CandidatesResult{
		Candidates: refs[0], Exclusions: refs[1], Reproduction: contract.ReproductionID(pl.Ref.Digest, refs[0].Digest),
		Count: len(set.Candidates), Card: pl.Models[0].Name,
	}
	out.Windows = (len(questions.Pictures()) + contract.PictureWindow - 1) / contract.PictureWindow
	if out.Questions, err = putJSON(p.work, store, questions, contract.QuestionsMediaType); err != nil {
		return out, err
	}
	// From here until the examples are made the construction's own pin stands for what is under way.
	err = a.open(p, artifacts.Pin{
		Name: radcotPin(out.Reproduction), Note: "training examples being built",
		Roots: []artifacts.Ref{in.Plan, out.Candidates, out.Exclusions, out.Questions},
	}, launchPin(in.Plan))
	return out, errors.Join(err, a.launched(p, in.Plan))
}

// radcotPin names the pin of a construction.
func radcotPin(reproduction string) string { return contract.RadCoTPinPrefix + reproduction }

// storeCandidatePictures puts the pictures into the store and lists them as a question set, which
// measuring reads.
func (a *Activities) storeCandidatePictures(p *pulse, pl *derive.Plan, set *candidateDoc) (contract.Questions, error) {
	doc := contract.Questions{Format: contract.QuestionsFormat, Layout: experiments.LayoutRadCoT, Version: radcot.SetFormat, DataUse: set.DataUse.String()}
	store, stored := a.opts.Store.ForClass(pl.Class()), map[artifacts.Digest]bool{}
	for i := range set.Candidates {
		if err := p.next(); err != nil {
			return doc, err
		}
		c := &set.Candidates[i]
		doc.Items = append(doc.Items, xragent.Item{ID: c.ID, Pictures: []xragent.ItemPicture{{Image: c.Picture.Image}}})
		p.step(1)
		if stored[c.Picture.Image.Digest] {
			continue
		}
		stored[c.Picture.Image.Digest] = true
		root, ok := a.opts.Data[pictureRoots[c.Source]]
		if !ok {
			return doc, fail(contract.ErrTypeDataset, "candidate %s: no data root is called %s; give its folder with --data %s=PATH", c.ID, pictureRoots[c.Source], pictureRoots[c.Source])
		}
		data, err := fs.ReadFile(root, c.Picture.Path)
		if err != nil {
			return doc, fail(contract.ErrTypeDataset, "candidate %s: its picture cannot be read: %w", c.ID, err)
		}
		picture, err := pictureOf(data, pl.Limits)
		if err != nil {
			return doc, fail(contract.ErrTypeDataset, "candidate %s: %w", c.ID, err)
		}
		ref, err := store.Put(p.work, picture.data, picture.mime)
		if err != nil {
			return doc, err
		}
		if ref != c.Picture.Image {
			return doc, fail(contract.ErrTypeDataset, "candidate %s: its picture is %s, the set was drawn with %s; draw again", c.ID, ref.Digest.Short(), c.Picture.Image.Digest.Short())
		}
	}
	return doc, nil
}

// covers refuses a plan whose class of data use is weaker than that of what it reads, or unknown.
func covers(dataUse string, of datause.Class, what string) error {
	class, err := datause.Parse(dataUse)
	if err != nil || !of.Valid() || class < of {
		return fail(contract.ErrTypeSpec, "dataset.data_use is %q, %s are %s; write that into the spec", dataUse, what, of)
	}
	return nil
}

// mayAsk refuses a construction whose data must stay local where teacher or lookup are not, and a
// plan that gives the data a weaker class than they have.
func (a *Activities) mayAsk(pl *derive.Plan, set *candidateDoc) error {
	if err := covers(pl.Spec.Dataset.DataUse, set.DataUse, "the candidates"); err != nil {
		return err
	}
	if a.opts.Endpoint == nil {
		return nil // those who ask look again
	}
	var places []radcot.Endpoint
	cards := map[radcot.Role]*experiments.ModelCard{radcot.Teacher: &pl.Models[0], radcot.Lookup: pl.Lookup}
	for _, role := range []radcot.Role{radcot.Teacher, radcot.Lookup} {
		card := cards[role]
		if card == nil {
			continue
		}
		e, err := a.opts.Endpoint(card.Name)
		if err != nil {
			return err
		}
		places = append(places, radcot.Endpoint{Role: role, Card: card.Name, Attestation: e.Attestation})
	}
	if err := radcot.CheckPlan(set.Candidates, places...); err != nil {
		return fail(contract.ErrTypeRefused, "%w", err)
	}
	return nil
}

// candidateDoc is a candidate set with its exclusions.
type candidateDoc struct {
	*radcot.Set
	ref        artifacts.Ref
	exclusions *radcot.Exclusions
}

func (a *Activities) candidateSet(ctx context.Context, set, exclusions artifacts.Ref) (*candidateDoc, error) {
	return load(ctx, a.docs, set, func(ctx context.Context, ref artifacts.Ref) (*candidateDoc, error) {
		data, err := a.opts.Store.Get(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("load candidate set: %w", err)
		}
		out := &candidateDoc{ref: ref}
		if out.Set, err = radcot.ReadSet(data); err != nil {
			return nil, fail(contract.ErrTypeSpec, "%w", err)
		}
		if exclusions.Digest != out.Exclusions {
			return nil, fail(contract.ErrTypeDataset, "the exclusions are %s, the candidates were drawn under %s", exclusions.Digest.Short(), out.Exclusions.Short())
		}
		if data, err = a.opts.Store.Get(ctx, exclusions); err != nil {
			return nil, fmt.Errorf("load exclusions: %w", err)
		}
		if out.exclusions, err = radcot.ReadExclusions(data); err != nil {
			return nil, fail(contract.ErrTypeSpec, "%w", err)
		}
		return out, nil
	})
}

// building is one candidate as far as it is known.
type building struct {
	radcot.Work
	in   contract.CandidateInput
	plan *derive.Plan
	set  *candidateDoc
	gate xragent.Gate
	// accounts are those of the calls' records, missing the call that has none.
	accounts []callAccount
	missing  artifacts.Key
	kind     string
	// rests are the records that it rests on.
	rests []artifacts.Ref
}

// candidate returns a candidate of which nothing is known.
func (a *Activities) candidate(ctx context.Context, in contract.CandidateInput) (*building, error) {
	pl, err := a.plan(ctx, in.Range.Plan)
	if err != nil {
		return nil, err
	}
	set, err := a.candidateSet(ctx, in.Range.Candidates, in.Range.Exclusions)
	if err != nil {
		return nil, err
	}
	if in.Candidate < 0 || in.Candidate >= len(set.Candidates) {
		return nil, fail(contract.ErrTypeSpec, "candidate %d: the set has 0 to %d", in.Candidate, len(set.Candidates)-1)
	}
	c := &building{in: in, plan: pl, set: set, Work: radcot.Work{Candidate: set.Candidates[in.Candidate]}}
	c.gate, err = a.gate(ctx, pl)
	return c, err
}

// attempt is a rollout that stands for an attempt of a phase: who is asked, and with what tools.
func (c *building) attempt(number int) *rollout {
	arm := xragent.Arm{Agent: c.set.Spec.Agent}
	return &rollout{
		in: contract.RolloutInput{
			Plan: c.in.Range.Plan, Reproduction: c.in.Range.Reproduction, Budget: c.in.Budget, Arm: string(c.Candidate.Part), Item: c.in.Candidate, Draw: number,
		},
		plan: c.plan, item: &xragent.Item{ID: c.Candidate.ID, Pictures: []xragent.ItemPicture{c.Candidate.Picture}}, arm: arm,
		card: &c.plan.Models[0], class: c.set.DataUse.String(), gate: c.gate,
	}
}

// bring brings the candidate to its end, or as far as the means allow: done is false where
// something is missing. with makes the means of an attempt.
func (c *building) bring(with func(r *rollout) means) (done bool, err error) {
	for {
		step, err := c.set.Spec.Next(c.Work)
		if err != nil {
			return false, fail(contract.ErrTypeSpec, "%w", err)
		}
		if step.Done {
			return true, nil
		}
		r := c.attempt(step.Attempt)
		m := with(r)
		ok := false
		if step.Phase == radcot.Writing {
			ok, err = c.write(r, m, step)
		} else {
			ok, err = c.route(r, m, step)
		}
		c.accounts = append(c.accounts, r.accounts...)
		c.rests = append(c.rests, r.rests()...)
		if k, recorded := m.(*recordedMeans); recorded {
			c.missing, c.kind = k.missing, k.kind
		}
		if err != nil || !ok {
			return false, err
		}
	}
}

// write asks the teacher for what is written from findings.
func (c *building) write(r *rollout, m means, step radcot.Step) (bool, error) {
	part := fmt.Sprintf("%s.%d", step.Phase, step.Attempt)
	q := r.asked(ledger.KindTeacher, part, r.card, r.plan.AgentDecoding(r.card))
	q.Draw = step.Attempt
	out, ok, err := r.ask(m, q, part, step.Ask, nil)
	if err != nil || !ok {
		return false, err
	}
	c.Written = append(c.Written, xragent.Turn{Text: out.Answer.Text, FinishReason: finishOf(out)})
	return true, nil
}

// route runs a routed attempt to its end.
func (c *building) route(r *rollout, m means, step radcot.Step) (bool, error) {
	var err error
	if r.Rollout, err = c.set.Spec.Routed(c.Work, step); err != nil {
		return false, fail(contract.ErrTypeSpec, "%w", err)
	}
	r.item.Question = r.Rollout.Question
	ok, err := r.run(m)
	if err != nil || !ok {
		return false, err
	}
	c.Rollouts = append(c.Rollouts, r.Rollout)
	return true, nil
}

// BuildCandidate brings one candidate to its end. What the teacher writes and answers are calls of
// the ledger, what tools answer records of steps: an attempt that was killed costs what it had in
// hand, and repeats nothing that is recorded.
func (a *Activities) BuildCandidate(ctx context.Context, in contract.CandidateInput) (contract.CandidateResult, error) {
	b := a.asks.beats.begin(ctx)
	defer b.end()
	c, err := a.candidate(b.work, in)
	if err != nil {
		return contract.CandidateResult{}, err
	}
	if err := a.mayAsk(c.plan, c.set); err != nil {
		return contract.CandidateResult{}, err
	}
	if _, err := c.bring(func(r *rollout) means { return &liveMeans{a: a, b: b, r: r} }); err != nil {
		return contract.CandidateResult{}, err
	}
	o, err := c.set.Spec.Outcome(c.Work)
	if err != nil {
		return contract.CandidateResult{}, fail(contract.ErrTypeSpec, "%w", err)
	}
	return contract.CandidateResult{Accepted: o.Example != nil, Rejected: o.Rejected, Asked: len(c.accounts)}, nil
}
