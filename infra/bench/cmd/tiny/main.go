// Command tiny trains the small policy in one process, without the platform, and prints what
// it learned (package tiny).
//
//	go build -o cxrepro ./cmd/cxrepro
//	go run -C infra/bench ./cmd/tiny --draw --set S
//	for s in train held-out; do
//	    ./cxrepro xragent measure S/$s/*.png --profile calibrated --json > S/$s.measured.jsonl; done
//	go run -C infra/bench ./cmd/tiny --set S --out R1 --python PYTHON --seed 1
//	go run -C infra/bench ./cmd/tiny --plot curve.svg R1 R2 R3
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"cxrepro/infra/bench/tiny"
	"cxrepro/internal/xragent/quiz"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "tiny:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	o := tiny.Options{Teacher: quiz.DefaultTeacher()}
	draw := flag.Bool("draw", false, "only draw the question set")
	pictures := flag.Int("pictures", 500, "pictures of each split, with --draw")
	setSeed := flag.Uint64("set-seed", 1, "seed of the question set, with --draw")
	flag.StringVar(&o.Set, "set", "", "folder of the question set")
	flag.StringVar(&o.Out, "out", "", "folder of the run")
	flag.StringVar(&o.Python, "python", "python3", "a Python with numpy")
	flag.StringVar(&o.Trainer, "trainer", "../trainers/tiny", "folder of the trainer")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of weights, schedule and draws")
	flag.IntVar(&o.Examples, "examples", 2000, "examples of the teacher, draw after draw over the items")
	flag.Float64Var(&o.Teacher.Uses, "uses", o.Teacher.Uses, "how often the teacher calls a tool that is needed")
	flag.Float64Var(&o.Teacher.Wastes, "wastes", o.Teacher.Wastes, "how often it calls one that is not")
	flag.IntVar(&o.SFTSteps, "sft-steps", 700, "steps of SFT, 16 examples each")
	flag.IntVar(&o.Rounds, "rounds", 100, "rounds of GRPO, 16 items of 4 draws each")
	flag.Float64Var(&o.SFTRate, "sft-rate", 1.2e-2, "learning rate of SFT")
	flag.Float64Var(&o.Rate, "rate", 3e-3, "learning rate of GRPO")
	flag.Float64Var(&o.KL, "kl", 0.01, "weight of the KL term that keeps GRPO near what SFT gave")
	flag.BoolVar(&o.Scale, "scale", false, "scale advantages by the group's deviation")
	flag.BoolVar(&o.Permute, "permute", false, "permute rewards inside each group")
	flag.IntVar(&o.HeldOut, "held-out", 2000, "held-out items that are evaluated")
	flag.StringVar(&o.Taught, "taught", "", "checkpoint that SFT gave before")
	plot := flag.String("plot", "", "only plot finished runs, the arguments, into this SVG file")
	flag.Parse()
	if *plot != "" {
		return tiny.Curve(*plot, flag.Args())
	}
	if *draw {
		for _, s := range []quiz.Split{quiz.Train, quiz.HeldOut} {
			if err := tiny.Draw(o.Set, *setSeed, s, *pictures); err != nil {
				return err
			}
		}
		return nil
	}
	return tiny.Run(ctx, o)
}
