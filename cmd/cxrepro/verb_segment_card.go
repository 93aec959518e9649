package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cxrepro/internal/segment"
)

func newSegmentCardCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "card [CARD]",
		Short: "Show a model card and check its model file",
		Long: `card validates a model card, compares the model file's digest with it and prints what a
user should know: licence, source, input, structures and measured overlaps. Without CARD
it shows the PhantomSeg that comes with the program.

Exit codes: 0 card and file are good; 1 the file is missing or another one; 2 the card is not valid.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			path := ""
			if len(args) == 1 {
				path = args[0]
			}
			card, err := loadCard(path)
			if err != nil {
				return &exitError{Code: exitUsage, Err: err}
			}
			if err := a.printCard(card); err != nil {
				return err
			}
			return card.Verify()
		},
	}
}

func (a *app) printCard(c *segment.Card) error {
	if a.JSON() {
		return json.NewEncoder(a.out).Encode(c)
	}
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("model", "%s %s (%s)", c.Name, c.Version, c.File)
	line("digest", "%s", c.Digest())
	line("licence", "%s", c.Licence.Name)
	if c.Licence.Notice != "" {
		line("", "%s", strings.TrimSpace(c.Licence.Notice))
	}
	line("source", "%s", strings.TrimSpace(c.Source))
	line("input", "%d x %d x %d, resize %s, (p/%g - %v)/%v", c.Input.Channels, c.Input.Height, c.Input.Width, c.Input.Resize, c.Input.Divisor, c.Input.Mean, c.Input.Std)
	line("output", "%s, %d channels of %d x %d", c.Output.Kind, len(c.Channels), c.Output.Height, c.Output.Width)
	line("structures", "%d", c.Structures().Len())
	if notes := strings.TrimSpace(c.Notes); notes != "" {
		line("notes", "%s", strings.ReplaceAll(notes, "\n", "\n            "))
	}
	if m := c.Measured; m != nil {
		line("measured", "%s, %d cases", m.Data, m.Cases)
		for _, r := range m.Rows {
			fmt.Fprintf(&b, "  %-28s Dice %.3f, least %.3f\n", r.Structure, r.DiceMean, r.DiceMin)
		}
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}
