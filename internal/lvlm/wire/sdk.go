package wire

import "runtime/debug"

// SDK names a provider's SDK for records: name, and the version of the module that is built into
// the program, where that is known.
func SDK(name, module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == module {
				return name + " " + d.Version
			}
		}
	}
	return name
}
