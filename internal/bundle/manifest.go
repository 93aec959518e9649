package bundle

import (
	"encoding/json"
	"fmt"

	"cxrepro/artifacts"
)

// Format is Manifest.Format.
const Format = "cxrepro-bundle-1"

// Names of entries outside the store.
const (
	CrateFile    = "ro-crate-metadata.json"
	ManifestFile = "bundle.json"
	LedgerFile   = "ledger.txt"
	PlanFile     = "plan.json"
	TablesPrefix = "tables/"
	// AttestationsPrefix begins the names of signed statements, which end with
	// AttestationSuffix.
	AttestationsPrefix = "attestations/"
	AttestationSuffix  = ".dsse.json"
)

// Manifest is bundle.json: what the bundle is of, and the digests of its entries outside the
// store. Who signs it signs all of them, and through the ledger every object.
type Manifest struct {
	Format       string           `json:"format"`
	Reproduction string           `json:"reproduction_id"`
	Name         string           `json:"name"`
	Paper        string           `json:"paper"`
	DataUse      string           `json:"data_use"`
	Receipt      artifacts.Ref    `json:"receipt"`
	Result       artifacts.Digest `json:"result_digest"`
	Ledger       LedgerHead       `json:"ledger"`
	Files        []FileHead       `json:"files"`
}

// LedgerHead names a ledger.
type LedgerHead struct {
	// Root is that of the tree of RFC 6962 over the leaves.
	Root   artifacts.Digest `json:"root"`
	Leaves int64            `json:"leaves"`
}

// FileHead names an entry outside the store.
type FileHead struct {
	Name   string           `json:"name"`
	Size   int64            `json:"size"`
	Digest artifacts.Digest `json:"digest"`
}

// Head names the ledger.
func (l *Ledger) Head() LedgerHead { return LedgerHead{Root: l.Root, Leaves: int64(len(l.Leaves))} }

// decodeManifest reads bundle.json, which is canonical JSON.
func decodeManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if m.Format != Format {
		return nil, fmt.Errorf("format %q, this program reads %q", m.Format, Format)
	}
	return &m, nil
}

// Opened is a bundle that was opened to be read.
type Opened struct {
	*File
	Manifest *Manifest
	// Text is bundle.json as it stands in the file.
	Text   []byte
	Ledger *Ledger
}

// Open reads what a bundle says of itself. Nothing else of it is read or checked.
//
// Errors: ErrNotBundle; *DamageError for a directory, manifest or ledger that cannot be read.
func Open(path string) (o *Opened, err error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	o = &Opened{File: f}
	if err := o.read(); err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	return o, nil
}

func (o *Opened) read() (err error) {
	if _, ok := o.Has(ManifestFile); !ok {
		return fmt.Errorf("%s: %w: it has no %s", o.Path(), ErrNotBundle, ManifestFile)
	}
	if o.Text, err = o.Read(ManifestFile); err != nil {
		return err
	}
	if o.Manifest, err = decodeManifest(o.Text); err != nil {
		return &DamageError{ManifestFile, err.Error()}
	}
	text, err := o.Read(LedgerFile)
	if err != nil {
		return err
	}
	if o.Ledger, err = ReadLedger(text); err != nil {
		return &DamageError{LedgerFile, err.Error()}
	}
	return nil
}

// Bytes compares every byte of the file with manifest and ledger. It returns what differs, and
// the leaves of which the file holds no bytes.
func (o *Opened) Bytes(scan func(each func(Scanned) error) error) (faults []Fault, withheld []Leaf, err error) {
	leaves := make(map[string]*Leaf, len(o.Ledger.Leaves))
	for i := range o.Ledger.Leaves {
		leaves[StorePrefix+o.Ledger.Leaves[i].Object] = &o.Ledger.Leaves[i]
	}
	files := map[string]FileHead{}
	for _, f := range o.Manifest.Files {
		files[f.Name] = f
	}
	err = scan(func(s Scanned) error {
		leaf, head := leaves[s.Name], files[s.Name]
		delete(leaves, s.Name)
		delete(files, s.Name)
		if detail := o.judge(s, leaf, head); detail != "" {
			faults = append(faults, Fault{s.Name, detail})
		}
		return nil
	})
	for _, l := range o.Ledger.Leaves {
		if _, left := leaves[StorePrefix+l.Object]; left {
			withheld = append(withheld, l)
		}
	}
	for _, f := range o.Manifest.Files {
		if _, left := files[f.Name]; left {
			faults = append(faults, Fault{f.Name, "it is not in the file"})
		}
	}
	if head := o.Ledger.Head(); head != o.Manifest.Ledger {
		faults = append(faults, Fault{LedgerFile, fmt.Sprintf("its %d leaves have the root %s; %s names %d with %s",
			head.Leaves, head.Root.Short(), ManifestFile, o.Manifest.Ledger.Leaves, o.Manifest.Ledger.Root.Short())})
	}
	return faults, withheld, err
}

// judge says what is wrong with an entry, "" for nothing.
func (o *Opened) judge(s Scanned, leaf *Leaf, head FileHead) string {
	switch {
	case leaf != nil:
		if detail := leaf.differs(s.Digest, s.Size); detail != "" {
			return detail
		}
	case head.Name != "":
		if s.Digest != head.Digest || s.Size != head.Size {
			return fmt.Sprintf("its bytes are not those that %s names: they hash to %s, want %s", ManifestFile, s.Digest.Short(), head.Digest.Short())
		}
	case s.Name == ManifestFile:
	case len(s.Name) > len(AttestationsPrefix) && s.Name[:len(AttestationsPrefix)] == AttestationsPrefix:
	default:
		return "neither manifest nor ledger names it"
	}
	if s.Err != nil {
		return s.Err.(*DamageError).Detail
	}
	return ""
}
