package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"

	"cxrepro/infra/bench/dense"
	"cxrepro/infra/bench/differ"
	"cxrepro/infra/bench/program"
	"cxrepro/internal/anatomy"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/cxr"
	"cxrepro/internal/geom"
	"cxrepro/internal/mask"
	"cxrepro/internal/phantom"
)

// Native size of a typical radiograph.
const nativeW, nativeH = 2544, 3056

// subject is one picture in both forms.
type subject struct {
	name   string
	barMS  float64 // for all twelve tasks
	gradMS float64 // for the gradient
	runs   chexstruct.Input
	dense  *dense.Case
	image  *cxr.Image
}

// subjects hands a golden case and a phantom, at 512 and at native size, to f one after the
// other: the planes of one native picture fill a quarter of a gigabyte.
func subjects(f func(subject) error) error {
	golden, err := dense.ReadCase(os.DirFS(goldenDir()), "open_01.json")
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range []struct {
		w, h      int
		bar, grad float64
	}{{512, 512, 3, 3}, {nativeW, nativeH, 20, 60}} {
		for _, name := range []string{"golden", "phantom"} {
			c, err := golden, error(nil)
			if name == "phantom" {
				c, err = phantomCase(s.w, s.h)
			} else if s.w != c.W {
				c = stretched(c, s.w, s.h)
			}
			if err != nil {
				return err
			}
			in, err := differ.Input(c)
			if err != nil {
				return err
			}
			errs = append(errs, f(subject{name: fmt.Sprintf("%-7s %4dx%-4d", name, s.w, s.h), barMS: s.bar, gradMS: s.grad, runs: in, dense: c,
				image: &cxr.Image{Width: s.w, Height: s.h, Pix: c.Picture.Grey}}))
			debug.FreeOSMemory()
		}
	}
	return errors.Join(errs...)
}

func goldenDir() string {
	return filepath.Join(program.Root(), "internal", "chexstruct", "testdata", "golden")
}

// phantomCase is a phantom drawn at this size, with the masks that tasks read.
func phantomCase(w, h int) (*dense.Case, error) {
	p := phantom.New(5, 0, phantom.Options{})
	pic, err := p.Picture(w, h)
	if err != nil {
		return nil, err
	}
	c := &dense.Case{Name: "phantom", W: w, H: h, View: p.View().String(), NativeWidth: nativeW, Boxes: map[string][4]int{},
		Masks: map[string]*dense.Plane{}, Picture: &dense.Picture{W: w, H: h, Grey: pic.Image.Pix}}
	for _, s := range pic.Masks.Present().List() {
		c.Masks[s.Name()] = &dense.Plane{W: w, H: h, Pix: pic.Masks.Mask(s).Dense()}
	}
	for name, s := range map[string]anatomy.Structure{"cardiac silhouette": anatomy.Heart, "upper mediastinum": anatomy.UpperMediastinum} {
		if b, ok := pic.Masks.Mask(s).Box(); ok {
			c.Boxes[name] = [4]int{b.X0, b.Y0, b.X1, b.Y1}
		}
	}
	return c, nil
}

// stretched brings a golden case to native size by the nearest rule, keeping the masks that
// tasks read: all 97 planes would not fit into memory.
func stretched(c *dense.Case, w, h int) *dense.Case {
	out := &dense.Case{Name: c.Name, W: w, H: h, View: c.View, NativeWidth: w, Boxes: map[string][4]int{}, Masks: map[string]*dense.Plane{}}
	cols, rows := mask.NearestIndex(c.W, w), mask.NearestIndex(c.H, h)
	grow := func(pix []uint8) []uint8 {
		big := make([]uint8, 0, w*h)
		for _, y := range rows {
			row := pix[int(y)*c.W : (int(y)+1)*c.W]
			for _, x := range cols {
				big = append(big, row[x])
			}
		}
		return big
	}
	for _, name := range differ.Structures() {
		if p := c.Masks[name]; p != nil {
			out.Masks[name] = &dense.Plane{W: w, H: h, Pix: grow(p.Pix)}
		}
	}
	for name, b := range c.Boxes {
		g := geom.Box{X0: b[0] * w / c.W, Y0: b[1] * h / c.H, X1: b[2] * w / c.W, Y1: b[3] * h / c.H}
		out.Boxes[name] = [4]int{g.X0, g.Y0, g.X1, g.Y1}
	}
	out.Picture = &dense.Picture{W: w, H: h, Grey: grow(c.Picture.Grey)}
	return out
}

// runTasks compares the twelve tasks on stored runs and known pixel facts with the same on
// bitmaps. Both give the same findings before anything is timed.
func runTasks(_ context.Context, args []string) error {
	var reps, peers int
	if err := flags("tasks", args, func(fl *flag.FlagSet) {
		fl.IntVar(&reps, "reps", 15, "repetitions of ours")
		fl.IntVar(&peers, "peer", 3, "repetitions of the peer")
	}); err != nil {
		return err
	}
	sw, _ := dense.Preset("corrected")
	rules, err := chexstruct.NewRules(chexstruct.Corrected, nil)
	if err != nil {
		return err
	}
	fmt.Println("twelve tasks, decoded pixels and stored runs in; the peer works on one byte a pixel; milliseconds, medians")
	return subjects(func(s subject) error {
		differences, _, err := differ.Compare(s.dense, sw, rules)
		if err != nil || len(differences) > 0 {
			return fmt.Errorf("%s: results differ: %v %w", s.name, differences, err)
		}
		var ours, peer []sample
		for i := range reps {
			if i < peers {
				peer = append(peer, timed(func() { dense.Measure(s.dense, sw) }))
			}
			ours = append(ours, timed(func() { _, err = chexstruct.Assess(s.runs, rules, chexstruct.Tasks()) }))
			if err != nil {
				return err
			}
		}
		wall, cpu := median(ours)
		peerWall, peerCPU := median(peer)
		fmt.Printf("  %s  ours %7.2f (processor %7.2f)  peer %8.1f (processor %8.1f)  ratio %5.0f\n", s.name, wall, cpu, peerWall, peerCPU, peerCPU/cpu)
		return verdict(cpu <= s.barMS, "%.0f ms of processor time", s.barMS)
	})
}

// runGradient compares the exact gradient mean with the plain way in floating point.
func runGradient(_ context.Context, args []string) error {
	var reps, peers int
	if err := flags("gradient", args, func(fl *flag.FlagSet) {
		fl.IntVar(&reps, "reps", 15, "repetitions of ours")
		fl.IntVar(&peers, "peer", 3, "repetitions of the peer")
	}); err != nil {
		return err
	}
	fmt.Println("exact 5x5 gradient, decoded pixels in; the peer filters in floating point; milliseconds, medians")
	return subjects(func(s subject) error {
		var a, b float64
		var ours, peer []sample
		for i := range reps {
			if i < peers {
				peer = append(peer, timed(func() { b = dense.GradientMean(s.dense.Picture) }))
			}
			ours = append(ours, timed(func() { a = chexstruct.GradientMean(s.image) }))
		}
		if d := a - b; d > 1e-9*b || d < -1e-9*b {
			return fmt.Errorf("%s: gradient means differ: %v and %v", s.name, a, b)
		}
		wall, cpu := median(ours)
		peerWall, peerCPU := median(peer)
		fmt.Printf("  %s  ours %7.2f (processor %7.2f)  peer %8.1f (processor %8.1f)  ratio %5.1f\n", s.name, wall, cpu, peerWall, peerCPU, peerCPU/cpu)
		return verdict(cpu <= s.gradMS, "%.0f ms of processor time", s.gradMS)
	})
}
