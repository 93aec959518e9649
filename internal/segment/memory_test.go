package segment

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cxrepro/internal/cxr"
	"cxrepro/internal/onnx/onnxtest"
)

// residentBytes is the process's resident memory; ok is false where the system does not
// tell.
func residentBytes() (n int64, ok bool) {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	f := strings.Fields(string(data))
	if len(f) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// Memory does not grow with the number of pictures, nor with their sizes. infra/bench
// has the same over 5,000 pictures.
func TestMemoryStaysFlat(t *testing.T) {
	if _, ok := residentBytes(); !ok {
		t.Skip("this system has no /proc/self/statm")
	}
	card := loadBody(t, 128, onnxtest.Options{Gain: 0.01, Work: 1})
	s, err := New(card, Options{Provider: "cpu", Library: library})
	require.NoError(t, err)
	defer s.Close()
	pictures := make([]*cxr.Image, 12)
	for i := range pictures {
		pictures[i] = picture(100+97*i, 900-70*i)
	}
	segment := func(n int) int64 {
		for i := range n {
			_, err := s.Segment(context.Background(), pictures[i%len(pictures)])
			require.NoError(t, err)
		}
		debug.FreeOSMemory()
		r, _ := residentBytes()
		return r
	}
	warm := segment(20)
	after := segment(90)
	require.Less(t, after-warm, int64(24<<20), "resident memory grew from %d to %d MiB", warm>>20, after>>20)
}
