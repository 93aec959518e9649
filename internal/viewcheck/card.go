package viewcheck

import (
	"errors"
	"fmt"
	"io/fs"

	"cxrepro/artifacts"
	"cxrepro/internal/onnx"
	"cxrepro/internal/strictyaml"
)

// CardFormat is the one format of cards that is read.
const CardFormat = "cxrepro-view-card-1"

// Card describes one model file of a view check: what it is, whose it is, and how well it
// reads pictures that it was not trained on.
type Card struct {
	Format  string   `yaml:"format" json:"format"`
	Name    string   `yaml:"name" json:"name"`
	Version string   `yaml:"version" json:"version"`
	File    string   `yaml:"file" json:"file"` // relative to the card
	SHA256  string   `yaml:"sha256" json:"sha256"`
	Licence Licence  `yaml:"licence" json:"licence"`
	Source  string   `yaml:"source" json:"source"`
	Input   string   `yaml:"input" json:"input"`   // name of float32 [1, 256, 256, 3]
	Output  string   `yaml:"output" json:"output"` // name of float32 [1, 10]
	Notes   string   `yaml:"notes,omitempty" json:"notes,omitempty"`
	Figures *Figures `yaml:"measured,omitempty" json:"measured,omitempty"`

	file   *onnx.CardFile   `yaml:"-"`
	digest artifacts.Digest `yaml:"-"`
}

// Licence says under which terms the weights may be used.
type Licence struct {
	Name   string `yaml:"name" json:"name"`
	Notice string `yaml:"notice,omitempty" json:"notice,omitempty"` // shown whenever the model is loaded
}

// Figures are what an evaluation measured.
type Figures struct {
	Data  string `yaml:"data" json:"data"`
	Cases int    `yaml:"cases" json:"cases"`
	Heads []Head `yaml:"heads" json:"heads"`
}

// Head is one head's confusion matrix: rows are the truth, columns the reading, in the
// order of [HeadNames].
type Head struct {
	Name      string  `yaml:"name" json:"name"`
	Right     float64 `yaml:"right" json:"right"` // share of right readings
	Confusion [][]int `yaml:"confusion" json:"confusion"`
}

// LoadCard reads and validates a card; the model file itself is not opened.
//
// Errors: *CardError.
func LoadCard(file string) (*Card, error) {
	f, err := onnx.ReadCard(file)
	if err != nil {
		return nil, &CardError{Path: file, Err: err}
	}
	return parse(f)
}

// LoadCardFS is LoadCard for a card and a model that are part of the program.
func LoadCardFS(fsys fs.FS, file string) (*Card, error) {
	f, err := onnx.ReadCardFS(fsys, file)
	if err != nil {
		return nil, &CardError{Path: file, Err: err}
	}
	return parse(f)
}

func parse(f *onnx.CardFile) (*Card, error) {
	var c Card
	origin, err := strictyaml.Decode(f.Path, f.Text, "view card", &c)
	if err != nil {
		return nil, &CardError{Path: f.Path, Err: err}
	}
	if err := c.validate(func(field string) string { return strictyaml.At(origin, f.Path, field) }); err != nil {
		return nil, &CardError{Path: f.Path, Err: err}
	}
	c.file = f
	return &c, nil
}

// validate checks every field; at says where one stands.
func (c *Card) validate(at func(field string) string) error {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s: %s", at(field), field, fmt.Sprintf(format, args...)))
	}
	if c.Format != CardFormat {
		bad("format", "is %q, this program reads %q", c.Format, CardFormat)
	}
	for field, value := range map[string]string{"name": c.Name, "version": c.Version, "file": c.File, "licence.name": c.Licence.Name, "source": c.Source, "input": c.Input, "output": c.Output} {
		if value == "" {
			bad(field, "is empty")
		}
	}
	d, err := artifacts.ParseDigest("sha256:" + c.SHA256)
	if err != nil {
		bad("sha256", "%q should be 64 hex digits", c.SHA256)
	}
	c.digest = d
	if c.Figures != nil {
		if err := c.Figures.validate(); err != nil {
			bad("measured", "%v", err)
		}
	}
	return errors.Join(errs...)
}

func (f *Figures) validate() error {
	names := HeadNames()
	if len(f.Heads) != len(names) {
		return fmt.Errorf("has %d heads, should have %d", len(f.Heads), len(names))
	}
	for i, h := range f.Heads {
		sum, right := 0, 0
		for r, row := range h.Confusion {
			if len(row) != len(names[i]) || len(h.Confusion) != len(names[i]) {
				return fmt.Errorf("head %s: the matrix should be %d x %d", h.Name, len(names[i]), len(names[i]))
			}
			for c, n := range row {
				sum += n
				if r == c {
					right += n
				}
			}
		}
		if sum != f.Cases {
			return fmt.Errorf("head %s: the matrix holds %d cases, not %d", h.Name, sum, f.Cases)
		}
		if got := float64(right) / float64(sum); got-h.Right > 5e-5 || h.Right-got > 5e-5 {
			return fmt.Errorf("head %s: right is %v, the matrix says %.4f", h.Name, h.Right, got)
		}
	}
	return nil
}

// Digest is the digest of the model file that the card names.
func (c *Card) Digest() artifacts.Digest { return c.digest }

// Model returns the verified bytes of the model file: what is checked is what is run.
//
// Errors: *CardError if the file cannot be read or is another one.
func (c *Card) Model() ([]byte, error) {
	data, err := c.file.Model(c.File)
	if err != nil {
		return nil, &CardError{Path: c.file.Path, Err: err}
	}
	if got := artifacts.Sum(data); got != c.digest {
		return nil, &CardError{Path: c.file.Path, Err: fmt.Errorf("model file %s has digest %s, the card says %s; hint: fetch the right file, or write a card for this one", c.File, got, c.digest)}
	}
	return data, nil
}

// Identity is what decides a reading besides the picture: for step keys.
//
// Errors: an unknown provider.
func (c *Card) Identity(provider string) (map[string]any, error) {
	p, err := onnx.ParseProvider(provider)
	if err != nil {
		return nil, err
	}
	return map[string]any{"model": c.digest.String(), "provider": p.String(), "preprocessing": fmt.Sprintf("viewcheck-%d", Version),
		"input": c.Input, "output": c.Output}, nil
}

// CardError reports a card or model file that cannot be used. Permanent.
type CardError struct {
	Path string
	Err  error
}

func (e *CardError) Error() string { return fmt.Sprintf("view card %s: %v", e.Path, e.Err) }
func (e *CardError) Unwrap() error { return e.Err }
