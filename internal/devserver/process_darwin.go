package devserver

import (
	"os"
	"syscall"
)

func selfExecutable() (string, error) { return os.Executable() }

// serverAttributes has no parent-death signal to ask for here: a server whose supervisor
// was killed is found and ended by the owner or by the next start.
func serverAttributes(bool) *syscall.SysProcAttr { return nil }
