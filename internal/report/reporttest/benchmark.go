package reporttest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"path"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxr"
	"cxrepro/internal/cxreasonbench"
)

// Benchmark is a stored benchmark with its cases by number.
type Benchmark struct {
	Ref   artifacts.Ref
	Doc   contract.Benchmark
	Cases []contract.CaseDoc
}

// readings are values that every task has an answer for.
var readings = map[string]float64{
	"cardiomegaly": 0.52, "mediastinal_widening": 0.28, "carina_angle": 65, "rotation": 0.2, "aortic_knob_enlargement": 2.1,
	"descending_aorta_enlargement": 2.7, "descending_aorta_tortuous": 0.0011, "ascending_aorta_enlargement": 0.12,
}

// NewBenchmark builds n cases of each task and stores them.
func NewBenchmark(ctx context.Context, store *artifacts.Repository, rules cxreasonbench.Rules, n int, class string) (*Benchmark, error) {
	pack := cxreasonbench.Prompts()
	b := &Benchmark{Doc: contract.Benchmark{
		Format: contract.BenchmarkFormat, Source: "build", Rules: rules.String(), Seed: 1, System: pack.System(), DataUse: class,
	}}
	pictures := map[string]artifacts.Ref{}
	for _, task := range cxreasonbench.Tasks() {
		sources := sources(task, n)
		ids := make([]string, n)
		for i, s := range sources {
			ids[i] = s.Case
		}
		deal, err := cxreasonbench.DealFormats(rules, 1, task, ids)
		if err != nil {
			return nil, err
		}
		for i, s := range sources {
			items, err := cxreasonbench.BuildItems(rules, 1, pack, s, deal[i])
			if err != nil {
				return nil, err
			}
			doc := contract.CaseDoc{Format: contract.CaseDocFormat, Task: task, ID: s.Case, View: s.View.String(), Items: items, Pictures: map[string]artifacts.Ref{}}
			if err := drawAll(ctx, store, &doc, pictures); err != nil {
				return nil, err
			}
			ref, err := put(ctx, store, doc, contract.CaseMediaType)
			if err != nil {
				return nil, err
			}
			b.Doc.Cases = append(b.Doc.Cases, contract.BenchmarkCase{Task: task, ID: s.Case, Doc: ref})
			b.Cases = append(b.Cases, doc)
			b.Doc.Tally.Count(items...)
		}
	}
	var err error
	b.Ref, err = put(ctx, store, b.Doc, contract.BenchmarkMediaType)
	return b, err
}

func sources(task cxreasonbench.Task, n int) []cxreasonbench.Source {
	var all []cxreasonbench.Overlay
	for _, t := range cxreasonbench.Tasks() {
		for _, s := range cxreasonbench.Structures(t) {
			all = append(all, cxreasonbench.Overlay{Task: t, Structure: s})
		}
	}
	list := make([]cxreasonbench.Source, n)
	for i := range list {
		s := cxreasonbench.Source{Task: task, Case: fmt.Sprintf("%s-%03d", task, i), View: cxr.ViewPA, Overlays: all}
		s.Radiograph = "p10/p10000001/s50000001/" + s.Case + ".jpg"
		s.Reading.Number = readings[task.String()]
		s.Reading.Right, s.Reading.Left, s.Reading.Rib, s.Reading.Direction = 0.45, 0.55, 9, cxreasonbench.Flat
		s.Reading.Parts = [6]bool{true, i%2 == 0, true, true, true, true}
		list[i] = s
	}
	return list
}

// drawAll stores a small picture for everything that the items show; cases of a task share them.
func drawAll(ctx context.Context, store *artifacts.Repository, doc *contract.CaseDoc, kept map[string]artifacts.Ref) error {
	for _, it := range doc.Items {
		for _, q := range it.Questions {
			for _, p := range q.Pictures {
				motif := path.Dir(p.Path)
				ref, ok := kept[motif]
				if !ok {
					var err error
					if ref, err = store.Put(ctx, drawn(motif, p.Kind), "image/png"); err != nil {
						return err
					}
					kept[motif] = ref
				}
				doc.Pictures[p.Path] = ref
			}
		}
	}
	return nil
}

// drawn is a grey picture with a block whose place and colour depend on the motif.
func drawn(motif string, kind cxreasonbench.PictureKind) []byte {
	h := artifacts.Sum([]byte(motif))
	r := rand.New(rand.NewPCG(uint64(h[0])<<8|uint64(h[1]), uint64(h[2])))
	img := image.NewRGBA(image.Rect(0, 0, 48, 56))
	x, y := r.IntN(36), r.IntN(44)
	for i := range 48 {
		for k := range 56 {
			g := uint8(30 + 2*i + k)
			c := color.RGBA{g, g, g, 255}
			if kind != cxreasonbench.Radiograph && i >= x && i < x+12 && k >= y && k < y+12 {
				c = color.RGBA{200, 40, 40, 255}
			}
			img.Set(i, k, c)
		}
	}
	var b bytes.Buffer
	if png.Encode(&b, img) != nil {
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
