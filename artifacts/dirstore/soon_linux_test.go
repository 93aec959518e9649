package dirstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"cxrepro/artifacts"
	"cxrepro/artifacts/dirstore"
)

// TestSoon: what will be read soon is in memory a moment later, and one that is not there is no
// matter.
func TestSoon(t *testing.T) {
	folder := t.TempDir()
	r := repository(t, open(t, folder, dirstore.Options{Durability: dirstore.DurabilityPower}))
	ref, err := r.Put(t.Context(), make([]byte, 3<<20+5), "image/png")
	if err != nil {
		t.Fatal(err)
	}
	hex := ref.Digest.Hex()
	f, err := os.Open(filepath.Join(folder, "blobs", "sha256", hex[:2], hex))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil || resident(t, f, ref.Size) > 0 {
		t.Skipf("%d pages stay in memory here: %v", resident(t, f, ref.Size), err)
	}
	r.Soon(t.Context(), ref)
	r.Soon(t.Context(), artifacts.Ref{Digest: artifacts.Sum([]byte("absent")), Size: 9})
	pages := int((ref.Size + int64(os.Getpagesize()) - 1) / int64(os.Getpagesize()))
	for range 500 {
		if resident(t, f, ref.Size) == pages {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d of %d pages are in memory", resident(t, f, ref.Size), pages)
}

// resident counts the pages of a file that are in memory.
func resident(t *testing.T, f *os.File, size int64) (n int) {
	t.Helper()
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(data) //nolint:errcheck // of a test
	pages := make([]byte, (len(data)+os.Getpagesize()-1)/os.Getpagesize())
	if _, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(&pages[0]))); errno != 0 {
		t.Fatal(errno)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}
