package workflows_test

import (
	"testing"
)

func TestReproduction(t *testing.T) {
	l := newLab(t, 5)
	r, s := l.run()
	if r.Images.In != 5 || r.Images.Kept != 5 {
		t.Errorf("images %+v, want 5 in and kept", r.Images)
	}
	// Five facts, five masks, one window of 14 sections, one summary.
	if r.Steps.Needed != 5+5+14+1 || r.Steps.Run != r.Steps.Needed || r.Steps.Repeated != 0 {
		t.Errorf("steps %+v, want 25 needed and run, none repeated", r.Steps)
	}
	if s.Global.Kept+s.Global.Removed != 5 || len(s.Tasks) != 12 {
		t.Errorf("summary %+v, want 5 images and 12 tasks", s.Global)
	}
	t.Logf("%+v", r)
	t.Logf("%+v", s)
}
