package responder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// radiographFolder holds the radiographs beside the questions.
const radiographFolder = "files"

// ReadFolder reads a benchmark in the official layout that was built here: its items file,
// and the radiographs below files/ or, where they are elsewhere, in radiographs, which may be
// nil.
//
// Errors: a folder without items file, an item that is malformed, a radiograph that is missing.
func ReadFolder(fsys, radiographs fs.FS) (*Benchmark, error) {
	f, err := fsys.Open(cxreasonbench.ItemsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("responder: the folder holds no %s; build a benchmark with `cxrepro cxreasonbench build`", cxreasonbench.ItemsFile)
	}
	if err != nil {
		return nil, fmt.Errorf("responder: %w", err)
	}
	defer f.Close()
	cases, err := readItems(f)
	if err != nil {
		return nil, err
	}
	digests := map[string]artifacts.Digest{}
	for i := range cases {
		path, err := radiographOf(cases[i])
		if err != nil {
			return nil, err
		}
		read := func() ([]byte, error) { return readRadiograph(fsys, radiographs, path) }
		digest, ok := digests[path]
		if !ok {
			data, err := read()
			if err != nil {
				return nil, fmt.Errorf("responder: radiograph of a case of %s: %w", cases[i].Task, err)
			}
			digest = artifacts.Sum(data)
			digests[path] = digest
		}
		cases[i].Radiograph, cases[i].Open = digest, read
	}
	return NewBenchmark(cases)
}

// readItems groups the lines of an items file by case.
func readItems(r io.Reader) ([]Case, error) {
	type name struct {
		task cxreasonbench.Task
		id   string
	}
	var cases []Case
	at := map[name]int{}
	lines := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var it cxreasonbench.Item
			if err := json.Unmarshal(line, &it); err != nil {
				return nil, fmt.Errorf("responder: %s, line %d: %w", cxreasonbench.ItemsFile, n, err)
			}
			i, ok := at[name{it.Task, it.Case}]
			if !ok {
				i = len(cases)
				at[name{it.Task, it.Case}] = i
				cases = append(cases, Case{Task: it.Task, ID: it.Case})
			}
			cases[i].Items = append(cases[i].Items, it)
		}
		if err == io.EOF {
			return cases, nil
		}
		if err != nil {
			return nil, fmt.Errorf("responder: %s: %w", cxreasonbench.ItemsFile, err)
		}
	}
}

// radiographOf is the path of the picture of the first question.
func radiographOf(c Case) (string, error) {
	for _, it := range c.Items {
		if it.Path == cxreasonbench.Path1 && it.Stage == cxreasonbench.StageInit && len(it.Questions) == 1 && len(it.Questions[0].Pictures) == 1 {
			return it.Questions[0].Pictures[0].Path, nil
		}
	}
	return "", fmt.Errorf("responder: a case of %s has no first question with one radiograph", c.Task)
}

func readRadiograph(fsys, radiographs fs.FS, path string) ([]byte, error) {
	data, err := fs.ReadFile(fsys, radiographFolder+"/"+path)
	if errors.Is(err, fs.ErrNotExist) && radiographs != nil {
		return fs.ReadFile(radiographs, path)
	}
	return data, err
}

// ReadStored reads a benchmark out of a store: its manifest's case documents, through get,
// which returns the bytes of a reference.
//
// Errors: those of get, a document that is malformed or names no radiograph.
func ReadStored(ctx context.Context, m contract.Benchmark, get func(context.Context, artifacts.Ref) ([]byte, error)) (*Benchmark, error) {
	cases := make([]Case, len(m.Cases))
	for i, c := range m.Cases {
		data, err := get(ctx, c.Doc)
		if err != nil {
			return nil, fmt.Errorf("responder: case %d of the benchmark: %w", i, err)
		}
		var doc contract.CaseDoc
		if err := json.Unmarshal(data, &doc); err != nil {
			return nil, fmt.Errorf("responder: case %d of the benchmark: %w", i, err)
		}
		cases[i] = Case{Task: doc.Task, ID: doc.ID, Items: doc.Items}
		path, err := radiographOf(cases[i])
		if err != nil {
			return nil, err
		}
		ref, ok := doc.Pictures[path]
		if !ok {
			return nil, fmt.Errorf("responder: case %d of the benchmark does not hold the bytes of its radiograph", i)
		}
		cases[i].Radiograph = ref.Digest
		cases[i].Open = func() ([]byte, error) { return get(context.WithoutCancel(ctx), ref) }
	}
	return NewBenchmark(cases)
}
