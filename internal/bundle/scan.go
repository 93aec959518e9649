package bundle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"sync"

	"cxrepro/artifacts"
)

// Scanned is an entry as it was read.
type Scanned struct {
	Name   string
	Size   int64
	Digest artifacts.Digest
	// Err is what is wrong with its headers, its checksum, or in the eyes of look; nil for
	// nothing.
	Err error
}

// batchBytes is how much of the file is in one hand; an entry above it is hashed as it comes.
const batchBytes = 2 << 20

// batch is a run of whole entries.
type batch struct {
	entries []placed
	data    []byte // from the first header to the end of the last entry; nil for a long entry
	buffer  *[]byte
	out     []Scanned
	done    chan struct{}
}

// Scan reads every byte of the file once, from front to back, and calls each for every entry in
// order. Headers and directory are compared with what a Writer would have written. look, if
// set, is given the bytes of each entry of up to 2 MiB, from several goroutines at a time.
//
// Errors: *DamageError for the directory; each's; the context's; those of reading.
func (b *File) Scan(ctx context.Context, look func(name string, data []byte) error, each func(Scanned) error) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	todo, ordered := make(chan *batch), make(chan *batch, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			for t := range todo {
				t.check(look)
				close(t.done)
			}
		})
	}
	var readErr error
	wg.Go(func() {
		defer close(ordered)
		defer close(todo)
		readErr = b.read(ctx, func(t *batch) error {
			for _, to := range []chan<- *batch{ordered, todo} {
				select {
				case to <- t:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for t := range ordered {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, s := range t.out {
			if err := each(s); err != nil {
				return err
			}
		}
	}
	if readErr != nil {
		return readErr
	}
	return b.checkDirectory()
}

// read cuts the file into batches.
func (b *File) read(ctx context.Context, give func(*batch) error) error {
	for i := 0; i < len(b.entries); {
		t := &batch{done: make(chan struct{})}
		first, k := b.entries[i], i+1
		for k < len(b.entries) && b.entries[k].end()-first.offset <= batchBytes {
			k++
		}
		t.entries, i = b.entries[i:k], k
		if first.end()-first.offset > batchBytes {
			s, err := b.long(ctx, first)
			if err != nil {
				return err
			}
			t.out = []Scanned{s}
		} else {
			t.take(int(t.entries[len(t.entries)-1].end() - first.offset))
			if _, err := b.f.ReadAt(t.data, first.offset); err != nil {
				return fmt.Errorf("read %s: %w", b.path, err)
			}
		}
		if err := give(t); err != nil {
			return err
		}
	}
	return nil
}

// buffers are used again: clearing fresh ones takes as long as hashing a part of them.
var buffers = sync.Pool{New: func() any { b := make([]byte, batchBytes); return &b }}

// take gets the batch a buffer.
func (t *batch) take(n int) {
	t.buffer = buffers.Get().(*[]byte)
	t.data = (*t.buffer)[:n]
}

// check hashes a batch.
func (t *batch) check(look func(string, []byte) error) {
	if t.out != nil {
		return
	}
	var header []byte
	t.out = make([]Scanned, len(t.entries))
	first := t.entries[0].offset
	for i, p := range t.entries {
		data := t.data[p.data()-first : p.end()-first]
		s := &t.out[i]
		*s = Scanned{Name: p.name, Size: p.size, Digest: sha256.Sum256(data)}
		header = p.appendLocal(header[:0])
		switch {
		case !bytes.Equal(header, t.data[p.offset-first:p.data()-first]):
			s.Err = &DamageError{p.name, "the header before its bytes is not the one that was written"}
		case crc32.ChecksumIEEE(data) != p.crc:
			s.Err = &DamageError{p.name, "its bytes are not those that were written: the checksum differs"}
		case look != nil:
			s.Err = look(p.name, data)
		}
	}
	t.data = nil
	buffers.Put(t.buffer)
}

// long hashes an entry that is not held in memory.
func (b *File) long(ctx context.Context, p placed) (Scanned, error) {
	s := Scanned{Name: p.name, Size: p.size}
	header := make([]byte, p.data()-p.offset)
	if _, err := b.f.ReadAt(header, p.offset); err != nil {
		return s, fmt.Errorf("read %s: %w", b.path, err)
	}
	digest, sum := sha256.New(), crc32.NewIEEE()
	if _, err := io.Copy(io.MultiWriter(digest, sum), withContext{ctx, io.NewSectionReader(b.f, p.data(), p.size)}); err != nil {
		return s, fmt.Errorf("read %s: %w", b.path, err)
	}
	digest.Sum(s.Digest[:0])
	switch {
	case !bytes.Equal(header, p.appendLocal(nil)):
		s.Err = &DamageError{p.name, "the header before its bytes is not the one that was written"}
	case sum.Sum32() != p.crc:
		s.Err = &DamageError{p.name, "its bytes are not those that were written: the checksum differs"}
	}
	return s, nil
}

// withContext ends a long read with the context.
type withContext struct {
	ctx context.Context
	io.Reader
}

// Read reads unless the context has ended.
func (r withContext) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// checkDirectory compares the end of the file with the directory of its entries.
func (b *File) checkDirectory() error {
	var begin int64
	if n := len(b.entries); n > 0 {
		begin = b.entries[n-1].end()
	}
	have := io.NewSectionReader(b.f, begin, b.size-begin)
	var want []byte
	var size int64
	line := func(name string) error {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(have, got); err != nil || !bytes.Equal(got, want) {
			return &DamageError{directory, name + " is not as it was written"}
		}
		return nil
	}
	for _, p := range b.entries {
		want = p.appendCentral(want[:0])
		size += int64(len(want))
		if err := line("the line of " + p.name); err != nil {
			return err
		}
	}
	want = appendEnd(want[:0], int64(len(b.entries)), begin, size)
	if err := line("its end"); err != nil {
		return err
	}
	if begin+size+int64(len(want)) != b.size {
		return &DamageError{directory, "something stands behind it"}
	}
	return nil
}
