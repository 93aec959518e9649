package chexstruct

import (
	"math"
	"testing"
)

// TestLandmarks holds that everything a drawing needs is there on a case where every task
// ends well, inside the picture, and agrees with the measurements.
func TestLandmarks(t *testing.T) {
	c := goldenCase(t, 1)
	r := mustAssess(t, c.Input, mustRules(t, Corrected, nil))
	want := map[Task][]string{
		Inclusion:   {"apex_border_right", "apex_border_left", "side_border_right", "side_border_left", "bottom_border_right", "bottom_border_left"},
		Inspiration: {"mid_clavicular_line", "diaphragm_top"}, Rotation: {"vertebrae", "midline"},
		Cardiomegaly: {"heart_width", "thoracic_width"}, TracheaDeviation: {"trachea_width", "vertebrae", "midline"},
		AorticKnobEnlargement: {"trachea_width", "knob_width"}, DescendingAortaEnlargement: {"trachea_width"},
	}
	for task, names := range want {
		f := r.Finding(task)
		for _, name := range names {
			l, ok := f.Landmark(name)
			if !ok || len(l.Points) == 0 {
				t.Errorf("%s: no landmark %s among %v", task, name, f.Landmarks)
			}
			for _, p := range l.Points {
				if p.X < 0 || p.Y < 0 || p.X >= float64(c.Input.Masks.GridW) || p.Y >= float64(c.Input.Masks.GridH) || math.IsNaN(p.X+p.Y) {
					t.Errorf("%s: %s at %v lies outside the picture", task, name, p)
				}
			}
		}
	}
	heart, _ := r.Finding(Cardiomegaly).Landmark("heart_width")
	width, _ := r.Finding(Cardiomegaly).Measurement("heart_width")
	if w, _ := width.Float(); heart.Points[1].X-heart.Points[0].X != w {
		t.Errorf("heart landmarks %v are %v apart, measured %v", heart.Points, heart.Points[1].X-heart.Points[0].X, w)
	}
	for _, name := range []string{"heart_bottom", "content_rows", "lung_centres"} {
		if _, ok := r.Global.Landmark(name); !ok {
			t.Errorf("global filter: no landmark %s", name)
		}
	}
}

func TestLimit(t *testing.T) {
	r := mustRules(t, Corrected, map[string]any{"trachea.height.min": 0.12})
	l, ok := r.Limit("trachea.height.min")
	if !ok || l.Value != 0.12 || l.Compare != ">=" || l.Unit != "of H" {
		t.Errorf("got %+v, want the overridden value with comparison and unit of the table", l)
	}
	if _, ok := r.Limit("trachea.height"); ok {
		t.Error("a rule's name is no row")
	}
	for _, row := range r.Rows() {
		if l, ok := r.Limit(row.Name); !ok || l.Compare == "" {
			t.Errorf("row %s: %+v, %v", row.Name, l, ok)
		}
	}
}
