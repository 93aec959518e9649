package dataset

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"cxrepro/internal/anatomy"
	"cxrepro/internal/mask"
)

// arrayMasks reads one NumPy array per picture, shape (159, height, width), either as
// <stem>.npy or as the single member of <stem>.npz. The array is streamed row by row.
type arrayMasks struct {
	fsys   fs.FS
	want   anatomy.Set
	zipped bool
}

func (a *arrayMasks) Declared() anatomy.Set { return a.want }
func (a *arrayMasks) Close() error          { return nil }

func (a *arrayMasks) Masks(stem string, width, height int) (*anatomy.Masks, error) {
	if err := stemName(stem); err != nil {
		return nil, err
	}
	out, err := newMasks(width, height, a.want)
	if err != nil {
		return nil, err
	}
	ext := ".npy"
	if a.zipped {
		ext = ".npz"
	}
	f, err := a.fsys.Open(stem + ext)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, maskErrorf(MasksMissing, 0, "no %s file for the picture", ext[1:])
	}
	if err != nil {
		return nil, fmt.Errorf("read masks: %w", withoutPath(err))
	}
	defer f.Close()
	var r io.Reader = f
	if a.zipped {
		member, err := npzMember(f)
		if err != nil {
			return nil, err
		}
		defer member.Close()
		r = member
	}
	if err := readArray(bufio.NewReaderSize(r, 1<<18), out, a.want); err != nil {
		return nil, err
	}
	return out, nil
}

// npzMember opens the one array of an npz file.
func npzMember(f fs.File) (io.ReadCloser, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read masks: %w", withoutPath(err))
	}
	at, ok := f.(io.ReaderAt)
	if !ok {
		return nil, fmt.Errorf("read masks: npz files need storage that can be read at an offset")
	}
	z, err := zip.NewReader(at, info.Size())
	if err != nil {
		return nil, &MaskFileError{Class: MasksDamaged, Detail: "the npz file is no readable zip", Err: err}
	}
	if len(z.File) != 1 || z.File[0].Name != "arr_0.npy" {
		return nil, maskErrorf(MasksWrongChannels, 0, "the npz file holds %d members, want the one arr_0.npy", len(z.File))
	}
	m, err := z.File[0].Open()
	if err != nil {
		return nil, &MaskFileError{Class: MasksDamaged, Detail: "the member of the npz file", Err: err}
	}
	return m, nil
}

// readArray fills out from an array of masks.
func readArray(r io.Reader, out *anatomy.Masks, want anatomy.Set) error {
	classes, h, w, err := readArrayHeader(r)
	if err != nil {
		return err
	}
	if classes != anatomy.Count {
		return maskErrorf(MasksWrongChannels, 0, "the array has %d classes, want %d", classes, anatomy.Count)
	}
	if w != out.NativeW || h != out.NativeH {
		return wrongSize(0, w, h, out.NativeW, out.NativeH)
	}
	row := make([]byte, w)
	for id := range classes {
		s, _ := anatomy.FromClassID(id)
		b := mask.NewBuilder(w, h)
		for y := range h {
			if _, err := io.ReadFull(r, row); err != nil {
				return arrayCut(err, s)
			}
			for x := nextSet(row, 0); x < w; x = nextSet(row, x) {
				end := nextUnset(row, x)
				b.Add(y, x, end)
				x = end
			}
		}
		if !want.Has(s) {
			continue
		}
		if err := out.Put(s, b.Mask()); err != nil {
			return err
		}
	}
	if n, err := io.ReadFull(r, row[:1]); n > 0 {
		return maskErrorf(MasksDamaged, 0, "bytes follow the array")
	} else if !errors.Is(err, io.EOF) {
		return arrayCut(err, 0) // a zip member's checksum shows up here
	}
	return nil
}

// arrayCut tells a file that ends early or is damaged from storage that failed.
func arrayCut(err error, s anatomy.Structure) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("read masks: %w", withoutPath(err))
	}
	return &MaskFileError{Class: MasksDamaged, Structure: s, Detail: "the array breaks off or is damaged here", Err: err}
}

const (
	npyMagic       = "\x93NUMPY"
	maxArrayHeader = 1 << 16
)

var (
	npyDescr = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	npyOrder = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape = regexp.MustCompile(`'shape'\s*:\s*\(([0-9, ]*)\)`)
)

// readArrayHeader reads a NumPy header of version 1, 2 or 3 that describes bytes in C order.
func readArrayHeader(r io.Reader) (classes, h, w int, err error) {
	fail := func(c MaskFileClass, format string, args ...any) (int, int, int, error) {
		return 0, 0, 0, maskErrorf(c, 0, format, args...)
	}
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, 0, 0, arrayCut(err, 0)
	}
	if string(head[:6]) != npyMagic || head[6] < 1 || head[6] > 3 {
		return fail(MasksWrongType, "the file is no NumPy array of version 1 to 3")
	}
	size := make([]byte, 2)
	if head[6] > 1 {
		size = make([]byte, 4)
	}
	if _, err := io.ReadFull(r, size); err != nil {
		return 0, 0, 0, arrayCut(err, 0)
	}
	n := uint32(binary.LittleEndian.Uint16(size))
	if len(size) == 4 {
		n = binary.LittleEndian.Uint32(size)
	}
	if n > maxArrayHeader {
		return fail(MasksDamaged, "the array header promises %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, 0, 0, arrayCut(err, 0)
	}
	descr, order, shape := npyDescr.FindSubmatch(text), npyOrder.FindSubmatch(text), npyShape.FindSubmatch(text)
	if descr == nil || order == nil || shape == nil {
		return fail(MasksDamaged, "the array header lacks descr, fortran_order or shape")
	}
	if t := string(descr[1]); t != "|b1" && t != "|u1" && t != "|i1" {
		return fail(MasksWrongType, "the array holds %q, want one byte per pixel (|b1)", clip(t))
	}
	if string(order[1]) == "True" {
		return fail(MasksWrongType, "the array is in Fortran order, want C order")
	}
	dims := strings.FieldsFunc(string(shape[1]), func(c rune) bool { return c == ',' || c == ' ' })
	if len(dims) != 3 {
		return fail(MasksWrongType, "the array has %d axes, want 3: class, row, column", len(dims))
	}
	for i, to := range []*int{&classes, &h, &w} {
		if *to, err = strconv.Atoi(dims[i]); err != nil || *to > 1<<20 {
			return fail(MasksDamaged, "the array's axis %d is %s long", i, clip(dims[i]))
		}
	}
	return classes, h, w, nil
}

// nextSet returns the index of the first non-zero byte at or after i, len(row) if none.
func nextSet(row []byte, i int) int {
	for ; i+8 <= len(row); i += 8 {
		if binary.LittleEndian.Uint64(row[i:]) != 0 {
			break
		}
	}
	for i < len(row) && row[i] == 0 {
		i++
	}
	return i
}

// nextUnset returns the index of the first zero byte at or after i, len(row) if none.
func nextUnset(row []byte, i int) int {
	if n := bytes.IndexByte(row[i:], 0); n >= 0 {
		return i + n
	}
	return len(row)
}
