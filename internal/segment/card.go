package segment

import (
	"bytes"
	"fmt"
	"io/fs"

	"github.com/goccy/go-yaml"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/onnx"
)

// CardFormat is the one format of cards that is read.
const CardFormat = "cxrepro-model-card-1"

// NoStructure stands in a card's channel list for a channel that means nothing to us.
const NoStructure = "-"

// Card describes one model file: everything about it that can change a mask, and what a
// person should know before using it.
type Card struct {
	Format   string   `yaml:"format" json:"format"`
	Name     string   `yaml:"name" json:"name"`
	Version  string   `yaml:"version" json:"version"`
	File     string   `yaml:"file" json:"file"` // relative to the card
	SHA256   string   `yaml:"sha256" json:"sha256"`
	Licence  Licence  `yaml:"licence" json:"licence"`
	Source   string   `yaml:"source" json:"source"`
	Input    Input    `yaml:"input" json:"input"`
	Output   Output   `yaml:"output" json:"output"`
	Channels []string `yaml:"channels" json:"channels"`
	Notes    string   `yaml:"notes" json:"notes,omitempty"`
	Measured *Figures `yaml:"measured" json:"measured,omitempty"`

	file       *onnx.CardFile
	structures []anatomy.Structure // by channel, 0 for NoStructure
	digest     artifacts.Digest
}

// Licence says under which terms the weights may be used.
type Licence struct {
	Name   string `yaml:"name" json:"name"`
	Notice string `yaml:"notice" json:"notice,omitempty"` // shown whenever the model is loaded
}

// Input says how a picture becomes the model's input.
type Input struct {
	Name     string    `yaml:"name" json:"name"`
	Width    int       `yaml:"width" json:"width"`
	Height   int       `yaml:"height" json:"height"`
	Channels int       `yaml:"channels" json:"channels"`
	Layout   string    `yaml:"layout" json:"layout"`
	Divisor  float64   `yaml:"divisor" json:"divisor"`
	Mean     []float64 `yaml:"mean" json:"mean"`
	Std      []float64 `yaml:"std" json:"std"`
	Resize   Resize    `yaml:"resize" json:"resize"`
}

// Output kinds.
const (
	KindLogits = "logits" // float32, in the mask when greater than the threshold
	KindMasks  = "masks"  // uint8 or bool, in the mask when not zero
)

// Output says what the model puts out.
type Output struct {
	Name      string  `yaml:"name" json:"name"`
	Kind      string  `yaml:"kind" json:"kind"`
	Threshold float64 `yaml:"threshold" json:"threshold"`
	Layout    string  `yaml:"layout" json:"layout"`
	Width     int     `yaml:"width" json:"width"`
	Height    int     `yaml:"height" json:"height"`
}

// Figures are the model's measured overlaps on held-out data.
type Figures struct {
	Data  string   `yaml:"data" json:"data"`
	Cases int      `yaml:"cases" json:"cases"`
	Rows  []Figure `yaml:"rows" json:"rows"`
}

// Figure is one structure's measured overlap.
type Figure struct {
	Structure string  `yaml:"structure" json:"structure"`
	DiceMean  float64 `yaml:"dice_mean" json:"dice_mean"`
	DiceMin   float64 `yaml:"dice_min" json:"dice_min"`
	IoUMean   float64 `yaml:"iou_mean" json:"iou_mean,omitempty"`
}

// LoadCard reads and validates a card; the model file itself is not opened.
//
// Errors: *CardError, with every violation.
func LoadCard(file string) (*Card, error) {
	f, err := onnx.ReadCard(file)
	if err != nil {
		return nil, &CardError{Path: file, Err: err}
	}
	return parseCard(f)
}

// LoadCardFS is LoadCard for a card and a model that are part of the program.
func LoadCardFS(fsys fs.FS, file string) (*Card, error) {
	f, err := onnx.ReadCardFS(fsys, file)
	if err != nil {
		return nil, &CardError{Path: file, Err: err}
	}
	return parseCard(f)
}

func parseCard(f *onnx.CardFile) (*Card, error) {
	var c Card
	if err := decodeStrict(f.Text, &c); err != nil {
		return nil, &CardError{Path: f.Path, Err: err}
	}
	c.file = f
	if err := c.Validate(); err != nil {
		return nil, &CardError{Path: f.Path, Err: err}
	}
	return &c, nil
}

// decodeStrict refuses unknown and repeated fields. The YAML library panics on a few
// malformed texts (a tagged scalar where a list belongs); that is the text's fault too.
func decodeStrict(data []byte, c *Card) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("is not valid YAML: %v", r)
		}
	}()
	return yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(c)
}

// Structures returns the structures that the model can find.
func (c *Card) Structures() anatomy.Set {
	var s anatomy.Set
	for _, t := range c.structures {
		s = s.With(t)
	}
	return s
}

// Digest is the digest of the model file that the card names.
func (c *Card) Digest() artifacts.Digest { return c.digest }

// Verify reads the model file and compares its digest with the card's.
//
// Errors: *CardError if the file cannot be read, *DigestError.
func (c *Card) Verify() error {
	_, err := c.Model()
	return err
}

// Model returns the verified bytes of the model file: what is checked is what is run.
//
// Errors: as for Verify.
func (c *Card) Model() ([]byte, error) {
	data, err := c.file.Model(c.File)
	if err != nil {
		return nil, &CardError{Path: c.file.Path, Err: err}
	}
	if got := artifacts.Sum(data); got != c.digest {
		return nil, &DigestError{File: c.File, Want: c.digest, Got: got}
	}
	return data, nil
}

// tensors returns the input and output that the card promises, for one picture.
func (c *Card) tensors() (in, out onnx.Tensor) {
	in = onnx.Tensor{Name: c.Input.Name, Element: onnx.Float32,
		Shape: []int64{1, int64(c.Input.Channels), int64(c.Input.Height), int64(c.Input.Width)}}
	out = onnx.Tensor{Name: c.Output.Name, Element: onnx.Float32,
		Shape: []int64{1, int64(len(c.Channels)), int64(c.Output.Height), int64(c.Output.Width)}}
	return in, out
}
