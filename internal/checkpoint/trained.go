package checkpoint

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/overlap"
)

// ReadExamples reads what a trainer was given, a JSON object a line. "images" names the images
// that the example descends from by digest, an empty list for none; "example" is the digest of
// the example, which is that of the line where it is not there. Other fields are the trainer's.
//
// Errors: a line that is none or names no images, by its number.
func ReadExamples(r io.Reader) (out []contract.TrainingExample, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var e contract.TrainingExample
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if e.Images == nil {
			return nil, fmt.Errorf("line %d: it has no images; an example without images says []", n)
		}
		if e.Example.IsZero() {
			e.Example = artifacts.Sum(line)
		}
		out = append(out, e)
	}
	return out, lines.Err()
}

// ErrDataUse is the error of a class of data that is missing or not strict enough.
var ErrDataUse = errors.New("data-use class")

// Trained is what a list of examples was trained on, as far as the data sets of the store know
// its images.
type Trained struct {
	Set      artifacts.Ref
	Examples int
	Images   int
	// Unlisted counts images that no data set of the store lists: of those nothing but the
	// digest can be compared.
	Unlisted int
	DataUse  string
}

// PutTrained records a training set of examples, with what the data sets of the store know of
// their images. dataUse is the class of the images, empty for that of the data sets, the
// strictest where there are several.
//
// Errors: ErrDataUse for a class that is less strict than a data set's, or none where no data set
// says one.
func (r *Recorder) PutTrained(ctx context.Context, name, dataUse string, examples []contract.TrainingExample) (Trained, error) {
	out := Trained{Examples: len(examples)}
	want := map[artifacts.Digest]artifacts.Ref{}
	for _, e := range examples {
		for _, image := range e.Images {
			want[image] = artifacts.Ref{Digest: image}
		}
	}
	known, grouping, sets, err := r.listed(ctx, want, "")
	if err != nil {
		return out, err
	}
	var refs []artifacts.Ref
	var strictest datause.Class
	for _, s := range sets {
		refs = append(refs, s.Ref)
		c, err := datause.Parse(s.Value.DataUse)
		if err != nil {
			return out, fmt.Errorf("data set %s: %w", s.Value.Name, err)
		}
		strictest = max(strictest, c)
	}
	if out.DataUse = dataUse; dataUse == "" && strictest.Valid() {
		out.DataUse = strictest.String()
	}
	switch c, err := datause.Parse(out.DataUse); {
	case out.DataUse == "":
		return out, fmt.Errorf("%w of training set %q: no data set of the store lists its images, so it has to be said", ErrDataUse, name)
	case err != nil:
		return out, fmt.Errorf("%w: %w", ErrDataUse, err)
	case c < strictest:
		return out, fmt.Errorf("%w of training set %q: %s is less strict than %s, that of its images", ErrDataUse, name, c, strictest)
	}
	list := overlap.List{Perceptual: overlap.PerceptualName, Grouping: grouping}
	for _, image := range sortedDigests(want) {
		m, listed := known[image]
		if !listed {
			out.Unlisted++
		}
		m.Image = image
		list.Images = append(list.Images, m)
	}
	out.Images = len(list.Images)
	images, err := r.PutImages(ctx, list, out.DataUse)
	if err != nil {
		return out, err
	}
	out.Set, err = r.PutTrainingSet(ctx, contract.TrainingSet{Name: name, DataUse: out.DataUse, Images: images, Datasets: refs}, examples)
	return out, err
}
