package radcot_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"cxrepro/artifacts"
	"cxrepro/internal/cxr"
	"cxrepro/internal/dataset"
	"cxrepro/internal/phantom"
	"cxrepro/internal/xragent"
	"cxrepro/internal/xragent/bench"
	"cxrepro/internal/xragent/radcot"
	"cxrepro/internal/xragent/radcot/fixture"
)

// folder is a set of files that a fixture writes to and sources read from.
type folder struct{ fstest.MapFS }

func (f folder) WriteFile(name string, data []byte) error {
	f.MapFS[name] = &fstest.MapFile{Data: data}
	return nil
}

func (f folder) sub(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for n, file := range f.MapFS {
		if len(n) > len(name) && n[:len(name)+1] == name+"/" {
			out[n[len(name)+1:]] = file
		}
	}
	return out
}

// smallSpec draws a few of each part from fixture sources.
func smallSpec() radcot.Spec {
	s := radcot.DefaultSpec()
	s.Name, s.Waiver = "small", "a fixture has fewer pictures"
	s.Amounts = radcot.Amounts{Report: radcot.Amount{Draw: 40, Want: 30}, Choice: radcot.Amount{Draw: 60, Want: 20}, ChoiceRL: radcot.Amount{Draw: 14, Want: 10},
		Closed: radcot.Amount{Draw: 30, Want: 20}, Binary: radcot.Amount{Draw: 30, Want: 20}}
	return s
}

var world struct {
	sync.Once
	files folder
	bench []xragent.Item
	err   error
}

// sources are a fixture of 200 studies, 40 SLAKE pictures and 60 OpenI reports, of which the
// benchmark fixture uses the first ones.
func sources(t testing.TB) (radcot.Sources, []xragent.Item) {
	t.Helper()
	world.Do(func() {
		world.files = folder{fstest.MapFS{}}
		world.err = fixture.Write(world.files, fixture.Options{Seed: 3, Studies: 200, Slake: 40, OpenI: 60, Long: 160})
		if world.err == nil {
			b := folder{fstest.MapFS{}}
			world.err = bench.Fixture(bench.CheXbench, bench.FixtureOptions{Questions: 40, Long: 160}, b)
			if world.err == nil {
				var set *bench.Set
				set, world.err = bench.Import(bench.CheXbench, b, bench.Options{Counts: bench.CountsAny})
				world.bench = set.Items
			}
		}
	})
	require.NoError(t, world.err)
	f := world.files
	labels, err := dataset.OpenLabels(f, fixture.MIMIC+"/mimic-cxr-2.0.0-chexpert.csv", "subject_id", "study_id")
	require.NoError(t, err)
	return radcot.Sources{LLaVARad: f.sub(t, fixture.LLaVARad), MIMIC: f.sub(t, fixture.MIMIC), Labels: labels, Slake: f.sub(t, fixture.Slake),
		OpenI: f.sub(t, fixture.OpenI), RadReStruct: f.sub(t, fixture.RadReStruct)}, world.bench
}

func drawn(t testing.TB, spec radcot.Spec) (*radcot.Set, *radcot.Exclusions) {
	t.Helper()
	src, items := sources(t)
	ex, err := radcot.NewExclusions(src.Slake, items, spec.Waiver)
	require.NoError(t, err)
	pool, err := radcot.Gather(spec, src, ex)
	require.NoError(t, err)
	set, err := radcot.Draw(spec, pool)
	require.NoError(t, err)
	return set, ex
}

// clinic holds real tools: phantoms with their masks under the digests of their pictures.
type clinic struct {
	gate  xragent.Gate
	films map[artifacts.Digest]*phantom.Picture
	refs  []artifacts.Ref
	crops map[string]xragent.Observation // by picture and box
	seen  map[artifacts.Digest]xragent.Bundle
}

func newClinic(t testing.TB, n int) *clinic {
	t.Helper()
	gate, err := xragent.DefaultGate(xragent.ProfileCalibrated)
	require.NoError(t, err)
	c := &clinic{gate: gate, films: map[artifacts.Digest]*phantom.Picture{}, crops: map[string]xragent.Observation{}, seen: map[artifacts.Digest]xragent.Bundle{}}
	for i := range n {
		p, err := phantom.New(7, i, phantom.Options{Aspect: 1}).Picture(160, 160)
		require.NoError(t, err)
		data, err := cxr.EncodePNG(p.Image)
		require.NoError(t, err)
		ref := artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: "image/png"}
		c.films[ref.Digest], c.refs = p, append(c.refs, ref)
	}
	return c
}

// run answers a call, by the functions that every user of the agent calls.
func (c *clinic) run(t testing.TB, r xragent.Rollout, call xragent.ToolCall) xragent.Observation {
	t.Helper()
	film := c.films[r.Pictures[call.Image].Digest]
	switch call.Name {
	case xragent.ToolParse:
		return xragent.Outline(call, film.Masks)
	case xragent.ToolLookup:
		return xragent.Observation{Call: call.Number, Name: call.Name, Status: xragent.StatusOK, Text: fixture.Reply(xragent.LookupTranscript(call.Conditions), 0).Text}
	}
	box, o, ok := xragent.CropBox(call, r.Results, film.Masks)
	if !ok {
		return o
	}
	key := fmt.Sprint(r.Pictures[call.Image].Digest.Short(), box)
	if done, there := c.crops[key]; there {
		done.Call = call.Number
		return done
	}
	crop, used, err := xragent.Crop(film.Image, box, xragent.CropOptions{})
	require.NoError(t, err)
	data, err := cxr.EncodePNG(crop)
	require.NoError(t, err)
	o.Status, o.Box, o.Images = xragent.StatusOK, &used, []artifacts.Ref{{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: "image/png"}}
	c.crops[key] = o
	return o
}

func (c *clinic) measure(t testing.TB, r xragent.Rollout) xragent.Bundle {
	t.Helper()
	if b, there := c.seen[r.Pictures[0].Digest]; there {
		return b
	}
	b, err := c.gate.Bundle(xragent.Evidence{View: xragent.AssertedView(cxr.ViewPA), Masks: c.films[r.Pictures[0].Digest].Masks})
	require.NoError(t, err)
	c.seen[r.Pictures[0].Digest] = b
	return b
}

// ask is what a driver asks the teacher with; tests count and change it.
type ask func(w radcot.Work, s radcot.Step) xragent.Turn

func teach(_ radcot.Work, s radcot.Step) xragent.Turn { return fixture.Reply(s.Ask, s.Attempt) }

// finish drives a candidate to its end; order, where given, draws which result comes first.
func (c *clinic) finish(t testing.TB, spec radcot.Spec, w radcot.Work, asked ask, order *rand.Rand) radcot.Work {
	t.Helper()
	for range 60 {
		step, err := spec.Next(w)
		require.NoError(t, err)
		if step.Done {
			return w
		}
		w = c.advance(t, spec, w, step, asked, order)
	}
	t.Fatalf("%s does not end", w.Candidate.ID)
	return w
}

// advance does one thing of a step.
func (c *clinic) advance(t testing.TB, spec radcot.Spec, w radcot.Work, step radcot.Step, asked ask, order *rand.Rand) radcot.Work {
	t.Helper()
	if step.Phase == radcot.Writing {
		w.Written = append(append([]xragent.Turn{}, w.Written...), asked(w, step))
		return w
	}
	r, err := spec.Routed(w, step)
	require.NoError(t, err)
	switch {
	case step.Turn > 0:
		r, err = spec.Agent.Answered(r, asked(w, step))
	case step.Measure && (len(step.Run) == 0 || order != nil && order.IntN(2) == 0):
		r, err = spec.Agent.Measured(r, c.measure(t, r))
	default:
		k := 0
		if order != nil {
			k = order.IntN(len(step.Run))
		}
		r, err = spec.Agent.Observed(r, c.run(t, r, step.Run[k]))
	}
	require.NoError(t, err)
	rollouts := append([]xragent.Rollout{}, w.Rollouts...)
	if step.Attempt < len(rollouts) {
		rollouts[step.Attempt] = r
	} else {
		rollouts = append(rollouts, r)
	}
	w.Rollouts = rollouts
	return w
}

// built runs a whole construction.
func built(t testing.TB, spec radcot.Spec, c *clinic, asked ask, order *rand.Rand) (*radcot.Built, *radcot.Exclusions) {
	t.Helper()
	set, ex := drawn(t, spec)
	for i := range set.Candidates {
		set.Candidates[i].Picture.Image = c.refs[i%len(c.refs)]
	}
	closing := radcot.NewClosing(set, artifacts.Sum([]byte("set")), ex)
	for _, cand := range set.Candidates {
		w := c.finish(t, spec, radcot.Work{Candidate: cand}, asked, order)
		o, err := spec.Outcome(w)
		require.NoError(t, err)
		require.NoError(t, closing.Add(&o))
	}
	b, err := closing.Close()
	require.NoError(t, err)
	return b, ex
}

var shared struct {
	sync.Once
	clinic *clinic
	built  *radcot.Built
}

// whole is one construction for tests that only read it.
func whole(t testing.TB) (*radcot.Built, *clinic) {
	t.Helper()
	shared.Do(func() {
		shared.clinic = newClinic(t, 4)
		shared.built, _ = built(t, smallSpec(), shared.clinic, teach, nil)
	})
	require.NotNil(t, shared.built)
	return shared.built, shared.clinic
}
