package responder

import (
	"fmt"

	"cxrepro/internal/answer"
	"cxrepro/internal/cxreasonbench"
)

// Played are the scores of every case, by path and task.
type Played map[cxreasonbench.Path]map[cxreasonbench.Task][]cxreasonbench.CaseScores

// Play holds every dialogue of an evaluation with a model, without any protocol: the answers
// are the model's, read by the parser. It is what an evaluation of the model over the endpoint
// must come to. seed is that of the re-selection.
//
// Errors: an unknown model, those of the state machine.
func (s *Responder) Play(name string, rules cxreasonbench.Rules, draws int, seed uint64) (Played, error) {
	now := s.settled.Load()
	if now == nil {
		return nil, fmt.Errorf("responder: there is no benchmark yet")
	}
	m := now.models[name]
	if m == nil {
		return nil, fmt.Errorf("responder: no model is called %q", name)
	}
	out := Played{}
	for _, p := range cxreasonbench.Paths() {
		out[p] = map[cxreasonbench.Task][]cxreasonbench.CaseScores{}
	}
	for _, task := range cxreasonbench.Tasks() {
		if err := playTask(now.bench, m, task, rules, draws, seed, out); err != nil {
			return nil, fmt.Errorf("%s: %w", task, err)
		}
	}
	return out, nil
}

// player holds the dialogues of one task.
type player struct {
	m     *model
	rules cxreasonbench.Rules
	draws int
	cases map[string]*known
	// told are the kept replies to last questions, by dialogue and path.
	told map[string]string
}

func playTask(b *Benchmark, m *model, task cxreasonbench.Task, rules cxreasonbench.Rules, draws int, seed uint64, out Played) error {
	pl := &player{m: m, rules: rules, draws: draws, cases: map[string]*known{}, told: map[string]string{}}
	var ids []string
	for _, k := range b.byTask[task] {
		pl.cases[k.id] = k
		ids = append(ids, k.id)
	}
	ended := map[string]cxreasonbench.State{}
	for _, id := range ids {
		k := pl.cases[id]
		state, _, err := cxreasonbench.Start(rules, task, id, k.shape(cxreasonbench.Path1), draws)
		if err == nil {
			state, err = pl.hold(k, state)
		}
		if err != nil {
			return err
		}
		ended[id] = state
		out[cxreasonbench.Path1][task] = append(out[cxreasonbench.Path1][task], pl.scores(k, state, cxreasonbench.Path1))
	}
	population, err := cxreasonbench.NewPopulation(rules, task, ids, ended)
	if err != nil {
		return err
	}
	for _, e := range cxreasonbench.Entries() {
		for _, id := range population.Entering(e) {
			k := pl.cases[id]
			state, _, err := cxreasonbench.StartPath2(ended[id], k.rounds(cxreasonbench.Path2, cxreasonbench.StageStructures))
			if err == nil {
				state, err = pl.hold(k, state)
			}
			if err == nil && state.Step().Kind == cxreasonbench.StepReselect {
				state, err = pl.review(k, state, population.Reselect(seed, id))
			}
			if err != nil {
				return err
			}
			scores := pl.scores(k, state, cxreasonbench.Path2, cxreasonbench.RePath1)
			out[cxreasonbench.Path2][task] = append(out[cxreasonbench.Path2][task], scores)
			out[cxreasonbench.RePath1][task] = append(out[cxreasonbench.RePath1][task], scores)
		}
	}
	return nil
}

func (k *known) shape(p cxreasonbench.Path) cxreasonbench.Shape {
	return cxreasonbench.Shape{CriteriaRounds: k.rounds(p, cxreasonbench.StageCriteria), StructureRounds: k.rounds(p, cxreasonbench.StageStructures)}
}

// review goes on with the re-evaluation on another case.
func (pl *player) review(own *known, state cxreasonbench.State, other string) (cxreasonbench.State, error) {
	shape := cxreasonbench.Shape{}
	if k := pl.cases[other]; k != nil {
		shape = k.shape(cxreasonbench.RePath1)
	}
	state, _, err := cxreasonbench.Reselected(state, other, shape)
	if err != nil {
		return state, err
	}
	return pl.hold(own, state)
}

// hold answers until the dialogue waits for something else.
func (pl *player) hold(own *known, state cxreasonbench.State) (cxreasonbench.State, error) {
	for {
		step := state.Step()
		if step.Kind != cxreasonbench.StepAsk {
			return state, nil
		}
		at := pl.cases[step.Ask.Case]
		p := place{own: own, at: at, q: at.question(step.Ask.Key)}
		if p.q == nil {
			return state, fmt.Errorf("responder: a case has no question %s", step.Ask.Key)
		}
		var o cxreasonbench.Outcome
		texts := make([]string, pl.draws)
		for i := range texts {
			draw := -1
			if pl.draws > 1 {
				draw = i % 3
			}
			texts[i] = write(p, pl.m.intend(p, draw), named(pl.m.seed, "play", pl.m.Name, own.id, at.id, p.q.Key.String(), itoa(int64(i))).rand())
			score, terminal, err := cxreasonbench.ScoreParsed(p.q, answer.Parse(p.q.Readable(), texts[i]))
			if err != nil {
				return state, err
			}
			o.Draws = append(o.Draws, cxreasonbench.Draw{Score: score, Terminal: terminal})
		}
		var err error
		if state, _, err = cxreasonbench.Next(state, o); err != nil {
			return state, err
		}
		if p.q.Key.Stage == cxreasonbench.StageFinal {
			pl.told[own.id+"/"+p.q.Key.Path.String()] = texts[state.Turns[len(state.Turns)-1].Kept]
		}
	}
}

// scores adds whether values are consistent.
func (pl *player) scores(own *known, state cxreasonbench.State, paths ...cxreasonbench.Path) cxreasonbench.CaseScores {
	c := cxreasonbench.ScoresOf(state)
	for _, p := range paths {
		told, ok := pl.told[own.id+"/"+p.String()]
		if !ok || cxreasonbench.KindOf(own.task) != cxreasonbench.Measurement {
			continue
		}
		at := own
		if p == cxreasonbench.RePath1 {
			at = pl.cases[state.ReviewCase]
		}
		reference := at.question(cxreasonbench.Key{Path: p, Stage: cxreasonbench.StageMeasurement})
		c.Consistent[p] = cxreasonbench.Consistent(pl.rules, own.task, reference.Answer, told)
	}
	return c
}
