package xragent

import "testing"

// TestRelevant holds the word table: measurements that a question asks for, in any case,
// and words that only look like one.
func TestRelevant(t *testing.T) {
	for _, r := range []struct {
		text string
		want [3]bool
	}{
		{"Is there CARDIOMEGALY?", [3]bool{true}}, {"What is the cardiothoracic ratio?", [3]bool{true}}, {"Signs of heart failure?", [3]bool{true}},
		{"Which lung shows volume loss?", [3]bool{false, true}}, {"Is there an elevated left hemidiaphragm?", [3]bool{false, true}},
		{"Complete atelectasis with hyperinflation", [3]bool{false, true}}, {"Tension pneumothorax", [3]bool{false, true, true}},
		{"Is the trachea deviated?", [3]bool{false, false, true}}, {"Tracheal deviation or mediastinal shift", [3]bool{false, false, true}},
		{"Pulmonary hypertension", [3]bool{}}, {"Is there a rib fracture?", [3]bool{}}, {"Pericardial calcification", [3]bool{}},
	} {
		q := Question{Type: Lettered, Text: "Which?", Options: []string{"None", r.text}, Key: "A"}
		for _, m := range Measurements() {
			if got := Relevant(m, q); got != r.want[m.index()] || Relevant(m, Question{Text: r.text}) != got {
				t.Errorf("%q %s: got %v", r.text, m, got)
			}
		}
	}
}
