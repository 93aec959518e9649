package catalog

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"cxrepro/artifacts"
)

// link says that src depends on dst. via is the key whose statement says so, 0 where src is a
// document that refers to dst.
type link struct{ src, dst, via, name int64 }

// stepRow and callRow have the columns of their tables, all of them numbers.
type (
	stepRow [15]int64
	callRow [10]int64
)

// batch is rows on their way into the tables.
type batch struct {
	digests []artifacts.Digest
	names   map[string]int64
	steps   []stepRow
	links   []link
	calls   []callRow
	known   map[string]Parameter // by its name and text
	// documents were looked into, blobs are what they refer to.
	documents []artifacts.Ref
	blobs     map[artifacts.Digest]artifacts.Ref

	// entries is how many entries the rows are of, waiting which documents they lead to.
	entries int64
	waiting []artifacts.Ref
	// again are keys of which the tables have rows that these stand for.
	again []int64
	text  []byte
}

func newBatch() *batch {
	return &batch{names: map[string]int64{}, known: map[string]Parameter{}, blobs: map[artifacts.Digest]artifacts.Ref{}}
}

// sort puts rows in the order of their numbers and drops those that are there twice.
func (b *batch) sort() {
	slices.SortFunc(b.digests, func(x, y artifacts.Digest) int { return cmp.Compare(number(x), number(y)) })
	b.digests = slices.Compact(b.digests)
	slices.SortFunc(b.steps, func(x, y stepRow) int { return cmp.Compare(x[0], y[0]) })
	slices.SortFunc(b.calls, func(x, y callRow) int { return cmp.Compare(x[0], y[0]) })
	slices.SortFunc(b.links, func(x, y link) int {
		return cmp.Or(cmp.Compare(x.src, y.src), cmp.Compare(x.dst, y.dst), cmp.Compare(x.via, y.via), cmp.Compare(x.name, y.name))
	})
	b.links = slices.Compact(b.links)
}

// size is how many entries and documents the rows are of.
func (b *batch) size() int { return int(b.entries) + len(b.documents) }

// take adds the rows of another batch.
func (b *batch) take(o *batch) {
	b.digests, b.steps, b.links, b.calls = append(b.digests, o.digests...), append(b.steps, o.steps...), append(b.links, o.links...), append(b.calls, o.calls...)
	b.documents, b.waiting, b.entries = append(b.documents, o.documents...), append(b.waiting, o.waiting...), b.entries+o.entries
	b.again = append(b.again, o.again...)
	for name, n := range o.names {
		b.names[name] = n
	}
	for text, p := range o.known {
		b.known[text] = p
	}
	for d, r := range o.blobs {
		b.blobs[d] = r
	}
}

func (b *batch) digest(d artifacts.Digest) int64 {
	if d.IsZero() {
		return 0
	}
	b.digests = append(b.digests, d)
	return number(d)
}

func (b *batch) name(s string) int64 {
	n, ok := b.names[s]
	if !ok && s != "" {
		n = nameNumber(s)
		b.names[s] = n
	}
	return n
}

// spelled is name of a text that lives no longer than the statement it is from.
func (b *batch) spelled(s []byte) int64 {
	if n, ok := b.names[string(s)]; ok {
		return n
	}
	return b.name(string(s))
}

// link says that an artifact, by its number, depends on another one. name is a name's number.
func (b *batch) link(from int64, to artifacts.Digest, via, name int64) {
	b.links = append(b.links, link{from, b.digest(to), via, name})
}

// add turns an entry into rows.
func (b *batch) add(e *entry) {
	rec, p := &e.record, &e.said
	key, result := b.digest(rec.Key.Digest), b.digest(rec.Result.Digest)
	code := p.commit
	if len(code) == 0 || string(code) == "unknown" {
		code = p.binary
	}
	removed := int64(0)
	if e.removed {
		removed = 1
	}
	b.entries++
	b.steps = append(b.steps, stepRow{key, b.name(rec.Key.Step), removed, e.modified, result, rec.Result.Size, b.name(rec.Result.MediaType),
		b.digest(rec.Statement.Digest), b.spelled(p.reproduction), b.spelled(p.worker), b.spelled(code), p.fence, b.spelled(p.takeover), nanos(p.started), nanos(p.finished)})
	for _, m := range p.materials {
		b.link(result, m.digest, key, b.spelled(m.name))
	}
	b.parameters(key, result, &p.params)
	if c := p.call; c != nil {
		b.messages(key, result, p.inputs)
		b.calls = append(b.calls, callRow{key, b.spelled(c.kind), b.spelled(c.card), b.spelled(c.outcome), p.params.draw,
			c.sent, c.prompt, c.completion, c.cost, b.spelled(c.currency)})
	}
}

// parameters links a result to the parameters of its key.
func (b *batch) parameters(key, result int64, p *params) {
	taken := 0
	add := func(link, prefix string, name, value []byte) {
		if taken == mostParameters || len(value) == 0 || len(value) > longestParameter {
			return
		}
		if v, ok := b.parameter(prefix, name, value); ok {
			taken++
			b.link(result, v.Digest, key, b.name(link))
		}
	}
	for _, s := range p.rows {
		add(LinkParameter, "", s.name, s.value)
	}
	for _, s := range p.switches {
		add(LinkParameter, "switches.", s.name, s.value)
	}
	add(LinkParameter, "decoding", nil, p.decoding)
	if !p.weights.IsZero() {
		b.link(result, p.weights, key, b.name(LinkModel))
	} else {
		add(LinkModel, "model", nil, p.model)
	}
}

// parameter is NewParameter, remembered: very many keys share few. A key document is canonical,
// so its values are; one that is not belongs to no key, and ok is false.
func (b *batch) parameter(prefix string, name, value []byte) (p Parameter, ok bool) {
	b.text = append(append(append(append(b.text[:0], prefix...), name...), 0), value...)
	if p, ok = b.known[string(b.text)]; ok {
		return p, true
	}
	p, err := NewParameter(prefix+string(name), json.RawMessage(value))
	if err != nil {
		return p, false
	}
	b.name(p.Name)
	b.known[string(b.text)] = p
	return p, true
}

// messages links the answer of a call to its system message and to its question, the last
// message of the user. Inputs are named by place and side, as 03.user.
func (b *batch) messages(key, result int64, inputs []input) {
	last := input{}
	for _, in := range inputs {
		switch side, ok := side(in.name); {
		case !ok:
		case side == "system":
			b.link(result, in.digest, key, b.name(LinkPrompt))
		case side == "user" && later(in.name, last.name):
			last = in
		}
	}
	if len(last.name) > 0 {
		b.link(result, last.digest, key, b.name(LinkQuestion))
	}
}

// refer links a document to what it refers to.
func (b *batch) refer(doc artifacts.Digest, refs []artifacts.Ref) {
	src := b.digest(doc)
	for _, r := range refs {
		if r.Digest == doc {
			continue
		}
		b.link(src, r.Digest, 0, 0)
		if r.MediaType != "" {
			b.blobs[r.Digest] = r
			b.name(r.MediaType)
		}
	}
}

// nanos is t as an integer; times that do not fit become 0.
func nanos(t time.Time) int64 {
	if t.Year() < 1970 || t.Year() > 2200 {
		return 0
	}
	return t.UnixNano()
}
