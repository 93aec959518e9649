package responder

import (
	"fmt"
	"testing"

	"cxrepro/internal/answer"
	"cxrepro/internal/cxreasonbench"
)

// TestJudgeAgrees holds that the judge, who sees a reference and a reply, comes to what the
// parser comes to, who sees the question: for every question of a benchmark, every intent, in
// both layouts and presets, and that a reply is what its intent says.
func TestJudgeAgrees(t *testing.T) {
	for _, preset := range cxreasonbench.Presets() {
		m := makeBenchmark(t, preset, 4)
		replies, differ := 0, map[string]int{}
		for _, k := range m.bench.cases {
			for i := range k.asked {
				p := place{own: k, at: k, q: &k.asked[i].q}
				for n, in := range []intent{{word: WordRight, consistent: true}, {word: WordRight}, {word: WordWrong}, {word: WordUnknown}, {word: WordNone}, {letter: true}} {
					for draw := range 4 {
						r := named(9, k.id, p.q.Key.String(), fmt.Sprint(n, draw)).rand()
						text := write(p, in, r)
						replies++
						if what := checkReply(t, m.rules, p, in, text); what != "" {
							if differ[what]++; differ[what] < 4 {
								t.Logf("%s %s: %q against %q", k.task, p.q.Key, text, p.q.Answer)
							}
						}
					}
				}
			}
		}
		t.Logf("%s: %d replies, %v", preset, replies, differ)
		for what, n := range differ {
			t.Errorf("%s: %s: %d of %d replies", preset, what, n, replies)
		}
	}
}

// checkReply compares judge, parser and intent; empty where they agree.
func checkReply(t *testing.T, rules cxreasonbench.Rules, p place, in intent, text string) string {
	t.Helper()
	score, _, err := cxreasonbench.ScoreParsed(p.q, answer.Parse(p.q.Readable(), text))
	if err != nil {
		t.Fatal(err)
	}
	j := cxreasonbench.JudgementOf(rules, p.at.task, p.q.Key)
	question := ""
	if j.Question {
		question = p.q.Text
	}
	verdict, ok := judge(j.Prompt, cxreasonbench.JudgeMessage(rules, question, p.q.Answer, text))
	if !ok {
		return "the judge does not read its message"
	}
	v, ok := cxreasonbench.ReadVerdict(rules, j.Prompt, verdict)
	if !ok || !v.Asked {
		return fmt.Sprintf("verdict %q is not one that %s offers", verdict, j.Prompt)
	}
	// The judge of the last question, who judges the re-evaluated first one, too, has no word
	// for "I don't know".
	mute := score == cxreasonbench.Unknown && v.Score == cxreasonbench.Wrong && j.Prompt == cxreasonbench.JudgeFinal
	if v.Score != score && len(p.q.Options) > 0 && !mute {
		return fmt.Sprintf("%s: judge %s, parser %s", p.q.Key.Stage, v.Score, score)
	}
	if (in.word == WordRight) != (score == cxreasonbench.Right) && !in.letter && len(p.q.Options) > 0 {
		return fmt.Sprintf("%s: intent %s scored %s", p.q.Key.Stage, in.word, score)
	}
	return ""
}
