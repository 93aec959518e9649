package bundle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cxrepro/artifacts"
)

// TestTree: roots of RFC 6962's reference trees, whose leaves and hashes stand in the tests of
// Certificate Transparency implementations.
func TestTree(t *testing.T) {
	leaves := []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	roots := []string{
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
	var tree Tree
	if got := tree.Root().Hex(); got != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the empty tree has root %s", got)
	}
	for i, text := range leaves {
		leaf, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		tree.Add(LeafHash(leaf))
		if got := tree.Root().Hex(); got != roots[i] || tree.Leaves() != int64(i+1) {
			t.Errorf("%d leaves: root %s, want %s", i+1, got, roots[i])
		}
	}
}

func TestLeaf(t *testing.T) {
	l := Leaf{Object: "blobs/sha256/ab/cd", Size: 12, Digest: artifacts.Sum([]byte("x")), Class: "credentialed"}
	text := string(l.AppendText(nil))
	if got, err := ParseLeaf(text); err != nil || got != l {
		t.Errorf("%q reads as %+v, %v", text, got, err)
	}
	for _, bad := range []string{"", "a b c", text + " x", strings.Replace(text, " 12 ", " 012 ", 1), strings.Replace(text, " 12 ", " -1 ", 1), strings.Replace(text, "sha256:", "", 1), strings.Replace(text, " credentialed", " ", 1)} {
		if _, err := ParseLeaf(bad); err == nil {
			t.Errorf("%q is taken for a leaf", bad)
		}
	}
	ledger, err := NewLedger([]Leaf{l, {Object: "z", Digest: l.Digest}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := ledger.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	back, err := ReadLedger(out.Bytes())
	if err != nil || back.Root != ledger.Root || len(back.Leaves) != 2 || back.Leaves[0] != l {
		t.Errorf("ledger reads as %+v, %v", back, err)
	}
	if _, err := ReadLedger(out.Bytes()[:out.Len()-1]); err == nil {
		t.Error("a ledger that was cut is read")
	}
	if _, err := NewLedger([]Leaf{{Object: "z"}, l}); err == nil {
		t.Error("leaves out of order are taken")
	}
}

// write makes a container of n entries, one of which is long.
func write(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "b.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(f)
	for i := range n {
		data := bytes.Repeat([]byte{byte(i)}, i*37)
		if i == n/2 {
			data = bytes.Repeat([]byte("long"), batchBytes/3)
			err = w.AddFrom(fmt.Sprintf("entry/%05d", i), int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
		} else {
			err = w.Add(fmt.Sprintf("entry/%05d", i), data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestContainer: what the Writer writes, the standard library and Scan read.
func TestContainer(t *testing.T) {
	path := write(t, 40)
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	want := map[string]artifacts.Digest{}
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r) // compares the checksum
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		want[e.Name] = sha256.Sum256(data)
	}
	if len(want) != 40 {
		t.Fatalf("%d entries", len(want))
	}
	b, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	last := ""
	err = b.Scan(context.Background(), nil, func(s Scanned) error {
		if s.Err != nil || s.Digest != want[s.Name] || s.Name <= last {
			t.Errorf("%s after %s: %s, %v", s.Name, last, s.Digest.Short(), s.Err)
		}
		last = s.Name
		delete(want, s.Name)
		return nil
	})
	if err != nil || len(want) > 0 {
		t.Errorf("scan: %v, %d entries were not read", err, len(want))
	}
}

// TestEveryByte changes every byte of a small container in turn: opening or scanning it fails
// and names the entry.
func TestEveryByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.zip")
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for i := range 5 {
		if err := w.Add(fmt.Sprintf("store/blobs/%d", i), bytes.Repeat([]byte{byte('a' + i)}, 20+i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := buf.Bytes()
	intact := func(data []byte) error {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		b, err := OpenFile(path)
		if err != nil {
			return err
		}
		defer b.Close()
		var first error
		err = b.Scan(context.Background(), nil, func(s Scanned) error {
			if first == nil {
				first = s.Err
			}
			return nil
		})
		return errors.Join(first, err)
	}
	if err := intact(whole); err != nil {
		t.Fatalf("the whole file: %v", err)
	}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 0x20
		err := intact(data)
		var damage *DamageError
		if err == nil || !errors.As(err, &damage) && !errors.Is(err, ErrNotBundle) {
			t.Errorf("byte %d of %d changed: %v", i, len(whole), err)
		}
		if entry := i / (localHeader + 13 + 20); err != nil && i > 4 && i < 4*(localHeader+13+20) && !strings.Contains(err.Error(), fmt.Sprintf("store/blobs/%d", min(entry, 4))) && !strings.Contains(err.Error(), "store/blobs/") {
			t.Errorf("byte %d: %v names no entry", i, err)
		}
	}
	for _, cut := range []int{0, 3, 10, len(whole) / 2, len(whole) - 1} {
		if intact(whole[:cut]) == nil {
			t.Errorf("cut to %d bytes: nothing is wrong", cut)
		}
	}
	if intact(append(bytes.Clone(whole), 0)) == nil {
		t.Error("a byte behind the end: nothing is wrong")
	}
}

// TestWide: offsets and numbers beyond ZIP64's limits are written as the standard library reads
// them.
func TestWide(t *testing.T) {
	var names []placed
	at := int64(math.MaxUint32) - 40
	for i := range 3 {
		p := placed{name: fmt.Sprintf("e%d", i), size: 10, offset: at}
		at = p.end()
		names = append(names, p)
	}
	var dir []byte
	for _, p := range names {
		dir = p.appendCentral(dir)
	}
	tail := appendEnd(bytes.Clone(dir), int64(len(names)), at, int64(len(dir)))
	r := &sparse{begin: at, tail: tail}
	z, err := zip.NewReader(r, at+int64(len(tail)))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range z.File {
		if e.Name != names[i].name || e.UncompressedSize64 != 10 {
			t.Errorf("entry %d: %+v", i, e.FileHeader)
		}
	}
	if len(z.File) != 3 {
		t.Errorf("%d entries", len(z.File))
	}
}

// sparse is a long file of which only the end exists.
type sparse struct {
	begin int64
	tail  []byte
}

func (s *sparse) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		p[i] = 0
		if k := off + int64(i) - s.begin; k >= 0 && k < int64(len(s.tail)) {
			p[i] = s.tail[k]
		}
	}
	return len(p), nil
}
