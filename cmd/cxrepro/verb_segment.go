package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cxrepro/artifacts"
	"cxrepro/experiments"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/resolve"
	"cxrepro/internal/segment"
)

// addInferenceFlags adds the flag by which every verb finds ONNX Runtime.
func addInferenceFlags(flags *pflag.FlagSet) {
	flags.String("onnxruntime", "", "ONNX Runtime library (or CXREPRO_ONNXRUNTIME; default: found or fetched)")
}

// segmentFlags are the flags of `segment`.
type segmentFlags struct {
	model, provider, out string
	threads              int
	plain                bool
}

func newSegmentCommand(a *app) *cobra.Command {
	var f segmentFlags
	c := &cobra.Command{
		Use:   "segment IMAGE... [--model CARD] [--out DIR]",
		Short: "Find the anatomical structures of radiographs",
		Long: `segment runs the model of a model card over pictures (JPEG or PNG) and prints per picture
how many structures were found, the areas of lungs and heart, the time and any sign of
trouble. Without --model it runs PhantomSeg, the small model that comes with the program: it
knows drawn phantoms only, and its masks of real radiographs are a demonstration.

With --out it writes, per picture NAME: NAME.json, the masks as a case file that
` + "`chexstruct assess`" + ` reads; NAME.png, the picture as the model saw it; NAME-overlay.png,
the outlines on the picture.

With --json: one line per picture with image, digest, width, height, identity of the
inference, runtime, report (present, areas, flags), millis and the files written.

Exit codes: 0 all pictures segmented; 1 the model cannot be used or nothing was written;
2 usage; 3 some pictures could not be read (each is named).`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("name picture files: cxrepro segment IMAGE...", "segment: no picture named")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.threads < 0 {
				return usageError("give --threads of at least 0 (0: what this machine lets us use)", "segment: --threads %d", f.threads)
			}
			return a.segment(c.Context(), f, args)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.model, "model", "", "model card (YAML; default: the PhantomSeg that comes with the program)")
	fl.StringVar(&f.provider, "provider", "cpu", "what computes: cpu or cuda; refused if it cannot")
	fl.IntVar(&f.threads, "threads", 0, "threads for one picture (0: the CPU quota)")
	fl.StringVar(&f.out, "out", "", "folder for masks and overlays")
	fl.BoolVar(&f.plain, "no-overlay", false, "write no overlay pictures")
	c.AddCommand(newSegmentEvalCommand(a), newSegmentCardCommand(a))
	return c
}

// segmented is one line of `segment --json`.
type segmented struct {
	Image    string            `json:"image"`
	Digest   *artifacts.Digest `json:"digest,omitempty"`
	Width    int               `json:"width,omitempty"`
	Height   int               `json:"height,omitempty"`
	Identity map[string]any    `json:"identity,omitempty"`
	Runtime  any               `json:"runtime,omitempty"`
	Report   *segment.Report   `json:"report,omitempty"`
	Millis   float64           `json:"millis,omitempty"` // decoding, inference and runs
	Files    []string          `json:"files,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// segment loads the model once and takes the pictures in the order given.
func (a *app) segment(ctx context.Context, f segmentFlags, images []string) error {
	if err := distinctNames(f.out, images); err != nil {
		return err
	}
	s, card, err := a.loadModel(ctx, f)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.out != "" {
		if err := os.MkdirAll(f.out, 0o755); err != nil {
			return fmt.Errorf("segment: %w", err)
		}
	}
	if !a.JSON() {
		fmt.Fprintf(a.out, "%-*s %11s %9s %11s %10s %8s %8s  %s\n", nameWidth(images), "picture", "pixels", "found", "right lung", "left lung", "heart", "time", "signs of trouble")
	}
	failed := 0
	for _, image := range images {
		line, err := a.segmentOne(ctx, s, card, f, image)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var bad *cxr.DecodeError
		switch {
		case err == nil:
		case errors.As(err, &bad) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission):
			failed++
			line = segmented{Image: image, Error: err.Error()}
		default:
			return fmt.Errorf("segment %s: %w", image, err)
		}
		if err := a.printSegmented(line, nameWidth(images)); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &exitError{Code: exitQuarantined, Err: fmt.Errorf("segment: %d of %d pictures could not be read", failed, len(images))}
	}
	return nil
}

// distinctNames refuses pictures whose results would overwrite one another.
func distinctNames(out string, images []string) error {
	if out == "" {
		return nil
	}
	seen := map[string]string{}
	for _, image := range images {
		n := stem(image)
		if other, twice := seen[n]; twice {
			return usageError("segment them in two calls with two --out folders", "segment: %s and %s would both be written as %s", other, image, n)
		}
		seen[n] = image
	}
	return nil
}

// nameWidth is the width of the column of names.
func nameWidth(images []string) int {
	w := len("picture")
	for _, image := range images {
		w = max(w, len(filepath.Base(image)))
	}
	return min(w, 60)
}

// stem is a file's base name without its last extension.
func stem(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// bundledCard is the card of the model that the program carries.
const bundledCard = "models/phantomseg.yaml"

// loadCard loads the card of a path, or the bundled one.
func loadCard(path string) (*segment.Card, error) {
	if path == "" {
		return segment.LoadCardFS(experiments.Files, bundledCard)
	}
	return segment.LoadCard(path)
}

// loadModel opens the card's model on the provider asked for.
func (a *app) loadModel(ctx context.Context, f segmentFlags) (*segment.Segmenter, *segment.Card, error) {
	card, err := loadCard(f.model)
	if err != nil {
		return nil, nil, &exitError{Code: exitUsage, Err: err}
	}
	if _, err := card.Identity(f.provider); err != nil {
		return nil, nil, usageError("use --provider cpu or --provider cuda", "segment: %v", err)
	}
	lib, err := resolve.ONNXRuntime(ctx, a.resolveOptions("onnxruntime"))
	if err != nil {
		return nil, nil, err
	}
	start := time.Now()
	s, err := segment.New(card, segment.Options{Provider: f.provider, Library: lib.Path, Threads: f.threads})
	if err != nil {
		return nil, nil, err
	}
	r := s.Runtime()
	a.say(fmt.Sprintf("segment: model %s %s (%s), %d structures, ONNX Runtime %s on %s with %d threads, loaded in %.1f s",
		card.Name, card.Version, card.Licence.Name, card.Structures().Len(), r.Version, r.Provider, r.Threads, time.Since(start).Seconds()))
	if card.Licence.Notice != "" {
		a.say("segment: " + strings.TrimSpace(card.Licence.Notice))
	}
	return s, card, nil
}

// segmentOne segments one picture and writes its files.
func (a *app) segmentOne(ctx context.Context, s *segment.Segmenter, card *segment.Card, f segmentFlags, image string) (segmented, error) {
	data, err := os.ReadFile(image)
	if err != nil {
		return segmented{}, err
	}
	start := time.Now()
	m, err := cxr.Decode(data, cxr.Limits{})
	if err != nil {
		return segmented{}, err
	}
	masks, err := s.Segment(ctx, m)
	if err != nil {
		return segmented{}, err
	}
	took := time.Since(start)
	digest, report := artifacts.Sum(data), segment.Check(masks)
	line := segmented{Image: image, Digest: &digest, Width: m.Width, Height: m.Height, Identity: s.Identity().Params(),
		Runtime: s.Runtime(), Report: &report, Millis: float64(took.Microseconds()) / 1000}
	if f.out != "" {
		line.Files, err = writeSegmented(f, card, m, masks, filepath.Join(f.out, stem(image)))
	}
	return line, err
}

// writeSegmented writes case file, grid picture and overlay; base is their common path.
func writeSegmented(f segmentFlags, card *segment.Card, m *cxr.Image, masks *anatomy.Masks, base string) ([]string, error) {
	grid, err := card.Grid(m)
	if err != nil {
		return nil, err
	}
	c := chexstruct.Case{ID: filepath.Base(base), Input: chexstruct.Input{Masks: masks, NativeWidth: m.Width}}
	var files []string
	write := func(name string, data []byte) error {
		files = append(files, name)
		return os.WriteFile(name, data, 0o644)
	}
	if grid.Width == masks.GridW && grid.Height == masks.GridH {
		c.Image = filepath.Base(base) + ".png"
		data, err := cxr.EncodePNG(grid)
		if err != nil {
			return nil, err
		}
		if err := write(base+".png", data); err != nil {
			return nil, err
		}
	}
	data, err := c.Encode()
	if err != nil {
		return nil, err
	}
	if err := write(base+".json", data); err != nil || f.plain {
		return files, err
	}
	overlay, err := drawSegmented(m, masks, card.Name+" "+card.Version)
	if err != nil {
		return files, err
	}
	return files, write(base+"-overlay.png", overlay)
}

// printSegmented prints one picture's line.
func (a *app) printSegmented(l segmented, width int) error {
	if a.JSON() {
		e := json.NewEncoder(a.out)
		e.SetEscapeHTML(false)
		return e.Encode(l)
	}
	name := filepath.Base(l.Image)
	if l.Error != "" {
		_, err := fmt.Fprintf(a.out, "%-*s %s\n", width, name, l.Error)
		return err
	}
	share := map[string]string{}
	for _, r := range l.Report.Areas {
		share[r.Structure] = fmt.Sprintf("%.1f %%", 100*r.Share)
	}
	var flags []string
	for _, fl := range l.Report.Flags {
		flags = append(flags, fl.String())
	}
	if flags == nil {
		flags = []string{"none"}
	}
	_, err := fmt.Fprintf(a.out, "%-*s %11s %9s %11s %10s %8s %6.0fms  %s\n", width, name, fmt.Sprintf("%d x %d", l.Width, l.Height),
		fmt.Sprintf("%d/%d", l.Report.Present, l.Report.Declared), share[anatomy.RightLung.Name()], share[anatomy.LeftLung.Name()],
		share[anatomy.Heart.Name()], l.Millis, strings.Join(flags, ", "))
	return err
}
