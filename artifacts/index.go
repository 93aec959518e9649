package artifacts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cxrepro/internal/jsonscan"
)

// indexEntry is the stored form of a Record: canonical JSON. The first format is a few
// hundred bytes; the second one carries the statement as well.
type indexEntry struct {
	Format    string          `json:"format"`
	Inline    json.RawMessage `json:"inline,omitempty"`
	Key       Key             `json:"key"`
	Result    Ref             `json:"result"`
	Statement Ref             `json:"statement"`
}

const (
	indexFormat  = "cxrepro.index/1"
	inlineFormat = "cxrepro.index/2"
)

// encodeEntry returns the stored form of rec. Errors: an inline statement that is not
// canonical JSON or not the one that rec.Statement names.
func encodeEntry(rec Record) ([]byte, error) {
	e := indexEntry{indexFormat, rec.Inline, rec.Key, rec.Result, rec.Statement}
	if len(rec.Inline) == 0 {
		return Canonical(e)
	}
	if err := checkInline(rec); err != nil {
		return nil, err
	}
	e.Format = inlineFormat
	body, err := Canonical(e)
	if err == nil && !bytes.HasPrefix(body, fmt.Appendf(nil, `{"format":%q,"inline":%s,"key":`, inlineFormat, rec.Inline)) {
		err = errors.New("an inline statement must be canonical JSON, as provenance statements are encoded")
	}
	return body, err
}

// decodeEntry reads what encodeEntry wrote; ok is false for anything else.
func decodeEntry(data []byte, key Key) (rec Record, ok bool) {
	if rec, ok = decodeInline(data, key); ok {
		return rec, true
	}
	return decodeAny(data, key)
}

func decodeAny(data []byte, key Key) (rec Record, ok bool) {
	var e indexEntry
	if err := json.Unmarshal(data, &e); err != nil || e.Key != key || e.Result.IsZero() {
		return Record{}, false
	}
	rec = Record{Key: e.Key, Result: e.Result, Statement: e.Statement, Inline: e.Inline}
	switch e.Format {
	case indexFormat:
		return rec, len(e.Inline) == 0
	case inlineFormat:
		return rec, checkInline(rec) == nil
	}
	return Record{}, false
}

// decodeInline is decodeEntry of an entry that carries its statement, in the form that
// encodeEntry gives it: the statement is known by its digest, so it is not looked into. ok is
// false for anything else, damaged or not.
func decodeInline(data []byte, key Key) (rec Record, ok bool) {
	const head = `{"format":"` + inlineFormat + `","inline":`
	if !bytes.HasPrefix(data, []byte(head)) {
		return Record{}, false
	}
	cut := bytes.LastIndex(data, []byte(`,"key":"`+key.String()+`","result":{"`))
	if cut < len(head) {
		return Record{}, false
	}
	rec.Inline = data[len(head):cut:cut]
	r := jsonscan.New(append([]byte("{"), data[cut+1:]...))
	good := true
	r.Object(func(name []byte) {
		switch string(name) {
		case "key":
			good = good && rec.Key.UnmarshalText(r.Text()) == nil
		case "result":
			good = readRef(r, &rec.Result) && good
		case "statement":
			good = readRef(r, &rec.Statement) && good
		case "format", "inline":
			good = false // twice
		}
	})
	return rec, good && r.Done() && rec.Key == key && !rec.Result.IsZero() && checkInline(rec) == nil
}

// readRef reads a ref; false where its digest is none.
func readRef(r *jsonscan.Reader, to *Ref) (good bool) {
	good = true
	r.Object(func(name []byte) {
		switch string(name) {
		case "digest":
			good = to.Digest.UnmarshalText(r.Text()) == nil
		case "size":
			to.Size = r.Int()
		case "media_type":
			to.MediaType = string(r.Text())
		}
	})
	return good
}

// Conflict is the stored form of a differing second result.
type Conflict struct {
	Format  string    `json:"format"`
	Key     Key       `json:"key"`
	First   Record    `json:"first"`
	Second  Record    `json:"second"`
	Noticed time.Time `json:"noticed"`
}

const conflictFormat = "cxrepro.conflict/1"

// Lookup returns the key's record. Errors: *MissError, which matches ErrNotFound and
// says why, when there is no entry, or when there is one that is of no use because its
// blob or statement is gone, has another size, or cannot be read.
func (r *Repository) Lookup(ctx context.Context, key Key) (Record, error) {
	rec, _, err := r.lookup(ctx, key)
	return rec, err
}

func (r *Repository) lookup(ctx context.Context, key Key) (Record, Info, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, Info{}, err
	}
	rec, info, err := r.readEntry(ctx, key)
	if err != nil {
		return Record{}, info, err
	}
	blob, err := r.bucket.Stat(ctx, blobName(rec.Result.Digest))
	switch {
	case errors.Is(err, ErrNotFound):
		return Record{}, info, &MissError{Key: key, Reason: MissBlobGone, Record: rec}
	case err != nil:
		return Record{}, info, fmt.Errorf("look up %s: %w", key.Short(), err)
	case blob.Size != rec.Result.Size:
		return Record{}, info, &MissError{Key: key, Reason: MissBlobSize, Record: rec}
	}
	return rec, info, nil
}

// readEntry returns the entry as written, whether or not its blob is there.
func (r *Repository) readEntry(ctx context.Context, key Key) (Record, Info, error) {
	data, info, err := r.bucket.Read(ctx, indexName(key))
	rec, err := r.entryOf(data, err, key)
	return rec, info, err
}

// entryOf is the record of an entry that was read, or not.
func (r *Repository) entryOf(data []byte, err error, key Key) (Record, error) {
	if errors.Is(err, ErrNotFound) {
		return Record{}, &MissError{Key: key, Reason: MissNoEntry}
	}
	if err != nil {
		return Record{}, fmt.Errorf("look up %s: %w", key.Short(), err)
	}
	rec, ok := decodeEntry(data, key)
	if !ok {
		return Record{}, &MissError{Key: key, Reason: MissEntryDamaged}
	}
	return rec, nil
}

// Commit makes rec the key's record, if it has none.
//
// When the key already has a record with the same result, that first record is
// returned: who came second changes nothing. When it has one with another result, the
// pair is recorded under conflicts/ and returned as *ConflictError with the first
// record. An entry that look-ups call a miss is replaced.
//
// The result's blob must have been put before; Commit does not look.
func (r *Repository) Commit(ctx context.Context, rec Record) (Record, error) {
	return r.commitOver(ctx, rec, "")
}

// commitOver is Commit that replaces the entry with the version dangling in any case.
func (r *Repository) commitOver(ctx context.Context, rec Record, dangling string) (Record, error) {
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	if rec.Key.IsZero() || rec.Result.IsZero() || rec.Statement.IsZero() {
		return Record{}, fmt.Errorf("commit %s: key, result and statement are all needed", rec.Key)
	}
	body, err := encodeEntry(rec)
	if err != nil {
		return Record{}, fmt.Errorf("commit %s: %w", rec.Key.Short(), err)
	}
	faultPoint(FaultBeforeIndexPut)
	got, err := r.commit(ctx, rec, body, dangling)
	if err != nil {
		return got, err
	}
	faultPoint(FaultAfterIndexPut)
	return got, nil
}

func (r *Repository) commit(ctx context.Context, rec Record, body []byte, dangling string) (Record, error) {
	const tries = 5
	name := indexName(rec.Key)
	for try := 0; try < tries; try++ {
		_, err := r.createCell(ctx, name, body)
		if err == nil {
			return rec, nil
		}
		if !errors.Is(err, ErrPrecondition) {
			return Record{}, fmt.Errorf("commit %s: %w", rec.Key.Short(), err)
		}
		first, info, err := r.lookup(ctx, rec.Key)
		var miss *MissError
		switch {
		case err == nil && first.Result.Digest != rec.Result.Digest:
			return first, r.recordConflict(ctx, first, rec)
		case err == nil && (dangling == "" || info.Version != dangling):
			return first, nil
		case err != nil && !errors.As(err, &miss):
			return Record{}, fmt.Errorf("commit %s: %w", rec.Key.Short(), err)
		case miss != nil && miss.Reason == MissNoEntry:
			continue
		}
		if miss != nil && !miss.Record.Result.IsZero() && miss.Record.Result.Digest != rec.Result.Digest {
			if err := r.recordConflict(ctx, miss.Record, rec); !isConflict(err) {
				return Record{}, err
			}
		}
		_, err = r.swapCell(ctx, name, info, body)
		if err == nil {
			return rec, nil
		}
		if !errors.Is(err, ErrPrecondition) {
			return Record{}, fmt.Errorf("commit %s: %w", rec.Key.Short(), err)
		}
	}
	return Record{}, &BucketError{Op: "commit", Bucket: r.bucket.URL(), Object: name, Class: Transient,
		Err: fmt.Errorf("the entry changed %d times meanwhile", tries)}
}

// recordConflict writes the pair once and returns it as *ConflictError.
func (r *Repository) recordConflict(ctx context.Context, first, second Record) error {
	body, err := Canonical(Conflict{conflictFormat, first.Key, first, second, r.host.Now().UTC()})
	if err != nil {
		return err
	}
	_, err = r.createCell(ctx, conflictName(first.Key, second.Result.Digest), body)
	if err != nil && !errors.Is(err, ErrPrecondition) {
		return fmt.Errorf("record conflict of %s: %w", first.Key.Short(), err)
	}
	return &ConflictError{Key: first.Key, First: first, Second: second}
}

func isConflict(err error) bool {
	var c *ConflictError
	return errors.As(err, &c)
}

// Conflicts calls fn for every recorded conflict, of one step or of all (""). Objects among
// them that are none by their name are passed over; Verify names them.
func (r *Repository) Conflicts(ctx context.Context, step string, fn func(Conflict) error) error {
	prefix := areaConflicts
	if step != "" {
		prefix += step + "/"
	}
	return r.bucket.List(ctx, prefix, "", func(info Info) error {
		if conflictOfPath(strings.TrimPrefix(info.Name, areaConflicts)) != nil {
			return nil
		}
		c, err := r.readConflict(ctx, info.Name)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return fn(c)
	})
}

func (r *Repository) readConflict(ctx context.Context, name string) (Conflict, error) {
	data, _, err := r.bucket.Read(ctx, name)
	if err != nil {
		return Conflict{}, err
	}
	var c Conflict
	if err := json.Unmarshal(data, &c); err != nil || c.Format != conflictFormat {
		return Conflict{}, r.foreign("read conflict", name)
	}
	return c, nil
}

var errForeign = errors.New("the object is not what its name says")

// foreign is the error about an object that holds something else than its name says.
func (r *Repository) foreign(op, name string) error {
	return &BucketError{Op: op, Bucket: r.bucket.URL(), Object: name, Class: Permanent,
		Hint: "it is damaged or not ours: move " + name + " out of the store", Err: errForeign}
}

// Keys calls fn for every key that has an index entry, of one step or of all (""), in
// ascending order of the key's text. Objects among them that are no entries are passed
// over; Verify names them.
func (r *Repository) Keys(ctx context.Context, step string, fn func(Key, Info) error) error {
	prefix := areaIndex
	if step != "" {
		prefix += step + "/"
	}
	return r.bucket.List(ctx, prefix, "", func(info Info) error {
		key, err := keyOfPath(strings.TrimPrefix(info.Name, areaIndex))
		if err != nil {
			return nil
		}
		return fn(key, info)
	})
}

// Entry returns the key's record as written, without looking for its blob. Errors:
// *MissError.
func (r *Repository) Entry(ctx context.Context, key Key) (Record, error) {
	data, err := ReadWhole(ctx, r.bucket, indexName(key))
	return r.entryOf(data, err, key)
}
