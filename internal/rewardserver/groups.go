package rewardserver

import (
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

// groupsOf sorts samples into groups, in the order in which they come.
func groupsOf(samples []contract.RewardedSample, size int) []Group {
	out := []Group{}
	number, rewards := map[place]int{}, [][]float64{}
	for i := range samples {
		d := &samples[i]
		at := place{d.Step, d.Group}
		k, known := number[at]
		if !known {
			k = len(out)
			number[at] = k
			out, rewards = append(out, Group{GroupID: d.Group, Step: d.Step}), append(rewards, nil)
		}
		rewards[k] = append(rewards[k], d.Score)
	}
	for k := range out {
		out[k].Size = len(rewards[k])
		out[k].Complete = out[k].Size == size
		out[k].Degenerate = out[k].Size > 1 && xragent.Degenerate(rewards[k])
	}
	return out
}
