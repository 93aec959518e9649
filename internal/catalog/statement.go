package catalog

import (
	"strconv"
	"time"

	"cxrepro/artifacts"
	"cxrepro/internal/jsonscan"
)

// said is what a catalog takes from a statement: a part of package provenance's form, and of a
// call what package ledger states. Its texts share memory with the statement.
type said struct {
	reproduction, worker, takeover []byte
	commit, binary                 []byte
	fence                          int64
	started, finished              time.Time
	params                         params
	inputs, materials              []input
	call                           *call
}

// input is one input of a key document, or one material.
type input struct {
	name   []byte
	digest artifacts.Digest
}

// call is what the statement of a model call tells.
type call struct {
	kind, outcome, card, currency  []byte
	sent, prompt, completion, cost int64
}

// entry is one key of the store as it was read.
type entry struct {
	record   artifacts.Record
	removed  bool
	modified int64
	// said is what the statement says; nothing when it is gone or damaged.
	said said
}

// read takes what is needed from a statement. One that cannot be read leaves what the entry
// says; verify names it.
func (e *entry) read(statement []byte) {
	s := scan{Reader: jsonscan.New(statement)}
	s.Object(func(name []byte) {
		if string(name) == "predicate" {
			s.Object(func(name []byte) { s.predicate(&e.said, string(name)) })
		}
	})
	if !s.Done() || s.bad {
		e.said = said{}
	}
}

// scan reads a statement. bad is set by values that are of the right kind and still wrong.
type scan struct {
	*jsonscan.Reader
	bad bool
}

func (s *scan) predicate(to *said, name string) {
	switch name {
	case "invocation":
		s.Object(func(name []byte) { s.invocation(to, string(name)) })
	case "key_document":
		s.Object(func(name []byte) {
			switch string(name) {
			case "params":
				to.params.read(s.Raw())
			case "inputs":
				s.Array(func() { to.inputs = append(to.inputs, s.input()) })
			}
		})
	case "materials":
		s.Array(func() {
			if m, ok := s.material(); ok {
				to.materials = append(to.materials, m)
			}
		})
	case "code":
		s.Object(func(name []byte) {
			switch string(name) {
			case "commit":
				to.commit = s.Text()
			case "binary":
				to.binary = s.Text()
			}
		})
	case "parameters":
		s.Object(func(name []byte) {
			if string(name) == "call" && s.Kind() != 'n' {
				to.call = &call{}
				s.Object(func(name []byte) { s.call(to.call, string(name)) })
			}
		})
	}
}

func (s *scan) invocation(to *said, name string) {
	switch name {
	case "reproduction":
		to.reproduction = s.Text()
	case "worker":
		to.worker = s.Text()
	case "takeover":
		to.takeover = s.Text()
	case "fence":
		to.fence = s.Int()
	case "started":
		to.started = s.time()
	case "finished":
		to.finished = s.time()
	}
}

func (s *scan) call(to *call, name string) {
	switch name {
	case "kind":
		to.kind = s.Text()
	case "outcome":
		to.outcome = s.Text()
	case "card":
		to.card = s.Text()
	case "attempts":
		s.Object(func(name []byte) {
			switch string(name) {
			case "sent":
				to.sent = s.Int()
			case "cost":
				to.cost = s.Int()
			case "currency":
				to.currency = s.Text()
			case "usage":
				s.Object(func(name []byte) {
					switch string(name) {
					case "prompt":
						to.prompt = s.Int()
					case "completion":
						to.completion = s.Int()
					}
				})
			}
		})
	}
}

// input reads a name with a digest in the text form.
func (s *scan) input() (in input) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "name":
			in.name = s.Text()
		case "digest":
			s.bad = s.bad || in.digest.UnmarshalText(s.Text()) != nil
		}
	})
	return in
}

// material reads a descriptor; ok is false where its digest is none.
func (s *scan) material() (m input, ok bool) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "name":
			m.name = s.Text()
		case "digest":
			s.Object(func(name []byte) {
				if string(name) == "sha256" {
					d, err := artifacts.ParseHex(string(s.Text()))
					m.digest, ok = d, err == nil
				}
			})
		}
	})
	return m, ok
}

func (s *scan) time() (t time.Time) {
	if text := s.Text(); text != nil {
		s.bad = s.bad || t.UnmarshalText(text) != nil
	}
	return t
}

// params is what a catalog reads of a key document's parameters: rows and switches one by one,
// the decoding and the model of a call as a whole. Others (positions, addresses of pictures,
// sizes) are as many as there are keys, and say what other links say.
type params struct {
	rows, switches  []setting
	decoding, model []byte
	// weights is the digest by which the model is known; zero where it is another name.
	weights artifacts.Digest
	draw    int64
}

// setting is a name with a value as it is written.
type setting struct{ name, value []byte }

// read never fails: steps may give the same names to other things.
func (p *params) read(data []byte) {
	r := jsonscan.New(data)
	if r.Kind() != '{' {
		return
	}
	r.Object(func(name []byte) {
		switch value := r.Raw(); string(name) {
		case "rows":
			p.rows = settings(value)
		case "switches":
			p.switches = settings(value)
		case "decoding":
			p.decoding = value
		case "model":
			p.readModel(value)
		case "draw":
			if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
				p.draw = n
			}
		}
	})
}

func settings(data []byte) (out []setting) {
	r := jsonscan.New(data)
	if r.Kind() == '{' {
		r.Object(func(name []byte) { out = append(out, setting{name, r.Raw()}) })
	}
	return out
}

func (p *params) readModel(data []byte) {
	r := jsonscan.New(data)
	if r.Kind() != '{' {
		return
	}
	var weights artifacts.Digest
	good := true
	r.Object(func(name []byte) {
		if string(name) == "weights" {
			good = weights.UnmarshalText(r.Text()) == nil
		}
	})
	if good && r.OK() {
		p.model, p.weights = data, weights
	}
}
