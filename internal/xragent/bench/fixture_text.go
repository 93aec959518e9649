package bench

import "math/rand/v2"

// The words of fixtures. [ours]
var (
	conditions = []string{
		"Pneumothorax", "Pleural effusion", "Cardiomegaly", "Lobar consolidation", "Atelectasis of a lower lobe", "Hyperinflation",
		"Mediastinal shift", "Elevated hemidiaphragm", "Rib fracture", "Hilar enlargement", "Pulmonary nodule", "Interstitial thickening",
		"Tracheal deviation", "Aortic tortuosity", "Volume loss of one lung", "No abnormality",
	}
	complaints = []string{"cough for two weeks", "chest pain since yesterday", "shortness of breath", "fever", "a fall from a ladder", "no complaint"}
	// stems are questions by the set of labels that they have, in the order of groups.
	stems = [][]string{
		{"Which finding is present, and where does it lie?", "What is abnormal in this picture, and how does it look?"},
		{"Which finding is present, and what follows from it?", "Which class of finding explains the picture?"},
		{"Compare both sides: which finding explains the difference?", "Where is the midline, and what moves it?"},
		{"Which of these diagnoses fits better than the others?", "Compared with a normal film, what is the diagnosis?"},
		{"How is the opacity best described, and what is it?", "Is the heart size normal, and if not, what is the diagnosis?"},
	}
	sides = []string{"right", "left"}
)

// choices draws n different conditions and the place of the right one.
func choices(rng *rand.Rand, n int) (options []string, key int) {
	for _, k := range rng.Perm(len(conditions))[:n] {
		options = append(options, conditions[k])
	}
	return options, rng.IntN(n)
}
