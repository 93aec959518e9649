package radcot

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/datause"
)

// DatasheetFormat is Datasheet.Format.
const DatasheetFormat = "cxrepro-radcot-datasheet-1"

// Datasheet says what a data set of training examples is: where it comes from, by which rules,
// what was left out, and how it compares with the paper's.
type Datasheet struct {
	Format     string           `json:"format"`
	Name       string           `json:"name"`
	Set        artifacts.Digest `json:"set"`
	Ledger     artifacts.Digest `json:"ledger"`
	Exclusions artifacts.Digest `json:"exclusions"`
	DataUse    datause.Class    `json:"data_use"`
	Spec       Spec             `json:"spec"`
	// Prompts and Teacher name what was asked and who.
	Prompts map[string]string `json:"prompts"`
	Teacher string            `json:"teacher"`
	Leakage int               `json:"leakage_version"`
	Files   []SourceFile      `json:"files"`
	Pool    []Count           `json:"pool"`
	Left    []Count           `json:"left"`
	Short   []Count           `json:"short,omitempty"`
	Parts   []PartCount       `json:"parts"`
	// Rejected counts candidates by part, phase and the deciding code of their last attempt,
	// Attempts the rejected attempts by phase and code.
	Rejected []Count `json:"rejected"`
	Attempts []Count `json:"rejected_attempts"`
	SFT      int     `json:"sft"`
	GRPO     int     `json:"grpo"`
	// Excluded are the sizes of the exclusion lists; Overlap what examples share with them.
	Excluded []Count   `json:"excluded"`
	Overlap  int       `json:"overlap"`
	Balances []Balance `json:"balances"`
	Audit    *Audit    `json:"audit,omitempty"`
	Waiver   string    `json:"waiver,omitempty"`
}

// Datasheet describes a construction. audit may be nil where no labeller has seen it.
func (b *Built) Datasheet(ledger artifacts.Digest, ex *Exclusions, teacher string, audit *Audit) Datasheet {
	s := b.Set
	return Datasheet{
		Format: DatasheetFormat, Name: s.Spec.Name, Set: b.Ledger.Set, Ledger: ledger, Exclusions: s.Exclusions, DataUse: b.DataUse, Spec: s.Spec,
		Prompts: s.Spec.Prompts(), Teacher: teacher, Leakage: LeakageVersion, Files: s.Files, Pool: s.Pool, Left: s.Left, Short: s.Short,
		Parts: b.Parts, Rejected: b.Rejected, Attempts: b.Ledger.Rejections(), SFT: b.SFT(), GRPO: b.GRPO(),
		Excluded: []Count{{"slake evaluation pictures", len(ex.Slake)}, {"openi pictures", len(ex.OpenI)}, {"openi reports with siblings", len(ex.Reports)}},
		Overlap:  len(b.Overlap), Balances: b.Balances, Audit: audit, Waiver: ex.Waiver,
	}
}

// Markdown writes the datasheet for people.
func (d Datasheet) Markdown(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Datasheet: %s\n", d.Name)
	line("Training examples for X-Ragent. Data use: **%s**. Candidate set `%s`, ledger `%s`.\n", d.DataUse, d.Set.Short(), d.Ledger.Short())
	d.composition(line)
	d.rejections(line)
	d.safety(line)
	line("## How it was made\n")
	line("Teacher: %s. Seed %d; up to %d attempts per phase; rationale of %d to %d words, similarity at most %v; leakage %s, list %d.\n",
		orUnknown(d.Teacher), d.Spec.Seed, d.Spec.Rules.Attempts, d.Spec.Rules.MinWords, d.Spec.Rules.MaxWords, d.Spec.Rules.Similarity, d.Spec.Rules.Leakage, d.Leakage)
	line("Binary questions come from `%s`. At most %.3f of the drawn reports have no finding.\n", d.Spec.Binary, d.Spec.NoFindingCap)
	line("| prompt | sha256 |\n| --- | --- |")
	for _, name := range slices.Sorted(maps.Keys(d.Prompts)) {
		line("| %s | `%s` |", name, strings.TrimPrefix(d.Prompts[name], "sha256:"))
	}
	line("\n| source file | sha256 |\n| --- | --- |")
	for _, f := range d.Files {
		line("| %s | `%s` |", f.Name, strings.TrimPrefix(f.Digest.String(), "sha256:"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func orUnknown(s string) string {
	if s == "" {
		return "not named"
	}
	return s
}

func (d Datasheet) composition(line func(string, ...any)) {
	line("## Composition\n")
	line("| part | drawn | accepted | yield | rejected | undetermined | kept | surplus | wanted | paper |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, p := range d.Parts {
		yield := "-"
		if y, ok := p.Yield(); ok {
			yield = fmt.Sprintf("%.1f %%", 100*y)
		}
		line("| %s | %d | %d | %s | %d | %d | %d | %d | %d | %d |", p.Part, p.Drawn, p.Accepted, yield, p.Rejected, p.Undetermined, p.Kept, p.Surplus, p.Wanted, p.Published)
	}
	line("\n| corpus | examples | paper |\n| --- | ---: | ---: |")
	line("| SFT | %d | %d |\n| GRPO | %d | %d |", d.SFT, PublishedSFT, d.GRPO, PublishedGRPO)
	line("\nPaper: %d report candidates became about %d (66.7 %%).\n", PublishedReports, published[Report])
	for _, s := range d.Short {
		line("Part %s: the pool had %d candidates too few.\n", s.Name, s.N)
	}
	for _, b := range d.Balances {
		line("Right letters: %s.\n", b)
	}
}

func (d Datasheet) rejections(line func(string, ...any)) {
	for _, t := range []struct {
		title string
		list  []Count
	}{{"Records that are no candidates (source/code)", d.Left}, {"Rejected candidates (part/phase/code of the last attempt)", d.Rejected}, {"Rejected attempts (phase/code)", d.Attempts}} {
		line("## %s\n\n| what | n |\n| --- | ---: |", t.title)
		for _, c := range t.list {
			line("| %s | %d |", c.Name, c.N)
		}
		line("")
	}
}

func (d Datasheet) safety(line func(string, ...any)) {
	line("## Overlap with evaluation data\n")
	for _, c := range d.Excluded {
		line("- %s: %d", c.Name, c.N)
	}
	line("- nothing of Eurorad\n- **overlap: %d**\n", d.Overlap)
	if d.Waiver != "" {
		line("The lists have other sizes than the paper's: %s.\n", d.Waiver)
	}
	line("## Labels of the report examples\n")
	if d.Audit == nil {
		line("No labeller has read them.\n")
		return
	}
	line("By %s: %d of %d examples labelled; %s.\n\n| label | positive | negative | uncertain |\n| --- | ---: | ---: | ---: |", d.Audit.By, d.Audit.Labelled, d.Audit.Examples, d.Audit)
	for _, c := range d.Audit.Categories {
		line("| %s | %d | %d | %d |", c.Label, c.Positive, c.Negative, c.Uncertain)
	}
	line("")
}
