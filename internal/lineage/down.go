package lineage

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/chexstruct"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/report/scoring"
)

// hopsOnly reports whether a node leads on by the index alone.
func (x *Explorer) hopsOnly(n *Node, way Way) bool {
	switch n.Kind {
	case KindCell, KindDialogue, KindFinding, KindCode, KindQuestion:
		return false
	case KindCall:
		return false
	}
	return !n.Digest.IsZero()
}

// down returns what a node depends on.
func (x *Explorer) down(ctx context.Context, n *Node) ([]next, error) {
	switch n.Kind {
	case KindCell:
		if n.at.label != nil {
			return x.labelled(ctx, n)
		}
		return x.counted(ctx, n)
	case KindDialogue:
		return x.held(ctx, n)
	case KindCall:
		return x.sent(ctx, n)
	case KindQuestion:
		if n.at.run == nil {
			return nil, nil // known by its text alone
		}
		c, err := x.caseNode(ctx, n.at.run, n.at.number)
		return []next{{c, "case"}}, err
	case KindFinding:
		return x.measured(ctx, n)
	case KindCase:
		return x.built(ctx, n)
	case KindPicture:
		return x.drawn(ctx, n)
	case KindReproduction:
		return x.ran(ctx, n)
	case KindEvaluation:
		return x.evaluated(ctx, n)
	case KindTable:
		return nil, nil // its rows are asked for cell by cell
	case KindImage, KindCode:
		return nil, nil
	}
	return x.hop(ctx, n, Down)
}

// hop is one hop of the index.
func (x *Explorer) hop(ctx context.Context, n *Node, way Way) ([]next, error) {
	links, err := x.links(ctx, n.Digest, way)
	if err != nil {
		return nil, err
	}
	out := make([]next, 0, len(links))
	for _, l := range links {
		to := l.To
		if way == Up {
			to = l.From
		}
		found, err := x.end(ctx, l, to, way)
		if err != nil {
			return nil, err
		}
		name := l.Name
		if name == "" {
			name = "refers to"
		}
		for _, f := range found {
			out = append(out, next{f, name})
		}
	}
	return out, nil
}

// end is the node at the end of a link. Up from something that a call used it is that call, not
// another one with the same answer.
func (x *Explorer) end(ctx context.Context, l catalog.Link, to artifacts.Digest, way Way) ([]Node, error) {
	n, err := x.artifact(ctx, to)
	if err != nil {
		return nil, err
	}
	if n.Kind != KindCall {
		return x.placed(ctx, n)
	}
	if way == Up && !l.Key.IsZero() {
		return x.Calls(ctx, []artifacts.Digest{l.Key})
	}
	if k := n.Key.Digest; !k.IsZero() {
		return x.Calls(ctx, []artifacts.Digest{k})
	}
	return []Node{n}, nil
}

// counted are the dialogues that a figure counts, and the step that counted them.
func (x *Explorer) counted(ctx context.Context, n *Node) ([]next, error) {
	r, cell := n.at.run, n.at.cell
	var out []next
	if table, err := x.artifact(ctx, r.Receipt.Tables.Digest); err != nil {
		return nil, err
	} else {
		out = append(out, next{table, "table " + strconv.Itoa(cell.Ref.Table)})
	}
	for _, task := range cell.Tasks() {
		pages, err := r.pagesOf(ctx, pagesKey{cell.Evaluation, task, cell.Path})
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			for i := range p.doc.Dialogues {
				d := &p.doc.Dialogues[i]
				if d.Undetermined == nil && (cell.Path != cxreasonbench.RePath1 || d.Review >= 0) {
					out = append(out, next{p.node(i), "counts"})
				}
			}
		}
	}
	return out, nil
}

// held are the calls of a dialogue, its cases, and of Path 2 the dialogue that led to it.
func (x *Explorer) held(ctx context.Context, n *Node) ([]next, error) {
	p, r := n.at.page, n.at.run
	d := &p.doc.Dialogues[n.at.dialogue]
	out, err := p.asks(ctx, n.at.dialogue)
	if err != nil {
		return nil, err
	}
	for i, number := range []int{d.Case, d.Review} {
		if number < 0 {
			continue
		}
		c, err := x.caseNode(ctx, r, number)
		if err != nil {
			return nil, err
		}
		out = append(out, next{c, [...]string{"case", "case of the re-evaluation"}[i]})
	}
	if p.key.path == cxreasonbench.Path1 {
		return out, nil
	}
	before, i, err := x.dialogueOf(ctx, r, pagesKey{p.key.evaluation, p.key.task, cxreasonbench.Path1}, d.Case)
	if before == nil || err != nil {
		return out, err
	}
	return append(out, next{before.node(i), "Path 1"}), nil
}

// dialogueOf finds the dialogue about a case among the pages of a task and path.
func (x *Explorer) dialogueOf(ctx context.Context, r *Run, k pagesKey, number int) (*page, int, error) {
	pages, err := r.pagesOf(ctx, k)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range pages {
		if i := slices.IndexFunc(p.doc.Dialogues, func(d contract.DialogueDoc) bool { return d.Case == number }); i >= 0 {
			return p, i, nil
		}
	}
	return nil, 0, nil
}

// sent is what a call put before a model: prompt, question, pictures and earlier answers, the
// model and its decoding. Answers lead to the calls of the same dialogue that gave them.
func (x *Explorer) sent(ctx context.Context, n *Node) ([]next, error) {
	if n.Key.IsZero() {
		return nil, nil
	}
	links, err := x.index.Via(ctx, []artifacts.Digest{n.Key.Digest})
	if err != nil {
		return nil, err
	}
	earlier, err := x.earlier(ctx, n)
	if err != nil {
		return nil, err
	}
	var out []next
	for _, l := range links {
		if e, ok := earlier[l.Name]; ok && e.Digest == l.To {
			out = append(out, next{e, l.Name})
			continue
		}
		if l.Name == catalog.LinkQuestion {
			q, err := x.question(ctx, n, l.To)
			if err != nil {
				return nil, err
			}
			out = append(out, next{q, l.Name})
			continue
		}
		found, err := x.end(ctx, l, l.To, Down)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if f.Kind == KindPicture {
				f = n.shown(f, l.Name)
			}
			out = append(out, next{f, l.Name})
		}
	}
	return out, nil
}

// shown says for which case a picture of a call was drawn: the same picture may show the same
// structure in cases of other tasks.
func (n *Node) shown(picture Node, name string) Node {
	p := n.at.page
	if p == nil {
		return picture
	}
	for _, t := range p.doc.Dialogues[n.at.dialogue].State.Turns {
		if "picture of "+t.Key.String() == name {
			if number, err := scoring.CaseNumber(t.Case); err == nil {
				picture.at.run, picture.at.number = p.run, number
			}
		}
	}
	return picture
}

// earlier are the calls of a call's dialogue by what its statement calls their answers.
func (x *Explorer) earlier(ctx context.Context, n *Node) (map[string]Node, error) {
	p := n.at.page
	if p == nil {
		return nil, nil
	}
	out := map[string]Node{}
	add := func(p *page, i int) error {
		asks, err := p.asks(ctx, i)
		if err != nil {
			return err
		}
		for _, a := range asks {
			t := own(&p.doc.Dialogues[i])[a.node.at.turn]
			if a.node.at.kind != cxreasonbench.CallModel {
				continue
			}
			if a.node.at.draw == t.Kept {
				out["answer to "+t.Key.String()] = a.node
			}
			if p == n.at.page && a.node.at.turn == n.at.turn && a.node.at.draw == n.at.draw {
				out["reply"] = a.node
			}
		}
		return nil
	}
	if p.key.path == cxreasonbench.Path2 {
		before, i, err := x.dialogueOf(ctx, p.run, pagesKey{p.key.evaluation, p.key.task, cxreasonbench.Path1}, p.doc.Dialogues[n.at.dialogue].Case)
		if err != nil {
			return nil, err
		}
		if before != nil {
			if err := add(before, i); err != nil {
				return nil, err
			}
		}
	}
	return out, add(p, n.at.dialogue)
}

// question is the question of a case that a call asks; without a dialogue it is known by its
// text alone.
func (x *Explorer) question(ctx context.Context, n *Node, text artifacts.Digest) (Node, error) {
	p := n.at.page
	if p == nil {
		return x.artifact(ctx, text)
	}
	t := own(&p.doc.Dialogues[n.at.dialogue])[n.at.turn]
	number, err := scoring.CaseNumber(t.Case)
	if err != nil {
		return Node{}, err
	}
	return p.run.questionNode(ctx, number, t.Key)
}

func (r *Run) questionNode(ctx context.Context, number int, k cxreasonbench.Key) (Node, error) {
	b, err := r.Benchmark(ctx)
	if err != nil {
		return Node{}, err
	}
	q := Node{Kind: KindQuestion, Digest: b.Cases[number].Doc.Digest, Title: k.String() + " of case " + itoa(number)}
	q.at = place{run: r, number: number, question: k}
	return q.row(k.String()), nil
}

// built is what a case was made from, with its image's findings: of its own task, and of every
// task that lends it a structure.
func (x *Explorer) built(ctx context.Context, n *Node) ([]next, error) {
	links, err := x.links(ctx, n.Digest, Down)
	if err != nil {
		return nil, err
	}
	var out []next
	image := artifacts.Digest{}
	for _, l := range links {
		if l.Key.IsZero() {
			continue // its own pictures: made with it
		}
		if l.Name == "image" {
			image = l.To
		}
		found, err := x.end(ctx, l, l.To, Down)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			out = append(out, next{f, l.Name})
		}
	}
	r := n.at.run
	if r == nil || image.IsZero() {
		return out, nil
	}
	rows, err := r.rowsOf(ctx, image)
	if err != nil {
		return nil, err
	}
	task := r.bench.Cases[n.at.number].Task.String()
	for _, f := range rows {
		if f.task == task || f.task == chexstruct.Global.String() {
			out = append(out, next{f.node(r), "finding"})
		}
	}
	return out, nil
}

// measured is what a row of findings was made from: the image's own row of the inputs, and the
// rows and switches that its task reads.
func (x *Explorer) measured(ctx context.Context, n *Node) ([]next, error) {
	f := n.at.finding
	var out []next
	for name, d := range map[string]artifacts.Digest{"masks": f.image.Masks.Digest, "facts": f.image.Facts, "image": f.image.Image, "lung": f.image.Lung} {
		if d.IsZero() {
			continue
		}
		to, err := x.artifact(ctx, d)
		if err != nil {
			return nil, err
		}
		if name == "image" && to.Kind != KindImage {
			to.Kind, to.Title = KindImage, "image"
			to = to.identify()
		}
		out = append(out, next{to, name})
	}
	slices.SortFunc(out, func(a, b next) int { return strings.Compare(a.name, b.name) })
	links, err := x.links(ctx, f.doc.Digest, Down)
	if err != nil {
		return nil, err
	}
	code, err := x.artifact(ctx, f.doc.Digest)
	if err != nil {
		return nil, err
	}
	if code.at.code != "" {
		out = append(out, next{codeNode(code.at.code), "program"})
	}
	for _, l := range links {
		if l.Name != catalog.LinkParameter {
			continue
		}
		p, err := x.artifact(ctx, l.To)
		if err != nil {
			return nil, err
		}
		out = append(out, next{p, l.Name})
	}
	return out, nil
}

// drawn is what a picture was made from: another picture, or the case that it was drawn for.
func (x *Explorer) drawn(ctx context.Context, n *Node) ([]next, error) {
	out, err := x.hop(ctx, n, Down)
	if len(out) > 0 || err != nil {
		for i := range out {
			if f := &out[i].node; f.Kind == KindPicture {
				f.at.run, f.at.number = n.at.run, n.at.number
			}
		}
		return out, err
	}
	if n.at.run != nil {
		c, err := x.caseNode(ctx, n.at.run, n.at.number)
		return []next{{c, "drawn for"}}, err
	}
	links, err := x.links(ctx, n.Digest, Up)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if !l.Key.IsZero() {
			continue
		}
		found, err := x.end(ctx, l, l.From, Down)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if f.Kind == KindCase {
				out = append(out, next{f, "drawn for"})
			}
		}
	}
	return out, nil
}

// labelled are the rows of findings that a figure of the table of labels counts.
func (x *Explorer) labelled(ctx context.Context, n *Node) ([]next, error) {
	r, label := n.at.run, n.at.label
	out := []next{}
	if table, err := x.artifact(ctx, r.Receipt.Summary.Digest); err != nil {
		return nil, err
	} else {
		out = append(out, next{table, "table"})
	}
	chunks, err := r.chunks(ctx)
	if err != nil {
		return nil, err
	}
	for i := range chunks {
		assessed, ok, err := r.window(ctx, i)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		rows, err := r.labelledIn(ctx, assessed, label)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

func (r *Run) labelledIn(ctx context.Context, assessed contract.Assessed, label *contract.Label) ([]next, error) {
	task := func(name string) *contract.AssessedTask {
		if i := slices.IndexFunc(assessed.Tasks, func(t contract.AssessedTask) bool { return t.Task == name }); i >= 0 {
			return &assessed.Tasks[i]
		}
		return nil
	}
	t, global := task(label.Task), task(chexstruct.Global.String())
	if t == nil || global == nil {
		return nil, nil
	}
	in, err := kept(ctx, r, r.inputs, assessed.Inputs)
	if err != nil {
		return nil, err
	}
	var out []next
	for i := range in.Images {
		filter, err := r.outcome(ctx, global.Result, i)
		if err != nil {
			return nil, err
		}
		o, err := r.outcome(ctx, t.Result, i)
		if err != nil {
			return nil, err
		}
		if !filter.removes() && o.counts(label) {
			f := &finding{task: t.Task, key: t.Key, doc: t.Result, inputs: assessed.Inputs, place: i, image: in.Images[i]}
			out = append(out, next{f.node(r), "counts"})
		}
	}
	return out, nil
}

// counts reports whether a row counts for a figure of the table of labels.
func (o outcome) counts(l *contract.Label) bool {
	return o.Status == chexstruct.StatusOK.String() && (l.Label == "" || o.Label != nil && *o.Label == l.Label)
}

// ran is what a reproduction consists of: what its receipt names.
func (x *Explorer) ran(ctx context.Context, n *Node) ([]next, error) {
	r := n.at.run
	if r == nil {
		return x.hop(ctx, n, Down)
	}
	var out []next
	add := func(ref artifacts.Ref, name string) error {
		if ref.IsZero() {
			return nil
		}
		to, err := x.artifact(ctx, ref.Digest)
		if err != nil {
			return err
		}
		nodes, err := x.placed(ctx, to)
		for _, f := range nodes {
			out = append(out, next{f, name})
		}
		return err
	}
	for _, of := range []struct {
		ref  artifacts.Ref
		name string
	}{{r.Receipt.Plan, "plan"}, {r.Receipt.Manifest, "data set"}, {r.Receipt.Summary, "labels"}, {r.Receipt.Tables, "tables"}, {r.Receipt.Benchmark, "benchmark"}} {
		if err := add(of.ref, of.name); err != nil {
			return nil, err
		}
	}
	for i := range r.Receipt.Evaluations {
		if _, err := r.Summary(ctx); err != nil && !gone(err) {
			return nil, err
		}
		out = append(out, next{r.evaluationNode(i), "evaluation"})
	}
	for _, shard := range r.Receipt.Assessed {
		if err := add(shard, "findings"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// evaluated are the dialogues of an evaluation.
func (x *Explorer) evaluated(ctx context.Context, n *Node) ([]next, error) {
	r := n.at.run
	if r == nil {
		return x.hop(ctx, n, Down)
	}
	doc, err := r.evaluation(ctx, n.at.evaluation)
	if err != nil {
		return nil, err
	}
	out := []next{{r.benchmarkNode(), "benchmark"}}
	for _, t := range doc.Tasks {
		for _, path := range []cxreasonbench.Path{cxreasonbench.Path1, cxreasonbench.Path2} {
			pages, err := r.pagesOf(ctx, pagesKey{n.at.evaluation, t.Task, path})
			if err != nil {
				return nil, err
			}
			for _, p := range pages {
				for i := range p.doc.Dialogues {
					out = append(out, next{p.node(i), "dialogue"})
				}
			}
		}
	}
	return out, nil
}
