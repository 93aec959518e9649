package mask

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// MaxDecodedRuns bounds what [ReadBinary] will build: more runs than any chest
// radiograph needs, few enough that a hostile record cannot exhaust memory.
const MaxDecodedRuns = 1 << 24

// ErrEncoding marks bytes that are not a mask's binary form.
var ErrEncoding = errors.New("mask: malformed binary form")

// AppendBinary appends the compact binary form of the mask's pixels; width and height
// are not part of it, the reader must know them.
//
// Layout, all numbers unsigned varints unless said: number of rows from the first to the
// last set row (0 for an empty mask, nothing follows); first row; then groups of equal
// rows: number of further rows like this one, number of runs n, and per run either, for
// run i < n' of the previous group's n' runs, its two ends as zig-zag differences from
// that run's ends, or the gap from the end of the run before (from column 0) and its
// length.
func (m Mask) AppendBinary(dst []byte) []byte {
	m = m.Trim()
	n := m.rowCount()
	dst = binary.AppendUvarint(dst, uint64(n))
	if n == 0 {
		return dst
	}
	dst = binary.AppendUvarint(dst, uint64(m.Y0))
	var prev []Run
	for i := 0; i < n; {
		row := m.Row(m.Y0 + i)
		same := 1
		for i+same < n && equalRows(row, m.Row(m.Y0+i+same)) {
			same++
		}
		dst = binary.AppendUvarint(dst, uint64(same-1))
		dst = binary.AppendUvarint(dst, uint64(len(row)))
		end := int32(0)
		for k, r := range row {
			if k < len(prev) {
				dst = binary.AppendVarint(dst, int64(r.X0-prev[k].X0))
				dst = binary.AppendVarint(dst, int64(r.X1-prev[k].X1))
			} else {
				dst = binary.AppendUvarint(dst, uint64(r.X0-end))
				dst = binary.AppendUvarint(dst, uint64(r.X1-r.X0))
			}
			end = r.X1
		}
		prev = row
		i += same
	}
	return dst
}

func equalRows(a, b []Run) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// ReadBinary reads the binary form of a w x h mask from the front of src and returns
// what follows. It accepts exactly what [Mask.AppendBinary] writes: one mask has one form.
//
// Errors wrap [ErrEncoding].
func ReadBinary(w, h int, src []byte) (m Mask, rest []byte, err error) {
	d := decoder{src: src}
	rows := d.count(h, "rows")
	if rows == 0 {
		return Empty(w, h), d.src, d.err
	}
	y0 := d.count(h-rows, "first row")
	m = Mask{W: w, H: h, Y0: y0, RowStart: make([]int32, 1, rows+1)}
	var prev []Run
	for m.rowCount() < rows && d.err == nil {
		same := d.count(rows-m.rowCount()-1, "equal rows") + 1
		start := len(m.Runs)
		m.Runs = d.row(m.Runs, prev, w)
		row := m.Runs[start:]
		if d.err == nil && len(m.RowStart) > 1 && equalRows(prev, row) {
			d.fail("row %d repeats the one before", y0+m.rowCount())
		}
		edge := m.rowCount() == 0 || m.rowCount()+same == rows
		if d.err == nil && edge && len(row) == 0 {
			d.fail("empty row at the edge")
		}
		if d.err == nil && len(m.Runs)+(same-1)*len(row) > MaxDecodedRuns {
			d.fail("more than %d runs", MaxDecodedRuns)
		}
		for k := 0; k < same && d.err == nil; k++ {
			if k > 0 {
				m.Runs = append(m.Runs, m.Runs[start:start+len(row)]...)
			}
			m.RowStart = append(m.RowStart, int32(len(m.Runs)))
		}
		prev = m.Runs[start : start+len(row)]
	}
	if d.err != nil {
		return Mask{}, nil, d.err
	}
	return m, d.src, nil
}

// decoder reads varints and keeps the first error.
type decoder struct {
	src []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrEncoding, fmt.Sprintf(format, args...))
	}
}

// uvarint reads one number in its shortest form.
func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.src)
	if n <= 0 {
		d.fail("cut off or oversized number")
		return 0
	}
	if n > 1 && d.src[n-1] == 0 {
		d.fail("number in a longer form than needed")
		return 0
	}
	d.src = d.src[n:]
	return v
}

// count reads a number that may not exceed limit.
func (d *decoder) count(limit int, what string) int {
	v := d.uvarint()
	if d.err == nil && (limit < 0 || v > uint64(limit)) {
		d.fail("%s %d above %d", what, v, limit)
		return 0
	}
	return int(v)
}

// difference reads a zig-zag number bounded by the width.
func (d *decoder) difference(w int) int32 {
	u := d.uvarint()
	v := int64(u >> 1)
	if u&1 != 0 {
		v = ^v
	}
	if v > int64(w) || v < -int64(w) {
		d.fail("difference %d beyond width %d", v, w)
		return 0
	}
	return int32(v)
}

// row reads the runs of one row.
func (d *decoder) row(dst []Run, prev []Run, w int) []Run {
	n := d.count((w+1)/2, "runs of a row")
	end := int32(-1)
	for k := 0; k < n && d.err == nil; k++ {
		var r Run
		if k < len(prev) {
			r = Run{prev[k].X0 + d.difference(w), prev[k].X1 + d.difference(w)}
		} else {
			r.X0 = max(end, 0) + int32(d.count(w, "gap"))
			r.X1 = r.X0 + int32(d.count(w, "length"))
		}
		if d.err == nil && (r.X0 <= end || r.X0 >= r.X1 || int(r.X1) > w) {
			d.fail("run [%d, %d) empty, touching, out of order or outside width %d", r.X0, r.X1, w)
		}
		dst = append(dst, r)
		end = r.X1
	}
	return dst
}
