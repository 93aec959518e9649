package bundle

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"cxrepro/artifacts"
	"cxrepro/internal/attest"
)

// NamedFile is an entry outside the store.
type NamedFile struct {
	Name string
	Data []byte
}

// Contents is what goes into a bundle.
type Contents struct {
	Claim   Claim
	DataUse string
	Ledger  *Ledger
	// From holds the objects; Ship says which of them go along.
	From artifacts.Bucket
	Ship func(Leaf) bool
	// Files are crate, plan and tables; Attestations are envelopes about the reproduction.
	Files        []NamedFile
	Attestations []NamedFile
	// Key, if set, signs the bundle.
	Key      *attest.Key
	Progress func(objects int64)
}

// Written says what a bundle holds.
type Written struct {
	Objects, Withheld int64
	Bytes             int64
	Manifest          artifacts.Digest
}

// Write writes a bundle. The same contents give the same bytes, but for the signature of the
// bundle, which names its time.
//
// Errors: an object that is not what its leaf says; those of reading and writing.
func Write(ctx context.Context, to io.Writer, c Contents) (Written, error) {
	var out Written
	var ledger bytes.Buffer
	if _, err := c.Ledger.WriteTo(&ledger); err != nil {
		return out, err
	}
	files := append([]NamedFile{{LedgerFile, ledger.Bytes()}}, c.Files...)
	m := Manifest{
		Format: Format, Reproduction: c.Claim.Reproduction, Name: c.Claim.Name, Paper: c.Claim.Paper, DataUse: c.DataUse,
		Receipt: c.Claim.Receipt, Result: c.Claim.Result, Ledger: c.Ledger.Head(), Files: []FileHead{},
	}
	for _, f := range files {
		m.Files = append(m.Files, FileHead{f.Name, int64(len(f.Data)), artifacts.Sum(f.Data)})
	}
	slices.SortFunc(m.Files, func(a, b FileHead) int { return strings.Compare(a.Name, b.Name) })
	text, err := artifacts.Canonical(m)
	if err != nil {
		return out, err
	}
	out.Manifest = artifacts.Sum(text)
	files = append(append(files, NamedFile{ManifestFile, text}), c.Attestations...)
	if c.Key != nil {
		sealed, err := signBundle(c.Key, c.Claim, text)
		if err != nil {
			return out, err
		}
		files = append(files, NamedFile{AttestationsPrefix + "bundle." + c.Key.ID()[:16] + AttestationSuffix, sealed})
	}
	// The crate comes first, the others by name, objects in their place among them.
	slices.SortFunc(files, func(a, b NamedFile) int {
		if first := rankOf(a.Name) - rankOf(b.Name); first != 0 {
			return first
		}
		return strings.Compare(a.Name, b.Name)
	})
	w := NewWriter(to)
	objects := func() error { return writeObjects(ctx, w, &c, &out) }
	for _, f := range files {
		if f.Name > StorePrefix && objects != nil && rankOf(f.Name) > 0 {
			if err := objects(); err != nil {
				return out, err
			}
			objects = nil
		}
		if err := w.Add(f.Name, f.Data); err != nil {
			return out, err
		}
	}
	if objects != nil {
		if err := objects(); err != nil {
			return out, err
		}
	}
	err = w.Close()
	out.Bytes = w.at
	return out, err
}

func rankOf(name string) int {
	if name == CrateFile {
		return 0
	}
	return 1
}

// writeObjects writes the objects that go along, each after comparing it with its leaf.
func writeObjects(ctx context.Context, w *Writer, c *Contents, out *Written) error {
	for i, l := range c.Ledger.Leaves {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !c.Ship(l) || l.Size > largest {
			out.Withheld++
			continue
		}
		if err := writeObject(ctx, w, c.From, l); err != nil {
			return err
		}
		out.Objects++
		if c.Progress != nil && i%1024 == 1023 {
			c.Progress(int64(i + 1))
		}
	}
	return nil
}

func writeObject(ctx context.Context, w *Writer, from artifacts.Bucket, l Leaf) error {
	if l.Size <= wholeBytes {
		data, err := artifacts.ReadWhole(ctx, from, l.Object)
		if err != nil {
			return err
		}
		if detail := l.differs(artifacts.Sum(data), int64(len(data))); detail != "" {
			return fmt.Errorf("%s: %s", l.Object, detail)
		}
		return w.Add(StorePrefix+l.Object, data)
	}
	digest, size, err := digestOf(ctx, from, l.Object, l.Size)
	if err != nil {
		return err
	}
	if detail := l.differs(digest, size); detail != "" {
		return fmt.Errorf("%s: %s", l.Object, detail)
	}
	return w.AddFrom(StorePrefix+l.Object, l.Size, func() (io.ReadCloser, error) {
		body, _, err := from.Open(ctx, l.Object)
		return body, err
	})
}
