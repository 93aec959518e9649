package main

import (
	"context"
	"errors"

	"cxrepro/artifacts"
	"cxrepro/internal/catalog"
	"cxrepro/internal/provenance"
)

// shelfIndex is a store and its catalog, which is brought up to date when it is first needed.
type shelfIndex struct {
	a     *app
	store *artifacts.Repository
	cat   *catalog.Catalog
	// docs are key documents that were read already: keys of one step are compared with the
	// same earlier ones.
	docs map[artifacts.Key][]byte
}

func (a *app) index(store *artifacts.Repository) *shelfIndex {
	return &shelfIndex{a: a, store: store, docs: map[artifacts.Key][]byte{}}
}

// catalog returns the catalog, up to date as of the first call.
func (x *shelfIndex) catalog(ctx context.Context) (*catalog.Catalog, error) {
	if x.cat != nil {
		return x.cat, nil
	}
	c, _, err := x.a.filledCatalog(ctx, x.store, (*catalog.Catalog).Update)
	if err != nil {
		return nil, err
	}
	x.cat = c
	return c, nil
}

// Close closes the catalog.
func (x *shelfIndex) Close() error {
	if x.cat == nil {
		return nil
	}
	return x.cat.Close()
}

// statement returns the statement of a key that has an entry, nil when it is gone or damaged.
func (x *shelfIndex) statement(ctx context.Context, key artifacts.Key) (*provenance.Statement, error) {
	rec, err := x.store.Entry(ctx, key)
	var data []byte
	if err == nil {
		data, err = x.store.StatementOf(ctx, rec)
	}
	if errors.Is(err, artifacts.ErrNotFound) || errors.Is(err, artifacts.ErrDigestMismatch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	st, err := provenance.Decode(data)
	if err != nil {
		return nil, nil // damaged: verify names it
	}
	return &st, nil
}

// keyDocument returns the key document of a key that has an entry, nil when its statement is
// gone or damaged.
func (x *shelfIndex) keyDocument(ctx context.Context, key artifacts.Key) ([]byte, error) {
	if doc, ok := x.docs[key]; ok {
		return doc, nil
	}
	st, err := x.statement(ctx, key)
	if err != nil {
		return nil, err
	}
	var doc []byte
	if st != nil {
		doc = st.Predicate.KeyDocument
	}
	x.docs[key] = doc
	return doc, nil
}
