package postgrestest

import "syscall"

// endsWithTest makes a process end when the test is killed.
func endsWithTest(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGINT }
