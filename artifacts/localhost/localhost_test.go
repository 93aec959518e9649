package localhost

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"cxrepro/artifacts"
)

func TestDead(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	h := New()
	me := h.Owner(artifacts.Owner{Worker: "w"})
	if me.Host == "" || me.PID != os.Getpid() || me.ProcStart == "" || me.Worker != "w" {
		t.Fatalf("owner %+v", me)
	}
	if h.Dead(me) {
		t.Error("this process is called dead")
	}
	reused := me
	reused.ProcStart += "1"
	if !h.Dead(reused) {
		t.Error("another process under the same number is called alive")
	}
	elsewhere := me
	elsewhere.Host += "x"
	elsewhere.ProcStart += "1"
	if h.Dead(elsewhere) {
		t.Error("a process of another machine is called dead")
	}
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	start, err := procStart("/proc", child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	o := artifacts.Owner{Host: me.Host, PID: child.Process.Pid, ProcStart: start}
	if h.Dead(o) {
		t.Error("a running child is called dead")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	if !h.Dead(o) {
		t.Error("a killed child is called alive")
	}
	if h.Dead(artifacts.Owner{Host: me.Host}) || h.Dead(artifacts.Owner{Host: me.Host, PID: 1 << 30}) {
		t.Error("an owner without a start time is called dead")
	}
}

func TestNonce(t *testing.T) {
	h := New()
	seen := map[string]bool{}
	for range 1000 {
		n := h.Nonce()
		if len(n) < 20 || strings.Trim(n, "abcdefghijklmnopqrstuvwxyz234567") != "" || seen[n] {
			t.Fatalf("nonce %q", n)
		}
		seen[n] = true
	}
}
