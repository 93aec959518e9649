// Command dense measures golden case files with the dense-bitmap implementation and prints
// one JSON line per case.
//
//	go run -C infra/bench ./cmd/dense [--preset corrected] CASE.json...
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"cxrepro/infra/bench/dense"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "dense:", err)
		os.Exit(1)
	}
}

func run() error {
	preset := flag.String("preset", "corrected", "as_published, as_released or corrected")
	flag.Parse()
	sw, ok := dense.Preset(*preset)
	if !ok {
		return fmt.Errorf("no preset is called %q: as_published, as_released, corrected", *preset)
	}
	out := json.NewEncoder(os.Stdout)
	for _, name := range flag.Args() {
		c, err := dense.ReadCase(os.DirFS(filepath.Dir(name)), filepath.Base(name))
		if err != nil {
			return err
		}
		if err := out.Encode(dense.Assess(c, sw)); err != nil {
			return err
		}
	}
	return nil
}
