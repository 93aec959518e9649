// Command segment measures inference: memory over many pictures, and how much the whole
// path from file to masks costs over a bare loop of the same decoding, preprocessing and
// inference.
//
//	go run -C infra/bench ./segment memory --images 5000 [--model CARD]
//	go run -C infra/bench ./segment path   --images 60   [--model CARD]
//
// Without --model it writes a model of the published one's input and output (159
// channels of 512 x 512) and runs that. The pictures are phantoms at native size. It
// prints one line per step and a JSON line at the end; it exits with 1 if a bar is
// missed: memory 1.5 GB and flat within 5 %, path 0.95.
//
// Logits to native runs is measured by
// `go test -run '^$' -bench LogitsToRuns ./internal/segment`.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"cxrepro/internal/resolve"
	"cxrepro/internal/segment"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "segment:", err)
		os.Exit(1)
	}
}

// settings are the flags of both measurements.
type settings struct {
	images, sessions, pictures, width int
	model                             string
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "memory" && args[0] != "path" {
		return fmt.Errorf("say what to measure: memory or path")
	}
	var s settings
	fl := flag.NewFlagSet(args[0], flag.ContinueOnError)
	fl.IntVar(&s.images, "images", 200, "inferences")
	fl.IntVar(&s.sessions, "sessions", 1, "sessions side by side (memory only)")
	fl.IntVar(&s.pictures, "pictures", 6, "different pictures, taken in turns")
	fl.IntVar(&s.width, "width", 2544, "width of the pictures")
	fl.StringVar(&s.model, "model", "", "model card; empty: the published shape with made-up weights")
	if err := fl.Parse(args[1:]); err != nil {
		return err
	}
	lib, err := resolve.ONNXRuntime(ctx, resolve.Options{Progress: func(l string) { fmt.Fprintln(os.Stderr, l) }})
	if err != nil {
		return err
	}
	card, err := s.card()
	if err != nil {
		return err
	}
	files, err := makePictures(s.pictures, s.width)
	if err != nil {
		return err
	}
	o := segment.Options{Provider: "cpu", Library: lib.Path}
	var result any
	if args[0] == "memory" {
		result, err = measureMemory(ctx, s, card, o, files)
	} else {
		result, err = measurePath(ctx, s, card, o, files)
	}
	if result != nil {
		if e := json.NewEncoder(os.Stdout).Encode(result); e != nil {
			return e
		}
	}
	return err
}

// card loads the card asked for, or makes one.
func (s settings) card() (*segment.Card, error) {
	if s.model != "" {
		return segment.LoadCard(s.model)
	}
	return segment.LoadCardFS(publishedShape(), "card.yaml")
}
