package bundle

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// ErrNotBundle is the error about a file that is no bundle.
var ErrNotBundle = errors.New("it is no bundle")

// DamageError names a part of a bundle that is not what it was when it was written.
type DamageError struct {
	// Object is the entry, or the directory at the end of the file.
	Object, Detail string
}

func (e *DamageError) Error() string { return e.Object + ": " + e.Detail }

// directory is Object of damage to the end of the file.
const directory = "the directory at the end of the file"

// File is an open container. Reads may come from several goroutines.
type File struct {
	path    string
	f       *os.File
	size    int64
	entries []placed
	byName  map[string]int
}

// OpenFile reads a container's directory.
//
// Errors: ErrNotBundle; *DamageError for a directory that cannot be read or that leaves bytes
// out.
func OpenFile(path string) (file *File, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	magic := make([]byte, 4)
	if n, err := f.ReadAt(magic, 0); n < 4 && err != nil || info.IsDir() {
		return nil, fmt.Errorf("%s: %w", path, ErrNotBundle)
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		if le.Uint32(magic) == 0x04034b50 {
			return nil, &DamageError{directory, err.Error()}
		}
		return nil, fmt.Errorf("%s: %w", path, ErrNotBundle)
	}
	file = &File{path: path, f: f, size: info.Size(), byName: make(map[string]int, len(z.File))}
	return file, file.lay(z)
}

// lay places the entries one after the other.
func (b *File) lay(z *zip.Reader) error {
	var at int64
	for _, e := range z.File {
		p := placed{name: e.Name, size: int64(e.UncompressedSize64), crc: e.CRC32, offset: at}
		if _, twice := b.byName[p.name]; twice || e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64 || p.size > largest || p.end() > b.size {
			return &DamageError{directory, fmt.Sprintf("the line of %q is not one that a bundle has", e.Name)}
		}
		b.byName[p.name] = len(b.entries)
		b.entries = append(b.entries, p)
		at = p.end()
	}
	return nil
}

// Close closes the file.
func (b *File) Close() error { return b.f.Close() }

// Path is where the file lies, Size its length in bytes.
func (b *File) Path() string { return b.path }

// Size is the file's length in bytes.
func (b *File) Size() int64 { return b.size }

// Has reports whether an entry is there, with its size.
func (b *File) Has(name string) (size int64, ok bool) {
	i, ok := b.byName[name]
	if !ok {
		return 0, false
	}
	return b.entries[i].size, true
}

// Names lists the entries in the order of the file.
func (b *File) Names() []string {
	out := make([]string, len(b.entries))
	for i, e := range b.entries {
		out[i] = e.name
	}
	return out
}

// Section returns an entry's bytes, unchecked; nil when there is none of that name.
func (b *File) Section(name string) *io.SectionReader {
	i, ok := b.byName[name]
	if !ok {
		return nil
	}
	return io.NewSectionReader(b.f, b.entries[i].data(), b.entries[i].size)
}

// Read returns an entry's bytes after comparing them with its checksum.
//
// Errors: *DamageError.
func (b *File) Read(name string) ([]byte, error) {
	i, ok := b.byName[name]
	if !ok {
		return nil, &DamageError{name, "it is not in the file"}
	}
	e := b.entries[i]
	data := make([]byte, e.size)
	if _, err := b.f.ReadAt(data, e.data()); err != nil {
		return nil, &DamageError{name, err.Error()}
	}
	if crc32.ChecksumIEEE(data) != e.crc {
		return nil, &DamageError{name, "its bytes are not those that were written: the checksum differs"}
	}
	return data, nil
}
