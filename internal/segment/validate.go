package segment

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/anatomy"
)

// Bounds of what a card may ask for: generous for any network that makes sense, small
// enough that a slip of the pen cannot allocate the machine away.
const (
	maxSide     = 4096
	maxChannels = 1024
	maxElements = 1 << 29 // of one input or output
)

var reName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// Validate checks every field of a card and fills in what LoadCard derives from them.
//
// Errors: all violations, joined; each names its field.
func (c *Card) Validate() error {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if c.Format != CardFormat {
		bad("format", "is %q, this program reads %q", c.Format, CardFormat)
	}
	if !reName.MatchString(c.Name) {
		bad("name", "%q should be lower-case letters, digits and hyphens", c.Name)
	}
	if c.Version == "" {
		bad("version", "is missing")
	}
	if c.File == "" {
		bad("file", "is missing")
	}
	d, err := artifacts.ParseDigest("sha256:" + c.SHA256)
	if strings.Trim(c.SHA256, "0") == "" && c.SHA256 != "" {
		bad("sha256", "is a placeholder; hint: export the model and use the card written beside it, or fill in the file's digest")
	} else if err != nil {
		bad("sha256", "%q should be 64 hex digits", c.SHA256)
	}
	c.digest = d
	if c.Licence.Name == "" {
		bad("licence.name", "is missing")
	}
	if c.Source == "" {
		bad("source", "is missing: say where the weights come from")
	}
	c.Input.validate(bad)
	c.Output.validate(bad)
	c.validateChannels(bad)
	if len(errs) == 0 && (c.Input.Channels*c.Input.Width*c.Input.Height > maxElements || len(c.Channels)*c.Output.Width*c.Output.Height > maxElements) {
		bad("input, output", "more than %d numbers in one tensor", maxElements)
	}
	return errors.Join(errs...)
}

func (in *Input) validate(bad func(string, string, ...any)) {
	if in.Name == "" {
		bad("input.name", "is missing")
	}
	side(in.Width, "input.width", bad)
	side(in.Height, "input.height", bad)
	if in.Channels != 1 && in.Channels != 3 {
		bad("input.channels", "is %d, should be 1 (grey) or 3 (grey three times)", in.Channels)
	}
	if in.Layout != "NCHW" {
		bad("input.layout", "is %q, only NCHW is served", in.Layout)
	}
	if !(in.Divisor > 0) || math.IsInf(in.Divisor, 0) {
		bad("input.divisor", "is %v, should be a positive number such as 255", in.Divisor)
	}
	if len(in.Mean) != in.Channels {
		bad("input.mean", "has %d entries, should have one per channel (%d)", len(in.Mean), in.Channels)
	}
	if len(in.Std) != in.Channels {
		bad("input.std", "has %d entries, should have one per channel (%d)", len(in.Std), in.Channels)
	}
	for i, m := range in.Mean {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			bad(fmt.Sprintf("input.mean[%d]", i), "is not finite")
		}
	}
	for i, s := range in.Std {
		if !(s > 0) || math.IsInf(s, 0) {
			bad(fmt.Sprintf("input.std[%d]", i), "is %v, should be a positive number", s)
		}
	}
	if !in.Resize.Valid() {
		bad("input.resize", "is missing; use one of %s", resizeList())
	}
}

func (o *Output) validate(bad func(string, string, ...any)) {
	if o.Name == "" {
		bad("output.name", "is missing")
	}
	side(o.Width, "output.width", bad)
	side(o.Height, "output.height", bad)
	if o.Layout != "NCHW" {
		bad("output.layout", "is %q, only NCHW is served", o.Layout)
	}
	switch o.Kind {
	case KindLogits:
		if math.IsNaN(o.Threshold) || math.IsInf(o.Threshold, 0) || float64(float32(o.Threshold)) != o.Threshold {
			bad("output.threshold", "is %v, should be a number that a float32 holds exactly", o.Threshold)
		}
	case KindMasks:
		if o.Threshold != 0 {
			bad("output.threshold", "has no meaning for kind %s", KindMasks)
		}
	default:
		bad("output.kind", "is %q, should be %s or %s", o.Kind, KindLogits, KindMasks)
	}
}

func side(n int, field string, bad func(string, string, ...any)) {
	if n < 1 || n > maxSide {
		bad(field, "is %d, should be 1 to %d", n, maxSide)
	}
}

// validateChannels resolves the names; each structure may stand once.
func (c *Card) validateChannels(bad func(string, string, ...any)) {
	if len(c.Channels) < 1 || len(c.Channels) > maxChannels {
		bad("channels", "lists %d, should list 1 to %d", len(c.Channels), maxChannels)
		return
	}
	c.structures = make([]anatomy.Structure, len(c.Channels))
	first := map[anatomy.Structure]int{}
	for i, name := range c.Channels {
		if name == NoStructure {
			continue
		}
		s, ok := anatomy.ByName(name)
		if !ok {
			bad(fmt.Sprintf("channels[%d]", i), "%q is no structure; use an official name, or %q", name, NoStructure)
			continue
		}
		if j, twice := first[s]; twice {
			bad(fmt.Sprintf("channels[%d]", i), "%q stands at %d already", name, j)
			continue
		}
		first[s], c.structures[i] = i, s
	}
	if len(first) == 0 {
		bad("channels", "name no structure at all")
	}
	if c.Measured != nil {
		for i, r := range c.Measured.Rows {
			if s, ok := anatomy.ByName(r.Structure); !ok {
				bad(fmt.Sprintf("measured.rows[%d]", i), "%q is no structure", r.Structure)
			} else if _, ours := first[s]; !ours {
				bad(fmt.Sprintf("measured.rows[%d]", i), "%q is not among the channels", r.Structure)
			}
		}
	}
}
