package program

import (
	"os"
	"testing"
	"time"
)

// TestWatch: what this process burns is found under its name, about as much as was burnt, and
// only between the two moments.
func TestWatch(t *testing.T) {
	if busy() == 0 {
		t.Skip("no /proc here")
	}
	w := NewWatch("me", "", 20*time.Millisecond)
	time.Sleep(100 * time.Millisecond)
	from := time.Now()
	for cpu := time.Duration(0); cpu < 300*time.Millisecond; {
		for range 1 << 20 {
		}
		cpu = 0
		for _, p := range family(os.Getpid(), "me") {
			if p.name == "me" {
				cpu = p.cpu
			}
		}
	}
	to := time.Now()
	time.Sleep(100 * time.Millisecond)
	if err := w.Stop(); err != nil {
		t.Fatal(err)
	}
	burnt := w.Used(from, to)
	if d := burnt.By["me"]; d < 100*time.Millisecond || d > burnt.Machine+50*time.Millisecond || d != burnt.Total() {
		t.Errorf("%+v", burnt)
	}
	if d := w.Used(to.Add(50*time.Millisecond), to.Add(90*time.Millisecond)).By["me"]; d > 30*time.Millisecond {
		t.Errorf("%s while it slept", d)
	}
	if len(w.Memory()) != 1 {
		t.Error(w.Memory())
	}
}
