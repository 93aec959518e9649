package responder

import (
	"cxrepro/internal/cxreasonbench"
)

// course says how a case fares in one path: true where it succeeds, or does what the name says.
type course struct {
	unknown, initial, criteria, rejected, structures, measurement, final, consistent bool
}

// fate is the course of a case in each path.
type fate [cxreasonbench.RePath1 + 1]course

// fates settles the fate of every case of a benchmark for one model and way of sampling, by
// the case's place in the benchmark. The course of the re-evaluation is that of the case whose
// dialogue it is, not of the case that it is about.
func fates(b *Benchmark, m *Model, seed uint64, s cxreasonbench.Sampling) ([]fate, error) {
	tables, err := m.tables(s)
	if err != nil {
		return nil, err
	}
	out := make([]fate, len(b.cases))
	for _, task := range cxreasonbench.Tasks() {
		cases := b.byTask[task]
		c := chooser{exact: m.Behaviour == Exact, seed: seed, names: []string{"fate", m.Name, s.String(), task.String()}, cases: cases}
		for i, f := range c.settle(tables[task], cxreasonbench.ExpertDefined(task)) {
			out[cases[i].index] = f
		}
	}
	return out, nil
}

// settle decides stage by stage, each among those that reach it.
func (c chooser) settle(t Table, expert bool) []fate {
	out := make([]fate, len(c.cases))
	put := func(p cxreasonbench.Path, who []bool, field func(*course) *bool) {
		for i, yes := range who {
			*field(&out[i][p]) = yes
		}
	}
	all := make([]bool, len(c.cases))
	for i := range all {
		all[i] = true
	}

	p := cxreasonbench.Path1
	o := t.of(p).odds(p)
	unknown := c.choose(o.unknown, all, "path1", "unknown")
	entered := without(all, unknown)
	criteria := c.choose(o.criteria, entered, "path1", "criteria")
	right := and(entered, criteria)
	rejected := make([]bool, len(all))
	if expert {
		rejected = c.choose(o.rejected, right, "path1", "rejected")
	}
	entering := and(right, rejected)
	for i := range entering {
		entering[i] = entering[i] || unknown[i]
	}
	final := c.stages(o, p, without(right, rejected), put)
	ended := c.choose(o.aligned, final, "path1", "aligned")
	others := c.choose(o.initial, without(entered, final), "path1", "initial")
	initial := make([]bool, len(all))
	for i := range initial {
		initial[i] = others[i]
		if final[i] {
			initial[i] = ended[i]
		}
	}
	put(p, unknown, func(x *course) *bool { return &x.unknown })
	put(p, initial, func(x *course) *bool { return &x.initial })
	put(p, criteria, func(x *course) *bool { return &x.criteria })
	put(p, rejected, func(x *course) *bool { return &x.rejected })

	p = cxreasonbench.Path2
	final = c.stages(t.of(p).odds(p), p, entering, put)

	p = cxreasonbench.RePath1
	o = t.of(p).odds(p)
	initial = c.choose(o.initial, final, "re_path1", "initial")
	criteria = c.choose(o.criteria, and(final, initial), "re_path1", "criteria")
	put(p, initial, func(x *course) *bool { return &x.initial })
	put(p, criteria, func(x *course) *bool { return &x.criteria })
	c.stages(o, p, and(and(final, initial), criteria), put)
	return out
}

// stages settles structures, measurement, last question and value of a path, and returns who
// ends right.
func (c chooser) stages(o odds, p cxreasonbench.Path, asked []bool, put func(cxreasonbench.Path, []bool, func(*course) *bool)) []bool {
	structures := c.choose(o.structures, asked, p.String(), "structures")
	asked = and(asked, structures)
	measurement := c.choose(o.measurement, asked, p.String(), "measurement")
	asked = and(asked, measurement)
	final := c.choose(o.final, asked, p.String(), "final")
	consistent := c.choose(o.consistent, asked, p.String(), "consistent")
	if o.apart {
		right, others := and(asked, final), without(asked, final)
		ifRight := c.choose(o.ifRight, right, p.String(), "consistent", "right")
		ifWrong := c.choose(o.ifWrong, others, p.String(), "consistent", "wrong")
		for i := range consistent {
			consistent[i] = final[i] && ifRight[i] || !final[i] && ifWrong[i]
		}
	}
	put(p, structures, func(x *course) *bool { return &x.structures })
	put(p, measurement, func(x *course) *bool { return &x.measurement })
	put(p, final, func(x *course) *bool { return &x.final })
	put(p, consistent, func(x *course) *bool { return &x.consistent })
	return and(asked, final)
}
