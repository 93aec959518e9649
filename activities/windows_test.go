package activities

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"testing"

	"cxrepro/artifacts"
	"cxrepro/internal/contract"
)

// entries makes n entries with the digests of the numbers from first on.
func entries(first, n int) []contract.Entry {
	out := make([]contract.Entry, n)
	for i := range out {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], uint64(first+i))
		out[i] = contract.Entry{Image: artifacts.Digest(sha256.Sum256(b[:])), Case: first + i}
	}
	return out
}

func shape(windows []prefixWindow) map[string][]int {
	out := map[string][]int{}
	for _, w := range windows {
		for _, e := range w.entries {
			out[w.label] = append(out[w.label], e.Case)
		}
	}
	return out
}

func TestCutKeepsEveryEntryInSmallWindows(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 5000} {
		windows := cut(entries(0, n), 256)
		seen := map[int]bool{}
		var last artifacts.Digest
		for _, w := range windows {
			if len(w.entries) == 0 || len(w.entries) > 256 {
				t.Errorf("%d entries: window %q has %d", n, w.label, len(w.entries))
			}
			for _, e := range w.entries {
				if seen[e.Case] || e.Image.Hex() < last.Hex() {
					t.Fatalf("%d entries: case %d stands twice or out of order", n, e.Case)
				}
				seen[e.Case], last = true, e.Image
				for bit, c := range w.label {
					if e.Image[bit/8]>>(7-bit%8)&1 != byte(c-'0') {
						t.Fatalf("case %d does not share the prefix %s", e.Case, w.label)
					}
				}
			}
		}
		if len(seen) != n {
			t.Errorf("%d entries: %d in windows", n, len(seen))
		}
	}
}

// TestCutIsStable adds one entry to many: at most the window it falls in changes, and the
// order of the input means nothing.
func TestCutIsStable(t *testing.T) {
	before := shape(cut(entries(0, 20000), 256))
	shuffled := entries(0, 20000)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if !reflect.DeepEqual(before, shape(cut(shuffled, 256))) {
		t.Error("another order of the input gave other windows")
	}
	for add := range 20 {
		after := shape(cut(append(entries(0, 20000), entries(30000+add, 1)...), 256))
		changed := 0
		for label, cases := range before {
			if !reflect.DeepEqual(cases, after[label]) {
				changed++
			}
		}
		if changed != 1 {
			t.Errorf("one more image changed %d of %d windows, want 1", changed, len(before))
		}
	}
}

func TestCutOfEqualDigests(t *testing.T) {
	same := entries(0, 300)
	for i := range same {
		same[i].Image = same[0].Image
	}
	windows := cut(same, 256)
	if len(windows) != 1 || len(windows[0].entries) != 300 || windows[0].entries[299].Case != 299 {
		t.Errorf("300 equal images: %d windows", len(windows))
	}
}

func BenchmarkCutMIMIC(b *testing.B) {
	all := entries(0, 243334)
	for b.Loop() {
		b.ReportMetric(float64(len(cut(append([]contract.Entry{}, all...), contract.WindowImages))), "windows")
	}
}
