package devserver

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func selfExecutable() (string, error) { return os.Executable() }

// processStart returns an opaque text that is the same for one process and differs from
// any later process with the same pid, or "" if there is none.
func processStart(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
}

// machine names this boot: pids in a record mean something only here.
func machine() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		s, _ = os.Hostname()
	}
	return s
}

// serverAttributes has no parent-death signal to ask for here: a server whose supervisor
// was killed is found and ended by the owner or by the next start.
func serverAttributes(bool) *syscall.SysProcAttr { return nil }
