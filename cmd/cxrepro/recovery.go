package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/tabwriter"

	"cxrepro/internal/chexstruct"
	"cxrepro/internal/phantom"
)

// recovered says how well one measurement recovers the truth of phantoms: over Compared
// images, the mean, median and largest absolute error and the mean signed error. Exact counts
// equal values, for measurements that are numbers of things or directions.
type recovered struct {
	Measurement string  `json:"measurement"`
	Unit        string  `json:"unit"`
	Compared    int     `json:"compared"`
	Mean        float64 `json:"mean_error"`
	Median      float64 `json:"median_error"`
	Worst       float64 `json:"largest_error"`
	Bias        float64 `json:"bias"`
	Exact       *int    `json:"exact,omitempty"`
}

// readTruth reads the truth of every phantom of a folder, by picture id.
func readTruth(dir string) (map[string]*phantom.Truth, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	if err != nil {
		return nil, err
	}
	out := map[string]*phantom.Truth{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var t phantom.Truth
		if err := json.Unmarshal(data, &t); err != nil {
			return nil, fmt.Errorf("truth %s: %w", filepath.Base(file), err)
		}
		if t.Format != phantom.TruthFormat {
			return nil, fmt.Errorf("truth %s: format %q, want %q", filepath.Base(file), t.Format, phantom.TruthFormat)
		}
		out[t.ID] = &t
	}
	return out, nil
}

// measuredFinding is what is compared of one finding.
type measuredFinding struct {
	Status       string                      `json:"status"`
	Index        chexstruct.Value            `json:"index"`
	Measurements map[string]chexstruct.Value `json:"measurements"`
}

// comparison is one measurement: where its value stands in a finding, and in the truth.
type comparison struct {
	name, unit string
	task       chexstruct.Task
	value      func(measuredFinding) (float64, bool)
	truth      func(*phantom.Truth) (float64, bool)
	// exact says that equality is what counts.
	exact bool
}

// comparisons lists every measurement whose truth a phantom states.
func comparisons() []comparison {
	list := []comparison{
		index("cardiothoracic ratio", "", chexstruct.Cardiomegaly, "cardiomegaly", -1, false),
		index("mediastinal ratio", "", chexstruct.MediastinalWidening, "mediastinal_widening", -1, false),
		index("carina angle", "degrees", chexstruct.CarinaAngle, "carina_angle", -1, false),
		index("rotation ratio", "", chexstruct.Rotation, "rotation", -1, false),
		index("scapula over lung, right", "", chexstruct.Projection, "projection_right", 0, false),
		index("scapula over lung, left", "", chexstruct.Projection, "projection_left", 1, false),
		index("rib on the diaphragm", "ribs", chexstruct.Inspiration, "inspiration", -1, true),
		index("aortic knob over trachea", "", chexstruct.AorticKnobEnlargement, "aortic_knob_enlargement", -1, false),
		index("ascending aorta beyond its line", "", chexstruct.AscendingAortaEnlargement, "ascending_aorta_enlargement", -1, false),
		index("descending aorta over trachea", "", chexstruct.DescendingAortaEnlargement, "descending_aorta_enlargement", -1, false),
		index("curvature of the descending aorta", "1/px", chexstruct.DescendingAortaTortuous, "descending_aorta_tortuous", -1, false),
		trachea(),
	}
	for _, part := range [][2]string{{"apex", "apex"}, {"side", "side"}, {"bottom", "base"}} {
		for _, side := range []string{"right", "left"} {
			list = append(list, distance(part[0], part[1], side))
		}
	}
	return list
}

// index compares a task's index, or one of its pair, with the truth of that name.
func index(name, unit string, task chexstruct.Task, truth string, at int, exact bool) comparison {
	return comparison{name: name, unit: unit, task: task, exact: exact,
		value: func(f measuredFinding) (float64, bool) {
			if at < 0 {
				return f.Index.Float()
			}
			if at >= f.Index.Len() {
				return 0, false
			}
			return f.Index.At(at).Float()
		},
		truth: func(t *phantom.Truth) (float64, bool) { v, ok := t.Index[truth]; return v, ok },
	}
}

// sides gives directions a number, so that equal is equal.
var sides = map[string]float64{"flat": 0, "left": -1, "right": 1}

// trachea compares the majority side of the trachea.
func trachea() comparison {
	return comparison{name: "side of the trachea", unit: "side", task: chexstruct.TracheaDeviation, exact: true,
		value: func(f measuredFinding) (float64, bool) {
			text, ok := f.Index.Text()
			v, known := sides[text]
			return v, ok && known
		},
		truth: func(t *phantom.Truth) (float64, bool) { v, ok := sides[t.Trachea]; return v, ok },
	}
}

// distance compares how far a part of a lung stays from the edge of the film.
func distance(part, truth, side string) comparison {
	return comparison{name: "lung " + truth + " to the edge, " + side, unit: "of the film", task: chexstruct.Inclusion,
		value: func(f measuredFinding) (float64, bool) { return f.Measurements[part+"_ratio_"+side].Float() },
		truth: func(t *phantom.Truth) (float64, bool) { v, ok := t.Inclusion[truth+"_"+side]; return v, ok },
	}
}

// recovery compares every measurement of a reproduction over phantoms with their truth.
// Findings that failed quality control are compared too: their value is what was measured.
func recovery(ctx context.Context, o *outcome, truth map[string]*phantom.Truth) ([]recovered, error) {
	list := comparisons()
	errs := make([][]float64, len(list))
	err := eachWindow(ctx, o.store, o.receipt, func(w windowRows) error {
		for i, e := range w.Entries {
			t, ok := truth[e.ID]
			if !ok {
				continue
			}
			for k, c := range list {
				rows := w.Rows[c.task.String()]
				if rows == nil {
					continue
				}
				var f measuredFinding
				if err := json.Unmarshal(rows[i].Finding, &f); err != nil {
					return fmt.Errorf("%s of case %d: %w", c.task, e.Case, err)
				}
				got, okGot := c.value(f)
				want, okWant := c.truth(t)
				if okGot && okWant {
					errs[k] = append(errs[k], got-want)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]recovered, len(list))
	for k, c := range list {
		out[k] = recoveredFrom(c, errs[k])
	}
	return out, nil
}

func recoveredFrom(c comparison, errs []float64) recovered {
	r := recovered{Measurement: c.name, Unit: c.unit, Compared: len(errs)}
	exact := 0
	size := make([]float64, len(errs))
	for i, e := range errs {
		size[i] = math.Abs(e)
		r.Mean += size[i] / float64(len(errs))
		r.Bias += e / float64(len(errs))
		r.Worst = max(r.Worst, size[i])
		if e == 0 {
			exact++
		}
	}
	sort.Float64s(size)
	if n := len(size); n > 0 {
		r.Median = (size[(n-1)/2] + size[n/2]) / 2
	}
	if c.exact {
		r.Exact = &exact
	}
	return r
}

// printRecovery prints one line per measurement.
func printRecovery(w io.Writer, list []recovered, phantoms int) {
	fmt.Fprintf(w, "recovery of the truth of %d phantoms (absolute errors; measured through the model, quality control ignored)\n", phantoms)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "measurement\tcompared\tmean\tmedian\tlargest\tbias\tunit")
	for _, r := range list {
		if r.Compared == 0 {
			fmt.Fprintf(t, "%s\t0\t\t\t\t\t%s\n", r.Measurement, r.Unit)
			continue
		}
		if r.Exact != nil {
			fmt.Fprintf(t, "%s\t%d\t%d equal, largest %s\t\t\t\t%s\n", r.Measurement, r.Compared, *r.Exact, figure(r.Worst), r.Unit)
			continue
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%s\t%s\n", r.Measurement, r.Compared, figure(r.Mean), figure(r.Median), figure(r.Worst), figure(r.Bias), r.Unit)
	}
	t.Flush()
	fmt.Fprintln(w)
}

// figure prints a number with two significant digits beyond the point, small ones in full.
func figure(v float64) string {
	text := fmt.Sprintf("%.4f", v)
	if v != 0 && math.Abs(v) < 0.001 {
		text = fmt.Sprintf("%.6f", v)
	}
	if math.Abs(v) >= 1 {
		text = fmt.Sprintf("%.2f", v)
	}
	return strings.TrimSuffix(text, ".00")
}
