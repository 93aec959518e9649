package picture

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"cxrepro/artifacts"
)

func bytesOf(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i*i>>3 + i)
	}
	return data
}

// from is a source of data that reads like r; what it is asked for must be data's.
func from(t testing.TB, data []byte, end error) (Encoded, *int) {
	closed := new(int)
	ref := artifacts.Ref{Digest: artifacts.Sum(data), Size: int64(len(data))}
	return Encoded{Ref: ref, Source: func(_ context.Context, r artifacts.Ref) (io.ReadCloser, error) {
		if r != ref {
			t.Errorf("asked for %v", r)
		}
		rest := io.Reader(bytes.NewReader(data))
		if end != nil {
			rest = io.MultiReader(rest, iotest.ErrReader(end))
		}
		return struct {
			io.Reader
			io.Closer
		}{rest, closer(func() error { *closed++; return nil })}, nil
	}}, closed
}

type closer func() error

func (c closer) Close() error { return c() }

// TestEncoded: the text is base64 of the bytes, of the length that was stated, whatever the sizes
// of what is read at a time.
func TestEncoded(t *testing.T) {
	sizes := []int{bufferSize - 1, bufferSize, bufferSize + 1, 2 * bufferSize, 3*bufferSize + 7}
	for n := range 40 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		data := bytesOf(n)
		e, closed := from(t, data, nil)
		want := base64.StdEncoding.EncodeToString(data)
		if e.Size() != int64(len(want)) {
			t.Errorf("%d bytes: a length of %d is stated, %d is right", n, e.Size(), len(want))
		}
		for name, read := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "one": iotest.OneByteReader, "half": iotest.HalfReader,
			"seven": func(r io.Reader) io.Reader { return few{r, 7} },
		} {
			r, err := e.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(read(r))
			if err != nil || string(got) != want {
				t.Errorf("%d bytes, read %s: %.20q, %v", n, name, got, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if k, err := r.Read(make([]byte, 9)); k != 0 || err == nil {
				t.Errorf("closed and yet %d, %v", k, err)
			}
		}
		if *closed != 4 {
			t.Errorf("the source was closed %d times", *closed)
		}
	}
}

// few reads at most n bytes at a time.
type few struct {
	from io.Reader
	n    int
}

func (f few) Read(p []byte) (int, error) { return f.from.Read(p[:min(f.n, len(p))]) }

// TestEncodedWrong: the last bytes of wrong ones are never handed out.
func TestEncodedWrong(t *testing.T) {
	mismatch := fmt.Errorf("store: %w", artifacts.ErrDigestMismatch)
	for _, n := range []int{0, 1, 5, bufferSize, bufferSize + 1, 3 * bufferSize} {
		data := bytesOf(n)
		damaged, _ := from(t, data, mismatch)
		long, short := damaged, damaged
		long.Source = func(context.Context, artifacts.Ref) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(append(data, 1))), nil
		}
		short.Source = func(context.Context, artifacts.Ref) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data[:max(n-1, 0)])), nil
		}
		for name, e := range map[string]Encoded{"damaged": damaged, "long": long, "short": short} {
			if name == "short" && n == 0 {
				continue
			}
			r, err := e.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if !errors.Is(err, artifacts.ErrDigestMismatch) || n > 0 && int64(len(got)) >= e.Size() {
				t.Errorf("%d bytes, %s: %d of %d letters, %v", n, name, len(got), e.Size(), err)
			}
		}
	}
	away := errors.New("store away")
	e := Encoded{Source: func(context.Context, artifacts.Ref) (io.ReadCloser, error) { return nil, away }}
	if _, err := e.Open(context.Background()); !errors.Is(err, away) {
		t.Error(err)
	}
}

// BenchmarkEncoded is one picture, and encoding/base64 beside it.
func BenchmarkEncoded(b *testing.B) {
	data := bytesOf(1 << 20)
	e, _ := from(b, data, nil)
	b.Run("here", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		p := make([]byte, 32<<10)
		for b.Loop() {
			r, _ := e.Open(context.Background())
			for {
				if _, err := r.Read(p); err != nil {
					break
				}
			}
			_ = r.Close()
		}
	})
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		text := make([]byte, 32<<10)
		for b.Loop() {
			for i := 0; i < len(data); i += bufferSize {
				base64.StdEncoding.Encode(text, data[i:min(i+bufferSize, len(data))])
			}
		}
	})
}
