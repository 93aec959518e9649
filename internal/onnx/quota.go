package onnx

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Quota returns how many processors this process may really use: the least of the
// processors it is bound to, GOMAXPROCS, and the CPU bandwidth of its control group
// (v1 or v2), rounded down but at least 1. The machine's core count is not asked: inside
// a limited container it would start threads that only take turns.
func Quota() int {
	return quota(os.DirFS("/"), runtime.NumCPU(), runtime.GOMAXPROCS(0))
}

// ThreadsFor divides the quota among sessions that run side by side, at least 1 each.
func ThreadsFor(sessions int) int {
	return max(1, Quota()/max(1, sessions))
}

func quota(root fs.FS, bound, maxprocs int) int {
	n := max(1, min(bound, maxprocs))
	if limit := groupLimit(root); limit > 0 {
		n = min(n, max(1, int(math.Floor(limit))))
	}
	return n
}

// groupLimit returns the tightest CPU bandwidth over the process's control groups and
// their parents, in processors; 0 means no limit or none that can be read.
func groupLimit(root fs.FS) float64 {
	data, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	limit := 0.0
	tighten := func(l float64) {
		if l > 0 && (limit == 0 || l < limit) {
			limit = l
		}
	}
	for _, line := range strings.Split(string(data), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		controllers, group := parts[1], parts[2]
		if parts[0] == "0" && controllers == "" {
			for _, dir := range upwards("sys/fs/cgroup", group) {
				tighten(limitV2(root, dir))
			}
			continue
		}
		for _, c := range strings.Split(controllers, ",") {
			if c != "cpu" {
				continue
			}
			for _, mount := range []string{"sys/fs/cgroup/" + controllers, "sys/fs/cgroup/cpu"} {
				for _, dir := range upwards(mount, group) {
					tighten(limitV1(root, dir))
				}
			}
		}
	}
	return limit
}

// upwards lists the group's folder and all its parents down to the mount: a parent's
// limit binds its children, and inside a container only the mount itself may be there.
func upwards(mount, group string) []string {
	var dirs []string
	for g := path.Clean("/" + group); ; g = path.Dir(g) {
		dirs = append(dirs, strings.TrimSuffix(mount+g, "/"))
		if g == "/" {
			return dirs
		}
	}
}

// limitV2 reads "QUOTA PERIOD" or "max PERIOD".
func limitV2(root fs.FS, dir string) float64 {
	data, err := fs.ReadFile(root, dir+"/cpu.max")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(data))
	if len(f) != 2 {
		return 0
	}
	return ratio(f[0], f[1])
}

func limitV1(root fs.FS, dir string) float64 {
	q, err := fs.ReadFile(root, dir+"/cpu.cfs_quota_us")
	if err != nil {
		return 0
	}
	p, err := fs.ReadFile(root, dir+"/cpu.cfs_period_us")
	if err != nil {
		return 0
	}
	return ratio(strings.TrimSpace(string(q)), strings.TrimSpace(string(p)))
}

func ratio(q, p string) float64 {
	quota, err := strconv.ParseFloat(q, 64)
	if err != nil || quota <= 0 { // "max" and -1 mean no limit
		return 0
	}
	period, err := strconv.ParseFloat(p, 64)
	if err != nil || period <= 0 {
		return 0
	}
	return quota / period
}
