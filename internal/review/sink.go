package review

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Sink takes the files of a sheet. Names are slash-separated and relative.
type Sink interface {
	Put(name string, data []byte) error
}

// Folder writes files below a folder, which is made when it is not there.
type Folder string

// Put writes one file.
func (f Folder) Put(name string, data []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("review: file name %q is not below the sheet", name)
	}
	to := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// archive writes files into a zip whose bytes depend on nothing but names and contents.
type archive struct{ w *zip.Writer }

func newArchive(w io.Writer) *archive {
	a := &archive{w: zip.NewWriter(w)}
	a.w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.DefaultCompression) })
	return a
}

// Put adds a file. Pictures are compressed already and are stored as they are.
func (a *archive) Put(name string, data []byte) error {
	method := zip.Deflate
	switch path.Ext(name) {
	case ".png", ".jpg":
		method = zip.Store
	}
	w, err := a.w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func (a *archive) Close() error { return a.w.Close() }

// mostUnpacked bounds what Unpack writes.
const mostUnpacked = 8 << 30

// Unpack writes a sheet's archive below a folder and returns the number of files.
//
// Errors: an archive that is damaged, names files outside the folder, or is larger than
// any sheet.
func Unpack(r io.ReaderAt, size int64, dir string) (files int, err error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return 0, fmt.Errorf("review sheet: %w", err)
	}
	var total uint64
	for _, f := range z.File {
		if total += f.UncompressedSize64; total > mostUnpacked || strings.HasSuffix(f.Name, "/") {
			return files, fmt.Errorf("review sheet: entry %q is not one of a sheet's", f.Name)
		}
		data, err := readEntry(f)
		if err != nil {
			return files, fmt.Errorf("review sheet: %s: %w", f.Name, err)
		}
		if err := Folder(dir).Put(f.Name, data); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}

func readEntry(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, int64(f.UncompressedSize64)+1))
}
