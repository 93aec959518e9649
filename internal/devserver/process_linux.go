package devserver

import "syscall"

// selfExecutable is this program even if its file was replaced or removed meanwhile.
func selfExecutable() (string, error) { return "/proc/self/exe", nil }

// serverAttributes let the kernel end the server when the supervisor's thread that
// started it ends. keepOrphans leaves that out.
func serverAttributes(keepOrphans bool) *syscall.SysProcAttr {
	if keepOrphans {
		return nil
	}
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
