package dataset

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// CheXmaskIndexMediaType is the media type of an encoded [CheXmaskIndex].
const CheXmaskIndexMediaType = "application/vnd.cxrepro.chexmask-index"

// CheXmaskIndex says where each picture's row stands in a plain (uncompressed) table. It
// holds digests of ids, 28 bytes a row, and may be stored.
type CheXmaskIndex struct {
	size    int64 // of the table file, to notice another file
	width   int   // columns
	columns chexmaskColumns
	rows    keyed[rowPlace]
}

type rowPlace struct {
	offset int64
	length int32
}

// Len returns the number of rows.
func (x *CheXmaskIndex) Len() int { return x.rows.len() }

// ErrCompressed reports a compressed table where rows must be read at an offset.
var ErrCompressed = errors.New("rows of a compressed table cannot be read one by one")

// BuildIndex reads the table once and notes where every row begins.
//
// Errors: ErrCompressed (wrapped, with the way out) for a compressed table, *TableError for
// a broken one or a repeated id.
func (c *CheXmask) BuildIndex() (*CheXmaskIndex, error) {
	t, err := c.open()
	if err != nil {
		return nil, err
	}
	defer t.close()
	if t.gz != nil {
		return nil, &TableError{File: c.file, Detail: "is compressed", Hint: "unpack it with gunzip, or write a lean copy with Unpack", Err: ErrCompressed}
	}
	x := &CheXmaskIndex{width: t.width, columns: c.columns(t)}
	for {
		begin := t.offset()
		rec, line, bad, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && bad != "" {
			err = &TableError{File: c.file, Line: line, Detail: bad, Hint: hintDownload}
		}
		if err != nil {
			return nil, err
		}
		x.rows.add(keyOf(rec[x.columns.id]), rowPlace{begin, int32(t.offset() - begin)})
	}
	info, err := t.raw.Stat()
	if err != nil {
		return nil, fmt.Errorf("index table %s: %w", c.file, err)
	}
	x.size = info.Size()
	return x, c.freezeIndex(x)
}

func (c *CheXmask) freezeIndex(x *CheXmaskIndex) error {
	if n := x.rows.freeze(); n > 0 {
		return &TableError{File: c.file, Column: c.id, Detail: fmt.Sprintf("%d ids stand in more than one row", n)}
	}
	return nil
}

// Unpack writes the columns that are read here as a plain table to w and returns its index:
// the way to look rows up when the published table is compressed. The result opens with
// [OpenCheXmask] and no options. Rows reach w one by one: give it a buffered writer.
//
// Errors: as for Records, or those of w.
func (c *CheXmask) Unpack(w io.Writer) (*CheXmaskIndex, error) {
	n := &countingWriter{w: w}
	out := csv.NewWriter(n)
	header := []string{"dicom_id", colHeight, colWidth, colDice, colLandmarks}
	x := &CheXmaskIndex{columns: chexmaskColumns{id: 0, height: 1, width: 2, dice: 3, landmarks: 4}}
	for o := OrganRightLung; o <= OrganHeart; o++ {
		x.columns.organs[o] = len(header)
		header = append(header, organFacts[o].column)
	}
	x.width = len(header)
	if err := out.Write(header); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", c.file, err)
	}
	out.Flush()
	for r, err := range c.Records() {
		if err != nil {
			return nil, err
		}
		begin := n.n
		dice := ""
		if r.DiceOK {
			dice = fmt.Sprint(r.Dice)
		}
		fields := append([]string{r.ID, fmt.Sprint(r.Height), fmt.Sprint(r.Width), dice, r.landmarks}, r.organs[1:]...)
		if err := out.Write(fields); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", c.file, err)
		}
		out.Flush()
		if err := out.Error(); err != nil {
			return nil, fmt.Errorf("unpack %s: %w", c.file, err)
		}
		x.rows.add(keyOf(r.ID), rowPlace{begin, int32(n.n - begin)})
	}
	x.size = n.n
	return x, c.freezeIndex(x)
}

type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Lookup reads one picture's row through an index; ok is false when the table lacks it.
//
// Errors: the index belongs to another file, or the storage cannot be read at an offset.
func (c *CheXmask) Lookup(x *CheXmaskIndex, id string) (r Record, ok bool, err error) {
	place, ok := x.rows.find(keyOf(id))
	if !ok {
		return Record{}, false, nil
	}
	f, err := c.fsys.Open(c.file)
	if err != nil {
		return Record{}, false, fmt.Errorf("open table %s: %w", c.file, err)
	}
	defer f.Close()
	buf, err := readPlace(f, x.size, place)
	if err != nil {
		return Record{}, false, fmt.Errorf("look up a row of table %s: %w", c.file, err)
	}
	one := csv.NewReader(bytes.NewReader(buf))
	one.FieldsPerRecord = x.width
	rec, err := one.Read()
	if err != nil {
		return Record{}, false, &TableError{File: c.file, Detail: "does not match its index", Hint: "build the index again", Err: err}
	}
	r = x.columns.record(rec)
	if r.ID != id {
		return Record{}, false, &TableError{File: c.file, Detail: "does not match its index: another picture's row stands there", Hint: "build the index again"}
	}
	return r, true, nil
}

func readPlace(f fs.File, size int64, p rowPlace) ([]byte, error) {
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, errors.New("its storage cannot be read at an offset")
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() != size {
		return nil, fmt.Errorf("it has %d bytes, the index was built for %d; build the index again", info.Size(), size)
	}
	buf := make([]byte, p.length)
	if _, err := at.ReadAt(buf, p.offset); err != nil {
		return nil, err
	}
	return buf, nil
}

const indexMagic = "cxchexm\x01"

// Encode returns the index as bytes; equal indexes give equal bytes.
func (x *CheXmaskIndex) Encode() []byte {
	b := []byte(indexMagic)
	k := x.columns
	head := []int{x.width, k.id, k.height, k.width, k.dice, k.landmarks, k.organs[1], k.organs[2], k.organs[3]}
	b = binary.LittleEndian.AppendUint64(b, uint64(x.size))
	for _, v := range head {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(v)))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(len(x.rows.items)))
	for _, e := range x.rows.items {
		b = append(b, e.key[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(e.value.offset))
		b = binary.LittleEndian.AppendUint32(b, uint32(e.value.length))
	}
	return b
}

const (
	indexHead = len(indexMagic) + 8 + 9*4 + 8
	indexRow  = 16 + 8 + 4
)

// DecodeCheXmaskIndex reads what Encode wrote.
//
// Errors: bytes that no Encode can have written.
func DecodeCheXmaskIndex(data []byte) (*CheXmaskIndex, error) {
	bad := func(what string) error { return fmt.Errorf("read CheXmask index of %d bytes: %s", len(data), what) }
	if len(data) < indexHead || string(data[:len(indexMagic)]) != indexMagic {
		return nil, bad("it does not begin like one")
	}
	d := data[len(indexMagic):]
	x := &CheXmaskIndex{size: int64(binary.LittleEndian.Uint64(d))}
	d = d[8:]
	k := &x.columns
	for _, to := range []*int{&x.width, &k.id, &k.height, &k.width, &k.dice, &k.landmarks, &k.organs[1], &k.organs[2], &k.organs[3]} {
		*to = int(int32(binary.LittleEndian.Uint32(d)))
		if *to < -1 || *to > 1<<16 || to != &x.width && *to >= x.width {
			return nil, bad("a column is out of range")
		}
		d = d[4:]
	}
	if min(k.id, k.height, k.width, k.landmarks) < 0 {
		return nil, bad("a needed column is missing")
	}
	n := binary.LittleEndian.Uint64(d)
	d = d[8:]
	if uint64(len(d)) != n*uint64(indexRow) || n > uint64(len(d)) {
		return nil, bad(fmt.Sprintf("%d rows announced", n))
	}
	for ; len(d) > 0; d = d[indexRow:] {
		p := rowPlace{int64(binary.LittleEndian.Uint64(d[16:])), int32(binary.LittleEndian.Uint32(d[24:]))}
		if p.offset < 0 || p.length < 0 || p.offset > x.size-int64(p.length) {
			return nil, bad("a row lies outside the table")
		}
		x.rows.add(nameKey(d[:16]), p)
	}
	if !slices.IsSortedFunc(x.rows.items, func(a, b keyedItem[rowPlace]) int { return bytes.Compare(a.key[:], b.key[:]) }) {
		return nil, bad("rows are out of order")
	}
	return x, nil
}
