package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/experiments"
	"cxrepro/internal/cxr"
	"cxrepro/internal/phantom"
	"cxrepro/internal/resolve"
	"cxrepro/internal/viewcheck"
	"cxrepro/internal/xragent"
)

// viewFlags are the flags of `xragent view`.
type viewFlags struct {
	model, provider string
	threads         int
}

func newXragentViewCommand(a *app) *cobra.Command {
	var f viewFlags
	c := &cobra.Command{
		Use:   "view IMAGE... [--model CARD]",
		Short: "Tell what kind of picture a file holds, as the validity gate does",
		Long: `Runs the view check over pictures (JPEG or PNG): PA, AP, lateral or no chest radiograph,
upright or turned, inverted, mirrored, and the code by which the gate would withhold
measurements. Without --model it runs PhantomView, the small model that comes with the
program: it knows drawn phantoms only.

With --json: one line per picture with image, the probabilities of the four heads and code
(empty when the view passes).

Exit codes: 0 ok; 1 the model or a picture cannot be read; 2 usage.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("name picture files: cxrepro xragent view IMAGE...", "xragent view: no picture named")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.viewPictures(c.Context(), f, args) },
	}
	fl := c.PersistentFlags()
	fl.StringVar(&f.model, "model", "", "view card (YAML; default: the PhantomView that comes with the program)")
	fl.StringVar(&f.provider, "provider", "cpu", "what computes: cpu or cuda; refused if it cannot")
	fl.IntVar(&f.threads, "threads", 0, "threads for one picture (0: the CPU quota)")
	c.AddCommand(newXragentViewEvalCommand(a, &f))
	return c
}

// bundledViewCard is the card of the view model that the program carries.
const bundledViewCard = "models/phantomview.yaml"

// loadView opens the card's model on the provider asked for.
func (a *app) loadView(ctx context.Context, f viewFlags) (*viewcheck.Checker, *viewcheck.Card, error) {
	load := func() (*viewcheck.Card, error) { return viewcheck.LoadCardFS(experiments.Files, bundledViewCard) }
	if f.model != "" {
		load = func() (*viewcheck.Card, error) { return viewcheck.LoadCard(f.model) }
	}
	card, err := load()
	if err != nil {
		return nil, nil, &exitError{Code: exitUsage, Err: err}
	}
	if _, err := card.Identity(f.provider); err != nil {
		return nil, nil, usageError("use --provider cpu or --provider cuda", "view check: %v", err)
	}
	lib, err := resolve.ONNXRuntime(ctx, a.resolveOptions("onnxruntime"))
	if err != nil {
		return nil, nil, err
	}
	v, err := viewcheck.New(card, viewcheck.Options{Provider: f.provider, Library: lib.Path, Threads: f.threads})
	if err != nil {
		return nil, nil, err
	}
	a.say(fmt.Sprintf("view check: model %s %s (%s)", card.Name, card.Version, card.Licence.Name))
	if card.Licence.Notice != "" {
		a.say("view check: " + strings.TrimSpace(card.Licence.Notice))
	}
	return v, card, nil
}

// viewed is one line of `xragent view --json`.
type viewed struct {
	Image string `json:"image"`
	viewcheck.Reading
	Code string `json:"code"`
}

func (a *app) viewPictures(ctx context.Context, f viewFlags, images []string) error {
	v, _, err := a.loadView(ctx, f)
	if err != nil {
		return err
	}
	defer v.Close()
	if !a.JSON() {
		fmt.Fprintf(a.out, "%-*s  %-14s %-12s %-9s %-9s %s\n", nameWidth(images), "picture", "view", "turn", "inverted", "mirrored", "code")
	}
	for _, image := range images {
		m, err := readPicture(image)
		if err != nil {
			return err
		}
		r, err := v.Check(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", image, err)
		}
		line := viewed{image, r, xragent.ViewRule{}.Decide(xragent.ViewReading(r))}
		if a.JSON() {
			if err := json.NewEncoder(a.out).Encode(line); err != nil {
				return err
			}
			continue
		}
		d, names := r.Decided(), viewcheck.HeadNames()
		code := line.Code
		if code == "" {
			code = "passes"
		}
		fmt.Fprintf(a.out, "%-*s  %-14s %-12s %-9.2f %-9.2f %s\n", nameWidth(images), filepath.Base(image), fmt.Sprintf("%s %.2f", names[0][d[0]], r.Type[d[0]]),
			fmt.Sprintf("%s %.2f", names[1][d[1]], r.Turn[d[1]]), r.Inverted, r.Mirrored, code)
	}
	return nil
}

// readPicture decodes a picture file.
func readPicture(file string) (*cxr.Image, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := cxr.Decode(data, cxr.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

func newXragentViewEvalCommand(a *app, f *viewFlags) *cobra.Command {
	n, seed := 400, uint64(2)
	c := &cobra.Command{
		Use:   "eval [--n N] [--seed S]",
		Short: "Measure a view check on drawn pictures: a confusion matrix per head",
		Long: `Draws N pictures of every kind (PA, AP, lateral, slices, double pictures, cut films;
turned, mirrored, inverted), reads them, and prints how often each head is right. PhantomView
was trained on seed 1: use another seed. With --json the figures in the form of a view card.

Exit codes: 0 ok; 1 failed; 2 usage.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if n < 1 {
				return usageError("give --n of at least 1", "xragent view eval: --n %d", n)
			}
			return a.viewEval(c.Context(), *f, n, seed)
		},
	}
	c.Flags().IntVar(&n, "n", n, "number of pictures")
	c.Flags().Uint64Var(&seed, "seed", seed, "seed of the pictures")
	return c
}

func (a *app) viewEval(ctx context.Context, f viewFlags, n int, seed uint64) error {
	v, _, err := a.loadView(ctx, f)
	if err != nil {
		return err
	}
	defer v.Close()
	tally := viewcheck.NewTally()
	for i := range n {
		m, truth, err := phantom.ViewSample(seed, i)
		if err != nil {
			return err
		}
		r, err := v.Check(ctx, m)
		if err != nil {
			return fmt.Errorf("picture %d: %w", i, err)
		}
		var want [4]int
		for k, b := range viewLabel(truth)[:len(want)] {
			want[k] = int(b)
		}
		tally.Add(want, r.Decided())
	}
	fig := tally.Figures(fmt.Sprintf("%d drawn pictures of seed %d, appearance version %d", n, seed, phantom.AppearanceVersion))
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(fig)
	}
	fmt.Fprintln(a.out, fig.Data)
	for i, h := range fig.Heads {
		names := viewcheck.HeadNames()[i]
		fmt.Fprintf(a.out, "\n%s: %.4f right\n%-14s", h.Name, h.Right, "truth \\ read")
		for _, name := range names {
			fmt.Fprintf(a.out, " %12s", name)
		}
		fmt.Fprintln(a.out)
		for r, row := range h.Confusion {
			fmt.Fprintf(a.out, "%-14s", names[r])
			for _, k := range row {
				fmt.Fprintf(a.out, " %12d", k)
			}
			fmt.Fprintln(a.out)
		}
	}
	return nil
}
