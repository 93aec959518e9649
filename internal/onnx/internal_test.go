package onnx

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestQuota(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tests := []struct {
		name            string
		fs              fstest.MapFS
		bound, maxprocs int
		want            int
	}{
		{"nothing known", fstest.MapFS{}, 8, 8, 8},
		{"GOMAXPROCS", fstest.MapFS{}, 8, 3, 3},
		{"processor set", fstest.MapFS{}, 2, 8, 2},
		{"v2 limit", fstest.MapFS{"proc/self/cgroup": file("0::/job\n"), "sys/fs/cgroup/job/cpu.max": file("250000 100000\n")}, 8, 8, 2},
		{"v2 no limit", fstest.MapFS{"proc/self/cgroup": file("0::/job\n"), "sys/fs/cgroup/job/cpu.max": file("max 100000\n")}, 8, 8, 8},
		{"v2 parent is tighter", fstest.MapFS{"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/cpu.max": file("400000 100000\n"), "sys/fs/cgroup/a/cpu.max": file("300000 100000\n")}, 8, 8, 3},
		{"v2 container sees only the mount", fstest.MapFS{"proc/self/cgroup": file("0::/../elsewhere\n"), "sys/fs/cgroup/cpu.max": file("150000 100000\n")}, 8, 8, 1},
		{"v2 less than one", fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/cpu.max": file("50000 100000\n")}, 8, 8, 1},
		{"v1 limit", fstest.MapFS{"proc/self/cgroup": file("5:cpu,cpuacct:/job\n4:memory:/job\n"),
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us": file("400000\n"), "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": file("100000\n")}, 8, 8, 4},
		{"v1 no limit", fstest.MapFS{"proc/self/cgroup": file("5:cpu,cpuacct:/\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("-1\n"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n")}, 8, 8, 8},
		{"nonsense", fstest.MapFS{"proc/self/cgroup": file("what\n0::/\n"), "sys/fs/cgroup/cpu.max": file("a b\n")}, 4, 4, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, quota(tt.fs, tt.bound, tt.maxprocs)) })
	}
	require.GreaterOrEqual(t, Quota(), 1)
	require.Equal(t, 1, ThreadsFor(1<<20))
}

func TestProviders(t *testing.T) {
	for _, p := range Providers() {
		got, err := ParseProvider(p.String())
		require.NoError(t, err)
		require.Equal(t, p, got)
		require.NotEmpty(t, runtimeNames[p])
	}
	for _, bad := range []string{"", "gpu", "CPU", "invalid"} {
		_, err := ParseProvider(bad)
		require.Error(t, err)
	}
	require.False(t, Provider(0).Valid())
	require.Equal(t, "invalid", Provider(9).String())
}

func TestPlacementRules(t *testing.T) {
	event := func(op, provider string) string {
		return `{"cat":"Node","name":"n_kernel_time","dur":1,"args":{"op_name":"` + op + `","provider":"` + provider + `"}}`
	}
	const session = `{"cat":"Session","name":"model_run","args":{}}`
	const cpu, cuda = "CPUExecutionProvider", "CUDAExecutionProvider"
	tests := []struct {
		name, profile string
		asked         Provider
		says          string
	}{
		{"all on CUDA", "[" + session + "," + event("Conv", cuda) + "]", CUDA, ""},
		{"shape arithmetic on the CPU is fine", "[" + event("Conv", cuda) + "," + event("Shape", cpu) + "," + event("Gather", cpu) + "]", CUDA, ""},
		{"silent fallback", "[" + event("Conv", cpu) + "]", CUDA, "no node of the model ran on it (nodes: CPUExecutionProvider 1)"},
		{"partial fallback", "[" + event("Conv", cuda) + "," + event("Resize", cpu) + "]", CUDA, "operator Resize ran on CPUExecutionProvider"},
		{"empty profile", "[" + session + "]", CPU, "no node"},
		{"all on the CPU", "[" + event("Conv", cpu) + "]", CPU, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := parsePlacement([]byte(tt.profile))
			require.NoError(t, err)
			err = p.check(tt.asked)
			if tt.says == "" {
				require.NoError(t, err)
				return
			}
			var pe *ProviderError
			require.ErrorAs(t, err, &pe)
			require.ErrorContains(t, err, tt.says)
		})
	}
	_, err := parsePlacement([]byte("not json"))
	require.Error(t, err)
}
