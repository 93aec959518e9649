package activities

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/derive"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/ledger"
)

// inActivity runs do as an attempt of an activity, with the errors that a workflow sees.
func inActivity(a *Activities, do func(b *askBeat) error) error {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute)
	register(a, env, contract.Activity[int, int]{Name: "Try"}, func(ctx context.Context, _ int) (int, error) {
		b := a.asks.beats.begin(ctx)
		defer b.end()
		return 0, do(b)
	})
	_, err := env.ExecuteActivity("Try", 0)
	return err
}

// asked is a transcript with a picture between texts, put to the lab's model.
func (l *askLab) asked() (derive.Asked, dialogue.Transcript) {
	l.t.Helper()
	wide, err := cxr.EncodePNG(cxr.NewImage(1200, 30)) // wider than a rule leaves it
	if err != nil {
		l.t.Fatal(err)
	}
	picture := l.put(wide, "image/png")
	card := &l.plan.Models[0]
	return derive.Asked{Reproduction: "r1", About: "item 3, turn 1", Kind: ledger.KindTeacher, Card: card, Decoding: card.Greedy, DataUse: "synthetic"},
		dialogue.Transcript{Messages: []dialogue.Message{{Role: dialogue.User, Parts: []dialogue.Part{{Text: "before"}, {Image: &picture}, {Text: "after"}}}}}
}

// TestTranscripts: whatever is asked goes through the ledger once, and is found again without
// being sent; the picture is prepared by the card's rule.
func TestTranscripts(t *testing.T) {
	l := newAskLab(t)
	l.plan.Models[0].Pictures = "long1024"
	s := serve(t, always(reply{text: "because"}))
	a := l.worker("one", l.endpoint(s.URL, place{price: testPrice{}}))
	q, transcript := l.asked()
	var first answered
	for range 2 {
		err := inActivity(a, func(b *askBeat) error {
			c, err := a.transcriptCall(b.work, q, transcript)
			if err != nil {
				return err
			}
			first, err = a.askCall(b, c)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if s.requests() != 1 || first.Answer.Text != "because" || first.Terminal {
		t.Errorf("%d requests, %+v", s.requests(), first)
	}
	c, err := a.transcriptCall(context.Background(), q, transcript)
	if err != nil {
		t.Fatal(err)
	}
	found, ok, err := a.findCall(context.Background(), c)
	if err != nil || !ok || found.Key != first.Key || found.Ref != first.Ref || found.Count.Run != 1 || found.Count.Kind != ledger.KindTeacher || found.Count.Cost == 0 {
		t.Errorf("found %+v, %t, %v", found, ok, err)
	}
	if sent := c.Request.Transcript.Images()[0]; sent == transcript.Images()[0] {
		t.Error("the picture was not prepared")
	}
	q.Draw = 1
	if c, err = a.transcriptCall(context.Background(), q, transcript); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := a.findCall(context.Background(), c); ok || err != nil {
		t.Errorf("another draw: %t, %v", ok, err)
	}
}

// TestTruncatedTranscript: a reply that was cut off is an outcome where nobody says how to read
// one; it is not asked again.
func TestTruncatedTranscript(t *testing.T) {
	l := newAskLab(t)
	s := serve(t, always(reply{text: "becau", finish: "length"}))
	a := l.worker("one", l.endpoint(s.URL, place{}))
	q, transcript := l.asked()
	for range 2 {
		var out answered
		err := inActivity(a, func(b *askBeat) error {
			c, err := a.transcriptCall(b.work, q, transcript)
			if err != nil {
				return err
			}
			out, err = a.askCall(b, c)
			return err
		})
		if err != nil || !out.Terminal || out.Answer.Text != "becau" || out.Answer.Finish != "length" {
			t.Fatalf("%+v, %v", out, err)
		}
	}
	if s.requests() != 1+l.plan.Models[0].Retries {
		t.Errorf("%d requests", s.requests())
	}
}

// TestCheckpoints: a checkpoint is asked for under its digest, which is its identity; what
// another one says is refused and never recorded.
func TestCheckpoints(t *testing.T) {
	l := newAskLab(t)
	weights := artifacts.Sum([]byte("step 3"))
	said := "served-model"
	s := serve(t, func(int, *http.Request, string) reply { return reply{text: "yes"} })
	s.model = func() string { return said }
	a := l.worker("one", l.endpoint(s.URL, place{}))
	q, transcript := l.asked()
	q.Checkpoint = weights
	try := func() error {
		return inActivity(a, func(b *askBeat) error {
			c, err := a.transcriptCall(b.work, q, transcript)
			if err != nil {
				return err
			}
			if c.Request.Model.Weights != weights {
				t.Errorf("identity %+v", c.Request.Model)
			}
			_, err = a.askCall(b, c)
			return err
		})
	}
	app := failure(t, try())
	if app.Type() != contract.ErrTypeEndpoint || !strings.Contains(app.Message(), "served-model") || !strings.Contains(app.Message(), StaleModel) {
		t.Errorf("a stale reply: %s %q", app.Type(), app.Message())
	}
	said = weights.String()
	if err := try(); err != nil {
		t.Fatal(err)
	}
	if s.requests() != 2 || !strings.Contains(s.bodies[1], `"model":"`+weights.String()+`"`) {
		t.Errorf("%d requests, the last %s", s.requests(), s.bodies[len(s.bodies)-1])
	}
}
