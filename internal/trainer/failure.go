package trainer

import (
	"fmt"
	"regexp"
	"strings"
)

// Class is a kind of failure of a trainer, known by what it wrote last.
type Class string

const (
	// Memory: the accelerator's memory is full. The same again fails again.
	Memory Class = "memory"
	// Collective: ranks lost each other. Another attempt may do.
	Collective Class = "collective"
	// Data: a row or picture could not be read. The same again fails again.
	Data Class = "data"
	// Port: an address is in use. Another attempt may do.
	Port Class = "port"
	// Disk: no room. Another attempt does once there is room.
	Disk Class = "disk"
	// Contradiction: the trainer says that its inputs contradict what is there.
	Contradiction Class = "contradiction"
	// Usage: it refused its command line or a file of the contract.
	Usage Class = "usage"
	// Stalled: it wrote nothing for too long and was ended.
	Stalled Class = "stalled"
	// Killed: a signal ended it, or the machine did.
	Killed Class = "killed"
	// Crashed: anything else.
	Crashed Class = "crashed"
)

// signs are read in this order: what runs out of memory often complains of ranks next.
var signs = []struct {
	class Class
	words *regexp.Regexp
}{
	{Memory, regexp.MustCompile(`(?i)CUDA out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED|CUDA error: out of memory`)},
	{Disk, regexp.MustCompile(`(?i)No space left on device|Disk quota exceeded|ENOSPC`)},
	{Port, regexp.MustCompile(`(?i)Address already in use|EADDRINUSE`)},
	{Data, regexp.MustCompile(`(?i)UnidentifiedImageError|DatasetGenerationError|cannot identify image file|ArrowInvalid|JSONDecodeError|DecompressionBomb`)},
	{Collective, regexp.MustCompile(`(?i)NCCL (error|WARN)|ncclUnhandledCudaError|ncclSystemError|Watchdog caught collective|ProcessGroupNCCL|DistBackendError`)},
}

// Failure says how an attempt of a trainer ended without reaching its target.
type Failure struct {
	Class Class
	// Code is the exit code, -1 where none is known.
	Code int
	// Said is its last words, without secrets.
	Said string
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("trainer ended (%s", f.Class)
	if f.Code >= 0 {
		text += fmt.Sprintf(", exit code %d", f.Code)
	}
	if f.Said == "" {
		return text + ")"
	}
	return text + "): " + f.Said
}

// Permanent reports whether the same again fails again.
func (f *Failure) Permanent() bool {
	switch f.Class {
	case Memory, Data, Contradiction, Usage:
		return true
	}
	return false
}

// classify reads the class from the exit code and the last words.
func classify(code int, said string) *Failure {
	f := &Failure{Class: Crashed, Code: code, Said: lastLines(said, 6, 600)}
	for _, s := range signs {
		if s.words.MatchString(said) {
			f.Class = s.class
			return f
		}
	}
	switch {
	case code == 2:
		f.Class = Usage
	case code == 4:
		f.Class = Contradiction
	case code < 0 || code > 128:
		f.Class = Killed
	}
	return f
}

// lastLines keeps the end of a text.
func lastLines(text string, lines, bytes int) string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	text = strings.Join(list[max(0, len(list)-lines):], "\n")
	if len(text) > bytes {
		text = "..." + text[len(text)-bytes:]
	}
	return strings.ToValidUTF8(text, "")
}

// redact takes secrets out of a text.
func redact(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return text
}
