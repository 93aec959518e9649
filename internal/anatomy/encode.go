package anatomy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"cxrepro/internal/mask"
)

// MediaType of the stored record of [Masks].
const MediaType = "application/vnd.cxrepro.masks"

// ErrRecord marks bytes that are not a record of masks.
var ErrRecord = errors.New("anatomy: malformed masks record")

// maxSide bounds grid and native sizes of a record that comes from outside.
const maxSide = 1 << 16

// magic opens every record; its last byte is the version of the layout.
var magic = []byte("cxmasks\x01")

// Encode returns the stored record.
//
// Layout, version 1: the magic "cxmasks" and the version byte; as unsigned varints grid
// width and height, native width and height; the resize rule as length and text; the
// declared set as 20 bytes, bit i of byte j for structure 8j+i; the number of non-empty
// masks; for each, in channel order, the structure as one byte and its runs as
// [mask.Mask.AppendBinary] writes them. Equal masks give equal bytes.
func (m *Masks) Encode() []byte {
	b := append([]byte(nil), magic...)
	for _, v := range []int{m.GridW, m.GridH, m.NativeW, m.NativeH, len(m.Resize)} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	b = append(b, m.Resize...)
	var declared [Count/8 + 1]byte
	for _, s := range m.Declared.List() {
		declared[s/8] |= 1 << (s % 8)
	}
	b = append(b, declared[:]...)
	present := m.Present().List()
	b = binary.AppendUvarint(b, uint64(len(present)))
	for _, s := range present {
		b = append(b, byte(s))
		b = m.masks[s].AppendBinary(b)
	}
	return b
}

// Decode reads a stored record. It accepts exactly what [Masks.Encode] writes.
//
// Errors wrap [ErrRecord].
func Decode(data []byte) (*Masks, error) {
	if !bytes.HasPrefix(data, magic) {
		if bytes.HasPrefix(data, magic[:len(magic)-1]) && len(data) >= len(magic) {
			return nil, fmt.Errorf("%w: version %d, this build reads version %d", ErrRecord, data[len(magic)-1], magic[len(magic)-1])
		}
		return nil, fmt.Errorf("%w: no masks record", ErrRecord)
	}
	r := recordReader{rest: data[len(magic):]}
	m := &Masks{}
	m.GridW, m.GridH = r.number(maxSide), r.number(maxSide)
	m.NativeW, m.NativeH = r.number(maxSide), r.number(maxSide)
	m.Resize = string(r.bytes(r.number(64)))
	declared := r.bytes(Count/8 + 1)
	if r.err == nil && (m.GridW < 1 || m.GridH < 1 || m.NativeW < 1 || m.NativeH < 1) {
		r.fail("a side of length 0")
	}
	for i := 0; r.err == nil && i < 8*len(declared); i++ {
		if declared[i/8]>>(i%8)&1 == 0 {
			continue
		}
		if !Structure(i).Valid() {
			r.fail("declares structure %d", i)
		}
		m.Declared = m.Declared.With(Structure(i))
	}
	r.masks(m)
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes after the end", len(r.rest))
	}
	if r.err != nil {
		return nil, r.err
	}
	return m, nil
}

type recordReader struct {
	rest []byte
	err  error
}

func (r *recordReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrRecord, fmt.Sprintf(format, args...))
	}
}

func (r *recordReader) number(limit int) int {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || (n > 1 && r.rest[n-1] == 0) || v > uint64(limit) {
		r.fail("number cut off, not in shortest form or above %d", limit)
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

func (r *recordReader) bytes(n int) []byte {
	if r.err == nil && len(r.rest) < n {
		r.fail("cut off")
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// masks reads the list of non-empty masks.
func (r *recordReader) masks(m *Masks) {
	last, runs := 0, 0
	for range r.number(Count) {
		id := r.bytes(1)
		if r.err != nil {
			return
		}
		s := Structure(id[0])
		if int(s) <= last || !m.Declared.Has(s) {
			r.fail("structure %d out of order or not declared", id[0])
			return
		}
		last = int(s)
		k, rest, err := mask.ReadBinary(m.GridW, m.GridH, r.rest)
		if err != nil {
			r.err = fmt.Errorf("%w: mask of %q: %w", ErrRecord, s.Name(), err)
			return
		}
		if k.IsEmpty() {
			r.fail("empty mask of %q", s.Name())
			return
		}
		if runs += k.RunCount(); runs > mask.MaxDecodedRuns {
			r.fail("more than %d runs", mask.MaxDecodedRuns)
			return
		}
		m.masks[s], r.rest = k, rest
	}
}
