package plan

import (
	"context"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/derive"
	"cxrepro/internal/ledger"
	"cxrepro/internal/xragent"
)

// Rollouts walks the rollouts of an agent, as a run walks them.
type Rollouts interface {
	// FollowRollout walks one, FollowRollouts those of a set, of which it returns what the document
	// is called if all came to their end.
	FollowRollout(ctx context.Context, in contract.RolloutInput, from derive.Records) (derive.Followed, error)
	FollowRollouts(ctx context.Context, r contract.RolloutRange, from derive.Records, see func(item int, f derive.Followed) error) (artifacts.Ref, error)
	// Regate asks a plan's gate about a picture that another gate decided on.
	Regate(ctx context.Context, plan artifacts.Ref, m contract.MeasurementDoc) (contract.MeasurementDoc, error)
}

// agent is an agent's reproduction in the making.
type agent struct {
	p         *planner
	questions contract.Questions
	ref       artifacts.Ref
	gate      xragent.Gate
	// measured are the measurements of the pictures that are known.
	measured map[artifacts.Digest]artifacts.Record
	// tools are results that were made on the way.
	tools map[artifacts.Key]artifacts.Record
	// supposed are the base's calls that are expected to come again.
	supposed map[artifacts.Digest]bool
	whole    bool
	docs     []artifacts.Digest
}

// agent walks measurements, rollouts and tables of an agent's reproduction.
func (p *planner) agent(ctx context.Context) error {
	g := &agent{
		p: p, measured: map[artifacts.Digest]artifacts.Record{}, tools: map[artifacts.Key]artifacts.Record{},
		supposed: map[artifacts.Digest]bool{}, whole: true,
	}
	for _, part := range []func(context.Context) error{g.begin, g.pictures, g.rollouts, g.tabulate} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin finds the question set.
func (g *agent) begin(ctx context.Context) (err error) {
	p := g.p
	switch b := p.base; {
	case p.o.Questions != nil:
		g.ref = p.o.Questions.Questions
		p.ids = append(p.ids, p.o.Questions.Ingest)
		p.out.Data.Read = true
	case b == nil || b.agent == nil:
		return &DataError{"no folder was given with --data, and there is no reproduction to take the questions from"}
	default:
		if field := b.otherData(p.pl); field != "" {
			return &DataError{fmt.Sprintf("%s of the spec is another one than in reproduction %s, and no folder was given with --data", field, b.receipt.Reproduction)}
		}
		g.ref = b.receipt.Questions
		p.note("the questions are taken to be as reproduction %s read them; --data reads them anew", b.receipt.Reproduction)
	}
	if g.questions, err = get[contract.Questions](ctx, p.docs, g.ref); err != nil {
		return err
	}
	if g.gate, err = gateOf(ctx, p.docs, p.pl); err != nil {
		return err
	}
	pictures := len(g.questions.Pictures())
	p.out.Data.Manifest, p.out.Data.Questions, p.out.Data.Images = g.ref.Digest, len(g.questions.Items), pictures
	if p.pl.Plan.View != nil { // else no arm measures
		p.out.Data.Windows = contract.PictureWindows(pictures)
	}
	if err := p.openAnswers(ctx); err != nil {
		return err
	}
	return p.identify(ctx, g.ref.Digest)
}

// gateOf is the gate of an agent's plan.
func gateOf(ctx context.Context, docs *documents, pl *derive.Plan) (xragent.Gate, error) {
	if pl.Calibration.IsZero() {
		return pl.Gate(nil)
	}
	data, err := docs.store.Get(ctx, pl.Calibration)
	if err != nil {
		return xragent.Gate{}, fmt.Errorf("calibration of the plan: %w", err)
	}
	limits, err := xragent.DecodeCalibration(data)
	if err != nil {
		return xragent.Gate{}, err
	}
	return pl.Gate(&limits)
}

// pictures counts masks and measurements. A measurement that differs from the base's in what the
// gate decides by is made again of its view reading and masks.
func (g *agent) pictures(ctx context.Context) error {
	p, flips, regated := g.p, &gateFlips{}, false
	if p.pl.Plan.View == nil {
		return nil
	}
	for _, image := range g.questions.Pictures() {
		before, err := p.base.measurement(image.Digest)
		if err != nil {
			return err
		}
		masksThen, measureThen := before.keys()
		_, masks, err := p.one(ctx, contract.SegmentKey(image.Digest, p.pl.Inference()), masksThen)
		if err != nil {
			return err
		}
		key, err := p.pl.MeasureKey(image.Digest, g.gate)
		if err != nil {
			return err
		}
		e, ok, err := p.one(ctx, key, measureThen)
		if err != nil {
			return err
		}
		if ok {
			g.measured[image.Digest] = artifacts.Record{Result: e.Result}
			continue
		}
		was, alike, err := before.reading(ctx, p.pl)
		if err != nil {
			return err
		}
		if !masks || !alike {
			continue
		}
		if err := g.regate(ctx, was, flips); err != nil {
			return err
		}
		regated = true
	}
	if regated {
		flips.tell(&p.out, p.step(contract.StepMeasure).why.list)
	}
	return nil
}

// regate asks the plan's gate about a picture, and goes on with what it says.
func (g *agent) regate(ctx context.Context, was contract.MeasurementDoc, flips *gateFlips) error {
	now, err := g.p.o.Rollouts.Regate(ctx, g.p.o.Ref, was)
	if err != nil {
		return err
	}
	ref, err := g.p.docs.put(ctx, now, contract.MeasurementMediaType)
	if err != nil {
		return err
	}
	g.measured[was.Image] = artifacts.Record{Result: ref}
	flips.add(&was, &now)
	return nil
}

// rollouts walks every set.
func (g *agent) rollouts(ctx context.Context) error {
	for _, set := range g.p.pl.AgentSets() {
		if _, err := g.p.pl.Arm(set.Arm); err != nil {
			return err
		}
		w, err := g.open(ctx, set)
		if err != nil {
			return err
		}
		if err := w.walk(ctx); err != nil {
			return err
		}
	}
	return nil
}

// policy is the row of a policy's calls, book that of the calls to the reference book.
func (g *agent) policy(set contract.RolloutSet) *callRow {
	return g.p.call(ledger.KindModel, set.Card, g.p.pl.Spec.Agent.Sampling)
}

func (g *agent) book() *callRow {
	if g.p.pl.Lookup == nil {
		return nil
	}
	return g.p.call(ledger.KindLookup, g.p.pl.Lookup.Name, experiments.Greedy)
}

// tabulate counts the tables.
func (g *agent) tabulate(ctx context.Context) error {
	p := g.p
	doc := p.pl.AgentTablesKey(g.ref.Digest, g.docs)
	if !g.whole {
		return p.unsure(ctx, doc, contract.StepCall, func(input string) bool { return input != "questions" })
	}
	_, _, err := p.one(ctx, doc, p.base.agentTablesKey())
	return err
}

// entryOf is a record as the catalog has it.
func entryOf(key artifacts.Key, e catalog.Entry) artifacts.Record {
	return artifacts.Record{Key: key, Result: e.Result}
}
