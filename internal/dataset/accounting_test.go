package dataset

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func outcomes() *rapid.Generator[Outcome] { return rapid.SampledFrom(Outcomes()) }

// For any outcomes in any order and sharding: the books balance, the totals are the
// counts, and one item met without a decision shows.
func TestAccountingBalances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(outcomes(), 0, 200).Draw(t, "outcomes")
		cut := rapid.IntRange(0, len(list)).Draw(t, "cut")
		var whole, left, right Accounting
		want := map[Outcome]int64{}
		for i, o := range list {
			part := &left
			if i >= cut {
				part = &right
			}
			for _, a := range []*Accounting{&whole, part} {
				a.Meet(1)
				if err := a.Decide(o); err != nil {
					t.Fatal(err)
				}
			}
			want[o]++
		}
		right.Merge(left)
		if right != whole {
			t.Fatalf("shards give %v, one pass %v", right, whole)
		}
		if err := whole.Check(); err != nil {
			t.Fatal(err)
		}
		for _, o := range Outcomes() {
			if whole.Count(o) != want[o] {
				t.Fatalf("%s counted %d times, want %d", o, whole.Count(o), want[o])
			}
		}
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		var back Accounting
		if err := json.Unmarshal(text, &back); err != nil || back != whole {
			t.Fatalf("%s comes back as %v, %v", text, back, err)
		}
		whole.Meet(1)
		if whole.Check() == nil {
			t.Fatal("an undecided item went unnoticed")
		}
	})
}

// Moving items between outcomes keeps the balance and refuses what is not there.
func TestAccountingMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Accounting
		for _, o := range rapid.SliceOfN(outcomes(), 1, 50).Draw(t, "outcomes") {
			a.Meet(1)
			if err := a.Decide(o); err != nil {
				t.Fatal(err)
			}
		}
		from, to := outcomes().Draw(t, "from"), outcomes().Draw(t, "to")
		n := rapid.Int64Range(-1, 60).Draw(t, "n")
		before := a
		err := a.Move(from, to, n)
		if possible := n >= 0 && n <= before.Count(from); possible != (err == nil) {
			t.Fatalf("moving %d of %d: %v", n, before.Count(from), err)
		}
		if err != nil && a != before {
			t.Fatal("a refused move changed the counts")
		}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestAccountingRefusesUnknownOutcome(t *testing.T) {
	var a Accounting
	a.Meet(1)
	for _, o := range []Outcome{0, lastOutcome + 1} {
		if a.Decide(o) == nil {
			t.Errorf("outcome %d was counted", o)
		}
	}
	if a.Check() == nil {
		t.Error("balanced without a decision")
	}
}

func TestOutcomeTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range Outcomes() {
		b, err := o.MarshalText()
		var back Outcome
		if err != nil || back.UnmarshalText(b) != nil || back != o || seen[string(b)] || len(b) == 0 {
			t.Errorf("outcome %d: text %q, %v", o, b, err)
		}
		seen[string(b)] = true
		if s := o.Status().String(); s == "unset" {
			t.Errorf("%s has no status", o)
		}
	}
	if _, err := Outcome(0).MarshalText(); err == nil || Outcome(0).Status() != 0 {
		t.Error("the zero outcome must be invalid")
	}
}
