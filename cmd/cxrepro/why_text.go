package main

import (
	"fmt"
	"io"
	"strings"

	tables "cxrepro/internal/report"
	"cxrepro/internal/why"
)

// whyFormat is whyAnswer.Format, published whyAnswer.Against for the paper.
const (
	whyFormat = "cxrepro-why-1"
	published = "published"
)

// whyAnswer is what `why` prints with --json.
type whyAnswer struct {
	Format       string `json:"format"`
	Reproduction string `json:"reproduction_id"`
	Name         string `json:"name"`
	Cell         string `json:"cell"`
	// Against is the other reproduction, or "published".
	Against  string `json:"against"`
	Model    string `json:"model"`
	Sampling string `json:"sampling"`
	Path     string `json:"path"`
	Row      string `json:"row"`
	Column   string `json:"column"`
	*why.Attribution
	// Same are the factors of scoring that are equal on both sides.
	Same []string `json:"same"`
	// Prices belong to Needing, in its order.
	Prices []why.Price `json:"prices"`
	// Calls were made by --allow-calls.
	Calls int `json:"calls"`
}

// verdict is the answer in one sentence.
func (w *whyAnswer) verdict() string {
	switch {
	case !w.GapKnown:
		return "no difference can be told: " + w.NotShared
	case w.Gap == 0:
		return "equal: both figures are " + w.Ours.String()
	case w.NotShared != "":
		return "the difference of " + why.Signed(w.Gap, 2) + " cannot be divided: " + w.NotShared
	}
	var moved []why.Share
	for _, s := range w.Shares {
		if s.Numerator != 0 {
			moved = append(moved, s)
		}
	}
	gap := why.Signed(w.Gap, 2)
	switch {
	case w.Rest == 0 && len(moved) == 1 && len(moved[0].Factors) == 1:
		f := moved[0].Factors[0]
		return fmt.Sprintf("the whole difference of %s is %s: %s | %s", gap, moved[0].Name(), f.Ours, f.Theirs)
	case w.Rest == 0:
		return fmt.Sprintf("the whole difference of %s is scoring: %s", gap, shareNames(moved))
	case len(moved) == 0:
		return fmt.Sprintf("scoring explains nothing of the difference of %s: it lies in what was asked and answered", gap)
	}
	return fmt.Sprintf("scoring explains %s of the difference of %s (%s); %s lies in what was asked and answered", why.Signed(w.Gap-w.Rest, 2), gap, shareNames(moved), why.Signed(w.Rest, 2))
}

func shareNames(list []why.Share) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name()+" "+why.Signed(s.TenThousandths, 4))
	}
	return strings.Join(out, ", ")
}

func (w *whyAnswer) writeText(out io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n\n", w.verdict())
	fmt.Fprintf(b, "%s: %s, %s, %s %s, %s\n", w.Cell, w.Model, w.Sampling, w.Path, strings.ReplaceAll(w.Row, "_", " "), w.Column)
	fmt.Fprintf(b, "  ours    %s%s  reproduction %s (%s)\n", w.Ours, counted(w.Ours), w.Reproduction, w.Name)
	other := "reproduction " + w.Against
	if w.Against == published {
		other = "published"
	}
	fmt.Fprintf(b, "  theirs  %s%s  %s\n", w.Theirs, counted(w.Theirs), other)
	if err := w.sharesText(b); err != nil {
		return err
	}
	if err := w.needingText(b); err != nil {
		return err
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// counted is where a figure comes from; nothing of a published one.
func counted(v why.Value) string {
	switch {
	case !v.Known:
		return " (" + v.Why + ")"
	case v.Formula == "":
		return ""
	}
	return fmt.Sprintf(" (%d of %d, %s)", v.K, v.N, v.Formula)
}

func (w *whyAnswer) sharesText(b *strings.Builder) error {
	t := &tables.Table{Title: "scoring, on recorded answers", Columns: []tables.Column{
		{Name: "factor"}, {Name: "ours"}, {Name: "theirs"}, {Name: "alone", Right: true}, {Name: "share", Right: true}}}
	for _, s := range w.Shares {
		alone, share := tables.None("no value"), tables.None(w.NotShared)
		if s.AloneKnown {
			alone = tables.Text(why.Signed(s.Alone, 2))
		}
		if w.NotShared == "" {
			share = tables.Text(why.Signed(s.TenThousandths, 4))
		}
		for i, f := range s.Factors {
			line := []tables.Cell{tables.Text(f.Name), valueText(f.Ours), valueText(f.Theirs), alone, share}
			if i > 0 { // several factors share a place
				line[3], line[4] = tables.Text("together"), tables.Text("")
			}
			t.Add(line...)
		}
	}
	if w.NotShared == "" {
		t.AddHead(tables.Text("rest: asked and answered"), tables.Text(""), tables.Text(""), tables.Text(""), tables.Text(why.Signed(100*w.Rest, 4)))
		t.AddHead(tables.Text("sum: the difference"), tables.Text(""), tables.Text(""), tables.Text(""), tables.Text(why.Signed(100*w.Gap, 4)))
	}
	interaction := "none: the factors add up"
	switch i := w.Interaction; {
	case w.NotShared != "":
		interaction = "not known"
	case len(w.Shares) < 2:
		interaction = "none: fewer than two factors differ"
	case i != nil:
		interaction = strings.Join(i.Factors, " with ") + " " + why.Signed(i.Hundredths, 2) + " beyond what each does"
	}
	t.Notes = append(t.Notes, "Largest interaction: "+interaction+".",
		fmt.Sprintf("%d combinations were computed; calls made for them: %d.", w.Combinations, w.Calls))
	if w.NotShared != "" {
		t.Notes = append(t.Notes, "No shares: "+w.NotShared+".")
	}
	if w.OpenIn > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("In %d of them dialogues wait for calls that nobody made (%d of a model, %d of a judge with all factors set); they are in no denominator.",
			w.OpenIn, w.Scored.Open.Model, w.Scored.Open.Judge))
	}
	if len(w.Same) > 0 {
		t.Notes = append(t.Notes, "The same on both sides: "+strings.Join(w.Same, ", ")+".")
	}
	b.WriteByte('\n')
	return t.WriteText(b)
}

func (w *whyAnswer) needingText(b *strings.Builder) error {
	b.WriteByte('\n')
	if len(w.Needing) == 0 {
		_, err := fmt.Fprintln(b, "Nothing that needs calls differs.")
		return err
	}
	t := &tables.Table{Title: "beside that: what changes what is asked", Columns: []tables.Column{
		{Name: "factor"}, {Name: "ours"}, {Name: "theirs"}, {Name: "needs"}, {Name: "effect", Right: true}, {Name: "price"}}}
	missing := false
	for i, n := range w.Needing {
		effect, price := tables.None("not asked"), priceText(w.Prices[i])
		switch {
		case n.Recorded:
			effect, price = tables.Text(why.Signed(n.Effect, 2)), "nothing: recorded"
		case n.Why != "":
			price = n.Why
		default:
			missing = true
		}
		t.Add(tables.Text(n.Factor.Name), valueText(n.Factor.Ours), valueText(n.Factor.Theirs), tables.Text(n.Factor.Needs.String()), effect, tables.Text(price))
	}
	if w.NotShared == "" {
		t.Notes = append(t.Notes, "Effects are of one factor at a time, beside all of scoring. Of the rest of "+why.Signed(w.Rest, 2)+" they leave "+why.Signed(w.Left, 2)+".")
	}
	if missing {
		t.Notes = append(t.Notes, "--allow-calls makes the missing calls, --factor NAME those of one factor. Prices are what all calls of that kind took in this reproduction.")
		for _, n := range w.Needing {
			if len(n.Factor.Sets) > 0 && !n.Recorded {
				t.Notes = append(t.Notes, fmt.Sprintf("%s in a run: cxrepro run SPEC%s", n.Factor.Name, setFlags(w.Shares, n.Factor)))
			}
		}
	}
	return t.WriteText(b)
}

// setFlags are the flags that make a run of ours one with a factor, and all of scoring, as on the
// other side.
func setFlags(shares []why.Share, f why.Factor) string {
	text := ""
	for _, s := range shares {
		for _, x := range s.Factors {
			for _, set := range x.Sets {
				text += " --set " + set
			}
		}
	}
	for _, set := range f.Sets {
		text += " --set " + set
	}
	return text
}

// priceText is a price in a few words.
func priceText(p why.Price) string {
	if !p.Known {
		return "not known: no account of calls"
	}
	calls := fmt.Sprintf("%s to %s calls", tables.Number(p.AtLeast), tables.Number(p.AtMost))
	if p.Other {
		calls = "about " + tables.Number(p.AtMost) + " calls"
	}
	text := fmt.Sprintf("%s, up to %s tokens", calls, tables.Number(int(p.Usage.Prompt+p.Usage.Completion)))
	switch {
	case p.Cost > 0:
		text += fmt.Sprintf(", up to %.2f %s", float64(p.Cost)/1e6, p.Currency)
	case p.Unpriced > 0:
		text += ", no price is known"
	}
	return text
}

// valueText is a factor's value in a column.
func valueText(s string) tables.Cell { return tables.Text(tables.Clip(s, 44)) }
