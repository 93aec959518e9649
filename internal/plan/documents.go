package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/cxreasonbench"
	"cxrepro/internal/derive"
	"cxrepro/internal/lru"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
	"cxrepro/internal/provenance"
)

// documents reads what a forecast goes on through, and keeps cases and answers.
type documents struct {
	store    *artifacts.Repository
	cases    *lru.Cache[artifacts.Digest, *derive.Case]
	answers  *lru.Cache[artifacts.Digest, lvlm.Answer]
	keyDocs  map[artifacts.Key][]byte
	prepared func(context.Context, artifacts.KeyDoc) (artifacts.Ref, bool, error)
}

var _ derive.Documents = (*documents)(nil)

// What the caches hold, in bytes.
const (
	caseBytes   = 256 << 20
	answerBytes = 64 << 20
)

func newDocuments(store *artifacts.Repository) *documents {
	return &documents{
		store: store, cases: lru.New[artifacts.Digest, *derive.Case](caseBytes), answers: lru.New[artifacts.Digest, lvlm.Answer](answerBytes),
		keyDocs: map[artifacts.Key][]byte{},
	}
}

// get reads a JSON document.
func get[T any](ctx context.Context, d *documents, ref artifacts.Ref) (T, error) {
	var v T
	data, err := d.store.Get(ctx, ref)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("decode %s: %w", ref, err)
	}
	return v, nil
}

// eachPacked reads the documents of a Packed list one after the other.
func eachPacked[T any](ctx context.Context, d *documents, list artifacts.Ref, fn func(T) error) error {
	packed, err := get[contract.Packed](ctx, d, list)
	if err != nil {
		return err
	}
	for _, item := range packed.Items {
		doc, err := get[T](ctx, d, item.Ref)
		if err != nil {
			return err
		}
		if err := fn(doc); err != nil {
			return err
		}
	}
	return nil
}

// pack returns what loads a prompt pack that is not the program's own.
func (d *documents) pack(ctx context.Context) func(artifacts.Ref) (*cxreasonbench.Pack, error) {
	return func(ref artifacts.Ref) (*cxreasonbench.Pack, error) {
		data, err := d.store.Get(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("prompt pack of the plan: %w", err)
		}
		return derive.ParsePrompts(data)
	}
}

// put keeps a document, in canonical form.
func (d *documents) put(ctx context.Context, v any, mediaType string) (artifacts.Ref, error) {
	data, err := artifacts.Canonical(v)
	if err != nil {
		return artifacts.Ref{}, err
	}
	return d.store.Put(ctx, data, mediaType)
}

// refOf names a document without keeping it.
func refOf(v any, mediaType string) (artifacts.Ref, error) {
	data, err := artifacts.Canonical(v)
	return artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data)), MediaType: mediaType}, err
}

// Case returns a case's questions.
func (d *documents) Case(ctx context.Context, ref artifacts.Ref) (*derive.Case, error) {
	return d.cases.Load(ref.Digest, func() (*derive.Case, int64, error) {
		doc, err := get[contract.CaseDoc](ctx, d, ref)
		if err != nil {
			return nil, 0, err
		}
		c, err := derive.NewCase(&doc)
		return c, 3 * ref.Size, err
	})
}

// Answer returns a recorded answer.
func (d *documents) Answer(ctx context.Context, ref artifacts.Ref) (lvlm.Answer, error) {
	return d.answers.Load(ref.Digest, func() (lvlm.Answer, int64, error) {
		a, err := get[lvlm.Answer](ctx, d, ref)
		if err == nil && a.Format != lvlm.AnswerFormat {
			err = fmt.Errorf("%s is not a recorded answer", ref)
		}
		return a, ref.Size + 200, err
	})
}

// errUnprepared: a picture is not prepared yet as a model is sent it, so the key of a call that
// shows it is not known.
var errUnprepared = errors.New("a picture is not prepared yet")

// Picture returns a stored picture as the call's rule sends it.
func (d *documents) Picture(ctx context.Context, q *derive.Call, stored artifacts.Ref) (artifacts.Ref, error) {
	if q.PictureRule == picture.Original {
		return stored, nil
	}
	ref, ok, err := d.prepared(ctx, contract.PreparePictureKey(stored, q.PictureRule.Version()))
	if err == nil && !ok {
		err = errUnprepared
	}
	return ref, err
}

// preparedPicture looks for the record of a prepared picture.
func (p *planner) preparedPicture(ctx context.Context, doc artifacts.KeyDoc) (artifacts.Ref, bool, error) {
	e, ok, err := p.present(ctx, doc)
	return e.Result, ok, err
}

// keyDocument returns the key document of a record, nil when its statement is gone.
func (d *documents) keyDocument(ctx context.Context, key artifacts.Key) ([]byte, error) {
	if doc, ok := d.keyDocs[key]; ok {
		return doc, nil
	}
	rec, err := d.store.Entry(ctx, key)
	var data []byte
	if err == nil {
		data, err = d.store.StatementOf(ctx, rec)
	}
	var doc []byte
	switch {
	case errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch):
	case err != nil:
		return nil, err
	default:
		if st, err := provenance.Decode(data); err == nil {
			doc = st.Predicate.KeyDocument
		}
	}
	d.keyDocs[key] = doc
	return doc, nil
}
