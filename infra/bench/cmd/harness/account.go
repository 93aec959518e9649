package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// account says what processor time a request took, by process and in all, and what processes held.
func (f figure) account() []string {
	each := func(d time.Duration) float64 { return 1000 * d.Seconds() / float64(f.requests) }
	var out []string
	for _, name := range slices.Sorted(maps.Keys(f.used.By)) {
		out = append(out, fmt.Sprintf("processor:  %-22s %6.2f ms a request", name, each(f.used.By[name])))
	}
	all := (f.used.Machine + f.used.Idle).Seconds()
	out = append(out, fmt.Sprintf("processor:  %-22s %6.2f ms a request; of the machine %.0f %% were ours, %.0f %% others', %.0f %% idle", "together", each(f.used.Total()),
		100*f.used.Total().Seconds()/all, 100*(f.used.Machine-f.used.Total()).Seconds()/all, 100*f.used.Idle.Seconds()/all))
	return append(out, f.memory...)
}
