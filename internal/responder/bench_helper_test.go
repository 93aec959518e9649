package responder

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
)

// made is a benchmark of n cases for each task with the pictures that it shows. The readings
// are spread over what the options can say; radiographs are synthetic shades.
type made struct {
	rules    cxreasonbench.Rules
	bench    *Benchmark
	pictures map[string][]byte
}

func rulesOf(t testing.TB, preset cxreasonbench.Preset) cxreasonbench.Rules {
	t.Helper()
	r, err := cxreasonbench.NewRules(preset, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shade draws a picture of its own for every number.
func shade(t testing.TB, number, side int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(3, uint64(number)))
	m := image.NewGray(image.Rect(0, 0, side, side))
	grid := [6][6]uint8{}
	for i := range grid {
		for j := range grid[i] {
			grid[i][j] = uint8(r.IntN(256))
		}
	}
	for y := range side {
		for x := range side {
			m.SetGray(x, y, color.Gray{Y: grid[y*6/side][x*6/side]})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sources(task cxreasonbench.Task, n int) []cxreasonbench.Source {
	r := rand.New(rand.NewPCG(7, uint64(task)))
	overlays := cxreasonbench.OverlaysOf(cxreasonbench.Tasks())
	list := make([]cxreasonbench.Source, n)
	for i := range list {
		id := fmt.Sprintf("%s-%03d", task, i)
		s := cxreasonbench.Source{Task: task, Case: id, Radiograph: id + ".png", View: cxr.ViewPA, Overlays: overlays}
		if i%2 == 1 {
			s.View = cxr.ViewAP
		}
		row, _ := cxreasonbench.RowOf(task)
		spread := row.High - row.Low
		switch task {
		case chexstruct.DescendingAortaTortuous:
			spread = 0.003
		case chexstruct.AscendingAortaEnlargement:
			spread = 0.3
		}
		s.Reading.Number = row.Low + r.Float64()*spread
		s.Reading.Right, s.Reading.Left = r.Float64(), r.Float64()
		s.Reading.Rib = 5 + r.IntN(7)
		s.Reading.Direction = cxreasonbench.Directions()[r.IntN(5)]
		for j := range s.Reading.Parts[:5] {
			s.Reading.Parts[j] = r.IntN(3) > 0
		}
		s.Reading.Parts[5] = s.Reading.Parts[4]
		list[i] = s
	}
	return list
}

func makeBenchmark(t testing.TB, preset cxreasonbench.Preset, n int) *made {
	t.Helper()
	m := &made{rules: rulesOf(t, preset), pictures: map[string][]byte{}}
	var cases []Case
	for _, task := range cxreasonbench.Tasks() {
		list := sources(task, n)
		var ids []string
		for _, s := range list {
			ids = append(ids, s.Case)
		}
		deal, err := cxreasonbench.DealFormats(m.rules, 1, task, ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range list {
			items, err := cxreasonbench.BuildItems(m.rules, 1, cxreasonbench.Prompts(), s, deal[i])
			if err != nil {
				t.Fatal(err)
			}
			data := shade(t, len(cases), 96)
			m.pictures[s.Radiograph] = data
			cases = append(cases, Case{Task: task, ID: s.Case, Items: items, Radiograph: artifacts.Sum(data),
				Open: func() ([]byte, error) { return data, nil }})
		}
	}
	var err error
	if m.bench, err = NewBenchmark(cases); err != nil {
		t.Fatal(err)
	}
	return m
}

// picture returns the bytes of a picture that a question shows; those of structures are drawn
// when they are first asked for.
func (m *made) picture(t testing.TB, path string) []byte {
	if _, ok := m.pictures[path]; !ok {
		m.pictures[path] = shade(t, 100_000+len(m.pictures), 64)
	}
	return m.pictures[path]
}

func serve(t testing.TB, m *made, faults *Faults, models ...Model) *Responder {
	t.Helper()
	s, err := New(Options{Benchmark: m.bench, Profile: &Profile{Format: ProfileFormat, Seed: 1, Models: models}, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
