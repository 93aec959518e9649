package verify

import (
	"context"
	"fmt"
	"strings"

	"cxrepro/activities"
)

// level4 measures every image again and builds the questions again.
func (v *verifier) level4(ctx context.Context) error {
	step := Step{Level: Images}
	var sum activities.Window
	findings := v.findings()
	if findings != nil && findings.Level >= Tables {
		if err := v.measure(ctx, findings, &sum); err != nil {
			return err
		}
		step.Checked += int64(sum.Images)
	}
	built, err := v.build(ctx)
	if err != nil {
		return err
	}
	step.Checked += int64(built.Built)
	step.Done = imagesSaid(sum, built)
	step.Open = v.why(Images)
	if sum.Images > 0 && sum.Pictures < sum.Images {
		step.Open = joined(step.Open, fmt.Sprintf("of %d images no picture is at hand (--data): their facts and masks are taken as they are", sum.Images-sum.Pictures))
	} else if sum.Images > 0 && sum.Masks == 0 {
		step.Open = joined(step.Open, "masks are taken as they are (--segment runs the model)")
	}
	if len(sum.Other) > 0 {
		step.Open = joined(step.Open, fmt.Sprintf("the model gave other masks of %d images than the recorded ones, which inference does not promise to repeat; the findings follow from those", len(sum.Other)))
	}
	v.out.Steps = append(v.out.Steps, step)
	return nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

func (v *verifier) findings() *Unit {
	for i := range v.out.Units {
		if v.out.Units[i].Findings {
			return &v.out.Units[i]
		}
	}
	return nil
}

// measure computes the findings of every window anew.
func (v *verifier) measure(ctx context.Context, u *Unit, sum *activities.Window) error {
	n, err := v.audit.Windows(ctx)
	if err != nil {
		return v.unreadable(err)
	}
	level := Images
	for i := range n {
		v.o.Progress("images", int64(sum.Images))
		w, err := v.audit.Measure(ctx, i, v.o.Segment)
		if err != nil {
			if err := v.unreadable(err); err != nil {
				return err
			}
			v.stop(ctx, u, err)
			level = 0
			continue
		}
		sum.Images += w.Images
		sum.Pictures += w.Pictures
		sum.Masks += w.Masks
		sum.Other = append(sum.Other, w.Other...)
		for _, d := range w.Found {
			v.differ(u, Images, Fault{Object: d.Object, What: d.What, Detail: d.Detail})
			level = 0
		}
	}
	u.Level = max(u.Level, level)
	return nil
}

// build builds the benchmark anew, and says of every task how far it comes.
func (v *verifier) build(ctx context.Context) (activities.Cases, error) {
	out, err := v.audit.Benchmark(ctx)
	if err != nil {
		if err := v.unreadable(err); err != nil {
			return out, err
		}
		v.eachAt(Outcomes, func(u *Unit) { u.Why = "the questions cannot be built again: " + brief(err) })
		return out, nil
	}
	findings := v.findings()
	for _, d := range out.Found {
		v.out.fault(Fault{Level: Images, Object: d.Object, What: d.What, Detail: d.Detail})
	}
	v.eachAt(Outcomes, func(u *Unit) {
		switch {
		case len(out.Found) > 0:
			u.Why = out.Found[0].What + ": " + out.Found[0].Detail
		case findings == nil:
			u.Why = "the benchmark is a release: its questions and pictures are taken as they are"
		case findings.Level < Images:
			u.Why = "the findings that the questions are built from reach no more than level " + fmt.Sprint(findings.Level)
		case out.NoPicture > 0:
			u.Why = fmt.Sprintf("the radiographs of %d cases are not at hand (--data)", out.NoPicture)
		default:
			u.Level = Images
		}
	})
	return out, nil
}

// eachAt calls fn for the units of evaluations that reached a level.
func (v *verifier) eachAt(level int, fn func(*Unit)) {
	for i := range v.out.Units {
		if u := &v.out.Units[i]; !u.Findings && u.Level == level && u.Why == "" {
			fn(u)
		}
	}
}

func imagesSaid(sum activities.Window, built activities.Cases) string {
	var parts []string
	if sum.Images > 0 {
		parts = append(parts, fmt.Sprintf("%d images measured again from their masks", sum.Images))
	}
	if sum.Pictures > 0 {
		parts = append(parts, fmt.Sprintf("facts of %d from their pictures", sum.Pictures))
	}
	if sum.Masks > 0 {
		parts = append(parts, fmt.Sprintf("masks of %d made again", sum.Masks))
	}
	if built.Built > 0 {
		parts = append(parts, fmt.Sprintf("questions and pictures of %d cases built again", built.Built))
	}
	if len(parts) == 0 {
		return "nothing could be measured or built again"
	}
	return strings.Join(parts, ", ")
}
