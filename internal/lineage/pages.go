package lineage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/dialogue"
	"cxrepro/internal/report/scoring"
)

// pagesKey names the pages of one task on one path.
type pagesKey struct {
	evaluation int
	task       cxreasonbench.Task
	path       cxreasonbench.Path
}

// page is a page of dialogues with the calls that it accounts for.
type page struct {
	run   *Run
	key   pagesKey
	ref   artifacts.Ref
	doc   *contract.DialoguesDoc
	calls map[artifacts.Digest][]accounted // by answer
}

// accounted is a call of a page's account with what its statement links it to.
type accounted struct {
	catalog.Call
	links []catalog.Link
}

// to returns what a link of some name leads to; zero without one.
func (a *accounted) to(name string) artifacts.Digest {
	for _, l := range a.links {
		if l.Name == name {
			return l.To
		}
	}
	return artifacts.Digest{}
}

// pagesOf reads the pages of one task on Path 1 or Path 2; there may be none.
func (r *Run) pagesOf(ctx context.Context, k pagesKey) ([]*page, error) {
	if k.path == cxreasonbench.RePath1 {
		k.path = cxreasonbench.Path2
	}
	if list, ok := r.pages[k]; ok {
		return list, nil
	}
	doc, err := r.evaluation(ctx, k.evaluation)
	if err != nil {
		return nil, err
	}
	list := []*page{}
	for _, t := range doc.Tasks {
		if t.Task != k.task {
			continue
		}
		ref := t.Path1
		if k.path == cxreasonbench.Path2 {
			ref = t.Path2
		}
		if ref.IsZero() {
			continue
		}
		packed, err := read[contract.Packed](ctx, r.x.docs, ref)
		if err != nil {
			return nil, err
		}
		for _, item := range packed.Items {
			doc, err := read[contract.DialoguesDoc](ctx, r.x.docs, item.Ref)
			if err != nil {
				return nil, err
			}
			list = append(list, &page{run: r, key: k, ref: item.Ref, doc: &doc})
		}
	}
	r.pages[k] = list
	return list, nil
}

// pagesOfTask reads the pages of one task on both paths.
//
// Errors: where the pages of one path are gone, those of the other are returned beside the error.
func (r *Run) pagesOfTask(ctx context.Context, evaluation int, task cxreasonbench.Task) (list []*page, missing error) {
	for _, path := range []cxreasonbench.Path{cxreasonbench.Path1, cxreasonbench.Path2} {
		pages, err := r.pagesOf(ctx, pagesKey{evaluation, task, path})
		if gone(err) {
			missing = err
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, pages...)
	}
	return list, missing
}

// account reads which calls the pages of a task and path need, once for all of them: who
// answered, and what their statements link them to.
func (p *page) account(ctx context.Context) error {
	if p.calls != nil {
		return nil
	}
	r := p.run
	pages, err := r.pagesOf(ctx, p.key)
	if err != nil {
		return err
	}
	byAnswer := map[artifacts.Digest][]accounted{}
	for _, q := range slices.Concat(pages, []*page{p}) {
		q.calls = byAnswer
	}
	if p.key.evaluation >= len(r.Receipt.Accounts) {
		return nil
	}
	list, err := read[contract.Packed](ctx, r.x.docs, r.Receipt.Accounts[p.key.evaluation])
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	var keys []artifacts.Digest
	for _, item := range list.Items {
		doc, err := read[contract.CallsDoc](ctx, r.x.docs, item.Ref)
		if gone(err) {
			continue
		}
		if err != nil {
			return err
		}
		if doc.Task == p.key.task && doc.Path == p.key.path {
			for _, c := range doc.Calls {
				keys = append(keys, c.Key)
			}
		}
	}
	return r.x.accounted(ctx, keys, byAnswer)
}

func (x *Explorer) accounted(ctx context.Context, keys []artifacts.Digest, into map[artifacts.Digest][]accounted) error {
	calls, err := x.index.CallsOf(ctx, keys)
	if err != nil {
		return err
	}
	links, err := x.index.Via(ctx, keys)
	if err != nil {
		return err
	}
	byKey := map[artifacts.Digest][]catalog.Link{}
	for _, l := range links {
		byKey[l.Key] = append(byKey[l.Key], l)
	}
	for _, c := range calls {
		answer := c.Step.Result.Digest
		into[answer] = append(into[answer], accounted{c, byKey[c.Step.Key.Digest]})
	}
	return nil
}

// own are the turns that were asked in a dialogue itself; those before come from Path 1.
func own(d *contract.DialogueDoc) []cxreasonbench.Turn { return d.State.Turns[d.State.Replayed:] }

// asked finds the call that gave a reply: of those of the account with this answer the one whose
// statement names the question, the draw, the pictures and the answers before it. An answer such
// as "B" is that of many calls, and a question that of many cases.
func (p *page) asked(ctx context.Context, d *contract.DialogueDoc, turn, draw int) (*accounted, error) {
	if err := p.account(ctx); err != nil {
		return nil, err
	}
	t := &own(d)[turn]
	list := p.calls[t.Draws[draw].Reply.Digest]
	if len(list) == 0 {
		return nil, nil
	}
	question, err := p.run.questionDigest(ctx, t)
	if err != nil && !gone(err) {
		return nil, err
	}
	for i := range list {
		c := &list[i]
		if c.Kind != kindModel || c.Draw != draw || !question.IsZero() && c.to(catalog.LinkQuestion) != question || !c.follows(d, turn) {
			continue
		}
		ok, err := p.run.shows(ctx, c, d.State.Turns[:d.State.Replayed+turn+1])
		if ok || err != nil {
			return c, err
		}
	}
	return nil, nil
}

// shows reports whether a call's statement names the pictures of the questions that were put, as
// they are or as they are sent.
func (r *Run) shows(ctx context.Context, c *accounted, turns []cxreasonbench.Turn) (bool, error) {
	for i := range turns {
		want, err := r.pictures(ctx, &turns[i])
		if gone(err) {
			return true, nil // nothing tells the calls apart any more
		}
		if err != nil {
			return false, err
		}
		name := "picture of " + turns[i].Key.String()
		for _, l := range c.links {
			if l.Name == name && !want[l.To] {
				return false, nil
			}
		}
	}
	return true, nil
}

// pictures are those of a question of a case, and what they were made into to be sent.
func (r *Run) pictures(ctx context.Context, t *cxreasonbench.Turn) (map[artifacts.Digest]bool, error) {
	at := t.Case + " " + t.Key.String()
	if have, ok := r.shown[at]; ok {
		return have, nil
	}
	q, doc, err := r.questionOf(ctx, t)
	if err != nil {
		return nil, err
	}
	out := map[artifacts.Digest]bool{}
	if q != nil {
		for _, p := range q.Pictures {
			drawn := doc.Pictures[p.Path].Digest
			out[drawn] = true
			links, err := r.x.links(ctx, drawn, Up)
			if err != nil {
				return nil, err
			}
			for _, l := range links {
				if l.Name == "picture" {
					out[l.From] = true
				}
			}
		}
	}
	r.shown[at] = out
	return out, nil
}

// kindModel is the word of package ledger for a call to a model under evaluation.
const kindModel = "model"

// follows reports whether a call's statement names the answers that were given before a turn.
func (a *accounted) follows(d *contract.DialogueDoc, turn int) bool {
	said := d.State.Turns[:d.State.Replayed+turn]
	want, have := map[string]artifacts.Digest{}, 0
	for _, t := range said {
		want["answer to "+t.Key.String()] = t.Draws[t.Kept].Reply.Digest
	}
	for _, l := range a.links {
		if strings.HasPrefix(l.Name, "answer to ") {
			if want[l.Name] != l.To {
				return false
			}
			have++
		}
	}
	return have == len(want)
}

// questionOf is a question of a case; nil for one that the case does not have.
func (r *Run) questionOf(ctx context.Context, t *cxreasonbench.Turn) (*cxreasonbench.Question, *contract.CaseDoc, error) {
	n, err := scoring.CaseNumber(t.Case)
	if err != nil {
		return nil, nil, err
	}
	doc, err := r.caseDoc(ctx, n)
	if err != nil {
		return nil, nil, err
	}
	q, ok := cxreasonbench.FindQuestion(doc.Items, t.Key)
	if !ok {
		return nil, doc, nil
	}
	return &q, doc, nil
}

// questionDigest is the digest of a question as a message.
func (r *Run) questionDigest(ctx context.Context, t *cxreasonbench.Turn) (artifacts.Digest, error) {
	q, _, err := r.questionOf(ctx, t)
	if q == nil || err != nil {
		return artifacts.Digest{}, err
	}
	return contract.MessageDigest(dialogue.Transcript{}.Ask(q.Text).Messages[0]), nil
}

// asks are the calls of a dialogue in order: of each turn and draw the model's, its verdict, and
// what the judge read the value from.
func (p *page) asks(ctx context.Context, i int) ([]next, error) {
	d := &p.doc.Dialogues[i]
	var out []next
	add := func(c *accounted, answer artifacts.Ref, kind cxreasonbench.CallKind, turn, draw int) {
		if answer.IsZero() {
			return
		}
		n := Node{Kind: KindCall, Digest: answer.Digest}.identify()
		if c != nil {
			n = callNode(c.Call)
		}
		n.Title = cxreasonbench.Call{Kind: kind, Key: own(d)[turn].Key, Draw: draw}.String() + ", " + p.caseWords(i)
		n.at = place{run: p.run, evaluation: p.key.evaluation, page: p, dialogue: i, turn: turn, draw: draw, kind: kind, code: n.at.code}
		out = append(out, next{n, kind.String() + " of " + own(d)[turn].Key.String()})
	}
	for turn, t := range own(d) {
		for draw, x := range t.Draws {
			c, err := p.asked(ctx, d, turn, draw)
			if err != nil {
				return nil, err
			}
			add(c, x.Reply, cxreasonbench.CallModel, turn, draw)
			if turn >= len(d.Turns) || draw >= len(d.Turns[turn].Draws) {
				continue
			}
			verdict := d.Turns[turn].Draws[draw].Verdict
			reply, err := p.judgedReply(ctx, d, turn, draw)
			if err != nil {
				return nil, err
			}
			if c, err = p.judged(ctx, &t, cxreasonbench.CallJudge, verdict, reply); err != nil {
				return nil, err
			}
			add(c, verdict, cxreasonbench.CallJudge, turn, draw)
		}
		for _, v := range d.Values {
			if v.Key != t.Key {
				continue
			}
			c, err := p.judged(ctx, &t, cxreasonbench.CallExtract, v.Extraction, t.Draws[t.Kept].Reply)
			if err != nil {
				return nil, err
			}
			add(c, v.Extraction, cxreasonbench.CallExtract, turn, t.Kept)
		}
	}
	return out, nil
}

// caseWords names the case of a dialogue.
func (p *page) caseWords(i int) string { return "case " + strconv.Itoa(p.doc.Dialogues[i].Case) }

// node is a dialogue as a node.
func (p *page) node(i int) Node {
	d := &p.doc.Dialogues[i]
	n := Node{Kind: KindDialogue, Digest: p.ref.Digest, Title: fmt.Sprintf("case %d, %s of %s, %s", d.Case, cxreasonbench.PathTitle(p.key.path), words(p.key.task.String()), p.doc.Evaluation)}
	switch {
	case d.Undetermined != nil:
		n.Title += ", undetermined"
	case d.End != 0:
		n.Title += ", " + words(d.End.String())
	}
	n.at = place{run: p.run, evaluation: p.key.evaluation, page: p, dialogue: i}
	return n.row(strconv.Itoa(i))
}
