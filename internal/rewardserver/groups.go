package rewardserver

import (
	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/xragent"
)

// place is a group in a run.
type place struct {
	step  int
	group string
}

// checkGroups refuses what cannot be compared: unknown items, another key, the same sample or
// draw twice, a group of several items or of more than G samples.
func (s *Service) checkGroups(samples []Sample) error {
	type name struct {
		step   int
		sample string
	}
	type drawn struct {
		place
		draw int
	}
	seen, draws := map[name]bool{}, map[drawn]bool{}
	items, sizes := map[place]string{}, map[place]int{}
	for i := range samples {
		m := &samples[i]
		item := s.items[m.ItemID]
		if item == nil {
			return refused("unknown_item", field(i, "item_id"), "%q is no item of the question set", m.ItemID)
		}
		if key, ok := xragent.ReadAnswer(item.Question, m.GroundTruth); !ok || key != keyOf(item) {
			return refused("ground_truth_differs", field(i, "ground_truth"), "is not the key of item %s in the question set", m.ItemID)
		}
		at := place{*m.Step, m.GroupID}
		if n := (name{*m.Step, m.SampleID}); seen[n] {
			return refused("duplicate_sample", field(i, "sample_id"), "%q stands twice in step %d", m.SampleID, *m.Step)
		} else {
			seen[n] = true
		}
		if first, known := items[at]; known && first != m.ItemID {
			return refused("group_mixed", field(i, "group_id"), "group %q of step %d is about %s, and this sample about %s", m.GroupID, *m.Step, first, m.ItemID)
		}
		items[at] = m.ItemID
		if sizes[at]++; sizes[at] > s.o.GroupSize {
			return refused("group_too_large", field(i, "group_id"), "group %q of step %d has more than %d samples", m.GroupID, *m.Step, s.o.GroupSize)
		}
		if m.Draw == nil {
			continue
		}
		if *m.Draw < 0 || *m.Draw >= s.o.GroupSize {
			return refused("draw", field(i, "draw"), "is %d; a group of %d has draws 0 to %d", *m.Draw, s.o.GroupSize, s.o.GroupSize-1)
		}
		if d := (drawn{at, *m.Draw}); draws[d] {
			return refused("duplicate_draw", field(i, "draw"), "%d stands twice in group %q of step %d", *m.Draw, m.GroupID, *m.Step)
		} else {
			draws[d] = true
		}
	}
	return nil
}

func keyOf(item *xragent.Item) string {
	key, _ := xragent.ReadAnswer(item.Question, item.Question.Key) // an item's key is readable
	return key
}

// sampleNote is what groups need of a sample.
type sampleNote struct {
	place
	draw   int // -1: none is known
	sample string
	score  float64
	text   artifacts.Digest // of the whole sample, where samples of several pages are put together
}

func noteOf(d *contract.RewardedSample) sampleNote {
	return sampleNote{place: place{d.Step, d.Group}, draw: drawOf(d.Draw), sample: d.Sample, score: d.Score}
}

func drawOf(d *int) int {
	if d == nil {
		return -1
	}
	return *d
}

// groupsOf sorts samples into groups, in the order in which they come.
func groupsOf(samples []sampleNote, size int) []Group {
	type seat struct {
		draw   int
		sample string
	}
	out := []Group{}
	number, rewards, seats := map[place]int{}, [][]float64{}, []map[seat]bool{}
	for i := range samples {
		d := &samples[i]
		k, known := number[d.place]
		if !known {
			k = len(out)
			number[d.place] = k
			out, rewards, seats = append(out, Group{GroupID: d.group, Step: d.step}), append(rewards, nil), append(seats, map[seat]bool{})
		}
		rewards[k] = append(rewards[k], d.score)
		at := seat{draw: d.draw}
		if d.draw < 0 {
			at.sample = d.sample
		}
		if seats[k][at] {
			out[k].Again++
		}
		seats[k][at] = true
	}
	for k := range out {
		out[k].Size = len(seats[k])
		out[k].Complete = out[k].Size == size
		out[k].Degenerate = out[k].Size > 1 && xragent.Degenerate(rewards[k])
	}
	return out
}
