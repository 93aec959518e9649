package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"

	"cxrepro/artifacts"
)

// Kinds of what a name can mean.
const (
	targetEntry     = "entry"        // a key with a record
	targetTombstone = "tombstone"    // a key whose record garbage collection removed
	targetStatement = "statement"    // a provenance statement
	targetBlob      = "blob"         // a blob that is no key's result
	targetRemoved   = "removed-blob" // a blob that garbage collection removed
)

// target is what a name on the command line means.
type target struct {
	kind   string
	record artifacts.Record // of entries, tombstones and statements
	ref    artifacts.Ref    // the bytes meant: result, statement or blob
	tomb   artifacts.Tombstone
}

// mostMatches is how many meanings of an ambiguous name are shown.
const mostMatches = 8

// find resolves a key, a digest, or 8 or more hexadecimal digits of one, perhaps behind
// "sha256:" or "<step>/".
func (a *app) find(ctx context.Context, x *shelfIndex, name string) (t target, err error) {
	if key, kerr := artifacts.ParseKey(name); kerr == nil {
		return a.findKey(ctx, x.store, key)
	}
	step, hex := "", name
	if s, rest, ok := strings.Cut(name, "/"); ok {
		step, hex = s, rest
	}
	hex = strings.TrimPrefix(hex, "sha256:")
	if len(hex) < 8 || len(hex) > 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return t, usageError("see `cxrepro artifacts ls`", "%q names nothing: want <step>/sha256:<digits>, sha256:<digits>, or 8 to 64 lower-case hexadecimal digits", name)
	}
	cat, err := x.catalog(ctx)
	if err != nil {
		return t, err
	}
	found, err := cat.Matching(ctx, hex, 10_000)
	if err != nil {
		return t, err
	}
	meanings := map[string]target{}
	for _, s := range found {
		if step != "" && s.Key.Step != step {
			continue
		}
		rec := artifacts.Record{Key: s.Key, Result: s.Result, Statement: artifacts.Ref{Digest: s.Statement}}
		for _, m := range []struct {
			digest artifacts.Digest
			kind   string
		}{{s.Key.Digest, targetEntry}, {s.Result.Digest, targetEntry}, {s.Statement, targetStatement}} {
			// One result may belong to several keys; the first stands for them.
			if text := m.digest.Hex(); strings.HasPrefix(text, hex) {
				if _, dup := meanings[text]; !dup {
					meanings[text] = target{kind: m.kind, record: rec, ref: s.Result}
				}
			}
		}
	}
	if step == "" {
		if err := a.findObjects(ctx, x.store, hex, meanings); err != nil {
			return t, err
		}
	}
	if t, err = choose(name, meanings); err != nil {
		return t, err
	}
	return t, x.complete(ctx, &t)
}

// complete reads the entry that a target of the catalog stands for.
func (x *shelfIndex) complete(ctx context.Context, t *target) error {
	if t.kind != targetEntry && t.kind != targetStatement {
		return nil
	}
	now, err := x.store.Entry(ctx, t.record.Key)
	if err != nil {
		return err
	}
	t.record = now
	if t.kind == targetStatement {
		t.ref = now.Statement
	}
	return nil
}

func choose(name string, meanings map[string]target) (target, error) {
	switch len(meanings) {
	case 0:
		return target{}, &exitError{Code: exitFailed, Err: fmt.Errorf("nothing in the store is called %q", name), Hint: "see `cxrepro artifacts ls`"}
	case 1:
		for _, t := range meanings {
			return t, nil
		}
	}
	var list []string
	for text, t := range meanings {
		list = append(list, fmt.Sprintf("%s (%s %s)", text[:16], t.kind, t.record.Key.Step))
	}
	sort.Strings(list)
	if len(list) > mostMatches {
		list = append(list[:mostMatches], fmt.Sprintf("and %d more", len(meanings)-mostMatches))
	}
	return target{}, usageError("give more digits", "%q may mean: %s", name, strings.Join(list, ", "))
}

func (a *app) findKey(ctx context.Context, store *artifacts.Repository, key artifacts.Key) (target, error) {
	rec, err := store.Entry(ctx, key)
	if err == nil {
		return target{kind: targetEntry, record: rec, ref: rec.Result}, nil
	}
	if !errors.Is(err, artifacts.ErrNotFound) {
		return target{}, err
	}
	tomb, terr := store.Tombstone(ctx, key)
	if terr == nil {
		return buried(tomb), nil
	}
	if !errors.Is(terr, artifacts.ErrNotFound) {
		return target{}, terr
	}
	return target{}, &exitError{Code: exitFailed, Err: err, Hint: "the key was never computed in this store; see `cxrepro artifacts ls`"}
}

func buried(t artifacts.Tombstone) target {
	return target{kind: targetTombstone, record: t.Record(), ref: t.Result, tomb: t}
}

// findObjects adds blobs that are no results, removed entries and removed blobs. Blobs are
// looked up by the two digits of their folder only.
func (a *app) findObjects(ctx context.Context, store *artifacts.Repository, hex string, meanings map[string]target) error {
	err := store.Tombstones(ctx, "", func(t artifacts.Tombstone) error {
		for _, d := range []artifacts.Digest{t.Key.Digest, t.Result.Digest, t.Statement.Digest} {
			if text := d.Hex(); strings.HasPrefix(text, hex) {
				if _, dup := meanings[text]; !dup {
					meanings[text] = buried(t)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = store.BlobsPrefixed(ctx, hex, func(d artifacts.Digest, info artifacts.Info) error {
		if _, dup := meanings[d.Hex()]; !dup {
			meanings[d.Hex()] = target{kind: targetBlob, ref: artifacts.Ref{Digest: d, Size: info.Size, MediaType: "application/octet-stream"}}
		}
		return nil
	})
	if err != nil || len(meanings) > 0 || len(hex) < 64 {
		return err
	}
	d, err := artifacts.ParseHex(hex)
	if err != nil {
		return err
	}
	when, gone, err := store.BlobRemoved(ctx, d)
	if gone {
		meanings[hex] = target{kind: targetRemoved, ref: artifacts.Ref{Digest: d}, tomb: artifacts.Tombstone{Removed: when}}
	}
	return err
}

// mediaTypeOf guesses whether a blob that nothing describes is JSON.
func mediaTypeOf(data []byte) string {
	if json.Valid(data) {
		return "application/json"
	}
	return "application/octet-stream"
}
