package activities

import (
	"context"
	"errors"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/xragent/radcot"
)

// recorded walks a candidate over the records alone; done is false where something is missing.
func (c *building) recorded(ctx context.Context, a *Activities) (done bool, err error) {
	done, err = c.bring(func(r *rollout) means { return &recordedMeans{a: a, ctx: ctx, r: r} })
	if errors.Is(err, artifacts.ErrNotFound) {
		return false, nil
	}
	return done, err
}

// FindCandidates says which candidates the records do not bring to their end.
func (a *Activities) FindCandidates(ctx context.Context, in contract.FindCandidatesInput) (contract.FindCandidatesResult, error) {
	p := a.beat(ctx, in.End-in.Begin)
	defer p.close()
	var out contract.FindCandidatesResult
	for i := in.Begin; i < in.End; i++ {
		if err := p.next(); err != nil {
			return out, err
		}
		c, err := a.candidate(p.work, contract.CandidateInput{Range: in.Range, Candidate: i})
		if err != nil {
			return out, err
		}
		done, err := c.recorded(p.work, a)
		if err != nil {
			return out, err
		}
		if !done {
			out.Missing = append(out.Missing, i)
		}
		p.step(1)
	}
	return out, nil
}

// CloseRadCoT makes the documents of a construction from the records alone: ledger, examples in
// the form of each trainer, datasheet, and the account of the calls.
func (a *Activities) CloseRadCoT(ctx context.Context, in contract.CloseRadCoTInput) (contract.RadCoTResult, error) {
	p := a.beat(ctx, in.Range.Count)
	defer p.close()
	out := contract.RadCoTResult{Reproduction: in.Range.Reproduction, Candidates: in.Range.Count}
	pl, err := a.plan(p.work, in.Range.Plan)
	if err != nil {
		return out, err
	}
	set, err := a.candidateSet(p.work, in.Range.Candidates, in.Range.Exclusions)
	if err != nil {
		return out, err
	}
	closing, acc := radcot.NewClosing(set.Set, set.ref.Digest, set.exclusions), newAccount()
	rests := contract.RadCoTRecords{Format: contract.RadCoTRecordsFormat}
	for i := range set.Candidates {
		if err := p.next(); err != nil {
			return out, err
		}
		o, records, err := a.closeCandidate(p.work, contract.CandidateInput{Range: in.Range, Candidate: i}, &acc)
		rests.Candidates = append(rests.Candidates, contract.CandidateRecords{ID: set.Candidates[i].ID, Records: records})
		if err == nil {
			err = closing.Add(o)
		}
		if err != nil {
			return out, err
		}
		if o == nil {
			out.Undetermined++
		}
		p.step(1)
	}
	built, err := closing.Close()
	if err != nil {
		return out, fail(contract.ErrTypeDataset, "%w", err)
	}
	out.SFT, out.GRPO, out.Calls = built.SFT(), built.GRPO(), acc.kinds
	store := a.opts.Store.ForClass(pl.Class())
	doc, err := writeRadCoT(p.work, store, built, set, pl.Models[0].Title)
	if err != nil {
		return out, err
	}
	doc.Candidates, doc.Exclusions = in.Range.Candidates, in.Range.Exclusions
	account := acc.doc(contract.DialogueRange{})
	account.Set = contract.StageRadCoT
	if out.Account, err = putJSON(p.work, store, account, contract.CallsMediaType); err != nil {
		return out, err
	}
	if out.Records, err = putJSON(p.work, store, rests, contract.RadCoTRecordsMediaType); err != nil {
		return out, err
	}
	if out.Doc, err = putJSON(p.work, store, doc, contract.RadCoTMediaType); err != nil {
		return out, err
	}
	return out, a.pinRadCoT(p, pl, in.Range, &out)
}

// pinRadCoT keeps the examples with everything that they rest on. While candidates are
// undetermined the pin stays that of something under way.
func (a *Activities) pinRadCoT(p *pulse, pl *derive.Plan, rg contract.CandidateRange, out *contract.RadCoTResult) error {
	pin := artifacts.Pin{
		Name: radcotPin(rg.Reproduction), Note: "training examples of " + pl.Spec.Name,
		Roots: []artifacts.Ref{rg.Plan, rg.Candidates, rg.Exclusions, rg.Questions, out.Doc, out.Account, out.Records},
	}
	if out.Undetermined > 0 {
		pin.Note = "training examples with undetermined candidates"
		return a.open(p, pin, pin.Name)
	}
	return a.opts.Store.SetPin(p.work, pin)
}

// closeCandidate walks one candidate over the records, and returns those that it rests on. A candidate without an end is nil: nobody
// knows what it would have become.
func (a *Activities) closeCandidate(ctx context.Context, in contract.CandidateInput, acc *account) (*radcot.Outcome, []artifacts.Ref, error) {
	c, err := a.candidate(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	done, err := c.recorded(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range c.accounts {
		acc.add(k.key, k.count)
	}
	// Every picture was measured, also where no message shows it.
	rec, ok, err := a.measurementRecord(ctx, c.plan, c.gate, c.set.Candidates[in.Candidate].Picture.Image.Digest)
	if err != nil {
		return nil, nil, err
	}
	if ok && !slices.Contains(c.rests, rec.Result) {
		c.rests = append(c.rests, rec.Result)
	}
	if !done {
		if c.missing.IsZero() {
			return nil, c.rests, nil
		}
		n, err := ledger.Attempted(ctx, a.opts.Store, c.missing)
		if err == nil && n.Attempts > 0 {
			n.Kind = c.kind
			acc.open[c.missing] = n
		}
		return nil, c.rests, err
	}
	o, err := c.set.Spec.Outcome(c.Work)
	if err != nil {
		return nil, nil, fail(contract.ErrTypeSpec, "%w", err)
	}
	return &o, c.rests, nil
}

// writeRadCoT stores the files of a construction.
func writeRadCoT(ctx context.Context, store *artifacts.Repository, b *radcot.Built, set *candidateDoc, teacher string) (contract.RadCoTDoc, error) {
	doc := contract.RadCoTDoc{Format: contract.RadCoTFormat, Files: []contract.Report{}, Pictures: b.Pictures()}
	_, err := b.Save(set.exclusions, teacher, nil, func(name, mediaType string, data []byte) (err error) {
		switch name {
		case radcot.LedgerFile:
			doc.Ledger, err = store.Put(ctx, data, contract.RadCoTLedgerMediaType)
		case radcot.DatasheetFile:
			doc.Datasheet, err = store.Put(ctx, data, contract.DatasheetMediaType)
		default:
			var ref artifacts.Ref
			ref, err = store.Put(ctx, data, mediaType)
			doc.Files = append(doc.Files, contract.Report{Name: name, Ref: ref})
		}
		return err
	})
	return doc, err
}
