package scoring_test

import (
	"reflect"
	"testing"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/reporttest"
	"cxrepro/internal/report/scoring"
)

// parsed reads what the documents say of the reading without a judge.
func parsed(_ *cxreasonbench.Turn, doc *contract.TurnDoc, i int) (cxreasonbench.Score, cxreasonbench.Terminal, bool, error) {
	d := doc.Draws[i]
	return d.Parsed, d.Unread, d.Parsed.Valid(), nil
}

// same keeps every score.
func same(t *cxreasonbench.Turn, _ *contract.TurnDoc, i int) (cxreasonbench.Score, cxreasonbench.Terminal, bool, error) {
	return t.Draws[i].Score, t.Draws[i].Terminal, true, nil
}

func rescore(t *testing.T, s *set, read scoring.Reader) *scoring.Rescored {
	t.Helper()
	r := scoring.NewRescored(s.ref, read, func(task cxreasonbench.Task, turn cxreasonbench.Turn) (contract.ValueDoc, error) {
		return contract.ValueDoc{Key: turn.Key, Form: cxreasonbench.NoNumber.String()}, nil
	})
	for _, p := range s.pages {
		if err := r.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	r.Close()
	return r
}

// TestRescoreSame: reading every reply as before changes nothing.
func TestRescoreSame(t *testing.T) {
	s := evaluate(t, 6, 3, "judge", reporttest.Mixed("same"))
	r := rescore(t, s, same)
	if flips, agreement, unpaired := cxreasonbench.Flips(r.Before, r.After); len(flips) > 0 || unpaired > 0 || agreement.Observed().N != len(r.Before) {
		t.Errorf("%d flips, %d unpaired", len(flips), unpaired)
	}
	if r.Open+r.Entering+r.Leaving+r.Unread > 0 {
		t.Errorf("open %d, entering %d, leaving %d, unread %d", r.Open, r.Entering, r.Leaving, r.Unread)
	}
	want := s.count(t, s.pages).Summary(contract.SummaryModel{}, "x", scoring.Bootstrap{})
	if got := r.Counted().Summary(contract.SummaryModel{}, "x", scoring.Bootstrap{}); !reflect.DeepEqual(want, got) {
		t.Error("the figures differ")
	}
}

// TestRescoreParser: the flips are the replies that the script has judge and parser read
// apart, and dialogues that went on or stopped because of them are open or cut.
func TestRescoreParser(t *testing.T) {
	script := reporttest.Mixed("flips")
	s := evaluate(t, 12, 1, "judge", script)
	r := rescore(t, s, parsed)
	flips, _, unpaired := cxreasonbench.Flips(r.Before, r.After)
	want := 0
	for _, page := range s.pages {
		for _, d := range page.Dialogues {
			for _, turn := range d.State.Turns[d.State.Replayed:] {
				x := script(reporttest.Place{Evaluation: s.ref.Name, Task: page.Task, Case: number(t, turn.Case), Key: turn.Key})
				add(&want, x.Terminal == 0 && x.Judge.Valid() && x.Judge != x.Score)
			}
		}
	}
	if len(flips) != want || want == 0 || unpaired > 0 {
		t.Errorf("%d flips, want %d; %d unpaired", len(flips), want, unpaired)
	}
	for _, f := range flips {
		if f.Before != cxreasonbench.Wrong || f.After != cxreasonbench.Right {
			t.Errorf("flip %+v", f)
		}
	}
	// The judge's wrong verdicts stopped dialogues that the parser would let go on.
	if r.Open == 0 {
		t.Error("no dialogue is open")
	}
	got := r.Counted().Summary(contract.SummaryModel{}, "x", scoring.Bootstrap{})
	if len(got.Undetermined) != r.Open {
		t.Errorf("%d open dialogues are listed, want %d", len(got.Undetermined), r.Open)
	}
	for _, u := range got.Undetermined {
		if u.Why != scoring.NotAsked {
			t.Errorf("%+v", u)
		}
	}
}

// TestRescoreEntries: a reading in which nobody knows sends every case to Path 2, and one in
// which everybody does empties it.
func TestRescoreEntries(t *testing.T) {
	s := evaluate(t, 4, 1, "", reporttest.Mixed("entries"))
	guided := 0
	for _, p := range s.pages {
		if p.Path == cxreasonbench.Path2 {
			guided += len(p.Dialogues)
		}
	}
	first := func(to cxreasonbench.Score) scoring.Reader {
		return func(turn *cxreasonbench.Turn, doc *contract.TurnDoc, i int) (cxreasonbench.Score, cxreasonbench.Terminal, bool, error) {
			if turn.Key.Path == cxreasonbench.Path1 && turn.Key.Stage == cxreasonbench.StageInit {
				return to, 0, true, nil
			}
			return same(turn, doc, i)
		}
	}
	if r := rescore(t, s, first(cxreasonbench.Right)); r.Leaving == 0 || r.Entering != 0 {
		t.Errorf("leaving %d of %d, entering %d", r.Leaving, guided, r.Entering)
	}
	if r := rescore(t, s, first(cxreasonbench.Unknown)); r.Entering == 0 || r.Entering+guided < 48 {
		t.Errorf("%d guided, entering %d, leaving %d", guided, r.Entering, r.Leaving)
	}
	none := func(*cxreasonbench.Turn, *contract.TurnDoc, int) (cxreasonbench.Score, cxreasonbench.Terminal, bool, error) {
		return 0, 0, false, nil
	}
	if r := rescore(t, s, none); len(r.After) != 0 || r.Unread == 0 || r.Open != 0 {
		t.Errorf("nothing to read: %d read, %d unread, %d open", len(r.After), r.Unread, r.Open)
	}
}
