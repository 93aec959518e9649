package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"cxrepro/internal/xragent"
)

func newXragentCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "xragent",
		Short: "Check views, take gated measurements, score trajectories, read benchmarks, train",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usageError("see `"+c.CommandPath()+" --help`", "xragent needs a subcommand: view, measure, reward, serve, bench, radcot or train")
		},
	}
	c.AddCommand(newXragentViewCommand(a), newXragentMeasureCommand(a), newRewardCommand(a), newXragentServeCommand(a), newXragentBenchCommand(a), newXragentRadcotCommand(a), newXragentTrainCommand(a))
	return c
}

func newRewardCommand(a *app) *cobra.Command {
	s, file := xragent.DefaultSetting(), ""
	c := &cobra.Command{
		Use:   "reward --trajectories FILE",
		Short: "Parse trajectories and compute their rewards",
		Long: `Reads one trajectory a line (question, turn1, turn2, measurement), checks every contract
of the two-turn protocol and computes the reward and all of its terms. A malformed
trajectory is a result with reasons, not an error.

With --json one compact line per trajectory, in order; rewards lists all four readings
(gated or not, malformed counted as wrong or not) with the same weights.

Exit codes: 0 every line was scored; 1 a line could not be read (the lines before it are
printed); 2 usage.`,
		Example: `  cxrepro xragent reward --trajectories rollouts.jsonl --json
  cxrepro xragent reward --trajectories - --gated=false < rollouts.jsonl`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return usageError("--trajectories FILE, or - for standard input", "no trajectories")
			}
			if err := s.Validate(); err != nil {
				return &exitError{Code: exitUsage, Err: err}
			}
			return runReward(c.Context(), a, file, s)
		},
	}
	f := c.Flags()
	f.StringVar(&file, "trajectories", "", "file of trajectories, one JSON object a line; - is standard input")
	f.Float64Var(&s.Weights.Evidence, "lambda-c", s.Weights.Evidence, "weight of consistent evidence")
	f.Float64Var(&s.Cost, "lambda-t", s.Cost, "cost of one tool call; below 1/5")
	f.BoolVar(&s.Gated, "gated", s.Gated, "evidence and cost act on correct trajectories only")
	f.BoolVar(&s.MalformedCountsAsWrong, "malformed-counts-as-wrong", s.MalformedCountsAsWrong, "a malformed trajectory earns nothing for its answer")
	f.BoolVar(&s.SkipNearThreshold, "skip-near-threshold", s.SkipNearThreshold, "leave a CTR within 0.02 of its limit out")
	f.Float64Var(&s.PartialSilence, "partial-silence", s.PartialSilence, "consistency of a reasoning that names no category")
	return c
}

// maxTrajectory bounds one line of a trajectory file.
const maxTrajectory = 16 << 20

func runReward(ctx context.Context, a *app, file string, s xragent.Setting) (err error) {
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("trajectories: %w", err)
		}
		defer f.Close()
		in = f
	}
	out := bufio.NewWriter(a.out)
	defer func() { err = errors.Join(err, out.Flush()) }()
	var row func(xragent.Score) error
	if a.JSON() {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		row = func(r xragent.Score) error { return enc.Encode(r) }
	} else {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		defer w.Flush()
		fmt.Fprintln(w, "id\tverdict\tanswer\tcorrect\tcalls\tR_CXR\teligible\tR\treasons")
		row = func(r xragent.Score) error { return rewardRow(w, r) }
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 64<<10), maxTrajectory)
	n := 0
	for lines.Scan() {
		n++
		if err := ctx.Err(); err != nil {
			return err
		}
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		t, err := xragent.ReadTrajectory(line)
		if err != nil {
			return fmt.Errorf("%s line %d: %w", file, n, err)
		}
		if err := row(xragent.ScoreTrajectory(t, s)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s after line %d: %w", file, n, err)
	}
	return nil
}

func rewardRow(w io.Writer, r xragent.Score) error {
	answer := "-"
	if r.Answer != nil {
		answer = *r.Answer
	}
	_, err := fmt.Fprintf(w, "%s\t%s\t%s\t%v\t%d\t%.2f\t%d\t%.2f\t%v\n", r.ID, r.Verdict, answer, r.Correct, r.Calls, r.CXR, r.Eligible, r.R, r.Reasons)
	return err
}
