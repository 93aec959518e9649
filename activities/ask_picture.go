package activities

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
	"cxrepro/internal/datause"
	"cxrepro/internal/derive"
	"cxrepro/internal/lvlm"
	"cxrepro/internal/lvlm/picture"
)

// pictures returns what opens the pictures of a request while it is sent. A store on this machine
// is read then, in small parts. What lies on another one is read now: a place at the endpoint shall
// not wait for it.
func (s *asks) pictures(ctx context.Context, r lvlm.Request) (lvlm.PictureFunc, error) {
	if !s.opts.Store.Remote() {
		return s.opts.Store.Stream, nil
	}
	held := map[artifacts.Digest][]byte{}
	for _, ref := range r.Transcript.Images() {
		data, err := s.fetched.Load(ref.Digest, func() ([]byte, int64, error) {
			data, err := s.opts.Store.Get(ctx, ref)
			return data, int64(len(data)), err
		})
		if err != nil {
			return nil, fmt.Errorf("picture %s: %w", ref.Digest.Short(), err)
		}
		held[ref.Digest] = data
	}
	return func(_ context.Context, ref artifacts.Ref) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(held[ref.Digest])), nil
	}, nil
}

// picture returns a stored picture as the call's rule sends it, preparing it where nobody did.
func (s *asks) picture(a *Activities, ctx context.Context, q *derive.Call, stored artifacts.Ref) (artifacts.Ref, error) {
	rule := q.PictureRule
	if rule == picture.Original {
		return stored, nil
	}
	doc := contract.PreparePictureKey(stored, rule.Version())
	key, err := doc.Key()
	if err != nil {
		return artifacts.Ref{}, err
	}
	if ref, ok := s.prepared.Get(key); ok {
		return ref, nil
	}
	if s.opts.ReadOnly {
		rec, err := s.opts.Store.Lookup(ctx, key)
		if err != nil {
			return artifacts.Ref{}, fmt.Errorf("a picture as it is sent: %w", err)
		}
		s.prepared.Put(key, rec.Result, 1)
		return rec.Result, nil
	}
	made, err, _ := s.making.Do(key.String(), func() (any, error) {
		// The pulse is that of the caller who does the work; the others have their own.
		p := a.beat(ctx, 1)
		defer p.close()
		t := &tally{effort: effort{reproduction: q.Reproduction, id: q.Reproduction}}
		rec, err := a.steps.once(p, doc, t, datause.StoreClass(q.ClassName), func(ctx context.Context) (product, error) {
			data, err := s.opts.Store.Get(ctx, stored)
			if err != nil {
				return product{}, err
			}
			out, mediaType, err := picture.Prepare(rule, data, stored.MediaType)
			if err != nil {
				return product{}, fail(contract.ErrTypeDataset, "prepare picture %s as %s: %w", stored.Digest.Short(), rule.Version(), err)
			}
			return product{data: out, mediaType: mediaType}, nil
		})
		return rec.Result, err
	})
	if err != nil {
		return artifacts.Ref{}, err
	}
	ref := made.(artifacts.Ref)
	s.prepared.Put(key, ref, 1)
	return ref, nil
}
