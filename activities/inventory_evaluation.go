package activities

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
)

// evaluation notes the pages of an evaluation, its answers, and the records of its calls.
func (v *inventory) evaluation(ctx context.Context, i int, ref artifacts.Ref) error {
	name := fmt.Sprintf("evaluation %d", i)
	v.open(ref, "the document of "+name)
	doc, ok, err := readHeld[contract.EvaluationDoc](ctx, v, ref, name)
	if err != nil || !ok {
		return err
	}
	name = doc.Evaluation.Name
	for _, t := range doc.Tasks {
		if err := v.pages(ctx, t.Path1, name, t.Task, cxreasonbench.Path1); err != nil {
			return err
		}
		if !t.Population.IsZero() {
			v.open(t.Population, fmt.Sprintf("who enters path2 of %s, %s", t.Task, name))
		}
		if err := v.pages(ctx, t.Path2, name, t.Task, cxreasonbench.Path2); err != nil {
			return err
		}
	}
	if i >= len(v.r.Accounts) || v.r.Accounts[i].IsZero() {
		return nil
	}
	return v.accounts(ctx, v.r.Accounts[i], name)
}

// pages notes the pages of one task on one path with the answers that they refer to.
func (v *inventory) pages(ctx context.Context, list artifacts.Ref, name string, task cxreasonbench.Task, path cxreasonbench.Path) error {
	if list.IsZero() {
		return nil
	}
	role := fmt.Sprintf("dialogues of %s on %s, %s", task, path, name)
	v.open(list, "list of the "+role)
	packed, ok, err := readHeld[contract.Packed](ctx, v, list, role)
	if err != nil || !ok {
		return err
	}
	for _, item := range packed.Items {
		page, ok, err := readHeld[contract.DialoguesDoc](ctx, v, item.Ref, role)
		if err != nil {
			return err
		}
		where := fmt.Sprintf("page %d of the %s", item.Index, role)
		if !ok || tells(&page) {
			v.bound(item.Ref, where)
		} else {
			v.open(item.Ref, where)
		}
		for k := range page.Dialogues {
			v.dialogue(&page.Dialogues[k], name, task)
		}
		v.p.progress()
	}
	return nil
}

// plainValue is an extracted value that tells numbers, with the few words that the judge's prompt
// asks for.
var plainValue = regexp.MustCompile(`^(?i:n/?a|none|right|left|value|px|pixels?|cm|mm|degrees?|[-+−–—~<>=≤≥≈±0-9.,:;/()\[\]%°º \t\n])*$`)

// tells reports whether a page holds words that a model said: then it is bound like an answer.
func tells(page *contract.DialoguesDoc) bool {
	for i := range page.Dialogues {
		for _, v := range page.Dialogues[i].Values {
			if !plainValue.MatchString(v.Extracted) {
				return true
			}
		}
	}
	return false
}

// dialogue notes the answers of one dialogue.
func (v *inventory) dialogue(d *contract.DialogueDoc, name string, task cxreasonbench.Task) {
	about := func(what string, key cxreasonbench.Key, draw int) string {
		return fmt.Sprintf("%s to %s, draw %d, case %d of %s, %s", what, key, draw, d.Case, task, name)
	}
	for _, t := range d.State.Turns {
		for i, draw := range t.Draws {
			v.bound(draw.Reply, about("answer", t.Key, i))
		}
	}
	for _, t := range d.Turns {
		for i, draw := range t.Draws {
			v.bound(draw.Verdict, about("judge's answer", t.Key, i))
		}
	}
	for _, x := range d.Values {
		v.bound(x.Extraction, about("judge's extraction", x.Key, 0))
	}
}

// accounts notes the accounts of calls and, by the keys in them, the records of the calls.
func (v *inventory) accounts(ctx context.Context, list artifacts.Ref, name string) error {
	role := "accounts of the calls of " + name
	v.open(list, "list of the "+role)
	packed, ok, err := readHeld[contract.Packed](ctx, v, list, role)
	if err != nil || !ok {
		return err
	}
	for _, item := range packed.Items {
		doc, ok, err := readHeld[contract.CallsDoc](ctx, v, item.Ref, role)
		if err != nil {
			return err
		}
		v.open(item.Ref, fmt.Sprintf("account of calls %d of %s", item.Index, name))
		if !ok {
			continue
		}
		for _, c := range doc.Calls {
			where := name
			if doc.Set == "" {
				where = fmt.Sprintf("%s on %s, %s", doc.Task, doc.Path, name)
			}
			if err := v.call(ctx, c.Key, where); err != nil {
				return err
			}
		}
		v.p.progress()
	}
	return nil
}

// call notes the record of a call: its answer, or its outcome without one.
func (v *inventory) call(ctx context.Context, digest artifacts.Digest, where string) error {
	key := artifacts.Key{Step: contract.StepCall, Digest: digest}
	if _, known := v.held[artifacts.EntryObject(key)]; known {
		return nil
	}
	rec, err := v.a.opts.Store.Entry(ctx, key)
	if errors.Is(err, artifacts.ErrNotFound) {
		key.Step = contract.StepCallOutcome
		rec, err = v.a.opts.Store.Entry(ctx, key)
	}
	role := "record of call " + digest.Short() + ", " + where
	if err != nil {
		key.Step = contract.StepCall
		return v.gap(artifacts.EntryObject(key), role, err)
	}
	answer := v.held[artifacts.BlobObject(rec.Result.Digest)]
	if answer != nil {
		role = "record of call " + digest.Short() + ": " + answer.Role
	}
	v.add(artifacts.EntryObject(key), 0, "", role)
	if len(rec.Inline) == 0 {
		v.add(artifacts.StatementObject(rec.Statement.Digest), rec.Statement.Size, "", "statement of the "+role)
	}
	v.bound(rec.Result, "answer of call "+digest.Short()+", "+where)
	return nil
}
