package devserver

import (
	"os"
	"path/filepath"
	"strings"
)

// selfCommand is the program's name and its first argument that is no flag, such as
// "cxrepro run": enough for people, and free of paths and secrets.
func selfCommand() string {
	name := filepath.Base(os.Args[0])
	for _, a := range os.Args[1:] {
		if !strings.HasPrefix(a, "-") && !strings.ContainsAny(a, "/=") {
			return name + " " + a
		}
	}
	return name
}
