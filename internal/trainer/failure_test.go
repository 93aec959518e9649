package trainer

import "testing"

// TestClassify: the last words of a trainer name the class of its failure.
func TestClassify(t *testing.T) {
	for text, want := range map[string]Class{
		"RuntimeError: NCCL error in: ...\nncclSystemError":            Collective,
		"torch.cuda.OutOfMemoryError: CUDA out of memory. NCCL error":  Memory,
		"OSError: [Errno 98] Address already in use":                   Port,
		"OSError: [Errno 28] No space left on device":                  Disk,
		"PIL.UnidentifiedImageError: cannot identify image file 'x'":   Data,
		"Traceback (most recent call last):\nZeroDivisionError: what":  Crashed,
		"[rank1]: Watchdog caught collective operation timeout: Work.": Collective,
	} {
		if f := classify(1, text); f.Class != want {
			t.Errorf("%q is %s, want %s", text, f.Class, want)
		}
	}
}
