package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// start returns an opaque text that is the same for one process and differs from any later
// process with the same pid, or "" if there is none.
func start(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
}

// Machine names this boot: pids in a record mean something only here.
func Machine() string {
	s, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		s, _ = os.Hostname()
	}
	return s
}
