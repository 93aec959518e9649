package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"

	"cxrepro/internal/bundle"
	"cxrepro/internal/export"
	"cxrepro/internal/segment"
)

// licenceOf reads the licence's name from the bytes of a segmentation model's card.
func licenceOf(card []byte) (string, error) {
	var c struct {
		Licence segment.Licence `yaml:"licence"`
	}
	err := yaml.Unmarshal(card, &c)
	return c.Licence.Name, err
}

// crate writes plan and tables with their crate, as a folder or a zip file.
func (x *exporter) crate() error {
	meta, err := export.Crate(x.effort, nil)
	if err != nil {
		return err
	}
	files := append([]export.File{{Name: bundle.CrateFile, Data: meta}, {Name: bundle.PlanFile, Data: x.effort.PlanText}}, x.effort.Tables...)
	for _, f := range files {
		x.out.Bytes += int64(len(f.Data))
	}
	if !strings.HasSuffix(x.out.Out, ".zip") {
		return x.folder(files)
	}
	_, err = writeBeside(x.out.Out, x.effort.Receipt.DataUse, func(w io.Writer) (struct{}, error) {
		z := zip.NewWriter(w)
		for _, f := range files {
			to, err := z.Create(f.Name)
			if err == nil {
				_, err = to.Write(f.Data)
			}
			if err != nil {
				return struct{}{}, err
			}
		}
		return struct{}{}, z.Close()
	})
	return err
}

// folder writes files below a folder that is empty or not there.
func (x *exporter) folder(files []export.File) error {
	entries, err := os.ReadDir(x.out.Out)
	if err == nil && len(entries) > 0 {
		return usageError("name another one with --out, or empty it", "the folder %s is not empty", x.out.Out)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return usageError("name a folder with --out", "%v", err)
	}
	for _, f := range files {
		path := filepath.Join(x.out.Out, filepath.FromSlash(f.Name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, f.Data, modeFor(x.effort.Receipt.DataUse))
		}
		if err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	return nil
}

// openLineage writes run events.
func (x *exporter) openLineage() error {
	var out bytes.Buffer
	if err := export.OpenLineage(&out, x.effort); err != nil {
		return err
	}
	x.out.Bytes = int64(out.Len())
	if x.out.Out == "" {
		_, err := x.a.out.Write(out.Bytes())
		return err
	}
	_, err := writeBeside(x.out.Out, x.effort.Receipt.DataUse, func(w io.Writer) (int64, error) { return out.WriteTo(w) })
	return err
}

// mlflow writes a tracking store.
func (x *exporter) mlflow() error {
	files, err := export.MLflow(x.effort)
	if err != nil {
		return err
	}
	for _, f := range files {
		x.out.Bytes += int64(len(f.Data))
	}
	return x.folder(files)
}
