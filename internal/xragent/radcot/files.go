package radcot

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"cxrepro/artifacts"
)

// File is one file of a finished construction.
type File struct {
	Name      string
	MediaType string
	Write     func(w io.Writer) error
}

// Names of the files that are no corpus.
const (
	LedgerFile        = "ledger.json"
	DatasheetFile     = "datasheet.json"
	ExamplesFile      = "examples.jsonl"
	DatasheetTextFile = "datasheet.md"
)

// Files lists what trainers and people read, in a fixed order: the examples, the datasheet, both
// corpora in every form.
func (b *Built) Files(sheet Datasheet, paths Paths) []File {
	out := []File{
		{ExamplesFile, "application/jsonl", b.writeExamples},
		{DatasheetTextFile, "text/markdown", sheet.Markdown},
	}
	for _, form := range []Form{Swift, TRL, Verl, Contract} {
		for _, corpus := range []Corpus{SFT, GRPO} {
			if form == Contract && corpus == GRPO {
				continue
			}
			kind := "application/jsonl"
			if form == Verl {
				kind = "application/vnd.apache.parquet"
			}
			out = append(out, File{FileName(corpus, form), kind, func(w io.Writer) error { return b.Write(w, corpus, form, paths) }})
		}
	}
	return out
}

// Save hands out everything that a construction comes to, file by file: the ledger, the datasheet,
// and [Built.Files].
func (b *Built) Save(ex *Exclusions, teacher string, audit *Audit, put func(name, mediaType string, data []byte) error) (Datasheet, error) {
	ledger, err := b.Ledger.Encode()
	if err != nil {
		return Datasheet{}, err
	}
	sheet := b.Datasheet(artifacts.Sum(ledger), ex, teacher, audit)
	text, err := json.MarshalIndent(sheet, "", "  ")
	if err != nil {
		return sheet, err
	}
	if err := put(LedgerFile, "application/json", ledger); err != nil {
		return sheet, err
	}
	if err := put(DatasheetFile, "application/json", append(text, '\n')); err != nil {
		return sheet, err
	}
	for _, f := range b.Files(sheet, StorePath) {
		var buf bytes.Buffer
		err := f.Write(&buf)
		if err == nil {
			err = put(f.Name, f.MediaType, buf.Bytes())
		}
		if err != nil {
			return sheet, err
		}
	}
	return sheet, nil
}

func (b *Built) writeExamples(w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range b.Examples {
		if err := enc.Encode(&b.Examples[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Pictures lists the pictures of the conversations and questions once, in the order of their
// digests.
func (b *Built) Pictures() []artifacts.Ref {
	seen := map[artifacts.Digest]bool{}
	var out []artifacts.Ref
	for i := range b.Examples {
		e := &b.Examples[i]
		for _, r := range append(e.Images(), e.Picture.Image) {
			if !seen[r.Digest] {
				seen[r.Digest] = true
				out = append(out, r)
			}
		}
	}
	slices.SortFunc(out, func(a, b artifacts.Ref) int { return bytes.Compare(a.Digest[:], b.Digest[:]) })
	return out
}

// StorePath is where a picture lies below the folder of the files: by content.
func StorePath(r artifacts.Ref) string {
	kind := strings.TrimPrefix(r.MediaType, "image/")
	if kind == "jpeg" {
		kind = "jpg"
	}
	hex := r.Digest.Hex()
	return "images/" + hex[:2] + "/" + hex + "." + kind
}
