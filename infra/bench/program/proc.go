package program

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of processor times in /proc.
const clockTick = 10 * time.Millisecond

// busy is the processor time that the machine has used since it booted, nothing where that is not
// told.
func busy() time.Duration {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(data), "\n")
	sum := 0
	for i, f := range strings.Fields(line)[1:] {
		const idle, iowait, guest = 3, 4, 8
		if n, err := strconv.Atoi(f); err == nil && i != idle && i != iowait && i < guest {
			sum += n
		}
	}
	return time.Duration(sum) * clockTick
}

type process struct {
	name string
	mb   float64
	cpu  time.Duration
}

// family reads a process, called self, and those below it from /proc, which are named by program
// and first argument.
func family(root int, self string) []process {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	below, used := map[int]int{}, map[int]time.Duration{}
	for _, s := range stats {
		data, err := os.ReadFile(s)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		pid, err := strconv.Atoi(strings.Split(s, "/")[2])
		const parent, user, system = 1, 11, 12
		if err != nil || len(fields) <= system {
			continue
		}
		below[pid], _ = strconv.Atoi(fields[parent])
		u, _ := strconv.Atoi(fields[user])
		s, _ := strconv.Atoi(fields[system])
		used[pid] = time.Duration(u+s) * clockTick
	}
	var out []process
	for pid := range below {
		up := pid
		for up > 1 && up != root {
			up = below[up]
		}
		if up != root {
			continue
		}
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		status, err2 := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil || err2 != nil {
			continue
		}
		args := strings.Split(string(command), "\x00")
		name := filepath.Base(args[0])
		if len(args) > 1 && args[1] != "" {
			name += " " + filepath.Base(args[1])
		}
		if pid == root {
			name = self
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				out = append(out, process{name, kb / 1024, used[pid]})
			}
		}
	}
	return out
}
