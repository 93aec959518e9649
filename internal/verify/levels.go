package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// levels finds out how far every unit comes.
func (v *verifier) levels(ctx context.Context) error {
	if v.audit == nil {
		return nil
	}
	if v.audit.RolloutSets() > 0 {
		return v.agent(ctx)
	}
	if err := v.units(ctx); err != nil {
		return err
	}
	if v.broken != "" {
		for i := range v.out.Units {
			v.out.Units[i].Level, v.out.Units[i].Why = 0, v.broken
		}
		return v.tables(ctx)
	}
	for _, level := range []struct {
		level int
		check func(ctx context.Context) error
	}{{Tables, v.level2}, {Outcomes, v.level3}, {Images, v.level4}} {
		if v.o.Level < level.level {
			break
		}
		if err := level.check(ctx); err != nil {
			return err
		}
	}
	v.damaged()
	for i := range v.out.Units {
		if u := &v.out.Units[i]; u.Why == "" && u.Level < Images && u.Level >= v.o.Level {
			u.Why = fmt.Sprintf("level %d was the highest that was asked for", v.o.Level)
		}
	}
	return v.tables(ctx)
}

// damaged takes every unit down to 0 where bytes are wrong: which figures a damaged object can
// have moved is for nobody to guess.
func (v *verifier) damaged() {
	n, first := 0, ""
	for _, f := range v.out.Faults {
		if f.Level != Bytes {
			continue
		}
		if n++; first == "" {
			if first = f.What; first == "" {
				first = f.Object
			}
		}
	}
	if n == 0 {
		return
	}
	for i := range v.out.Units {
		v.out.Units[i].Level, v.out.Units[i].Why = 0, fmt.Sprintf("wrong at L1: %s (%d such)", first, n)
	}
}

// units lists what levels are found out for.
func (v *verifier) units(ctx context.Context) error {
	r := v.audit.Receipt()
	if !r.Summary.IsZero() {
		v.out.Units = append(v.out.Units, Unit{Findings: true, Evaluation: -1, Level: Bytes})
	}
	for i := range v.audit.Evaluations() {
		doc, err := v.audit.Evaluation(ctx, i)
		if err != nil {
			if err := v.unreadable(err); err != nil {
				return err
			}
			v.out.Units = append(v.out.Units, Unit{Evaluation: i, Why: "the document of the evaluation cannot be read: " + brief(err)})
			continue
		}
		for _, t := range doc.Tasks {
			v.out.Units = append(v.out.Units, Unit{Evaluation: i, Path: cxreasonbench.Path1, Task: t.Task, Level: Bytes})
			if doc.Evaluation.Path2 {
				v.out.Units = append(v.out.Units, Unit{Evaluation: i, Path: cxreasonbench.Path2, Task: t.Task, Level: Bytes})
			}
		}
	}
	return nil
}

// unreadable passes on errors that are of the store, not of one object.
func (v *verifier) unreadable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, artifacts.ErrUnreachable) || errors.Is(err, artifacts.ErrDenied) {
		return err
	}
	return nil
}

// brief is an error for a table: without the operations around it.
func brief(err error) string {
	switch {
	case errors.Is(err, artifacts.ErrNotFound):
		text := err.Error()
		for _, mark := range []string{": get ", "get ", ": stat ", ": look up "} {
			if i := strings.Index(text, mark); i >= 0 {
				text = text[:i]
				break
			}
		}
		var gone *artifacts.BucketError
		if errors.As(err, &gone) {
			text = strings.TrimSpace(text + " " + gone.Object)
		}
		return text + " is withheld or not there"
	case errors.Is(err, artifacts.ErrDigestMismatch):
		return err.Error()
	}
	return err.Error()
}

// reason is brief, with what the object is in place of its name.
func (v *verifier) reason(ctx context.Context, err error) string {
	text := brief(err)
	var gone *artifacts.BucketError
	if !errors.As(err, &gone) || v.inventory(ctx) != nil {
		return text
	}
	role := v.held[gone.Object].Role
	for _, g := range v.gaps {
		if role == "" && g.Object == gone.Object {
			role = g.Role
		}
	}
	if role == "" {
		return text
	}
	return strings.Replace(text, gone.Object, role, 1)
}

// stop keeps a unit at its level and says why. Bytes that are wrong take it down to 0.
func (v *verifier) stop(ctx context.Context, u *Unit, err error) {
	if errors.Is(err, artifacts.ErrDigestMismatch) && u.Level == Bytes {
		u.Level = 0
	}
	u.Why = v.reason(ctx, err)
}

// halt is stop for a recorded document. One that is there and cannot be read, or contradicts
// itself, is wrong; one that is withheld or gone leaves open what follows from it.
func (v *verifier) halt(ctx context.Context, u *Unit, level int, err error) {
	v.stop(ctx, u, err)
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return // withheld, or said at L1
	}
	f := Fault{Level: level, What: "a recorded document", Detail: brief(err)}
	if !slices.Contains(v.out.Faults, f) {
		v.out.fault(f)
	}
}

// level2 recomputes every table from outcome records.
func (v *verifier) level2(ctx context.Context) error {
	checked, r := int64(0), v.audit.Receipt()
	if v.listed {
		if err := v.entries(ctx, Tables); err != nil {
			return err
		}
	}
	var findings artifacts.Digest
	for i := range v.out.Units {
		u := &v.out.Units[i]
		if !u.Findings {
			continue
		}
		checked++
		tables, results, err := v.audit.Findings(ctx)
		findings = results.Digest
		switch {
		case err != nil:
			if err := v.unreadable(err); err != nil {
				return err
			}
			v.halt(ctx, u, Tables, err)
		case tables.Digest != r.Summary.Digest:
			v.differ(u, Tables, Fault{
				Object: artifacts.BlobObject(r.Summary.Digest), What: "the tables of the findings",
				Detail: fmt.Sprintf("recorded is %s, from the rows follows %s", r.Summary.Digest.Short(), tables.Digest.Short()),
			})
		default:
			u.Level = Tables
		}
	}
	evaluations, err := v.count(ctx)
	if err != nil {
		return err
	}
	if err := v.results(ctx, findings); err != nil {
		return err
	}
	counted, err := v.account(ctx)
	if err != nil {
		return err
	}
	v.out.Steps = append(v.out.Steps, Step{Level: Tables, Checked: checked + evaluations, Done: v.said(Tables, "tables from findings and pages of dialogues") + counted, Open: v.why(Tables)})
	return nil
}

// account compares what the receipt counts with what lies below it.
func (v *verifier) account(ctx context.Context) (said string, err error) {
	found, open, err := v.audit.Account(ctx)
	if err != nil {
		return "", v.unreadable(err)
	}
	for _, d := range found {
		v.out.fault(Fault{Level: Tables, Object: d.Object, What: d.What, Detail: d.Detail})
	}
	if len(open) > 0 {
		return "; of the receipt open: " + strings.Join(open, ", "), nil
	}
	return "; what the receipt counts", nil
}

// differ notes a difference and keeps the unit below the level.
func (v *verifier) differ(u *Unit, level int, f Fault) {
	f.Level = level
	v.out.fault(f)
	u.Level, u.Why = min(u.Level, level-1), f.What+": "+f.Detail
}

// count recomputes the figures of every evaluation and compares them one by one.
func (v *verifier) count(ctx context.Context) (int64, error) {
	if v.audit.Evaluations() == 0 {
		return 0, nil
	}
	recorded, err := v.audit.Summary(ctx)
	if err != nil {
		if err := v.unreadable(err); err != nil {
			return 0, err
		}
		v.each(-1, func(u *Unit) { v.halt(ctx, u, Tables, fmt.Errorf("the tables: %w", err)) })
		return 0, nil
	}
	switch frame, err := v.audit.Frame(ctx); {
	case err == nil:
		v.frame(recorded, frame)
	case errors.Is(err, artifacts.ErrNotFound): // the benchmark is withheld
	case v.unreadable(err) != nil:
		return 0, err
	default:
		v.each(-1, func(u *Unit) { v.halt(ctx, u, Tables, fmt.Errorf("what stands around the tables: %w", err)) })
		return 0, nil
	}
	for i := range v.audit.Evaluations() {
		if i >= len(recorded.Evaluations) {
			f := Fault{Object: artifacts.BlobObject(v.audit.Receipt().Tables.Digest), What: "the tables",
				Detail: fmt.Sprintf("they hold %d evaluations, there are %d", len(recorded.Evaluations), v.audit.Evaluations())}
			v.each(i, func(u *Unit) { v.differ(u, Tables, f) })
			continue
		}
		v.o.Progress("tables", int64(i))
		got, err := v.audit.Count(ctx, i)
		if err != nil {
			if err := v.unreadable(err); err != nil {
				return 0, err
			}
			v.each(i, func(u *Unit) { v.halt(ctx, u, Tables, err) })
			continue
		}
		cells := unlikeCells(&recorded.Evaluations[i], got)
		v.each(i, func(u *Unit) { u.Level = Tables })
		for _, c := range cells {
			f := Fault{Level: Tables, Object: artifacts.BlobObject(v.audit.Receipt().Tables.Digest), What: c.what, Detail: c.detail}
			v.out.fault(f)
			v.each(i, func(u *Unit) {
				if c.concerns(u) {
					u.Level, u.Why = Bytes, f.What+": "+f.Detail
				}
			})
		}
	}
	return int64(v.audit.Evaluations()), nil
}

// each calls fn for the units of an evaluation, or of all (-1), that can still be read.
func (v *verifier) each(i int, fn func(*Unit)) {
	for k := range v.out.Units {
		if u := &v.out.Units[k]; !u.Findings && (i < 0 || u.Evaluation == i) && u.Why == "" {
			fn(u)
		}
	}
}

// frame compares what the tables say beside figures.
func (v *verifier) frame(recorded, want *contract.EvaluationSummary) {
	a, b := *recorded, *want
	a.Evaluations, b.Evaluations = nil, nil
	if x, y := canonical(a), canonical(b); x != y {
		v.out.fault(Fault{
			Level: Tables, Object: artifacts.BlobObject(v.audit.Receipt().Tables.Digest), What: "what the tables say of benchmark, rules and judge",
			Detail: "it is not what plan and benchmark say",
		})
	}
}

func canonical(x any) string {
	text, err := artifacts.Canonical(x)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// results compares the list behind the result digest.
func (v *verifier) results(ctx context.Context, findings artifacts.Digest) error {
	r := v.audit.Receipt()
	want := findings
	if !r.Benchmark.IsZero() {
		if findings.IsZero() && !r.Summary.IsZero() {
			return nil // the findings could not be read
		}
		ref, err := v.audit.Results(findings)
		if err != nil {
			return err
		}
		want = ref.Digest
	}
	if want.IsZero() || want == r.ResultDigest {
		return nil
	}
	v.out.fault(Fault{
		Level: Tables, Object: artifacts.BlobObject(r.Results.Digest), What: "the result digest",
		Detail: fmt.Sprintf("the receipt names %s; findings, benchmark, dialogues and tables give %s", r.ResultDigest.Short(), want.Short()),
	})
	return ctx.Err()
}

// level3 runs every dialogue again over the recorded answers.
func (v *verifier) level3(ctx context.Context) error {
	checked := int64(0)
	for i := range v.audit.Evaluations() {
		doc, err := v.audit.Evaluation(ctx, i)
		if err != nil {
			continue // said at L2
		}
		for _, t := range doc.Tasks {
			for k := range v.out.Units {
				u := &v.out.Units[k]
				if u.Findings || u.Evaluation != i || u.Task != t.Task || u.Level < Tables {
					continue
				}
				v.o.Progress("dialogues", checked)
				found, err := v.audit.Dialogues(ctx, doc, t, u.Path)
				if err != nil {
					if err := v.unreadable(err); err != nil {
						return err
					}
					v.halt(ctx, u, Outcomes, err)
					continue
				}
				checked += int64(t.Cases)
				if len(found) == 0 {
					u.Level = Outcomes
				}
				for _, d := range found {
					v.differ(u, Outcomes, Fault{Object: d.Object, What: d.What, Detail: d.Detail})
				}
			}
		}
	}
	if v.audit.Evaluations() > 0 {
		v.out.Steps = append(v.out.Steps, Step{Level: Outcomes, Checked: checked, Done: v.said(Outcomes, "dialogues run again over the recorded answers"), Open: v.why(Outcomes)})
	}
	return nil
}

// said counts the units that reached a level.
func (v *verifier) said(level int, what string) string {
	n, all := 0, 0
	for _, u := range v.out.Units {
		if level == Outcomes && u.Findings {
			continue
		}
		all++
		if u.Level >= level {
			n++
		}
	}
	return fmt.Sprintf("%s: %d of %d units", what, n, all)
}

// why is the first reason for which a unit did not reach a level.
func (v *verifier) why(level int) string {
	for _, u := range v.out.Units {
		if u.Level < level && u.Why != "" && !(level == Outcomes && u.Findings) {
			return u.Why
		}
	}
	return ""
}
