package catalog

import (
	"encoding/json"
	"time"

	"cxrepro/artifacts"
)

// stated is what a catalog takes from a statement: a part of package provenance's form, read
// without the rest, and of a call what package ledger states.
type stated struct {
	Predicate struct {
		Invocation struct {
			Reproduction string    `json:"reproduction"`
			Worker       string    `json:"worker"`
			Fence        int       `json:"fence"`
			Takeover     string    `json:"takeover"`
			Started      time.Time `json:"started"`
			Finished     time.Time `json:"finished"`
		} `json:"invocation"`
		KeyDocument struct {
			Params params  `json:"params"`
			Inputs []input `json:"inputs"`
		} `json:"key_document"`
		Materials []struct {
			Name   string `json:"name"`
			Digest struct {
				SHA256 string `json:"sha256"`
			} `json:"digest"`
		} `json:"materials"`
		Code struct {
			Commit string `json:"commit"`
			Binary string `json:"binary"`
		} `json:"code"`
		Parameters struct {
			Call *struct {
				Kind     string `json:"kind"`
				Outcome  string `json:"outcome"`
				Card     string `json:"card"`
				Attempts struct {
					Sent  int64 `json:"sent"`
					Usage struct {
						Prompt     int64 `json:"prompt"`
						Completion int64 `json:"completion"`
					} `json:"usage"`
					Cost     int64  `json:"cost"`
					Currency string `json:"currency"`
				} `json:"attempts"`
			} `json:"call"`
		} `json:"parameters"`
	} `json:"predicate"`
}

// link says that src depends on dst. via is the key whose statement says so, 0 where src is a
// document that refers to dst.
type link struct{ src, dst, via, name int64 }

// batch is rows on their way into the tables.
type batch struct {
	digests map[artifacts.Digest]struct{}
	names   map[string]struct{}
	steps   [][]any
	links   map[link]struct{}
	calls   [][]any
	known   map[artifacts.Digest]Parameter
	// documents were looked into, blobs are what they refer to.
	documents []artifacts.Ref
	blobs     map[artifacts.Digest]artifacts.Ref
}

func newBatch() *batch {
	return &batch{digests: map[artifacts.Digest]struct{}{}, names: map[string]struct{}{}, links: map[link]struct{}{},
		known: map[artifacts.Digest]Parameter{}, blobs: map[artifacts.Digest]artifacts.Ref{}}
}

func (b *batch) digest(d artifacts.Digest) int64 {
	if d.IsZero() {
		return 0
	}
	b.digests[d] = struct{}{}
	return number(d)
}

func (b *batch) name(s string) int64 {
	if s != "" {
		b.names[s] = struct{}{}
	}
	return nameNumber(s)
}

// link says that an artifact, by its number, depends on another one.
func (b *batch) link(from int64, to artifacts.Digest, via int64, name string) {
	b.links[link{from, b.digest(to), via, b.name(name)}] = struct{}{}
}

// entry is one key of the store as it was read.
type entry struct {
	record   artifacts.Record
	removed  bool
	modified int64
	// said is what the statement says; nothing when it is gone or damaged.
	said stated
}

// read takes what is needed from a statement. One that cannot be read leaves what the entry
// says; verify names it. Readers do it, side by side: it is half of the work.
func (e *entry) read(statement []byte) {
	if json.Unmarshal(statement, &e.said) != nil {
		e.said = stated{}
	}
}

// add turns an entry into rows.
func (b *batch) add(e *entry) {
	rec, p := e.record, &e.said.Predicate
	key, result := b.digest(rec.Key.Digest), b.digest(rec.Result.Digest)
	code := p.Code.Commit
	if code == "" || code == "unknown" {
		code = p.Code.Binary
	}
	removed := 0
	if e.removed {
		removed = 1
	}
	inv := p.Invocation
	b.steps = append(b.steps, []any{key, b.name(rec.Key.Step), removed, e.modified, result, rec.Result.Size, b.name(rec.Result.MediaType),
		b.digest(rec.Statement.Digest), b.name(inv.Reproduction), b.name(inv.Worker), b.name(code), inv.Fence, b.name(inv.Takeover), nanos(inv.Started), nanos(inv.Finished)})
	for _, m := range p.Materials {
		d, err := artifacts.ParseHex(m.Digest.SHA256)
		if err == nil {
			b.link(result, d, key, m.Name)
		}
	}
	b.parameters(key, result, &p.KeyDocument.Params)
	if c := p.Parameters.Call; c != nil {
		b.messages(key, result, p.KeyDocument.Inputs)
		b.calls = append(b.calls, []any{key, b.name(c.Kind), b.name(c.Card), b.name(c.Outcome), p.KeyDocument.Params.draw,
			c.Attempts.Sent, c.Attempts.Usage.Prompt, c.Attempts.Usage.Completion, c.Attempts.Cost, b.name(c.Attempts.Currency)})
	}
}

// refer links a document to what it refers to.
func (b *batch) refer(doc artifacts.Digest, refs []artifacts.Ref) {
	src := b.digest(doc)
	for _, r := range refs {
		if r.Digest == doc {
			continue
		}
		b.link(src, r.Digest, 0, "")
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
