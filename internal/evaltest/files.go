package evaltest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dataset"
	"cxrepro/internal/datause"
)

// Files below the folder that Write writes into.
const (
	SpecFile      = "spec.yaml"
	EndpointsFile = "endpoints.yaml"
	ReleaseFolder = "release"
)

// Write lays the evaluation out as files for the command: the benchmark as a release with its
// radiographs, the spec with its model cards, and the endpoint card of the responder, which may
// have so many requests in flight. reversed turns the case lists of the release around.
func (l *Lab) Write(dir string, concurrency int, reversed bool) error {
	if err := l.writeRelease(filepath.Join(dir, ReleaseFolder), reversed); err != nil {
		return err
	}
	files := map[string]string{SpecFile: l.text}
	models := ""
	for name := range l.gates {
		files[name+".yaml"] = cardText(name)
		models += fmt.Sprintf("      %s: %s\n", name, name)
	}
	files[EndpointsFile] = fmt.Sprintf(`endpoints:
  - name: responder
    adapter: openai
    url: %s
    models:
%s    limits: {concurrency: %d, timeout: 20s}
    price: {currency: USD, input: 2, output: 8}
    attestation: {local: true}
`, l.URL, models, concurrency)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lab) writeRelease(dir string, reversed bool) error {
	write := func(name string, data []byte) error {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, data, 0o644)
	}
	declared, err := dataset.Declaration{Name: "made", DataUse: datause.Synthetic, MadeBy: "a test"}.Encode()
	if err != nil {
		return err
	}
	if err := write(dataset.DeclarationFile, declared); err != nil {
		return err
	}
	w := &cxreasonbench.LayoutWriter{Write: write}
	cases := slices.Clone(l.Manifest.Cases)
	if reversed {
		slices.Reverse(cases)
	}
	for _, c := range cases {
		doc, err := l.caseDoc(c)
		if err != nil {
			return err
		}
		if err := w.Case(c.Task, c.ID, doc.Items); err != nil {
			return err
		}
		for _, it := range doc.Items {
			for _, q := range it.Questions {
				for _, p := range q.Pictures {
					if err := write(cxreasonbench.PictureFile(p), shade(p.Path)); err != nil {
						return err
					}
				}
			}
		}
	}
	return w.Close(cxreasonbench.Manifest{Recipe: cxreasonbench.Recipe{
		Rules: l.rules, Sample: cxreasonbench.SampleRandom, Profile: cxreasonbench.ProfileOfficial, Seed: 1,
	}})
}

func (l *Lab) caseDoc(c contract.BenchmarkCase) (doc contract.CaseDoc, err error) {
	data, err := l.Store.Get(context.Background(), c.Doc)
	if err != nil {
		return doc, err
	}
	return doc, json.Unmarshal(data, &doc)
}
