package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/datause"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/provenance"
)

// question is one call with everything that it depends on.
type question struct {
	in    contract.AskInput
	rules cxreasonbench.Rules
	card  *experiments.ModelCard
	kind  string
	// item is the question that is asked, or that a judge is asked about.
	item *cxreasonbench.Question
	// class is that of the benchmark: every message has it.
	class     datause.Class
	className string
	request   lvlm.Request
	ledger    *ledger.Call
	retry     ledger.Retry
	materials []provenance.Descriptor
}

// askPlan is what calls need of a plan.
type askPlan struct {
	*experiments.Plan
	evaluations []experiments.EvaluationOf
	rules       cxreasonbench.Rules
	prompts     *cxreasonbench.Pack
	retry       ledger.Retry
}

func (s *asks) plan(ctx context.Context, ref artifacts.Ref) (*askPlan, error) {
	return load(ctx, s.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*askPlan, error) {
		p, err := getJSON[*experiments.Plan](ctx, s.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load plan: %w", err)
		}
		out := &askPlan{Plan: p, evaluations: p.Evaluations(), prompts: cxreasonbench.Prompts()}
		if out.rules, err = experiments.BenchmarkRules(&p.Spec); err != nil {
			return nil, fail(contract.ErrTypeSpec, "plan %s: %w", ref.Digest.Short(), err)
		}
		if p.Prompts.Digest != out.prompts.Digest() && !p.Prompts.IsZero() {
			text, err := s.opts.Store.Get(ctx, p.Prompts)
			if err != nil {
				return nil, fmt.Errorf("load prompt pack: %w", err)
			}
			if out.prompts, err = cxreasonbench.ParsePack(text); err != nil {
				return nil, fail(contract.ErrTypeSpec, "plan %s: %w", ref.Digest.Short(), err)
			}
		}
		if e := p.Spec.Evaluation; e != nil && e.Retry != nil {
			out.retry.Round = e.Retry.Round
			for _, o := range e.Retry.Outcomes {
				out.retry.Outcomes = append(out.retry.Outcomes, lvlm.Outcome(o))
			}
		}
		return out, nil
	})
}

// askBenchmark is a benchmark's manifest with its class.
type askBenchmark struct {
	contract.Benchmark
	class datause.Class
}

func (s *asks) benchmark(ctx context.Context, ref artifacts.Ref) (*askBenchmark, error) {
	return load(ctx, s.docs, ref, func(ctx context.Context, ref artifacts.Ref) (*askBenchmark, error) {
		doc, err := getJSON[contract.Benchmark](ctx, s.opts.Store, ref)
		if err != nil {
			return nil, fmt.Errorf("load benchmark: %w", err)
		}
		if doc.Format != contract.BenchmarkFormat {
			return nil, fail(contract.ErrTypeSpec, "benchmark %s: format %q, want %q", ref.Digest.Short(), doc.Format, contract.BenchmarkFormat)
		}
		// A class that cannot be read stays invalid, and goes nowhere.
		class, _ := datause.Parse(doc.DataUse)
		return &askBenchmark{Benchmark: doc, class: class}, nil
	})
}

// askCase is a case's questions by key.
type askCase struct {
	questions map[cxreasonbench.Key]*cxreasonbench.Question
	pictures  map[string]artifacts.Ref
}

func (s *asks) oneCase(ctx context.Context, b *askBenchmark, number int) (*askCase, error) {
	if number < 0 || number >= len(b.Cases) {
		return nil, fail(contract.ErrTypeSpec, "case %d: the benchmark has cases 0 to %d", number, len(b.Cases)-1)
	}
	ref := b.Cases[number].Doc
	return s.cases.Load(ref.Digest, func() (*askCase, int64, error) {
		doc, err := getJSON[contract.CaseDoc](ctx, s.opts.Store, ref)
		if err != nil {
			return nil, 0, fmt.Errorf("load case %d: %w", number, err)
		}
		if doc.Format != contract.CaseDocFormat {
			return nil, 0, fail(contract.ErrTypeSpec, "case %d: format %q, want %q", number, doc.Format, contract.CaseDocFormat)
		}
		c := &askCase{questions: map[cxreasonbench.Key]*cxreasonbench.Question{}, pictures: doc.Pictures}
		for i := range doc.Items {
			for k := range doc.Items[i].Questions {
				q := &doc.Items[i].Questions[k]
				c.questions[q.Key] = q
			}
		}
		return c, 3 * ref.Size, nil // decoded texts and structures weigh more than JSON
	})
}

// question assembles a call from the documents that its input names.
func (s *asks) question(a *Activities, ctx context.Context, in contract.AskInput) (*question, error) {
	p, err := s.plan(ctx, in.Plan)
	if err != nil {
		return nil, err
	}
	b, err := s.benchmark(ctx, in.Benchmark)
	if err != nil {
		return nil, err
	}
	if in.Evaluation < 0 || in.Evaluation >= len(p.evaluations) {
		return nil, fail(contract.ErrTypeSpec, "evaluation %d: the plan has %d", in.Evaluation, len(p.evaluations))
	}
	q := &question{in: in, rules: p.rules, retry: p.retry, class: b.class, className: b.DataUse}
	of := p.evaluations[in.Evaluation]
	if in.Call.Kind == cxreasonbench.CallModel {
		q.kind, q.card = ledger.KindModel, of.Model
		err = s.modelRequest(a, ctx, q, p, b, of)
	} else {
		q.kind, q.card = ledger.KindJudge, p.Judge
		err = s.judgeRequest(ctx, q, p, b)
	}
	if err != nil {
		return nil, fmt.Errorf("case %d, %s: %w", in.Case, in.Call, err)
	}
	doc, err := contract.CallKey(q.request)
	if err == nil {
		q.ledger, err = ledger.NewCall(doc)
	}
	if err != nil {
		return nil, fail(contract.ErrTypeSpec, "case %d, %s: %w", in.Case, in.Call, err)
	}
	return q, nil
}

// modelRequest is the conversation so far and the question.
func (s *asks) modelRequest(a *Activities, ctx context.Context, q *question, p *askPlan, b *askBenchmark, of experiments.EvaluationOf) error {
	rule, err := s.identify(q, decodingOf(of, p.Spec.Evaluation))
	if err != nil {
		return err
	}
	q.request.Draw = q.in.Call.Draw
	said := make([]cxreasonbench.SaidTurn, len(q.in.History))
	for i, h := range q.in.History {
		said[i] = cxreasonbench.SaidTurn{Key: h.Key, Case: strconv.Itoa(h.Case), Reply: h.Reply}
	}
	content := func(text string, key cxreasonbench.Key) (cxreasonbench.Content, error) {
		number, err := caseNumber(text)
		if err != nil {
			return cxreasonbench.Content{}, err
		}
		// The question is the last one that is put before the model.
		var shown cxreasonbench.Content
		shown, q.item, err = s.shown(a, ctx, q, b, number, key, rule)
		return shown, err
	}
	reply := func(t cxreasonbench.SaidTurn) (string, error) {
		r, err := s.answer(ctx, t.Reply)
		q.materials = append(q.materials, provenance.Describe("answer to "+t.Key.String(), t.Reply))
		return r.Text, err
	}
	q.request.Transcript, err = cxreasonbench.Conversation(b.System, said, strconv.Itoa(q.in.Case), q.in.Call.Key, content, reply)
	return err
}

// maxSeed keeps sums of seeds and draws within what every endpoint takes.
const maxSeed = math.MaxInt32 - 1<<10

// decodingOf is what a card sends in one way of sampling. Where draws have a seed, the
// evaluation's is added to the card's, and the adapter adds the number of the draw.
func decodingOf(of experiments.EvaluationOf, e *experiments.Evaluation) lvlm.Decoding {
	if of.Sampling != experiments.Draws3 || of.Model.Draws == nil {
		return of.Model.Greedy
	}
	d := *of.Model.Draws
	if d.Seed != nil {
		seed := int64((uint64(*d.Seed)%maxSeed + e.Seed%maxSeed) % maxSeed)
		d.Seed = &seed
	}
	return d
}

// shown returns what a question of a case puts before the model, its pictures as they are sent.
func (s *asks) shown(a *Activities, ctx context.Context, q *question, b *askBenchmark, number int, key cxreasonbench.Key, rule picture.Rule) (cxreasonbench.Content, *cxreasonbench.Question, error) {
	c, err := s.oneCase(ctx, b, number)
	if err != nil {
		return cxreasonbench.Content{}, nil, err
	}
	item, ok := c.questions[key]
	if !ok {
		return cxreasonbench.Content{}, nil, fail(contract.ErrTypeSpec, "case %d has no question %s", number, key)
	}
	out := cxreasonbench.Content{Text: item.Text, Images: make([]artifacts.Ref, len(item.Pictures))}
	for i, p := range item.Pictures {
		stored, ok := c.pictures[p.Path]
		if !ok {
			return out, nil, fail(contract.ErrTypeSpec, "case %d, %s: picture %d is not in the case's document", number, key, i)
		}
		if out.Images[i], err = s.picture(a, ctx, q, stored, rule); err != nil {
			return out, nil, fmt.Errorf("case %d, %s, picture %d: %w", number, key, i, err)
		}
		q.materials = append(q.materials, provenance.Describe("picture of "+key.String(), out.Images[i]))
	}
	return out, item, nil
}

// judgeRequest puts one reply before the judge.
func (s *asks) judgeRequest(ctx context.Context, q *question, p *askPlan, b *askBenchmark) error {
	if p.Judge == nil {
		return fail(contract.ErrTypeSpec, "the plan has no judge")
	}
	if _, err := s.identify(q, p.Judge.Greedy); err != nil {
		return err
	}
	q.request.Draw = q.in.Call.Again
	c, err := s.oneCase(ctx, b, q.in.Case)
	if err != nil {
		return err
	}
	item, ok := c.questions[q.in.Call.Key]
	if !ok {
		return fail(contract.ErrTypeSpec, "case %d has no question %s", q.in.Case, q.in.Call.Key)
	}
	q.item = item
	reply, err := s.answer(ctx, q.in.Reply)
	if err != nil {
		return fmt.Errorf("the reply to judge: %w", err)
	}
	q.materials = append(q.materials, provenance.Describe("reply", q.in.Reply))
	prompt, text := q.in.Judgement.Prompt, cxreasonbench.ExtractMessage(reply.Text)
	if q.in.Call.Kind == cxreasonbench.CallExtract {
		prompt = q.in.Judgement.Extract
	} else {
		shown := ""
		if q.in.Judgement.Question {
			shown = item.Text
		}
		text = cxreasonbench.JudgeMessage(p.rules, shown, item.Answer, reply.Text)
	}
	if !prompt.Valid() {
		return fail(contract.ErrTypeSpec, "%s", prompt)
	}
	q.request.Transcript = dialogue.Transcript{}.System(p.prompts.Judge(prompt)).Ask(text)
	return nil
}

// identify fills in what a card says: who answers, through which code, decoding how.
func (s *asks) identify(q *question, d lvlm.Decoding) (picture.Rule, error) {
	rule, err := picture.Parse(q.card.Pictures)
	if err != nil {
		return 0, fail(contract.ErrTypeSpec, "card %s: %w", q.card.Name, err)
	}
	adapter, err := lvlm.AdapterVersion(q.card.Adapter)
	if err != nil {
		return 0, fail(contract.ErrTypeSpec, "card %s: %w", q.card.Name, err)
	}
	id := q.card.Identity
	if id.Weights.IsZero() && id.Provider == "" && id.Unpinned != "" {
		// Nobody knows what answers. The card's name must keep it apart from others.
		id.Provider, id.Snapshot = "unpinned", q.card.Name
	}
	q.request = lvlm.Request{Model: id, Adapter: adapter, Pictures: rule.Version(), Decoding: d}
	return rule, nil
}

// answer returns a recorded answer.
func (s *asks) answer(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error) {
	return s.answers.Load(ref.Digest, func() (lvlm.Answer, int64, error) {
		var out lvlm.Answer
		data, err := s.opts.Store.Get(ctx, ref)
		if err != nil {
			return out, 0, err
		}
		if err := json.Unmarshal(data, &out); err != nil || out.Format != lvlm.AnswerFormat {
			return out, 0, fail(contract.ErrTypeSpec, "%s is not a recorded answer", ref)
		}
		return out, ref.Size + 200, nil
	})
}
