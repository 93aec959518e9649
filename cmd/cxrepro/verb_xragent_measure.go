package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"cxrepro/internal/segment"
	"cxrepro/internal/viewcheck"
	"cxrepro/internal/xragent"
)

// measureFlags are the flags of `xragent measure`.
type measureFlags struct {
	view    viewFlags
	model   string
	profile string
	gateOff bool
	admitAP bool
}

func newXragentMeasureCommand(a *app) *cobra.Command {
	var f measureFlags
	c := &cobra.Command{
		Use:   "measure IMAGE... [--profile table|calibrated]",
		Short: "Take the measurements that the agent is shown, or say why they are withheld",
		Long: `Runs the view check, the segmentation model and the validity gate over pictures and prints
the bundle that turn 2 would be shown: cardiothoracic ratio, asymmetry of the lungs, thoracic
shift, or the code of the first fault. A bundle that is withheld is a result.

Profile table is the block of every assess result; calibrated has the eight mask codes and
limits of X-Ragent's experiments, here those from literature.

With --json: one line per picture with image, view (the four heads) and bundle.

Exit codes: 0 ok; 1 a model or a picture cannot be read; 2 usage.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("name picture files: cxrepro xragent measure IMAGE...", "xragent measure: no picture named")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.measurePictures(c.Context(), f, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.view.model, "view-model", "", "view card (default: PhantomView)")
	fl.StringVar(&f.model, "model", "", "model card of the segmentation (default: PhantomSeg)")
	fl.StringVar(&f.view.provider, "provider", "cpu", "what computes: cpu or cuda; refused if it cannot")
	fl.IntVar(&f.view.threads, "threads", 0, "threads for one picture (0: the CPU quota)")
	fl.StringVar(&f.profile, "profile", string(xragent.ProfileTable), "measurement profile: table or calibrated")
	fl.BoolVar(&f.gateOff, "gate-off", false, "ignore the view, and only the view")
	fl.BoolVar(&f.admitAP, "admit-ap", false, "let AP films pass too")
	return c
}

// measured is one line of `xragent measure --json`.
type measured struct {
	Image  string            `json:"image"`
	View   viewcheck.Reading `json:"view"`
	Bundle xragent.Bundle    `json:"bundle"`
}

func (a *app) measurePictures(ctx context.Context, f measureFlags, images []string) error {
	g, err := xragent.DefaultGate(xragent.Profile(f.profile))
	if err != nil {
		return &exitError{Code: exitUsage, Err: err}
	}
	g.ViewOff, g.View.AdmitAP = f.gateOff, f.admitAP
	v, _, err := a.loadView(ctx, f.view)
	if err != nil {
		return err
	}
	defer v.Close()
	s, _, err := a.loadModel(ctx, segmentFlags{model: f.model, provider: f.view.provider, threads: f.view.threads})
	if err != nil {
		return err
	}
	defer s.Close()
	for _, image := range images {
		line, err := measureOne(ctx, g, v, s, image)
		if err != nil {
			return fmt.Errorf("%s: %w", image, err)
		}
		if a.JSON() {
			if err := json.NewEncoder(a.out).Encode(line); err != nil {
				return err
			}
			continue
		}
		body, err := json.Marshal(line.Bundle)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%-*s  %s\n", nameWidth(images), filepath.Base(image), body)
	}
	return nil
}

// measureOne decides on one picture; it is segmented only where its view passes.
func measureOne(ctx context.Context, g xragent.Gate, v *viewcheck.Checker, s *segment.Segmenter, image string) (measured, error) {
	m, err := readPicture(image)
	if err != nil {
		return measured{}, err
	}
	r, err := v.Check(ctx, m)
	if err != nil {
		return measured{}, err
	}
	e := xragent.Evidence{View: xragent.ViewReading(r)}
	if g.Needs(e.View) {
		if e.Masks, err = s.Segment(ctx, m); err != nil {
			return measured{}, err
		}
	}
	b, err := g.Bundle(e)
	return measured{image, r, b}, err
}
