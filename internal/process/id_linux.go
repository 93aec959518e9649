package process

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// start returns an opaque text that is the same for one process and differs from any later
// process with the same pid (clock ticks since boot), or "" if there is none.
func start(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The command name may hold spaces and parentheses: fields count from the last ")".
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return ""
	}
	f := strings.Fields(string(b[i+1:]))
	const start, state = 19, 0 // fields 22 and 3 of the file
	if len(f) <= start || f[state] == "Z" {
		return ""
	}
	return f[start]
}

// Machine names the pid namespace of this boot: pids in a record mean something only here.
func Machine() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + ns
}
