package evaltest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"

	"cxrepro/artifacts"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
)

// Benchmark stores n cases of each task under rules and returns the manifest. reversed lists the
// cases the other way round before they are sorted, as a case list in another order does.
func Benchmark(ctx context.Context, store *artifacts.Repository, rules cxreasonbench.Rules, tasks []cxreasonbench.Task, n int, reversed bool) (artifacts.Ref, *contract.Benchmark, error) {
	pack := cxreasonbench.Prompts()
	b := &contract.Benchmark{
		Format: contract.BenchmarkFormat, Source: "build", Rules: rules.String(), Seed: 1, System: pack.System(), DataUse: "synthetic",
	}
	for _, task := range cxreasonbench.Tasks() {
		if !slices.Contains(tasks, task) {
			continue
		}
		list := sources(task, n)
		var ids []string
		for _, s := range list {
			ids = append(ids, s.Case)
		}
		deal, err := cxreasonbench.DealFormats(rules, 1, task, ids)
		if err != nil {
			return artifacts.Ref{}, nil, err
		}
		var cases []contract.BenchmarkCase
		for i, s := range list {
			items, err := cxreasonbench.BuildItems(rules, 1, pack, s, deal[i])
			if err != nil {
				return artifacts.Ref{}, nil, err
			}
			doc := contract.CaseDoc{Format: contract.CaseDocFormat, Task: task, ID: s.Case, View: s.View.String(), Items: items, Pictures: map[string]artifacts.Ref{}}
			if err := draw(ctx, store, &doc); err != nil {
				return artifacts.Ref{}, nil, err
			}
			ref, err := put(ctx, store, doc, contract.CaseMediaType)
			if err != nil {
				return artifacts.Ref{}, nil, err
			}
			cases = append(cases, contract.BenchmarkCase{Task: task, ID: s.Case, Doc: ref})
			b.Tally.Count(items...)
		}
		if reversed {
			slices.Reverse(cases)
		}
		slices.SortFunc(cases, func(x, y contract.BenchmarkCase) int { return bytes.Compare([]byte(x.ID), []byte(y.ID)) })
		b.Cases = append(b.Cases, cases...)
	}
	ref, err := put(ctx, store, b, contract.BenchmarkMediaType)
	return ref, b, err
}

// sources are cases whose readings are spread over what the options can say.
func sources(task cxreasonbench.Task, n int) []cxreasonbench.Source {
	r := rand.New(rand.NewPCG(11, uint64(task)))
	list := make([]cxreasonbench.Source, n)
	row, _ := cxreasonbench.RowOf(task)
	for i := range list {
		id := fmt.Sprintf("%s-%03d", task, i)
		s := cxreasonbench.Source{
			Task: task, Case: id, View: cxr.ViewPA, Radiograph: "p10/p10000001/s50000001/" + id + ".png",
			Overlays: cxreasonbench.OverlaysOf(cxreasonbench.Tasks()),
		}
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
		for k := range s.Reading.Parts {
			s.Reading.Parts[k] = r.IntN(3) > 0
		}
		s.Reading.Parts[5] = s.Reading.Parts[4]
		list[i] = s
	}
	return list
}

// draw stores a small picture for everything that the case shows.
func draw(ctx context.Context, store *artifacts.Repository, doc *contract.CaseDoc) error {
	for _, it := range doc.Items {
		for _, q := range it.Questions {
			for _, p := range q.Pictures {
				if _, there := doc.Pictures[p.Path]; there {
					continue
				}
				ref, err := store.Put(ctx, shade(p.Path), "image/png")
				if err != nil {
					return err
				}
				doc.Pictures[p.Path] = ref
			}
		}
	}
	return nil
}

// shade is a grey pattern that depends on a name.
func shade(name string) []byte {
	h := artifacts.Sum([]byte(name))
	m := image.NewGray(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			m.SetGray(x, y, color.Gray{Y: h[(y/12*6+x/12)%len(h)]})
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, m) != nil {
		return nil // a buffer takes everything
	}
	return b.Bytes()
}

func put(ctx context.Context, store *artifacts.Repository, v any, mediaType string) (artifacts.Ref, error) {
	data, err := artifacts.Canonical(v)
	if err != nil {
		return artifacts.Ref{}, err
	}
	return store.Put(ctx, data, mediaType)
}
