package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"cxrepro/internal/contract"
)

// display shows progress on standard error: bars on a terminal, else plain lines.
type display interface {
	show(v view)
	// note prints a line that stays.
	note(line string)
	close()
}

// newDisplay suits what standard error is.
func (a *app) newDisplay() display {
	if f, ok := a.err.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		return newBars(f)
	}
	return &lines{w: a.err, every: 5 * time.Second, now: time.Now, seen: map[string]*pace{}}
}

// pace estimates the rate of one stage from what was seen of it since it began here.
type pace struct {
	first, last time.Time
	from, to    int
	state       string
}

func (p *pace) see(now time.Time, s contract.StageProgress) {
	items := s.Items
	if s.State == contract.StateDone && p.to == items {
		return // a finished stage keeps its rate
	}
	if p.first.IsZero() {
		p.first, p.from = now, items
	}
	p.last, p.to = now, items
}

// rate returns items per second, 0 when nothing can be said yet.
func (p *pace) rate() float64 {
	d := p.last.Sub(p.first).Seconds()
	if d < 0.5 || p.to <= p.from {
		return 0
	}
	return float64(p.to-p.from) / d
}

// eta returns the time left at the present rate.
func (p *pace) eta(all int) (time.Duration, bool) {
	r := p.rate()
	if r == 0 || all <= p.to {
		return 0, false
	}
	return time.Duration(float64(all-p.to) / r * float64(time.Second)).Round(time.Second), true
}

// lines prints a line per stage when it begins, ends or changes state, and in between now
// and then.
type lines struct {
	w       io.Writer
	every   time.Duration
	now     func() time.Time
	printed time.Time
	seen    map[string]*pace
	trouble []string
}

func (l *lines) show(v view) {
	now := l.now()
	due := now.Sub(l.printed) >= l.every
	for _, s := range v.Stages {
		p := l.seen[s.Stage]
		if p == nil {
			p = &pace{state: contract.StateWaiting}
			l.seen[s.Stage] = p
		}
		p.see(now, s)
		changed := s.State != p.state
		p.state = s.State
		if changed || due && s.State == contract.StateRunning {
			fmt.Fprintln(l.w, stageLine(s, p))
			l.printed = now
		}
	}
	for _, t := range v.Trouble {
		if fresh(&l.trouble, t) {
			l.note("trying again: " + t)
		}
	}
}

var attemptNumber = regexp.MustCompile(`, attempt \d+`)

// fresh reports whether a trouble was not shown yet, whichever attempt met it, and notes it.
func fresh(seen *[]string, trouble string) bool {
	what := attemptNumber.ReplaceAllString(trouble, "")
	if slices.Contains(*seen, what) {
		return false
	}
	*seen = append(*seen, what)
	return true
}

// stageLine is one stage for people.
func stageLine(s contract.StageProgress, p *pace) string {
	b := fmt.Sprintf("%-9s %-8s %d", s.Stage, s.State, s.Items)
	if s.ItemsAll > 0 {
		b += fmt.Sprintf("/%d", s.ItemsAll)
	}
	b += stageUnit(s)
	if r := p.rate(); r > 0 && s.State == contract.StateRunning {
		b += fmt.Sprintf(", %.1f/s", r)
	}
	if d, ok := p.eta(s.ItemsAll); ok && s.State == contract.StateRunning {
		b += fmt.Sprintf(", %s left", d)
	}
	return b
}

// stageUnit says what the items of a stage are, and what became of some.
func stageUnit(s contract.StageProgress) string {
	switch s.Stage {
	case contract.StageSummarise, contract.StageTabulate:
		return ""
	case contract.StageBenchmark:
		return " cases"
	case contract.StageQuestions:
		return " questions"
	case contract.StageTrain:
		return " steps and rounds"
	case contract.StageEvaluate, contract.StageRollouts:
		text := " dialogues"
		if s.Stage == contract.StageRollouts {
			text = " rollouts"
		}
		if s.Calls > 0 {
			text += fmt.Sprintf(", %d calls", s.Calls)
		}
		if s.Failed > 0 {
			text += fmt.Sprintf(", %d undetermined", s.Failed)
		}
		return text
	}
	if s.Failed > 0 {
		return fmt.Sprintf(" images, %d windows failed", s.Failed)
	}
	return " images"
}

func (l *lines) note(line string) { fmt.Fprintln(l.w, line) }
func (l *lines) close()           {}

// bars draws one bar per stage.
type bars struct {
	p       *mpb.Progress
	w       io.Writer
	bars    map[string]*mpb.Bar
	seen    map[string]*pace
	trouble []string
}

func newBars(w io.Writer) *bars {
	return &bars{
		p: mpb.New(mpb.WithOutput(w), mpb.WithWidth(48), mpb.WithRefreshRate(200*time.Millisecond)), w: w,
		bars: map[string]*mpb.Bar{}, seen: map[string]*pace{},
	}
}

func (b *bars) show(v view) {
	now := time.Now()
	for _, s := range v.Stages {
		if s.State == contract.StateWaiting && b.bars[s.Stage] == nil {
			continue
		}
		bar := b.bar(s)
		p := b.seen[s.Stage]
		p.see(now, s)
		if s.ItemsAll > 0 {
			bar.SetTotal(int64(s.ItemsAll), false)
		}
		bar.SetCurrent(int64(s.Items))
		if s.State == contract.StateDone {
			bar.SetTotal(int64(max(s.ItemsAll, s.Items)), true)
		}
	}
	for _, t := range v.Trouble {
		if fresh(&b.trouble, t) {
			b.note("trying again: " + t)
		}
	}
}

func (b *bars) bar(s contract.StageProgress) *mpb.Bar {
	if bar, ok := b.bars[s.Stage]; ok {
		return bar
	}
	p := &pace{}
	b.seen[s.Stage] = p
	bar := b.p.AddBar(int64(max(s.ItemsAll, 1)),
		mpb.PrependDecorators(decor.Name(fmt.Sprintf("%-10s", s.Stage)), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
		mpb.AppendDecorators(decor.Any(func(st decor.Statistics) string {
			text := ""
			if r := p.rate(); r > 0 {
				text = fmt.Sprintf(" %.1f/s", r)
			}
			if d, ok := p.eta(int(st.Total)); ok && !st.Completed {
				text += fmt.Sprintf(", %s left", d)
			}
			return text
		})))
	b.bars[s.Stage] = bar
	return bar
}

func (b *bars) note(line string) {
	// A bar display takes text above its bars; an error there only loses the line.
	_, _ = b.p.Write([]byte(strings.TrimRight(line, "\n") + "\n"))
}

func (b *bars) close() {
	for _, bar := range b.bars {
		if !bar.Completed() {
			bar.Abort(false)
		}
	}
	b.p.Wait()
}
