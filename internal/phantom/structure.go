package phantom

// Structure numbers the 34 structures a phantom draws with true masks, in the order of
// the CXAS class numbers. The zero value is invalid.
type Structure uint8

// The structures, named after the patient's side.
const (
	T1 Structure = iota + 1
	T2
	T3
	T4
	T5
	T6
	T7
	LeftClavicle
	RightClavicle
	LeftScapula
	RightScapula
	RightRib11
	RightRib10
	RightRib9
	RightRib8
	RightRib7
	RightRib6
	RightRib5
	RightRib4
	RightRib3
	RightRib2
	RightRib1
	LeftHemidiaphragm
	RightHemidiaphragm
	Cardiomediastinum
	UpperMediastinum
	Heart
	AscendingAorta
	DescendingAorta
	AorticArch
	RightLung
	LeftLung
	Trachea
	Bifurcation
)

// StructureCount is the number of structures.
const StructureCount = int(Bifurcation)

var structureTable = [StructureCount + 1]struct {
	class int
	name  string
}{
	T1: {11, "vertebrae T1"}, T2: {12, "vertebrae T2"}, T3: {13, "vertebrae T3"}, T4: {14, "vertebrae T4"},
	T5: {15, "vertebrae T5"}, T6: {16, "vertebrae T6"}, T7: {17, "vertebrae T7"},
	LeftClavicle: {31, "clavicle left"}, RightClavicle: {32, "clavicle right"},
	LeftScapula: {34, "scapula left"}, RightScapula: {35, "scapula right"},
	RightRib11: {39, "posterior 11th rib right"}, RightRib10: {43, "posterior 10th rib right"},
	RightRib9: {47, "posterior 9th rib right"}, RightRib8: {51, "posterior 8th rib right"},
	RightRib7: {55, "posterior 7th rib right"}, RightRib6: {59, "posterior 6th rib right"},
	RightRib5: {63, "posterior 5th rib right"}, RightRib4: {67, "posterior 4th rib right"},
	RightRib3: {71, "posterior 3rd rib right"}, RightRib2: {75, "posterior 2nd rib right"},
	RightRib1:         {79, "posterior 1st rib right"},
	LeftHemidiaphragm: {106, "left hemidiaphragm"}, RightHemidiaphragm: {107, "right hemidiaphragm"},
	Cardiomediastinum: {115, "cardiomediastinum"}, UpperMediastinum: {116, "upper mediastinum"},
	Heart: {121, "heart"}, AscendingAorta: {128, "ascending aorta"},
	DescendingAorta: {129, "descending aorta"}, AorticArch: {130, "aortic arch"},
	RightLung: {135, "right lung"}, LeftLung: {136, "left lung"},
	Trachea: {154, "trachea"}, Bifurcation: {155, "tracheal bifurcation"},
}

// Structures lists all structures in order.
func Structures() []Structure {
	out := make([]Structure, StructureCount)
	for i := range out {
		out[i] = Structure(i + 1)
	}
	return out
}

// Name returns the CXAS class name, as "right lung".
func (s Structure) Name() string { return structureTable[s].name }

// ClassID returns the CXAS class number (0..158).
func (s Structure) ClassID() int { return structureTable[s].class }

// posteriorRib returns the structure of right posterior rib i (1..11).
func posteriorRib(i int) Structure { return RightRib1 - Structure(i-1) }
