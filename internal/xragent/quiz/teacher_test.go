package quiz

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
)

// bundleOf is what the gate says of a study's picture when it measures what was drawn.
func bundleOf(s Study) xragent.Bundle {
	if s.Kind != phantom.KindPA {
		return xragent.Bundle{Reason: xragent.ReasonViewNotCXR}
	}
	q := s.Items[0].Question
	v := &xragent.Verified{Value: 0.44, Category: string(xragent.Normal)}
	if q.Options[q.Key[0]-'A'] == "enlarged" {
		v = &xragent.Verified{Value: 0.61, Category: string(xragent.Enlarged)}
	}
	return xragent.Bundle{View: "PA", Values: [3]*xragent.Verified{v}}
}

// taught plays a teacher some times on the four items of some studies.
func taught(t *testing.T, teacher Teacher, studies, draws int, see func(Family, Study, Played, xragent.Judged)) {
	t.Helper()
	for n := range studies {
		s := mustDraw(t, 1, Train, n)
		m, err := cxr.Decode(s.PNG, cxr.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for k := range len(Families()) * draws {
			i, draw := k%len(Families()), k/len(Families())
			f := Families()[i]
			table := Table{Agent: xragent.Agent{Profile: xragent.ProfileCalibrated}, Item: s.Items[i], Picture: m, Bundle: bundleOf(s)}
			p, err := table.Play(func(p Played, step xragent.Step) (xragent.Turn, error) {
				return teacher.Turn(s, f, draw, p.Rollout, step)
			})
			if err != nil {
				t.Fatal(err)
			}
			see(f, s, p, xragent.Judge(table.Agent.Trajectory(p.Rollout), xragent.DefaultPhrases()))
		}
	}
}

// TestFaultlessTeacherIsAlwaysRight lets a teacher use every tool that is needed and no other:
// every answer is right, every trajectory well-formed, and the ratio that it quotes agrees.
func TestFaultlessTeacherIsAlwaysRight(t *testing.T) {
	taught(t, Teacher{Seed: 3, Uses: 1}, 8, 1, func(f Family, s Study, p Played, j xragent.Judged) {
		if !j.Correct || !j.WellFormed() || p.Ending != xragent.Completed {
			t.Errorf("%s: correct %v, reasons %v, ending %s\n%s\n%s", p.Rollout.ID, j.Correct, j.Reasons, p.Ending, p.Rollout.Turn1.Text, p.Rollout.Turn2.Text)
		}
		if want := map[bool]int{true: 1}[f.Tool() != ""]; j.Calls != want {
			t.Errorf("%s: %d calls", p.Rollout.ID, j.Calls)
		}
		if f == Heart && s.Kind == phantom.KindPA && j.S[0] != 1 {
			t.Errorf("%s: %q does not agree with the ratio", p.Rollout.ID, p.Rollout.Turn2.Text)
		}
	})
}

// TestTeacherWithoutToolsGuesses answers what needs a tool without any: about one in three is
// right there, and the texts rest on nothing.
func TestTeacherWithoutToolsGuesses(t *testing.T) {
	right, all := 0, 0
	taught(t, Teacher{Seed: 3}, 3, 16, func(f Family, _ Study, p Played, j xragent.Judged) {
		if f.Tool() == "" {
			return
		}
		if all++; j.Correct {
			right++
		}
		if !strings.Contains(p.Rollout.Turn2.Text, "unclear") {
			t.Errorf("%s: %q", p.Rollout.ID, p.Rollout.Turn2.Text)
		}
	})
	if right < all/5 || right > all/2 {
		t.Errorf("%d of %d guesses are right", right, all)
	}
}

// TestTeacherSpeaksTheVocabulary cuts every turn of the demonstration's teacher into the spoken
// tokens of the small policy, by longest match as the trainer does.
func TestTeacherSpeaksTheVocabulary(t *testing.T) {
	data, err := os.ReadFile("../../../infra/trainers/tiny/vocabulary.txt")
	if err != nil {
		t.Fatal(err)
	}
	spoken, read, ok := strings.Cut(strings.TrimRight(string(data), "\n"), "\n\n")
	if !ok {
		t.Fatal("the vocabulary has no two parts")
	}
	tokens := strings.Split(spoken, "\n")
	slices.SortFunc(tokens, func(a, b string) int { return len(b) - len(a) })
	words := strings.Fields(strings.NewReplacer(`"`, "").Replace(spoken + "\n" + read))
	calls := 0
	taught(t, DefaultTeacher(), 4, 3, func(f Family, s Study, p Played, j xragent.Judged) {
		calls += j.Calls
		for _, turn := range []*xragent.Turn{p.Rollout.Turn1, p.Rollout.Turn2} {
			rest := turn.Text
			for rest != "" {
				k := slices.IndexFunc(tokens, func(w string) bool { return strings.HasPrefix(rest, w) })
				if k < 0 {
					t.Fatalf("%s: the policy has no words for %q", p.Rollout.ID, rest)
				}
				rest = rest[len(tokens[k]):]
			}
		}
		q := p.Rollout.Question
		for _, w := range strings.FieldsFunc(strings.Join(q.Options, " ")+" "+quarters[s.Hidden.Quarter], func(r rune) bool { return r == ' ' || r == '?' }) {
			if !slices.Contains(words, w) {
				t.Errorf("%s: the policy cannot read %q", p.Rollout.ID, w)
			}
		}
	})
	for _, c := range Conditions() {
		if !slices.Contains(tokens, ` "`+c+`"`) {
			t.Errorf("the policy cannot name %s", c)
		}
	}
	if calls == 0 {
		t.Error("the teacher called no tool")
	}
}

// TestConversationIsWhatWasSent writes played rollouts as trainers read them: marks and
// pictures agree, exactly the policy's texts are trained, and the crop is among the pictures.
func TestConversationIsWhatWasSent(t *testing.T) {
	agent := xragent.Agent{Profile: xragent.ProfileCalibrated}
	crops := 0
	taught(t, Teacher{Seed: 3, Uses: 1}, 2, 1, func(f Family, s Study, p Played, _ xragent.Judged) {
		c, err := agent.Conversation(p.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		var all, trained []string
		for _, m := range c.Messages {
			all = append(all, m.Content)
			if m.Loss != nil && *m.Loss {
				trained = append(trained, m.Content)
			}
		}
		if want := []string{p.Rollout.Turn1.Text, p.Rollout.Turn2.Text}; !slices.Equal(trained, want) {
			t.Errorf("trained %q, want %q", trained, want)
		}
		if n := strings.Count(strings.Join(all, ""), xragent.ImageMark); n != len(c.Images) || c.Images[0] != s.Image {
			t.Errorf("%s: %d marks, pictures %v", p.Rollout.ID, n, c.Images)
		}
		if f == Crop {
			if _, ok := p.Crops[c.Images[1].Digest]; !ok || len(c.Images) != 2 {
				t.Errorf("%s: pictures %v", p.Rollout.ID, c.Images)
			}
			crops++
		}
	})
	if crops == 0 {
		t.Error("no crop was played")
	}
}
