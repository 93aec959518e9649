package experiments

import (
	"fmt"
	"slices"
	"strings"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
)

// maxPictures bounds the pictures of a drawn question set.
const maxPictures = 1 << 16

// maxSegmenter bounds the name of a text-prompted segmenter.
const maxSegmenter = 128

// agentSpec checks a spec that has an agent section: its data set is a question set, and what
// belongs to findings, benchmark and evaluation is not there.
func (v *validation) agentSpec(s *Spec) {
	v.absent("an agent section", "benchmark", "evaluation", "switches", "expected", "tasks",
		"dataset.views", "dataset.split", "dataset.boxes", "dataset.lungs", "dataset.lungs_min_dice", "dataset.sampling")
	if s.Preset != chexstruct.Corrected.String() {
		v.oneOf("preset", s.Preset, chexstruct.Corrected.String())
	}
	d := &s.Dataset
	v.root("dataset.name", d.Name)
	v.dataUse(d)
	v.oneOf("dataset.layout", d.Layout, QuestionLayouts()...)
	v.questions(d)
	if (s.Measures() || v.written("masks")) && v.stated("masks") {
		v.masks(&s.Masks)
		if s.Masks.Source == MasksImport {
			v.Add("masks.source", "%q does not go with an agent section: every picture of the question set is segmented", s.Masks.Source)
		}
	}
	if s.Agent.View == "" && (s.Measures() || v.written("masks")) {
		v.Add("agent.view", "is missing; name a view card such as ../models/phantomview.yaml")
	}
	v.agent(s.Agent)
	v.training(s)
}

// questions checks what says which questions a set holds.
func (v *validation) questions(d *Dataset) {
	if d.Layout != LayoutQuiz {
		v.absent("dataset.layout "+d.Layout, "dataset.quiz")
		if d.Counts != "" {
			v.oneOf("dataset.counts", d.Counts, CountsAny)
		}
		return
	}
	v.absent("dataset.layout quiz, which is drawn", "dataset.counts")
	q := d.Quiz
	if q == nil {
		v.Add("dataset.quiz", "is missing; dataset.layout quiz needs seed, split and pictures")
		return
	}
	v.quiz("dataset.quiz", q)
}

func (v *validation) quiz(field string, q *Quiz) {
	v.oneOf(field+".split", q.Split, "train", "held-out")
	if q.Pictures < 1 || q.Pictures > maxPictures {
		v.Add(field+".pictures", "want 1 to %d, got %d", maxPictures, q.Pictures)
	}
}

func (v *validation) agent(a *Agent) {
	v.oneOf("agent.profile", a.Profile, string(xragent.ProfileTable), string(xragent.ProfileCalibrated))
	if a.Calibration != "" && a.Profile != string(xragent.ProfileCalibrated) {
		v.Add("agent.calibration", "goes only with agent.profile calibrated")
	}
	v.policies(a)
	v.oneOf("agent.sampling", a.Sampling, Greedy, Draws)
	if a.Repeats < 1 || a.Repeats > xragent.MaxRepeats {
		v.Add("agent.repeats", "want 1 to %d, got %d", xragent.MaxRepeats, a.Repeats)
	}
	if _, err := bench.ParseScorer(a.Scorer); err != nil {
		v.Add("agent.scorer", "%v", err)
	}
	if a.Bootstrap < 1 || a.Bootstrap > maxBootstrap {
		v.Add("agent.bootstrap", "want 1 to %d resamples, got %d", maxBootstrap, a.Bootstrap)
	}
	if v.stated("agent.reward.lambda_c", "agent.reward.lambda_t", "agent.reward.gated", "agent.reward.malformed_counts_as_wrong") {
		if err := a.Reward.Setting().Validate(); err != nil {
			v.Add("agent.reward", "%v", err)
		}
	}
	v.retry("agent.retry", a.Retry, false)
}

// policies checks the models that answer with their arms.
func (v *validation) policies(a *Agent) {
	v.arms("agent.arms", a.Arms, len(a.Policies) > 0 && !slices.ContainsFunc(a.Policies, func(p Policy) bool { return len(p.Arms) == 0 }))
	if len(a.Policies) == 0 {
		v.Add("agent.policies", "want at least one model card, for example {card: models/policy.yaml}")
	}
	tools := false
	for i, p := range a.Policies {
		at := fmt.Sprintf("agent.policies[%d]", i)
		switch {
		case p.Card == "" && p.Checkpoint == "":
			v.Add(at+".card", "is missing; name a model card, or a checkpoint of the spec's training")
		case p.Card != "" && p.Checkpoint != "":
			v.Add(at+".checkpoint", "does not go with a card; training.policy is its card")
		}
		if slices.ContainsFunc(a.Policies[:i], func(o Policy) bool { return o.Card == p.Card && o.Checkpoint == p.Checkpoint }) {
			v.Add(at+".card", "%q stands twice; give one entry all its arms", p.Card+p.Checkpoint)
		}
		v.arms(at+".arms", p.Arms, true)
		tools = tools || slices.ContainsFunc(a.ArmsOf(i), func(arm string) bool { return !directArm(arm) })
	}
	if a.Lookup != "" && len(a.Policies) > 0 && !tools {
		v.Add("agent.lookup", "does not go with direct prompts alone, which look nothing up")
	}
	if a.Segmenter != "" && len(a.Policies) > 0 && !tools {
		v.Add("agent.segmenter", "does not go with direct prompts alone, which outline nothing")
	}
	if strings.TrimSpace(a.Segmenter) != a.Segmenter || len(a.Segmenter) > maxSegmenter {
		v.Add("agent.segmenter", "want the name and version of a model, at most %d bytes, got %q", maxSegmenter, a.Segmenter)
	}
}

// arms checks a list of arms and puts it into the order of tables; optional says that it may be
// left out.
func (v *validation) arms(field string, got []string, optional bool) {
	if len(got) == 0 && optional {
		return
	}
	v.choose(field, got, xragent.Arms()...)
}

// retry checks which outcomes are asked again.
func (v *validation) retry(field string, r *RetryOutcomes, judged bool) {
	if r == nil {
		return
	}
	var names []string
	if judged {
		names = append(names, cxreasonbench.JudgeUnparsable)
	}
	for _, t := range cxreasonbench.Terminals() {
		names = append(names, t.String())
	}
	v.choose(field+".outcomes", r.Outcomes, names...)
	if r.Round < 1 {
		v.Add(field+".round", "want 1 for the first repetition, got %d", r.Round)
	}
}
