package verify

import (
	"context"
	"errors"
	"fmt"

	"cxrepro/artifacts"
	"cxrepro/internal/provenance"
)

// entries compares every index entry with the statement that it names: the key is the digest of
// the statement's key document, the result its subject. Without a ledger that was packed or
// signed nothing else holds an entry's bytes.
func (v *verifier) entries(ctx context.Context, level int) error {
	for i, l := range v.ledger.Leaves {
		_, _, key := artifacts.ObjectOf(l.Object)
		if key.IsZero() || v.bad[l.Object] {
			continue
		}
		if i%1024 == 0 {
			v.o.Progress("bytes", int64(i))
		}
		detail, err := v.entry(ctx, key)
		if err != nil {
			return err
		}
		if detail == "" {
			continue
		}
		v.bad[l.Object] = true
		what := ""
		if v.inventory(ctx) == nil {
			what = v.held[l.Object].Role
		}
		v.out.fault(Fault{Level: level, Object: l.Object, What: what, Detail: detail})
	}
	return nil
}

// entry says what is wrong with a key's entry, "" for nothing. A statement that is withheld
// leaves nothing to compare with.
func (v *verifier) entry(ctx context.Context, key artifacts.Key) (string, error) {
	rec, err := v.o.Store.Entry(ctx, key)
	if err != nil {
		return err.Error(), v.unreadable(err)
	}
	text, err := v.o.Store.StatementOf(ctx, rec)
	switch {
	case errors.Is(err, artifacts.ErrNotFound):
		return "", nil
	case err != nil:
		return err.Error(), v.unreadable(err)
	case rec.Statement.MediaType != artifacts.StatementMediaType:
		return fmt.Sprintf("it calls its statement %q", rec.Statement.MediaType), nil
	}
	st, err := provenance.Decode(text)
	if err != nil {
		return err.Error(), nil
	}
	got, err := st.Key()
	switch {
	case err != nil:
		return err.Error(), nil
	case got != key:
		return fmt.Sprintf("its statement is about %s", got), nil
	case len(st.Subject) == 0 || st.Subject[0] != provenance.Describe(st.Subject[0].Name, rec.Result):
		return fmt.Sprintf("it gives the result %s, which is not what its statement is about", rec.Result), nil
	}
	return "", nil
}
