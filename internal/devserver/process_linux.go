package devserver

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// selfExecutable is this program even if its file was replaced or removed meanwhile.
func selfExecutable() (string, error) { return "/proc/self/exe", nil }

// processStart returns an opaque text that is the same for one process and differs from
// any later process with the same pid (clock ticks since boot), or "" if there is none.
func processStart(pid int) string {
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

// machine names the pid namespace of this boot: pids in a record mean something only here.
func machine() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + ns
}

// serverAttributes let the kernel end the server when the supervisor's thread that
// started it ends. keepOrphans leaves that out.
func serverAttributes(keepOrphans bool) *syscall.SysProcAttr {
	if keepOrphans {
		return nil
	}
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
