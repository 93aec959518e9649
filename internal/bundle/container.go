package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// The container is a zip file of stored entries without times, comments or extra fields, each
// entry right after the one before. That leaves nothing to choose, so that equal entries are
// equal files, and a file can be compared with what it would be if it were written anew.
const (
	localHeader   = 30
	centralHeader = 46
	endRecord     = 22
	wideEnd       = 56
	wideLocator   = 20
	wideExtra     = 12

	version20 = 20 // stored entries
	version45 = 45 // what ZIP64 needs

	most16 = math.MaxUint16
	most32 = math.MaxUint32
)

// largest is the size in bytes of the largest entry.
const largest = most32 - 1

// placed is one entry of a container by what its headers say.
type placed struct {
	name   string
	size   int64
	crc    uint32
	offset int64 // of its local header
}

// end is where the entry's data end.
func (p placed) end() int64 { return p.data() + p.size }

// data is where the entry's data begin.
func (p placed) data() int64 { return p.offset + localHeader + int64(len(p.name)) }

var le = binary.LittleEndian

// appendLocal appends the header before the data.
func (p placed) appendLocal(out []byte) []byte {
	out = le.AppendUint32(out, 0x04034b50)
	out = le.AppendUint16(out, version20)
	out = append(out, make([]byte, 8)...) // flags, method, time, date
	out = le.AppendUint32(out, p.crc)
	out = le.AppendUint32(out, uint32(p.size))
	out = le.AppendUint32(out, uint32(p.size))
	out = le.AppendUint16(out, uint16(len(p.name)))
	out = le.AppendUint16(out, 0)
	return append(out, p.name...)
}

// appendCentral appends the entry's line in the directory.
func (p placed) appendCentral(out []byte) []byte {
	version, offset, extra := uint16(version20), uint32(min(p.offset, most32)), uint16(0)
	if p.offset >= most32 {
		version, extra = version45, wideExtra
	}
	out = le.AppendUint32(out, 0x02014b50)
	out = le.AppendUint16(out, version)
	out = le.AppendUint16(out, version)
	out = append(out, make([]byte, 8)...)
	out = le.AppendUint32(out, p.crc)
	out = le.AppendUint32(out, uint32(p.size))
	out = le.AppendUint32(out, uint32(p.size))
	out = le.AppendUint16(out, uint16(len(p.name)))
	out = le.AppendUint16(out, extra)
	out = append(out, make([]byte, 10)...) // comment, disk, attributes
	out = le.AppendUint32(out, offset)
	out = append(out, p.name...)
	if extra > 0 {
		out = le.AppendUint16(out, 1)
		out = le.AppendUint16(out, 8)
		out = le.AppendUint64(out, uint64(p.offset))
	}
	return out
}

// appendEnd appends the end of the directory, which begins at offset and has size bytes.
func appendEnd(out []byte, entries, offset, size int64) []byte {
	if entries >= most16 || offset >= most32 || size >= most32 {
		at := offset + size
		out = le.AppendUint32(out, 0x06064b50)
		out = le.AppendUint64(out, wideEnd-12)
		out = le.AppendUint16(out, version45)
		out = le.AppendUint16(out, version45)
		out = append(out, make([]byte, 8)...)
		out = le.AppendUint64(out, uint64(entries))
		out = le.AppendUint64(out, uint64(entries))
		out = le.AppendUint64(out, uint64(size))
		out = le.AppendUint64(out, uint64(offset))
		out = le.AppendUint32(out, 0x07064b50)
		out = le.AppendUint32(out, 0)
		out = le.AppendUint64(out, uint64(at))
		out = le.AppendUint32(out, 1)
	}
	out = le.AppendUint32(out, 0x06054b50)
	out = append(out, make([]byte, 4)...)
	out = le.AppendUint16(out, uint16(min(entries, most16)))
	out = le.AppendUint16(out, uint16(min(entries, most16)))
	out = le.AppendUint32(out, uint32(min(size, most32)))
	out = le.AppendUint32(out, uint32(min(offset, most32)))
	return le.AppendUint16(out, 0)
}

// Writer writes a container. It serves one goroutine.
type Writer struct {
	out  io.Writer
	at   int64
	done []placed
	buf  []byte
}

// NewWriter begins a container.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out} }

// Add appends an entry.
func (w *Writer) Add(name string, data []byte) error {
	p, err := w.place(name, int64(len(data)), crc32.ChecksumIEEE(data))
	if err == nil {
		err = w.write(data)
	}
	if err != nil {
		return fmt.Errorf("bundle entry %s: %w", name, err)
	}
	w.done = append(w.done, p)
	return nil
}

// AddFrom appends an entry of size bytes that open reads, twice: its header comes first and
// holds a checksum.
func (w *Writer) AddFrom(name string, size int64, open func() (io.ReadCloser, error)) error {
	read := func(to io.Writer) error {
		from, err := open()
		if err != nil {
			return err
		}
		n, err := io.Copy(to, from)
		if err = errors.Join(err, from.Close()); err == nil && n != size {
			err = fmt.Errorf("%d bytes were read, want %d", n, size)
		}
		return err
	}
	sum := crc32.NewIEEE()
	err := read(sum)
	var p placed
	if err == nil {
		p, err = w.place(name, size, sum.Sum32())
	}
	if err == nil {
		err = read(writerFunc(w.write))
	}
	if err != nil {
		return fmt.Errorf("bundle entry %s: %w", name, err)
	}
	w.done = append(w.done, p)
	return nil
}

// place writes the header of the next entry.
func (w *Writer) place(name string, size int64, crc uint32) (placed, error) {
	if name == "" || len(name) > most16 || size > largest {
		return placed{}, fmt.Errorf("a name of %d bytes, %d bytes of data; at most %d and %d go into a bundle", len(name), size, most16, largest)
	}
	p := placed{name: name, size: size, crc: crc, offset: w.at}
	w.buf = p.appendLocal(w.buf[:0])
	return p, w.write(w.buf)
}

// Close writes the directory.
func (w *Writer) Close() error {
	begin := w.at
	for _, p := range w.done {
		w.buf = p.appendCentral(w.buf[:0])
		if err := w.write(w.buf); err != nil {
			return err
		}
	}
	return w.write(appendEnd(nil, int64(len(w.done)), begin, w.at-begin))
}

func (w *Writer) write(data []byte) error {
	n, err := w.out.Write(data)
	w.at += int64(n)
	return err
}

// writerFunc makes a function an io.Writer.
type writerFunc func([]byte) error

// Write calls the function.
func (f writerFunc) Write(p []byte) (int, error) {
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
